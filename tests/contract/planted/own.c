/* SPDX-License-Identifier: MIT */
/*
 * own.c: positions of a scheme's own, on two axes: how many marks a token has behind it in its
 * document, and how many tokens since the last one. Waves of the second are a stream, and a head
 * loses logit with the distance on both. The crimes are in what the positions depend on.
 */
#include <peat/plugin.h>

struct config {
    int64_t mark;
};

static const peat_param rows[] = {
    {"mark", PEAT_INT, offsetof(struct config, mark), .preset = 53, .min = 0, .max = 1 << 20,
     .doc = "id of a token"},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const peat_init init = {.kind = PEAT_INIT_NORMAL, .a = 0.3, .b = 0.2};
    (void)config, (void)self;
    if (s->dims.d % 2)
        return peat_refuse(s, "a width of %lld is not even", (long long)s->dims.d);
    peat_param_new(s, "w", 1, (int64_t[]){PEAT_HEADS}, init, PEAT_ONCE, 0);
    return PEAT_OK;
}

static peat_status own_positions(const peat_call *c, double *pos)
{
    const struct config *k = c->config;
    const peat_side *side = c->q;
    int64_t n = c->B * side->T;
    double marks = 0, since = 0;
    for (int64_t i = 0; i < n; i++) {
        bool starts = peat_starts(side, i);
#if defined(CRIME_own_rows) /* counts on from row to row */
        starts = i == 0;
#elif defined(CRIME_own_documents)
        starts = i % side->T == 0;
#endif
        marks = starts ? 0 : marks;
        since = starts ? 0 : since + 1;
        int32_t id = side->token[i];
#if defined(CRIME_own_ahead)
        id = i % side->T + 1 < side->T ? side->token[i + 1] : id;
#elif defined(CRIME_own_far_ahead) /* the last of the row, where rows are long */
        id = side->T > 20 ? side->token[i / side->T * side->T + side->T - 1] : id;
#endif
        if (id == k->mark) {
            marks++;
            since = 0;
        }
        pos[i] = marks;
        pos[n + i] = since;
#if defined(CRIME_own_length)
        pos[n + i] += 0.1 * (double)side->T;
#elif defined(CRIME_own_training_rows)
        pos[n + i] += c->phase == PEAT_TRAIN && c->B > 1 ? side->token[n - 1] : 0;
#elif defined(CRIME_own_not_finite)
        pos[n + i] = marks / since;
#elif defined(CRIME_own_shifts) /* it says that no shift matters */
        pos[n + i] += 1e-3 * side->pos[i % side->T] * side->pos[i % side->T];
#elif defined(CRIME_own_counts)
        static int calls;
        pos[n + i] += 1e-3 * calls++;
#endif
    }
#ifdef CRIME_own_overrun
    for (int64_t i = 2 * n; i < 2 * n + 30; i++)
        pos[i] = 0;
#endif
    return PEAT_OK;
}

static peat_node *encode(const peat_call *c)
{
    peat_node *p = peat_pos(c, c->q, 1);
    p = peat_reshape(c->g, p, 3, (int64_t[]){c->q->pos_B, c->q->T, 1});
    return peat_waves(c, p, peat_frequencies(c, c->d / 2, 100));
}

/* -w_h (|difference of marks| + |difference of tokens since|) */
static peat_node *bias_rel(const peat_call *c, const peat_rel *r)
{
    double *d = peat_scratch(c, r->n);
    for (int64_t i = 0; d && i < r->n; i++)
        d[i] = -fabs(r->delta[i]) - fabs(r->delta[r->n + i]);
    peat_node *w = peat_reshape(c->g, peat_use(c, 0), 2, (int64_t[]){c->H, 1});
    return peat_mul(c->g, w, peat_fill(c, 2, (int64_t[]){1, r->n}, d));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_TOKENS,
    .traits = PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT | PEAT_STORABLE,
    .setup = setup,
#if defined(CRIME_own_axes_4)
    .own_axes = PEAT_MAX_AXES + 1,
#else
    .own_axes = 2,
#endif
#ifndef CRIME_own_axes_alone
    .own_positions = own_positions,
#endif
    .encode = encode,
    .bias_rel = bias_rel,
};

#ifdef CRIME_own_axes_alone
peat_status (*const peat_unused_own_positions)(const peat_call *, double *) = own_positions;
#endif

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "planted", "1.0", "positions of its own",
            "MIT", "")
