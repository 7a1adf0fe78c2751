/* SPDX-License-Identifier: MIT */
/* begin.c: passes are begun here; own_positions and prepare are called here. */
#include "begin.h"

#include "input.h"

void pass_init(struct pass *pass, struct model *m, struct positional *p, const peat_dims *dims,
               struct graph *g, const struct model_input *in)
{
    bool collect = pass->collect;
    const struct observer *observer = pass->observer;
    *pass = (struct pass){
        .g = g,
        .positional = p,
        .model_arena = m->arena,
        .dims = *dims,
        .phase = in->phase,
        .B = in->B,
        .step = in->phase == PEAT_TRAIN ? in->step : 0,
        .seed = m->seed,
        .merge = input_merge,
        .collect = collect,
        .observer = observer,
        .drops = "dropout",
        .span.rows = {.size = sizeof(pass->span.rows),
                      .T = in->T,
                      .T_total = in->T_total > 0 ? in->T_total : in->T,
                      .n_axes = 1,
                      .sequence = in->sequence,
                      .token = in->token,
                      .segment = in->segment,
                      .document = in->document,
                      .pad = in->pad,
                      .special = in->special},
    };
}

/* Whether a scheme has hooks on pairs. */
static bool acts_on_pairs(const peat_scheme *h)
{
    return scheme_acts_on(h, ACTS_ON_TERMS | ACTS_ON_SCORES | ACTS_ON_CONTEXT);
}

static void prepare(struct pass *pass, int i, bool pairs)
{
    struct call c;
    call_init(&c, pass, i, -1);
    if (pairs)
        call_pairs(&c);
    hook_begin(&c, HOOK_PREPARE);
    hook_status(pass, pass->positional->scheme[i].hooks->prepare(
                          &c.base, pairs ? pass->shared_pairs[i] : pass->shared[i]));
}

void pass_prepare(struct pass *pass)
{
    for (int i = 0; i < pass->positional->n_scheme; i++) {
        const struct scheme_part *s = &pass->positional->scheme[i];
        if (pass->span.source && !s->where.across)
            continue;
        if (!pass_own_positions(pass, i))
            return;
        if (!s->hooks->prepare)
            continue;
        prepare(pass, i, false);
        if (span_grows(&pass->span) && acts_on_pairs(s->hooks))
            prepare(pass, i, true);
    }
}
