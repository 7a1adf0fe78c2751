/* SPDX-License-Identifier: MIT */
/* stored.c: growing tensors of rows, and who can work with them. */
#include "nn/stored.h"

#include <string.h>

#include "autograd/ops.h"

/* ---- who can ---- */

const char *scheme_not_storable(const peat_scheme *s)
{
    bool rows = s->reach && (s->residual || s->hidden);
    if (!(s->traits & PEAT_STORABLE))
        return "it does not say that it can";
    if (s->positions && s->needs & PEAT_NEED_TOKENS)
        return "its positions depend on the tokens";
    if (s->prepare && (rows || (s->encode && s->needs & PEAT_NEED_TOKENS)))
        return "what it prepares is for the new rows alone";
    return NULL;
}

const char *combine_not_storable(const peat_combine *c)
{
    return c->traits & PEAT_STORABLE ? NULL : "it does not say that it can";
}

const char *positional_not_storable(const struct positional *p, const char **id)
{
    const char *why = NULL;
    for (int i = 0; i < p->n_scheme && !why; i++) {
        *id = p->scheme[i].part.id;
        why = scheme_not_storable(p->scheme[i].hooks);
    }
    if (why || !p->combine)
        return why;
    *id = p->combine_part.id;
    return combine_not_storable(p->combine);
}

/* ---- sides ---- */

/* Columns [begin, end) of an [n, T] array as a dense one; NULL stays NULL. */
static bool cut(struct arena *a, const void **array, size_t each, int64_t n, int64_t T,
                int64_t begin, int64_t end)
{
    const unsigned char *from = *array;
    if (from && n == 1)
        *array = from + (size_t)begin * each;
    if (!from || n == 1)
        return true;
    size_t width = (size_t)(end - begin) * each;
    unsigned char *to = arena_try_array(a, (size_t)n * (size_t)(end - begin), each);
    for (int64_t i = 0; to && i < n; i++)
        memcpy(to + (size_t)i * width, from + (size_t)(i * T + begin) * each, width);
    *array = to;
    return to != NULL;
}

bool side_cut(struct arena *a, const peat_side *whole, int64_t B, int64_t begin, int64_t end,
              peat_side *part)
{
    int64_t T = whole->T;
    *part = *whole;
    part->T = end - begin;
    const void *pos = whole->pos, *token = whole->token, *segment = whole->segment,
               *document = whole->document, *pad = whole->pad, *special = whole->special;
    bool ok = cut(a, &pos, sizeof(*whole->pos), whole->pos_B * whole->n_axes, T, begin, end) &&
              cut(a, &token, sizeof(*whole->token), B, T, begin, end) &&
              cut(a, &segment, sizeof(*whole->segment), B, T, begin, end) &&
              cut(a, &document, sizeof(*whole->document), B, T, begin, end) &&
              cut(a, &pad, sizeof(*whole->pad), B, T, begin, end) &&
              cut(a, &special, sizeof(*whole->special), B, T, begin, end);
    part->pos = pos;
    part->token = token;
    part->segment = segment;
    part->document = document;
    part->pad = pad;
    part->special = special;
    return ok;
}

/* ---- rows ---- */

/* rows into kept at row `at` of `axis`. */
static void keep(struct tensor *kept, const struct tensor *rows, int axis, int64_t at)
{
    struct tensor to = *kept;
    to.dim[axis] = rows->dim[axis];
    to.data = (char *)kept->data + at * kept->stride[axis] * (int64_t)dtype_bytes(kept->dtype);
    tensor_copy(&to, rows);
}

peat_node *stored_all(struct pass *pass, struct tensor *kept, peat_node *rows, int axis)
{
    struct stored *s = pass->stored;
    if (!s || !rows)
        return rows;
    struct graph *g = pass->g;
    if (!kept->data) {
        struct tensor t = rows->value;
        t.dim[axis] = s->room;
        *kept = tensor_new(s->arena, t.dtype, t.rank, t.dim);
    }
    if (!kept->data)
        return graph_no_memory(g, "stored rows", tensor_bytes(kept));
    keep(kept, &rows->value, axis, s->done);
    peat_node *all = graph_constant(g, kept->dtype, kept->rank, kept->dim, kept->data);
    return op_slice(&g->base, all, axis, 0, pass->keys.T);
}

/* Of the rows before the new ones, those that a hook with this reach is given. */
static int64_t reached(const struct pass *pass, int64_t reach)
{
    return reach < pass->stored->done ? reach : pass->stored->done;
}

peat_node *stored_reach(struct pass *pass, struct tensor *kept, peat_node *rows, int64_t reach)
{
    if (!pass->stored || reach == 0)
        return rows;
    peat_node *all = stored_all(pass, kept, rows, 1);
    int64_t T = pass->keys.T, n = pass->side.T + reached(pass, reach);
    /* Hooks may take what they are given for contiguous. */
    return op_contiguous(&pass->g->base, op_slice(&pass->g->base, all, 1, T - n, T));
}

void stored_reach_call(struct call *c, struct pass *pass, int64_t reach)
{
    if (!pass->stored || reach == 0)
        return;
    peat_side side;
    int64_t T = pass->keys.T, n = pass->side.T + reached(pass, reach);
    if (!side_cut(pass->g->arena, &pass->keys, pass->B, T - n, T, &side)) {
        graph_no_memory(pass->g, "a side", 0);
        return;
    }
    call_sides(c, &side, &side);
}

peat_node *stored_newest(struct pass *pass, peat_node *rows)
{
    if (!pass->stored || !rows)
        return rows;
    int64_t n = peat_shape_of(&pass->g->base, rows).dim[1];
    return n == pass->side.T ? rows : op_slice(&pass->g->base, rows, 1, n - pass->side.T, n);
}
