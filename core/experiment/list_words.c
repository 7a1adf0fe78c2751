/* SPDX-License-Identifier: MIT */
/*
 * list_words.c: lists of the command line that become axes: train.lr=[1e-3, 2e-3].
 *
 * Some settings are lists themselves, eval.lengths and the path of a text among them. A list stays
 * the value of such a setting; a list of lists is an axis of it.
 */
#include "cell/setting.h"
#include "plugin/paramrow.h"
#include "plugin/registry.h"
#include "process/apart.h"
#include "reading.h"

/* A key below a plugin: "path", for the tasks that the file names. */
struct question {
    struct reading *r;
    peat_kind kind;
    const char *key;
};

/* Asks a child process: "list" where a plugin of the kind that the file or a word names has a
 * parameter of that name that is a list. */
static peat_status words_ask(void *ctx, struct trail *trail, struct strbuf *out, struct error *err)
{
    const struct question *q = ctx;
    struct arena arena;
    struct registry registry;
    arena_init(&arena, "lists", 1 << 14);
    const struct value *m = plugin_mentions(q->r, &arena);
    peat_status status = registry_init(&registry, &arena, trail, err);
    for (int i = 0; status == PEAT_OK && i < m->n; i++) {
        const struct plugin *plugin;
        const peat_param *row = NULL;
        if (registry_find(&registry, q->kind, m->item[i]->text, m->item[i]->at, &plugin, NULL) ==
            PEAT_OK)
            row = rows_find(plugin->desc->param, q->key);
        if (row && row_type(row)->item && !out->n)
            strbuf_add(out, "list");
    }
    arena_release(&arena);
    return status;
}

/* Asks the plugin for a key that only a plugin knows. */
static bool takes_list(struct reading *r, const char *key)
{
    static const struct {
        const char *prefix;
        peat_kind kind;
    } kinds[] = {{"task.", PEAT_TASK},
                 {"position.scheme.", PEAT_SCHEME},
                 {"position.combine.", PEAT_COMBINE}};
    struct strbuf answer = STRBUF_NEW;
    struct error ignored = {0};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        size_t n = strlen(kinds[i].prefix);
        if (strncmp(key, kinds[i].prefix, n) != 0)
            continue;
        struct question q = {r, kinds[i].kind, key + n};
        apart_run(words_ask, &q, APART_SECONDS, APART_ASIDE, &answer, NULL, &ignored);
        bool yes = answer.n > 0 || strncmp(key + n, "where.", 6) == 0;
        strbuf_release(&answer);
        return yes;
    }
    return setting_takes_list(key);
}

static bool holds_list(const struct value *list)
{
    for (int i = 0; i < list->n; i++)
        if (list->item[i]->kind == VALUE_LIST)
            return true;
    return false;
}

static bool becomes_axis(struct reading *r, const struct value *matrix, const struct word *w)
{
    struct error ignored = {0};
    return !w->used && w->value->kind == VALUE_LIST && !value_get(matrix, w->key) &&
           setting_check(w->key, w->at, 0, NULL, r->a, &ignored) &&
           (holds_list(w->value) || !takes_list(r, w->key));
}

bool list_words_read(struct reading *r)
{
    struct value *matrix = value_get(r->root, "matrix");
    if (matrix && matrix->kind != VALUE_MAP && matrix->kind != VALUE_NULL)
        return true; /* matrix_read reports it */
    for (int i = 0; i < r->n_word; i++) {
        struct word *w = &r->word[i];
        if (!becomes_axis(r, matrix, w))
            continue;
        if (!matrix || matrix->kind == VALUE_NULL) {
            matrix = value_map(r->a, w->at);
            value_set(r->a, r->root, "matrix", w->at, matrix);
        }
        value_set(r->a, matrix, w->key, w->at, w->value);
        w->used = true;
    }
    return true;
}
