/* SPDX-License-Identifier: MIT */
/* startjoin.c: from streams side by side to streams that are added. */
#include "startjoin.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "cell/assemble.h"
#include "model/foreign_numbers.h"

struct joining {
    struct assembly *s;
    const struct cell_config *c;
    const struct weight_start *start;
    const struct safetensors *f;
    struct arena *a;
    struct error *err;
    int64_t offset[POSITIONAL_MAX + 2]; /* of the streams of token, schemes, segment */
};

/* ---- the same settings ---- */

static peat_status differs(const struct joining *j, const char *key)
{
    return error_set(j->err, PEAT_INVALID,
                     "as: sum_of_concat: '%s' is another in cell '%s', so that the model would not "
                     "compute the same",
                     key, json_get_text(j->start->config, "id"));
}

/* Widths show in shapes; what else is left out changes no evaluation. */
static bool decides(const char *key)
{
    static const char *const none[] = {"d_model", "d_ff",  "dropout",
                                       "freeze",  "start", "embedding"};
    for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
        if (strcmp(key, none[i]) == 0)
            return false;
    return true;
}

static bool same(const struct value *a, const struct value *b)
{
    return a && b ? value_equal(a, b) : a == b;
}

/* A key of `a` that decides and is another in b; NULL: none. */
static const char *other_key(const struct value *a, const struct value *b)
{
    for (int i = 0; a && i < a->n; i++)
        if (decides(a->key[i]) && strcmp(a->key[i], "attention") != 0 &&
            !same(a->item[i], value_get(b, a->key[i])))
            return a->key[i];
    return NULL;
}

static peat_status check_model(const struct joining *j)
{
    const struct value *own = value_get(j->c->resolved, "model"),
                       *cell = value_get(j->start->config, "model");
    const char *key = other_key(own, cell);
    key = key ? key : other_key(cell, own);
    if (key)
        return differs(j, arena_printf(j->a, "model.%s", key));
    if (!same(value_get_path(own, "attention.scale"), value_get_path(cell, "attention.scale")))
        return differs(j, "model.attention.scale");
    return PEAT_OK;
}

static bool is_plain_sum(const struct plugin_use *use)
{
    const struct value *v = use->given;
    return strcmp(use->plugin->desc->id, "sum") == 0 && json_get_number(v, "token_scale") == 1 &&
           json_get_number(v, "position_scale") == 1 && !json_get_bool(v, "learned");
}

/* All streams but the tokens' stand at the end, some dimensions of which tokens have too. */
static bool overlaps(const struct joining *j)
{
    const struct value *combine = value_get_path(j->start->config, "position.combine");
    return json_text_is(combine, "plugin", "concat_overlap");
}

static peat_status check_settings(const struct joining *j)
{
    static const char *const scheme = "position.scheme";
    const struct value *combine = value_get_path(j->start->config, "position.combine");
    if (!j->c->has_combine || !is_plain_sum(&j->c->combine))
        return error_set(j->err, PEAT_INVALID,
                         "as: sum_of_concat makes a model of combine 'sum' with factors of 1 that "
                         "are not learned");
    if (!json_text_is(combine, "plugin", "concat_split") && !overlaps(j))
        return error_set(j->err, PEAT_INVALID,
                         "as: sum_of_concat starts from a cell with combine 'concat_split' or "
                         "'concat_overlap', and '%s' has another",
                         json_get_text(j->start->config, "id"));
    if (!same(value_get_path(j->c->resolved, scheme), value_get_path(j->start->config, scheme)))
        return differs(j, scheme);
    return check_model(j);
}

/* ---- streams ---- */

/* Of "position.2.learned.table" 3, of "segment.weight" the last; 0: of tokens; -1: of none. What
 * an encoder of its own has stands where the decoder's does. */
static int stream_of(const char *name)
{
    static const char encoder[] = "encoder.";
    if (strncmp(name, encoder, sizeof(encoder) - 1) == 0)
        name += sizeof(encoder) - 1;
    if (strcmp(name, "token.weight") == 0 || strcmp(name, "class.token") == 0)
        return 0;
    if (strcmp(name, "segment.weight") == 0)
        return POSITIONAL_MAX + 1;
    if (strncmp(name, "position.", 9) == 0 && name[9] >= '0' && name[9] < '0' + POSITIONAL_MAX &&
        name[10] == '.')
        return name[9] - '0' + 1;
    return -1;
}

