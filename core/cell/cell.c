/* SPDX-License-Identifier: MIT */
/* cell.c: from a tree of settings to a typed cell with its hash. */
#include "cell/cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cell/setting.h"
#include "plugin/params.h"
#include "plugin_use.h"

static const struct place nowhere = {NULL, 0, 0};

static bool is_text(const struct value *v, const char *text)
{
    return v && v->kind == VALUE_TEXT && strcmp(v->text, text) == 0;
}

/* ---- model ---- */

/* scale: one of the labels, or the factor itself. */
static peat_status read_attention(const struct cell_reader *r, struct model_config *m,
                                  const struct value *v)
{
    static const char *const scale_key[] = {"scale", NULL};
    const struct value *scale = value_get(v, "scale");
    bool number = scale && (scale->kind == VALUE_INT || scale->kind == VALUE_REAL);
    if (number && !(scale->real > 0 && isfinite(scale->real)))
        return place_error(r->err, scale->at, "'scale' in attention must be above 0");
    peat_status status =
        params_fill(attention_rows, m, v, "attention", number ? scale_key : NULL, r->a, r->err);
    if (status == PEAT_OK && number)
        m->attention_scale_value = scale->real;
    return status;
}

static peat_status check_heads(const struct cell_reader *r, const struct model_config *m,
                               const struct value *v)
{
    if (m->d_model % m->n_head == 0)
        return PEAT_OK;
    const struct value *at = value_get(v, "n_head"), *width = value_get(v, "d_model");
    if (!at || (width && strcmp(width->at.file, "command line") == 0))
        at = width;
    return place_error(r->err, at->at,
                       "d_model %" PRId64 " is not divisible by n_head %" PRId64
                       ": every head needs the same width",
                       m->d_model, m->n_head);
}

static peat_status read_model(const struct cell_reader *r, struct model_config *m,
                              const struct value *v)
{
    static const char *const reserved[] = {"attention", NULL};
    peat_status status = params_fill(model_rows, m, v, "model", reserved, r->a, r->err);
    if (status == PEAT_OK)
        status = read_attention(r, m, value_get(v, "attention"));
    if (status == PEAT_OK)
        status = check_heads(r, m, v);
    if (m->d_ff == 0)
        m->d_ff = 4 * m->d_model;
    if (m->embed_scale == 0)
        m->embed_scale = sqrt((double)m->d_model);
    return status;
}

static struct value *model_value(const struct model_config *m, struct arena *a)
{
    struct value *model = params_value(model_rows, m, a);
    struct value *attention = params_value(attention_rows, m, a);
    if (m->attention_scale_value > 0)
        value_set(a, attention, "scale", nowhere, value_real(a, nowhere, m->attention_scale_value));
    value_set(a, model, "attention", nowhere, attention);
    return model;
}

/* ---- train and eval ---- */

static peat_status read_train(const struct cell_reader *r, struct train_config *t,
                              const struct value *v)
{
    const struct value *warmup = value_get(v, "warmup");
    peat_status status = params_fill(train_rows, t, v, "train", NULL, r->a, r->err);
    if (!warmup || is_text(warmup, "auto"))
        t->warmup = t->steps / 10 < 200 ? t->steps / 10 : 200;
    return status;
}

static struct value *train_value(const struct train_config *t, struct arena *a)
{
    struct value *train = params_value(train_rows, t, a);
    value_set(a, train, "warmup", nowhere, value_int(a, nowhere, t->warmup));
    return train;
}

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Whole and distinct; in rising order for use. */
static peat_status check_lengths(const struct cell_reader *r, struct eval_config *e,
                                 const struct value *v)
{
    if (!v || is_text(v, "auto"))
        return PEAT_OK;
    if (e->lengths.n == 0)
        return place_error(r->err, v->at, "'lengths' in eval must name a length, or be auto");
    double *length = ARENA_ARRAY(r->a, e->lengths.n, double);
    if (!length)
        return error_set(r->err, PEAT_NOMEM, "out of memory");
    for (int64_t i = 0; i < e->lengths.n; i++) {
        struct place at = v->kind == VALUE_LIST ? v->item[i]->at : v->at;
        length[i] = e->lengths.item[i];
        if (length[i] != trunc(length[i]))
            return place_error(r->err, at, "'lengths' in eval must hold whole numbers");
        for (int64_t j = 0; j < i; j++)
            if (length[j] == length[i])
                return place_error(r->err, at, "'lengths' in eval holds %.0f twice", length[i]);
    }
    qsort(length, (size_t)e->lengths.n, sizeof(*length), compare_reals);
    e->lengths.item = length;
    return PEAT_OK;
}

