/* SPDX-License-Identifier: MIT */
/* experiment.c: the experiment file as a whole. */
#include "experiment/experiment.h"

#include "cell/setting.h"
#include "experiment/yamldoc.h"
#include "reading.h"

#define NAME_BYTES 100

/* ---- single keys ---- */

static bool read_version(struct reading *r)
{
    const struct value *v = value_get(r->root, "version");
    if (!v)
        return mistake(r->err, r->root->at,
                       "'version' is missing; this program reads versions 1 and 2");
    r->e->version = v->integer;
    if (v->kind == VALUE_INT && (v->integer == 1 || v->integer == 2))
        return true;
    if (v->kind == VALUE_TEXT)
        return mistake(r->err, v->at, "'version' must be the number 1 or 2, not the text '%s'",
                       v->text);
    return mistake(r->err, v->at, "version %s is not known; this program reads versions 1 and 2",
                   value_label(r->a, NULL, v));
}

bool experiment_is_name(const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    return n > 0 && n <= NAME_BYTES && !text[n] && text[0] != '-' && text[0] != '.';
}

static bool read_name(struct reading *r)
{
    const struct value *v = value_get(r->root, "name");
    if (!v)
        return mistake(r->err, r->root->at, "'name' is missing; it names the run directory");
    bool scalar = v->kind == VALUE_TEXT || v->kind == VALUE_INT || v->kind == VALUE_REAL;
    if (!scalar || !experiment_is_name(v->text))
        return mistake(r->err, v->at,
                       "'name' must be 1 to %d letters, digits, '.', '_' or '-', and start "
                       "with a letter, digit or '_'",
                       NAME_BYTES);
    r->e->name = v->text;
    return true;
}

static bool read_description(struct reading *r)
{
    const struct value *v = value_get(r->root, "description");
    if (v && v->kind != VALUE_NULL && v->kind != VALUE_TEXT)
        return mistake(r->err, v->at, "'description' must be a text");
    r->e->description = v && v->kind == VALUE_TEXT ? v->text : "";
    return true;
}

static bool read_defaults(struct reading *r)
{
    struct value *v = value_get(r->root, "defaults");
    r->e->defaults_at = value_key_place(r->root, "defaults");
    if (!v || v->kind == VALUE_NULL) {
        r->e->defaults = value_map(r->a, r->e->defaults_at);
        return true;
    }
    bool ok = known_keys_only(v, "defaults", setting_sections, r->err);
    for (int i = 0; ok && i < v->n; i++)
        ok = setting_check_section(v->key[i], v->item[i], r->err);
    r->e->defaults = v;
    return ok;
}

static bool read_override(struct reading *r, struct override *o, const struct value *v)
{
    static const char *const keys[] = {"when", "set", NULL};
    if (!known_keys_only(v, "an override", keys, r->err))
        return false;
    const struct value *when = value_get(v, "when");
    o->set = value_get(v, "set");
    if (!o->set)
        return mistake(r->err, v->at, "an override needs 'set'");
    return (!when || labels_resolve(r, when, "when", false, &o->when)) &&
           settings_check(r, o->set, "'set'");
}

static bool read_overrides(struct reading *r)
{
    const struct value *v = value_get(r->root, "overrides");
    if (!v || v->kind == VALUE_NULL)
        return true;
    if (v->kind != VALUE_LIST)
        return mistake(r->err, v->at, "overrides must be a list of {when: ..., set: ...}");
    bool ok = true;
    r->e->override = ARENA_ARRAY(r->a, v->n + 1, struct override);
    for (int i = 0; ok && i < v->n; i++)
        ok = read_override(r, &r->e->override[i], v->item[i]);
    r->e->n_override = v->n;
    return ok;
}

/* ---- seeds ---- */

static bool seed_range(struct reading *r, const struct value *v)
{
    if (v->integer < 1)
        return mistake(r->err, v->at, "'seeds' must be at least 1");
    if (v->integer > EXPERIMENT_MAX_CELLS)
        return mistake(r->err, v->at, "'seeds' must be at most %d", EXPERIMENT_MAX_CELLS);
    r->e->seed = ARENA_ARRAY(r->a, v->integer, int64_t);
    for (int64_t i = 0; i < v->integer; i++)
        r->e->seed[i] = i;
    r->e->n_seed = (int)v->integer;
    return true;
}

static bool seed_list(struct reading *r, const struct value *v)
{
    if (v->n == 0)
        return mistake(r->err, v->at, "the list of seeds is empty");
    if (v->n > EXPERIMENT_MAX_CELLS)
        return mistake(r->err, v->at, "more than %d seeds", EXPERIMENT_MAX_CELLS);
    r->e->seed = ARENA_ARRAY(r->a, v->n, int64_t);
    for (int i = 0; i < v->n; i++) {
        const struct value *one = v->item[i];
        if (one->kind != VALUE_INT || one->integer < 0)
            return mistake(r->err, one->at,
                           "a seed must be a whole number from 0 to %" PRId64 ", in digits",
                           INT64_MAX);
        if (integers_hold(r->e->seed, i, one->integer))
            return mistake(r->err, one->at, "seed %" PRId64 " is given twice", one->integer);
        r->e->seed[i] = one->integer;
    }
    r->e->n_seed = v->n;
    return true;
}

/* The file's list of seeds for choosing, if the command line gives seeds but no `choose`; otherwise
 * NULL. */
