/* SPDX-License-Identifier: MIT */
/* own_positions.c: the positions that a scheme makes for itself. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "nn/pass.h"

/* The model's positions on the axes that they have, 0 on others. */
static void preset(const peat_side *side, int64_t B, int32_t n_axes, double *pos)
{
    int64_t T = side->T;
    for (int32_t a = 0; a < n_axes; a++)
        for (int64_t b = 0; b < B; b++)
            for (int64_t t = 0; t < T; t++) {
                int64_t from = (a * side->pos_B + (side->pos_B == 1 ? 0 : b)) * T + t;
                pos[(a * B + b) * T + t] = a < side->n_axes ? side->pos[from] : 0.0;
            }
}

static bool all_finite(struct pass *pass, const double *pos, int64_t n, int64_t T)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(pos[i])) {
            graph_fail(pass->g, "the position of place %" PRId64 " is %g", i % T, pos[i]);
            return false;
        }
    return true;
}

static int32_t axes_of(const peat_scheme *h)
{
    return h->own_axes > 0 ? h->own_axes : 1;
}

/* The scheme's positions [n_axes, B, T] of one side; NULL: the graph failed. */
static const double *run(struct pass *pass, int index, const peat_side *side)
{
    const peat_scheme *h = pass->positional->scheme[index].hooks;
    int32_t n_axes = axes_of(h);
    struct call c;
    call_init(&c, pass, index, -1);
    c.own = *side;
    c.base.q = c.base.k = &c.own;
    hook_begin(&c, HOOK_OWN_POSITIONS);
    int64_t n = n_axes * pass->B * side->T;
    double *pos = ARENA_TRY_ARRAY(pass->g->arena, n, double);
    if (pos)
        preset(side, pass->B, n_axes, pos);
    else
        graph_no_memory(pass->g, "positions", 0);
    peat_status status = PEAT_FAILED;
    if (pos && call_has_tokens(&c))
        status = h->own_positions(&c.base, pos);
    if (status == PEAT_OK && !all_finite(pass, pos, n, side->T))
        status = PEAT_FAILED;
    return hook_status(pass, status) ? pos : NULL;
}

bool pass_own_positions(struct pass *pass, int index)
{
    struct own_positions *own = &pass->own[index];
    const peat_scheme *h = pass->positional->scheme[index].hooks;
    *own = (struct own_positions){0};
    if (!h->own_positions)
        return true;
    struct call c;
    call_init(&c, pass, index, -1);
    call_sides(&c, span_so_far(&pass->span), span_keys(&pass->span));
    const peat_side *q = c.base.q, *k = c.base.k;
    struct own_positions made = {.n_axes = axes_of(h), .T_q = q->T, .T_k = k->T};
    made.q = run(pass, index, q);
    made.k = k == q ? made.q : run(pass, index, k);
    if (made.q && made.k)
        *own = made;
    return made.q && made.k;
}
