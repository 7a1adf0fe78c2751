/* SPDX-License-Identifier: MIT */
/*
 * reduce.c: the gradient of broadcasting, and sums over axes.
 *
 * One axis is cut into tiles, chosen only by the shapes. Along an axis that dst has, tiles write to
 * different parts of dst. Along an axis that is summed, every tile adds into its own partial sum,
 * and these are added to dst in tile order.
 */
#include "rows/loop_rows.h"

enum { REDUCE_GRAIN = 16384, REDUCE_TILES = 32 };

struct reduction {
    struct loop l; /* dst or a partial sum, then src */
    int axis;      /* the axis that is cut           */
    int64_t block;
    int64_t tiles;
    size_t partial_bytes; /* bytes from one tile's dst to the next's; 0: tiles share dst */
};

/* The longest axis; of two equal ones, one that dst has. */
static int longest_axis(const struct loop *l)
{
    int axis = 0;
    for (int i = 1; i < l->rank; i++)
        if (l->dim[i] > l->dim[axis] || (l->dim[i] == l->dim[axis] && l->stride[0][i] != 0))
            axis = i;
    return axis;
}

/* The axis of dst to cut: the first with so many tiles, because its tiles are contiguous, or else
 * the longest. -1: dst is one number. */
static int axis_apart(const struct loop *l, int64_t tiles)
{
    int axis = -1;
    for (int i = 0; i < l->rank; i++) {
        if (l->stride[0][i] == 0)
            continue;
        if (l->dim[i] >= tiles)
            return i;
        if (axis < 0 || l->dim[i] >= l->dim[axis])
            axis = i;
    }
    return axis;
}

/* Cuts the sum into tiles. With `apart`, no two tiles write to the same part of dst. */
static void plan(struct reduction *r, bool apart)
{
    const struct loop *l = &r->l;
    int64_t tiles = l->count / REDUCE_GRAIN;
    tiles = tiles < 1 ? 1 : tiles > REDUCE_TILES ? REDUCE_TILES : tiles;
    r->axis = apart ? axis_apart(l, tiles) : longest_axis(l);
    if (r->axis < 0) {
        r->axis = 0;
        tiles = 1;
    }
    r->block = (l->dim[r->axis] + tiles - 1) / tiles;
    r->tiles = (l->dim[r->axis] + r->block - 1) / r->block;
}

static void run_tile(void *ctx, int64_t tile)
{
    const struct reduction *r = ctx;
    struct loop part = r->l;
    int64_t begin = tile * r->block;
    int64_t left = r->l.dim[r->axis] - begin;
    part.dim[r->axis] = left < r->block ? left : r->block;
    part.count = part.count / r->l.dim[r->axis] * part.dim[r->axis];
    for (int k = 0; k < 2; k++)
        part.data[k] =
            (char *)part.data[k] + begin * part.stride[k][r->axis] * (int64_t)part.bytes[k];
    part.data[0] = (char *)part.data[0] + (size_t)tile * r->partial_bytes;
    peat_dtype dtype = part.bytes[0] == sizeof(float) ? PEAT_F32 : PEAT_F64;
    loop_range(&part, 0, part.count, loop_rows_of(dtype)->add_row, NULL);
}

static void loop_of(struct reduction *r, const struct tensor *dst, const struct tensor *src)
{
    struct tensor wide = tensor_broadcast_to(dst, src->rank, src->dim);
    loop_init(&r->l, 2, (const struct tensor *const[]){&wide, src});
}

bool reduce_add(const struct team *team, struct arena *arena, struct tensor *dst,
                const struct tensor *src)
{
    BUG_UNLESS(dst->dtype == src->dtype && dst->dtype != PEAT_I32);
    if (tensor_count(src) == 0)
        return true;
    struct reduction r = {0};
    struct tensor partial = tensor_shape(dst->dtype, dst->rank, dst->dim);
    loop_of(&r, &partial, src);
    plan(&r, false);
    if (r.tiles == 1 || r.l.stride[0][r.axis] != 0) {
        loop_of(&r, dst, src);
        plan(&r, true);
        parallel_for(team, r.tiles, run_tile, &r);
        return true;
    }
    struct arena_mark mark = arena_mark(arena);
    size_t bytes = (tensor_bytes(dst) + 63) / 64 * 64;
    char *memory = arena_try_zalloc(arena, (size_t)r.tiles * bytes);
    if (!memory)
        return false;
    r.l.data[0] = memory;
    r.partial_bytes = bytes;
    parallel_for(team, r.tiles, run_tile, &r);
    for (int64_t i = 0; i < r.tiles; i++) {
        partial.data = memory + (size_t)i * bytes;
        loop_axpy(team, dst, 1.0, &partial);
    }
    arena_rewind(arena, mark);
    return true;
}
