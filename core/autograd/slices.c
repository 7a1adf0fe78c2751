/* SPDX-License-Identifier: MIT */
/* slices.c: whether views of one root overlap. */
#include "opkit.h"

/* The number of elements from the first to the last, both included. */
static int64_t extent(const struct tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        n += (t->dim[i] - 1) * t->stride[i];
    return n;
}

/* Columns [*lo, *hi) of a row of the root that the heads of n occupy; false: the root does not have
 * rows with the heads side by side. */
static bool columns_of(const peat_node *n, int64_t *lo, int64_t *hi)
{
    const struct tensor *t = &n->value;
    int64_t row = t->stride[2];
    if (row <= 0 || t->stride[0] % row != 0)
        return false;
    *lo = n->view_offset % row;
    *hi = *lo + (t->dim[1] - 1) * t->stride[1] + t->dim[3];
    return *hi <= row;
}

bool slices_apart(const peat_node *x, const peat_node *y)
{
    const struct tensor *s = &x->value, *t = &y->value;
    if (node_root(x) != node_root(y))
        return true;
    bool same_strides = true;
    for (int i = 0; i < 4; i++)
        same_strides = same_strides && s->stride[i] == t->stride[i];
    if (same_strides && x->view_offset == y->view_offset)
        return true;
    if (x->view_offset + extent(s) <= y->view_offset ||
        y->view_offset + extent(t) <= x->view_offset)
        return true;
    int64_t a, b, c, d;
    return same_strides && columns_of(x, &a, &b) && columns_of(y, &c, &d) && (b <= c || d <= a);
}

static bool same_place(const peat_node *x, const peat_node *y)
{
    return x->view_offset == y->view_offset;
}

bool slices_cover(const peat_node *x, const peat_node *y, const peat_node *z)
{
    const peat_node *root = x->view_of;
    return root && y->view_of == root && z->view_of == root && !same_place(x, y) &&
           !same_place(x, z) && !same_place(y, z) && slices_apart(x, y) && slices_apart(x, z) &&
           slices_apart(y, z) &&
           tensor_count(&x->value) + tensor_count(&y->value) + tensor_count(&z->value) ==
               tensor_count(&root->value);
}
