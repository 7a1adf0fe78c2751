/* SPDX-License-Identifier: MIT */
/* modelcheck.h: whole models under test: a tiny F64 model around a positional, its loss, and a
 * gradient check over all its weights. */
#pragma once

#include "model/transformer.h"

struct modelcheck {
    struct arena arena, step;
    struct positional positional; /* schemes and combine: filled in by the test */
    struct model_config config;   /* preset by modelcheck_init, changed by the test */
    struct model model;
    struct model_input input;
    int32_t token[64], target[64], label[8];
    int64_t sequence[8];
    struct team team;
    struct error err;
};

/* V 7, D 8, H 2, L 2, B 2, T 5; a sum combine; no schemes; a full host table. */
void modelcheck_init(struct modelcheck *m, peat_arch arch);
/* Adds a scheme with these hooks; its part is named `id`. */
struct scheme_part *modelcheck_scheme(struct modelcheck *m, const char *id,
                                      const peat_scheme *hooks);
/* model_build in F64; aborts the test on error. */
void modelcheck_build(struct modelcheck *m);
/* The same, for tests that expect a refusal. */
peat_status modelcheck_try(struct modelcheck *m);
/* Mean cross-entropy against m->target, one for each row of the logits, and m->label beside; with
 * `backward`, gradients are left in the weights. */
double modelcheck_loss(struct modelcheck *m, bool backward);
/* Logits copied out; the caller's array holds B*T*V, or as many as there are for classes. */
void modelcheck_logits(struct modelcheck *m, double *out);
/* Largest |analytic - numeric| / max(1, |a|, |n|) over up to 12 elements of every weight; asserts
 * that it is below limit when limit > 0. */
double modelcheck_gradients(struct modelcheck *m, double limit);
void modelcheck_release(struct modelcheck *m);