static const struct value *choosing_seeds(const struct reading *r)
{
    bool report = false;
    for (int i = 0; i < r->n_word; i++)
        report = report || setting_is_below(r->word[i].key, "report");
    return word_find(r, "seeds") && !report ? value_get_path(r->root, "report.best_over.choose")
                                            : NULL;
}

/* Seeds of the command line are reported; those that the file keeps for choosing come first. */
static void keep_choosing_seeds(struct reading *r)
{
    struct experiment *e = r->e;
    const struct value *choose = choosing_seeds(r);
    int n = choose && choose->kind == VALUE_LIST ? choose->n : 0, kept = 0;
    int64_t *seed = ARENA_ARRAY(r->a, n + e->n_seed, int64_t);
    for (int i = 0; i < n; i++)
        if (choose->item[i]->kind == VALUE_INT &&
            !integers_hold(e->seed, e->n_seed, choose->item[i]->integer))
            seed[kept++] = choose->item[i]->integer;
    if (kept == 0)
        return;
    memcpy(seed + kept, e->seed, (size_t)e->n_seed * sizeof(*seed));
    e->seed = seed;
    e->n_seed += kept;
    struct value *list = value_list(r->a, NOWHERE);
    for (int i = 0; i < e->n_seed; i++)
        value_append(r->a, list, value_int(r->a, NOWHERE, seed[i]));
    r->root = value_with_path(r->a, r->root, "seeds", value_key_place(r->root, "seeds"), list);
}

static bool read_seeds(struct reading *r)
{
    const struct value *v = value_get(r->root, "seeds");
    if (!v)
        v = value_int(r->a, r->root->at, 1);
    if (v->kind == VALUE_MAP)
        return looks_read(r, v);
    if (v->kind != VALUE_INT && v->kind != VALUE_LIST)
        return mistake(
            r->err, v->at,
            "'seeds' must be how many, a list of whole numbers, or {from: N, at_most: N, "
            "until: claims}");
    bool ok = v->kind == VALUE_INT ? seed_range(r, v) : seed_list(r, v);
    if (ok)
        keep_choosing_seeds(r);
    return ok;
}

/* ---- the whole file ---- */

static bool read_keys(struct reading *r)
{
    for (int i = 0; i < r->root->n; i++)
        if (names_find(setting_sections, r->root->key[i]) >= 0)
            return mistake(r->err, r->root->key_at[i], "'%s' belongs in 'defaults'",
                           r->root->key[i]);
    return known_keys_only(r->root, "the experiment", experiment_keys, r->err);
}

/* `made_with` has no effect except a remark (resolved.h). */
static bool read_made_with(struct reading *r)
{
    const struct value *v = value_get(r->root, "made_with");
    r->e->made_with = v;
    r->e->root = r->root;
    if (v && v->kind != VALUE_MAP)
        return mistake(r->err, v->at, "'made_with' must be a map");
    return true;
}

/* The order matters, since the first mistake is reported. The version is first, because a file of
 * another version may have other keys; include is early, because its labels may be named later. */
static bool (*const steps[])(struct reading *r) = {
    read_version,     words_to_root,     read_version,      read_keys,      read_name,
    read_description, read_defaults,     plugin_names_read, known_plugins,  list_words_read,
    matrix_read,      words_to_settings, cells_read,        read_overrides, read_seeds,
    run_read,         report_read,       match_read,        claims_read,    read_made_with,
};

static void apply_fixes(struct reading *r, struct fixes *fixes)
{
    int kept = 0;
    fixes->path = arena_strdup(fixes->a, r->e->path);
    fixes_apply(fixes, r->root);
    for (int i = 0; i < r->n_word; i++)
        if (!fixes_drop_word(fixes, r->word[i].at))
            r->word[kept++] = r->word[i];
    r->n_word = kept;
}

static peat_status load(struct experiment *e, struct arena *arena, const char *path, int n_word,
                        char *const *word, struct fixes *fixes, bool alone, struct error *err)
{
    *e = (struct experiment){.arena = arena, .path = arena_strdup(arena, path), .n_word = n_word};
    struct error own = {0};
    struct reading r = {.e = e, .a = arena, .err = err ? err : &own};
    e->word = ARENA_ARRAY(arena, n_word + 1, const char *);
    for (int i = 0; i < n_word; i++)
        e->word[i] = arena_strdup(arena, word[i]);
    bool ok = yaml_load(arena, e->path, &r.root, r.err) == PEAT_OK;
    if (ok && r.root->kind != VALUE_MAP)
        ok = mistake(r.err, r.root->at, "an experiment must be a map of keys and values");
    ok = ok && extends_read(&r) && words_read(&r, n_word, word);
    if (ok && fixes)
        apply_fixes(&r, fixes);
    for (size_t i = 0; ok && i < sizeof(steps) / sizeof(*steps); i++)
        ok =
            (alone && (steps[i] == plugin_names_read || steps[i] == known_plugins)) || steps[i](&r);
    return ok ? PEAT_OK : r.err->status;
}

peat_status experiment_load(struct experiment *e, struct arena *arena, const char *path, int n_word,
                            char *const *word, struct fixes *fixes, struct error *err)
{
    return load(e, arena, path, n_word, word, fixes, false, err);
}

peat_status experiment_load_alone(struct experiment *e, struct arena *arena, const char *path,
                                  int n_word, char *const *word, struct error *err)
{
    return load(e, arena, path, n_word, word, NULL, true, err);
}