static peat_status read_eval(const struct cell_reader *r, struct eval_config *e,
                             const struct value *v)
{
    static const char *const tokens_key[] = {"tokens", NULL};
    bool all = is_text(value_get(v, "tokens"), "all");
    peat_status status =
        params_fill(eval_rows, e, v, "eval", all ? tokens_key : NULL, r->a, r->err);
    if (all)
        e->tokens = 0;
    return status != PEAT_OK ? status : check_lengths(r, e, value_get(v, "lengths"));
}

static struct value *eval_value(const struct eval_config *e, struct arena *a)
{
    struct value *eval = params_value(eval_rows, e, a);
    struct value *lengths = value_list(a, nowhere);
    for (int64_t i = 0; i < e->lengths.n; i++)
        value_append(a, lengths, value_int(a, nowhere, (int64_t)e->lengths.item[i]));
    if (lengths->n > 0)
        value_set(a, eval, "lengths", nowhere, lengths);
    if (e->tokens == 0)
        value_set(a, eval, "tokens", nowhere, value_text(a, nowhere, "all"));
    return eval;
}

/* ---- plugins ---- */

static peat_status read_task(const struct cell_reader *r, struct cell_config *c,
                             const struct value *tree)
{
    const struct value *task = value_get(tree, "task");
    if (!task || task->kind == VALUE_NULL)
        return place_error(r->err, task ? task->at : tree->at,
                           "no task is named; defaults need task: {plugin: NAME, ...}");
    return plugin_use_read(r, &c->task, PEAT_TASK, task);
}

static peat_status read_schemes(const struct cell_reader *r, struct cell_config *c,
                                const struct value *v)
{
    bool list = v->kind == VALUE_LIST;
    int n = list ? v->n : 1;
    if (n == 0)
        return place_error(r->err, v->at, "the list of schemes is empty; 'none' is a scheme");
    if (n > POSITIONAL_MAX)
        return place_error(r->err, v->at, "%d schemes act together, more than %d", n,
                           POSITIONAL_MAX);
    peat_status status = PEAT_OK;
    for (int i = 0; status == PEAT_OK && i < n; i++)
        status = scheme_use_read(r, &c->scheme[i], list ? v->item[i] : v, &c->model);
    c->n_scheme = n;
    return status;
}

static bool has_stream(const struct cell_config *c)
{
    for (int i = 0; i < c->n_scheme; i++)
        if (plugin_use_has_stream(&c->scheme[i]))
            return true;
    return false;
}

/* With no stream a combine that makes no position itself has nothing to merge. `sum` asks for one
 * stream only, because it passes a single one unchanged. */
static peat_status read_combine(const struct cell_reader *r, struct cell_config *c,
                                const struct value *v, bool *dropped)
{
    *dropped = false;
    if (!v || v->kind == VALUE_NULL) {
        if (!has_stream(c))
            return PEAT_OK;
        return place_error(r->err, v ? v->at : c->scheme[0].at,
                           "the stream of scheme '%s' needs a combine",
                           c->scheme[0].plugin->desc->id);
    }
    peat_status status = plugin_use_read(r, &c->combine, PEAT_COMBINE, v);
    if (status != PEAT_OK)
        return status;
    const peat_combine *hooks = c->combine.plugin->desc->interface;
    bool makes_position =
        hooks->min_streams <= 1 && strcmp(c->combine.plugin->desc->id, "sum") != 0;
    *dropped = !has_stream(c) && !makes_position;
    c->has_combine = !*dropped;
    return PEAT_OK;
}

static peat_status read_position(const struct cell_reader *r, struct cell_config *c,
                                 const struct value *tree, bool *dropped)
{
    static const char *const keys[] = {"scheme", "combine", NULL};
    const struct value *position = value_get(tree, "position");
    if (!position)
        return place_error(r->err, tree->at, "no position is given");
    peat_status status = known_keys_only(position, "position", keys, r->err);
    if (status != PEAT_OK)
        return status;
    const struct value *scheme = value_get(position, "scheme");
    if (!scheme || scheme->kind == VALUE_NULL)
        return place_error(r->err, scheme ? scheme->at : position->at,
                           "no scheme is named; 'none' is a scheme");
    status = read_schemes(r, c, scheme);
    return status != PEAT_OK ? status : read_combine(r, c, value_get(position, "combine"), dropped);
}

