/* SPDX-License-Identifier: MIT */
/* stored.c: rows that a pass does not compute by hooks: those of earlier passes, and the front. */
#include "nn/stored.h"

#include "autograd/ops.h"

#define ARRAY(field) offsetof(peat_side, field), sizeof(*((peat_side *)0)->field)

/* ---- plugins whose rows can be stored ---- */

const char *scheme_not_storable(const peat_scheme *s)
{
    bool rows = s->reach && (s->residual || s->hidden);
    if (!(s->traits & PEAT_STORABLE))
        return "it does not declare PEAT_STORABLE";
    if (s->positions && s->needs & PEAT_NEED_TOKENS)
        return "its positions depend on the tokens";
    if (s->prepare && (rows || (s->encode && s->needs & PEAT_NEED_TOKENS)))
        return "it prepares its rows from the new ones alone";
    return NULL;
}

const char *combine_not_storable(const peat_combine *c)
{
    return c->traits & PEAT_STORABLE ? NULL : "it does not declare PEAT_STORABLE";
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

/* The arrays of a side. All are [B,T] except the first, [n_axes, pos_B, T]. */
static const struct {
    size_t at, bytes;
} arrays[] = {{ARRAY(pos)},      {ARRAY(token)}, {ARRAY(segment)},
              {ARRAY(document)}, {ARRAY(pad)},   {ARRAY(special)}};

/* Columns [begin, end) of an [n, T] array as a dense one. */
static const void *cut(struct arena *a, const unsigned char *from, size_t each, int64_t n,
                       int64_t T, int64_t begin, int64_t end)
{
    if (n == 1)
        return from + (size_t)begin * each;
    size_t width = (size_t)(end - begin) * each;
    unsigned char *to = arena_try_array(a, (size_t)n * (size_t)(end - begin), each);
    for (int64_t i = 0; to && i < n; i++)
        memcpy(to + (size_t)i * width, from + (size_t)(i * T + begin) * each, width);
    return to;
}

bool side_cut(struct arena *a, const peat_side *whole, int64_t B, int64_t begin, int64_t end,
              peat_side *part)
{
    bool ok = true;
    *part = *whole;
    part->T = end - begin;
    for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++) {
        const void *array;
        memcpy(&array, (const char *)whole + arrays[i].at, sizeof(array));
        if (!array)
            continue;
        array = cut(a, array, arrays[i].bytes, i == 0 ? whole->pos_B * whole->n_axes : B, whole->T,
                    begin, end);
        memcpy((char *)part + arrays[i].at, &array, sizeof(array));
        ok = ok && array;
    }
    return ok;
}

/* ---- rows ---- */

/* Copies rows into kept at row `at` of `axis`. */
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
    struct graph *g = pass->g;
    if (!span_grows(&pass->span) || !rows)
        return rows;
    if (!kept->data) {
        struct tensor t = rows->value;
        t.dim[axis] = s->room;
        *kept = tensor_new(s->arena, t.dtype, t.rank, t.dim);
    }
    if (!kept->data)
        return graph_no_memory(g, "stored rows", tensor_bytes(kept));
    keep(kept, &rows->value, axis, span_first(&pass->span));
    peat_node *all = graph_constant(g, kept->dtype, kept->rank, kept->dim, kept->data);
    return op_slice(&g->base, all, axis, 0, span_so_far(&pass->span)->T);
}

/* The index of the first row that a hook with this reach gets. */
static int64_t reach_begin(const struct span *s, int64_t reach)
{
    return span_first(s) > reach ? span_first(s) - reach : 0;
}

peat_node *stored_reach(struct pass *pass, struct tensor *kept, peat_node *rows, int64_t reach)
{
    if (!span_grows(&pass->span) || reach == 0)
        return rows;
    peat_node *all = stored_all(pass, kept, rows, 1);
    int64_t begin = reach_begin(&pass->span, reach), end = span_so_far(&pass->span)->T;
    /* A hook may rely on contiguous rows. */
    return op_contiguous(&pass->g->base, op_slice(&pass->g->base, all, 1, begin, end));
}

void stored_reach_call(struct call *c, struct pass *pass, int64_t reach)
{
    const peat_side *all = span_so_far(&pass->span);
    peat_side side;
    if (!span_grows(&pass->span) || reach == 0)
        return;
    if (side_cut(pass->g->arena, all, pass->B, reach_begin(&pass->span, reach), all->T, &side))
        call_sides(c, &side, &side);
    else
        graph_no_memory(pass->g, "a side", 0);
}

peat_node *stored_newest(struct pass *pass, peat_node *rows)
{
    int64_t T = pass->span.rows.T;
    if (!span_grows(&pass->span) || !rows)
        return rows;
    int64_t n = node_dim(rows, 1);
    return n == T ? rows : op_slice(&pass->g->base, rows, 1, n - T, n);
}

/* ---- the front ---- */

peat_node *front_cut(struct pass *pass, peat_node *x, int32_t axis)
{
    if (!x || pass->span.front == 0)
        return x;
    peat_graph *g = &pass->g->base;
    return op_slice(g, x, axis, pass->span.front, node_dim(x, axis));
}

peat_node *front_join(struct pass *pass, peat_node *whole, peat_node *rest, int32_t axis)
{
    if (!whole || !rest || pass->span.front == 0)
        return rest;
    peat_graph *g = &pass->g->base;
    peat_node *front = op_slice(g, whole, axis, 0, pass->span.front);
    return op_concat(g, 2, (peat_node *[]){front, rest}, axis);
}

peat_node *front_cut_pairs(struct pass *pass, peat_node *x)
{
    return front_cut(pass, front_cut(pass, x, 2), 3);
}

peat_node *front_join_pairs(struct pass *pass, peat_node *whole, peat_node *rest)
{
    return front_join(pass, whole, front_join(pass, front_cut(pass, whole, 2), rest, 3), 2);
}

peat_node *front_pad_pairs(struct pass *pass, peat_node *term)
{
    if (!term || pass->span.front == 0)
        return term;
    peat_graph *g = &pass->g->base;
    int64_t T = pass->span.rows.T;
    term = op_expand(g, term, 4, (int64_t[]){node_dim(term, 0), node_dim(term, 1), T, T});
    term = op_pad(g, term, 2, pass->span.front, 0);
    return op_pad(g, term, 3, pass->span.front, 0);
}
