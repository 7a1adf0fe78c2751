/* SPDX-License-Identifier: MIT */
/* loop.c: merges axes, cuts tiles, and has the two most common loops: copy and axpy. */
#include "tensor/loop.h"

#include "rows/loop_rows.h"

enum {
    LOOP_GRAIN = 16384, /* elements of a tile  */
    BLOCK = 32          /* elements of a row; see cross */
};

/* True where an axis with these strides continues the axis already there, so that both merge. */
static bool continues(const struct loop *l, int axis, const int64_t *stride)
{
    for (int k = 0; k < l->n; k++)
        if (stride[k] != l->stride[k][axis] * l->dim[axis])
            return false;
    return true;
}

void loop_init(struct loop *l, int n, const struct tensor *const *t)
{
    BUG_UNLESS(n >= 1 && n <= LOOP_MAX);
    const struct tensor *shape = t[0];
    *l = (struct loop){.n = n, .count = tensor_count(shape)};
    BUG_UNLESS(l->count >= 0);
    for (int k = 0; k < n; k++) {
        BUG_UNLESS(tensor_same_shape(shape, t[k]));
        l->data[k] = t[k]->data;
        l->bytes[k] = dtype_bytes(t[k]->dtype);
    }
    /* Filled from the last axis towards lower indices, then moved to the front. */
    int first = PEAT_MAX_RANK;
    for (int i = shape->rank - 1; i >= 0; i--) {
        int64_t stride[LOOP_MAX] = {0};
        for (int k = 0; k < n; k++)
            stride[k] = t[k]->stride[i];
        if (shape->dim[i] == 1)
            continue;
        if (first < PEAT_MAX_RANK && continues(l, first, stride)) {
            l->dim[first] *= shape->dim[i];
            continue;
        }
        first--;
        l->dim[first] = shape->dim[i];
        for (int k = 0; k < n; k++)
            l->stride[k][first] = stride[k];
    }
    if (first == PEAT_MAX_RANK)
        l->dim[--first] = 1;
    l->rank = PEAT_MAX_RANK - first;
    memmove(l->dim, l->dim + first, (size_t)l->rank * sizeof(int64_t));
    for (int k = 0; k < n; k++)
        memmove(l->stride[k], l->stride[k] + first, (size_t)l->rank * sizeof(int64_t));
}

void loop_range(const struct loop *l, int64_t begin, int64_t end, loop_fn fn, const void *ctx)
{
    int last = l->rank - 1;
    int64_t at[PEAT_MAX_RANK];
    int64_t rest = begin;
    for (int i = last; i >= 0; i--) {
        at[i] = l->dim[i] > 0 ? rest % l->dim[i] : 0;
        rest = l->dim[i] > 0 ? rest / l->dim[i] : 0;
    }
    struct loop_row row = {0};
    for (int k = 0; k < l->n; k++)
        row.stride[k] = l->stride[k][last];
    while (begin < end) {
        int64_t left = l->dim[last] - at[last];
        row.n = left < end - begin ? left : end - begin;
        for (int k = 0; k < l->n; k++) {
            int64_t offset = 0;
            for (int i = 0; i <= last; i++)
                offset += at[i] * l->stride[k][i];
            row.p[k] = (char *)l->data[k] + offset * (int64_t)l->bytes[k];
        }
        fn(ctx, &row);
        begin += row.n;
        at[last] = 0;
        for (int i = last - 1; i >= 0 && ++at[i] == l->dim[i]; i--)
            at[i] = 0;
    }
}

struct run {
    const struct loop *l;
    loop_fn fn;
    const void *ctx;
};

static void run_tile(void *ctx, int64_t begin, int64_t end)
{
    const struct run *r = ctx;
    loop_range(r->l, begin, end, r->fn, r->ctx);
}

static void run(const struct team *team, const struct loop *l, loop_fn fn, const void *ctx)
{
    struct run r = {l, fn, ctx};
    parallel_ranges(team, l->count, LOOP_GRAIN, run_tile, &r);
}

/* The axis along which some tensor is contiguous although it is not along the last; -1: none. */
static int axis_to_transpose(const struct loop *l)
{
    const int last = l->rank - 1;
    for (int k = 0; k < l->n; k++)
        for (int i = 0; i < last && l->stride[k][last] > 1; i++)
            if (l->stride[k][i] == 1 && l->dim[i] >= BLOCK)
                return i;
    return -1;
}

/* Elements [from, from + n) of each row. */
static struct loop part_of_rows(const struct loop *l, int64_t from, int64_t n)
{
    const int last = l->rank - 1;
    struct loop part = *l;
    part.count = l->count / l->dim[last] * n;
    part.dim[last] = n;
    for (int k = 0; k < l->n; k++)
        part.data[k] = (char *)l->data[k] + from * l->stride[k][last] * (int64_t)l->bytes[k];
    return part;
}

/* Reorders the axes: ..., blocks of the last, `axis`, BLOCK of the last. A cache line that one
 * column needs is then still in the cache for the next columns. */
