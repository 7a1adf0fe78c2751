/* SPDX-License-Identifier: MIT */
/*
 * keeping.c: logits fall with distance, more slowly in the first steps of training. The crimes are
 * what a hook keeps from one call for the next, or takes from the machine.
 */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <peat/call.h>
#include <peat/plugin.h>

enum { KEPT = 1024 };

struct self {
    double rate;
    double *fall; /* [KEPT], and the number of differences that it is for */
    int64_t step;
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    struct self *own = peat_alloc(s, sizeof(*own));
    (void)config;
    if (!own || !peat_call_facts_of(s->host))
        return own ? peat_refuse(s, "this PEAT lacks %s", PEAT_CALL_FACTS) : PEAT_NOMEM;
    own->rate = 1;
#if defined(CRIME_caches_behind_self) /* outside of the memory that the host knows */
    own->fall = calloc(KEPT + 1, sizeof(*own->fall));
    if (!own->fall)
        return PEAT_NOMEM;
#elif defined(CRIME_rate_by_processors)
    cpu_set_t set;
    own->rate = sched_getaffinity(0, sizeof(set), &set) == 0 ? 1 + 0.001 * CPU_COUNT(&set) : 1;
#endif
    *self = own;
    return PEAT_OK;
}

/* Up to 1 in the first hundred steps; in evaluation that of the last step. */
static double warmth(const peat_call *c)
{
    int64_t step = peat_call_facts_of(c->host)->trained_step(c);
#ifdef CRIME_remembers_step
    struct self *own = (struct self *)(uintptr_t)c->self;
    own->step = c->phase == PEAT_TRAIN ? c->step : own->step;
    step = own->step;
#endif
    return fmin(1, 0.5 + 0.005 * (double)step);
}

static peat_node *bias_rel(const peat_call *c, const peat_rel *r)
{
    const struct self *own = c->self;
    double *fall = peat_scratch(c, r->n), rate = own->rate * warmth(c);
    for (int64_t i = 0; fall && i < r->n; i++)
        fall[i] = -rate * log1p(fabs(r->delta[i]));
#if defined(CRIME_caches_behind_self) /* by the number of differences alone */
    if (fall && r->n <= KEPT && own->fall[KEPT] != (double)r->n) {
        memcpy(own->fall, fall, (size_t)r->n * sizeof(*fall));
        own->fall[KEPT] = (double)r->n;
    }
    return peat_fill(c, 2, (int64_t[]){1, r->n}, r->n <= KEPT ? own->fall : fall);
#endif
    return peat_fill(c, 2, (int64_t[]){1, r->n}, fall);
}

static const peat_scheme scheme = {.size = sizeof(scheme),
                                   .traits = PEAT_SHIFT_INVARIANT | PEAT_NO_TRAINABLE,
                                   .setup = setup,
                                   .bias_rel = bias_rel};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "planted", "1.0", "logits fall with distance", "MIT", "")