/* A table [rows, width] of a stream that was narrower than the model. */
static bool is_narrow(const struct weight *w, const struct tensor *t)
{
    return stream_of(w->name) >= 0 && t->rank == 2 && w->value.rank == 2 &&
           t->dim[1] < w->value.dim[1];
}

/* width: of each stream's table; 0: it has none. */
static peat_status find_widths(const struct joining *j, int64_t width[POSITIONAL_MAX + 2])
{
    const struct weights *w = &j->s->model.weights;
    for (int i = 0; i < w->n; i++) {
        struct tensor t;
        if (stream_of(w->item[i]->name) < 0)
            continue;
        peat_status status = safetensors_take(j->f, w->item[i]->name, j->a, &t, j->err);
        if (status != PEAT_OK)
            return status;
        if (is_narrow(w->item[i], &t))
            width[stream_of(w->item[i]->name)] = t.dim[1];
    }
    const struct positional *p = &j->s->positional;
    for (int i = 0; i < p->n_scheme; i++)
        if (p->scheme[i].hooks->encode && width[i + 1] == 0)
            return error_set(j->err, PEAT_INVALID,
                             "as: sum_of_concat fills up tables, and the stream of scheme '%s' has "
                             "none in cell '%s'",
                             p->scheme[i].part.id, json_get_text(j->start->config, "id"));
    return PEAT_OK;
}

static peat_status find_offsets(struct joining *j)
{
    int64_t width[POSITIONAL_MAX + 2] = {0}, D = j->s->model.dims.D;
    peat_status status = find_widths(j, width);
    if (status != PEAT_OK)
        return status;
    int64_t shared =
        overlaps(j)
            ? json_get_int(value_get_path(j->start->config, "position.combine"), "shared", 0)
            : 0;
    int64_t end = width[0];
    bool fits = true;
    for (int i = 1; i < POSITIONAL_MAX + 2; i++) {
        j->offset[i] = overlaps(j) ? width[0] - shared : end;
        end = width[i] ? j->offset[i] + width[i] : end;
        fits = fits && (!overlaps(j) || !width[i] || end == D);
    }
    return fits && end == D
               ? PEAT_OK
               : error_set(j->err, PEAT_INVALID,
                           "as: sum_of_concat fills up tables: those of cell '%s' end at %" PRId64
                           " of the model's %" PRId64 " dimensions",
                           json_get_text(j->start->config, "id"), end, D);
}

/* ---- values ---- */

static peat_status set_wide(const struct joining *j, struct weight *w, const struct tensor *t)
{
    struct tensor wide = tensor_new(j->a, t->dtype, 2, (int64_t[]){t->dim[0], w->value.dim[1]});
    int64_t offset = j->offset[stream_of(w->name)];
    if (!wide.data)
        return error_set(j->err, PEAT_NOMEM, "no memory for '%s'", w->name);
    tensor_fill(&wide, 0.0);
    for (int64_t r = 0; r < t->dim[0]; r++)
        for (int64_t k = 0; k < t->dim[1]; k++)
            tensor_set(&wide, r * wide.dim[1] + offset + k, tensor_get(t, r * t->dim[1] + k));
    return start_set(w, j->start->file, arena_printf(j->a, "'%s', filled up,", w->name), &wide,
                     j->err);
}

static peat_status set_one(const struct joining *j, struct weight *w)
{
    struct tensor t;
    peat_status status = safetensors_take(j->f, w->name, j->a, &t, j->err);
    if (status != PEAT_OK)
        return status;
    return is_narrow(w, &t)
               ? set_wide(j, w, &t)
               : start_set(w, j->start->file, arena_printf(j->a, "'%s'", w->name), &t, j->err);
}

peat_status start_join(struct assembly *s, const struct cell_config *c,
                       const struct weight_start *start, const struct safetensors *f,
                       struct arena *a, struct error *err)
{
    struct joining j = {.s = s, .c = c, .start = start, .f = f, .a = a, .err = err};
    peat_status status = check_settings(&j);
    if (status == PEAT_OK)
        status = find_offsets(&j);
    for (int i = 0; status == PEAT_OK && i < s->model.weights.n; i++)
        status = set_one(&j, s->model.weights.item[i]);
    return status;
}