static struct loop cross(const struct loop *l, int axis)
{
    const int last = l->rank - 1;
    struct loop c = *l;
    c.rank++;
    c.dim[last - 1] = l->dim[last] / BLOCK;
    c.dim[last] = l->dim[axis];
    c.dim[last + 1] = BLOCK;
    for (int i = axis; i < last - 1; i++)
        c.dim[i] = l->dim[i + 1];
    for (int k = 0; k < l->n; k++) {
        c.stride[k][last - 1] = l->stride[k][last] * BLOCK;
        c.stride[k][last] = l->stride[k][axis];
        c.stride[k][last + 1] = l->stride[k][last];
        for (int i = axis; i < last - 1; i++)
            c.stride[k][i] = l->stride[k][i + 1];
    }
    return c;
}

void loop_run(const struct team *team, const struct loop *l, loop_fn fn, const void *ctx)
{
    const int axis = axis_to_transpose(l);
    const int64_t n = l->dim[l->rank - 1], whole = n - n % BLOCK;
    if (axis < 0 || n < 2 * BLOCK || l->rank == PEAT_MAX_RANK) {
        run(team, l, fn, ctx);
        return;
    }
    const struct loop blocks = part_of_rows(l, 0, whole), crossing = cross(&blocks, axis);
    run(team, &crossing, fn, ctx);
    if (whole < n) {
        const struct loop rest = part_of_rows(l, whole, n - whole);
        run(team, &rest, fn, ctx);
    }
}

/* y[i] = x[i], with conversion; dense rows of the same type are moved as bytes. */
#define COPY_ROW(name, to, from, same)                                                             \
    static void name(const void *ctx, const struct loop_row *row)                                  \
    {                                                                                              \
        to *y = row->p[0];                                                                         \
        const from *x = row->p[1];                                                                 \
        (void)ctx;                                                                                 \
        if ((same) && row->stride[0] == 1 && row->stride[1] == 1)                                  \
            memmove(y, x, (size_t)row->n * sizeof(*y));                                            \
        else                                                                                       \
            for (int64_t i = 0; i < row->n; i++)                                                   \
                y[i * row->stride[0]] = (to)x[i * row->stride[1]];                                 \
    }
COPY_ROW(copy_f32, float, float, true)
COPY_ROW(copy_f64, double, double, true)
COPY_ROW(copy_i32, int32_t, int32_t, true)
COPY_ROW(copy_f32_f64, float, double, false)
COPY_ROW(copy_f32_i32, float, int32_t, false)
COPY_ROW(copy_f64_f32, double, float, false)
COPY_ROW(copy_f64_i32, double, int32_t, false)
COPY_ROW(copy_i32_f32, int32_t, float, false)
COPY_ROW(copy_i32_f64, int32_t, double, false)

void loop_copy(const struct team *team, struct tensor *dst, const struct tensor *src)
{
    static const loop_fn fn[3][3] = {{copy_f32, copy_f32_f64, copy_f32_i32},
                                     {copy_f64_f32, copy_f64, copy_f64_i32},
                                     {copy_i32_f32, copy_i32_f64, copy_i32}};
    struct loop l;
    loop_init(&l, 2, (const struct tensor *const[]){dst, src});
    loop_run(team, &l, fn[dst->dtype][src->dtype], NULL);
}

void loop_axpy(const struct team *team, struct tensor *dst, double scale, const struct tensor *src)
{
    BUG_UNLESS(dst->dtype == src->dtype && dst->dtype != PEAT_I32);
    struct loop l;
    loop_init(&l, 2, (const struct tensor *const[]){dst, src});
    loop_run(team, &l, loop_rows_of(dst->dtype)->axpy, &scale);
}

static void axes_add(struct axes *x, int axis, int64_t dim)
{
    x->dim[x->rank] = dim;
    x->place[x->rank++] = axis;
    x->count *= dim;
}

void axes_split(int rank, const int64_t *dim, const int64_t *stride, struct axes *moves,
                struct axes *repeats)
{
    *moves = (struct axes){.count = 1};
    *repeats = (struct axes){.count = 1};
    for (int i = 0; i < rank; i++)
        axes_add(stride[i] == 0 && dim[i] != 1 ? repeats : moves, i, dim[i]);
}

struct axes axes_all(int rank, const int64_t *dim)
{
    struct axes all = {.count = 1};
    for (int i = 0; i < rank; i++)
        axes_add(&all, i, dim[i]);
    return all;
}

int64_t axes_offset(const struct axes *x, int64_t i, const int64_t *stride)
{
    int64_t offset = 0;
    for (int a = x->rank - 1; a >= 0; a--) {
        offset += i % x->dim[a] * stride[x->place[a]];
        i /= x->dim[a];
    }
    return offset;
}

/* ---- on the calling thread ---- */

void tensor_fill(struct tensor *t, double x)
{
    struct tensor one = {.dtype = PEAT_F64, .data = &x};
    struct tensor wide = tensor_broadcast_to(&one, t->rank, t->dim);
    loop_copy(NULL, t, &wide);
}

void tensor_copy(struct tensor *dst, const struct tensor *src)
{
    loop_copy(NULL, dst, src);
}

void tensor_add(struct tensor *dst, const struct tensor *src)
{
    loop_axpy(NULL, dst, 1.0, src);
}