/* ---- resolved values and identity ---- */

static struct value *position_value(struct value *schemes, struct value *combine, struct arena *a)
{
    struct value *position = value_map(a, nowhere);
    value_set(a, position, "scheme", nowhere, schemes);
    value_set(a, position, "combine", nowhere, combine ? combine : value_null(a, nowhere));
    return position;
}

static void resolve(struct cell_config *c, struct arena *a)
{
    struct value *schemes = value_list(a, nowhere), *all = value_map(a, nowhere);
    for (int i = 0; i < c->n_scheme; i++)
        value_append(a, schemes, c->scheme[i].given);
    value_set(a, all, "task", nowhere, c->task.given);
    value_set(a, all, "model", nowhere, model_value(&c->model, a));
    value_set(a, all, "position", nowhere,
              position_value(schemes, c->has_combine ? c->combine.given : NULL, a));
    value_set(a, all, "train", nowhere, train_value(&c->train, a));
    value_set(a, all, "eval", nowhere, eval_value(&c->eval, a));
    c->resolved = all;
}

static peat_status identify(const struct cell_reader *r, struct cell_config *c)
{
    struct value *schemes = value_list(r->a, nowhere), *task, *one, *combine = NULL;
    peat_status status = plugin_use_identity(r, &c->task, &task);
    for (int i = 0; status == PEAT_OK && i < c->n_scheme; i++) {
        status = plugin_use_identity(r, &c->scheme[i], &one);
        if (status == PEAT_OK)
            value_append(r->a, schemes, one);
    }
    if (status == PEAT_OK && c->has_combine)
        status = plugin_use_identity(r, &c->combine, &combine);
    if (status != PEAT_OK)
        return status;
    c->identity = value_map(r->a, nowhere);
    value_set(r->a, c->identity, "task", nowhere, task);
    value_set(r->a, c->identity, "model", nowhere, value_get(c->resolved, "model"));
    value_set(r->a, c->identity, "position", nowhere, position_value(schemes, combine, r->a));
    value_set(r->a, c->identity, "train", nowhere, value_get(c->resolved, "train"));
    return PEAT_OK;
}

static struct value *with_seed(const struct value *map, int64_t seed, struct arena *a)
{
    return value_with_path(a, map, "seed", nowhere, value_int(a, nowhere, seed));
}

static void set_seed(struct cell_config *c, int64_t seed, struct arena *a)
{
    struct strbuf text;
    strbuf_init(&text);
    c->seed = seed;
    c->resolved = with_seed(c->resolved, seed, a);
    value_to_json(with_seed(c->identity, seed, a), true, 0, &text);
    hash_bytes(text.text, text.n, c->hash);
    strbuf_clear(&text);
    value_to_json(c->identity, true, 0, &text);
    hash_bytes(text.text, text.n, c->setting);
    strbuf_release(&text);
}

void cell_config_reseed(struct cell_config *c, const struct cell_config *from, int64_t seed,
                        struct arena *a)
{
    *c = *from;
    set_seed(c, seed, a);
}

/* ---- the whole ---- */

peat_status cell_config_read_with(struct cell_config *c, const struct value *tree, int64_t seed,
                                  struct registry *r, struct file_hashes *files, struct arena *a,
                                  bool *combine_dropped, struct error *err)
{
    const struct cell_reader reader = {r, files, a, err};
    bool dropped = false;
    *c = (struct cell_config){0};
    peat_status status = read_model(&reader, &c->model, value_get(tree, "model"));
    if (status == PEAT_OK)
        status = read_train(&reader, &c->train, value_get(tree, "train"));
    if (status == PEAT_OK)
        status = read_eval(&reader, &c->eval, value_get(tree, "eval"));
    if (status == PEAT_OK)
        status = read_task(&reader, c, tree);
    if (status == PEAT_OK)
        status = read_position(&reader, c, tree, &dropped);
    if (status != PEAT_OK)
        return status;
    resolve(c, a);
    status = identify(&reader, c);
    if (status != PEAT_OK)
        return status;
    set_seed(c, seed, a);
    if (combine_dropped)
        *combine_dropped = dropped;
    return PEAT_OK;
}

peat_status cell_config_read(struct cell_config *c, const struct value *tree, int64_t seed,
                             struct registry *r, struct arena *a, bool *combine_dropped,
                             struct error *err)
{
    struct file_hashes files = {0};
    return cell_config_read_with(c, tree, seed, r, &files, a, combine_dropped, err);
}
