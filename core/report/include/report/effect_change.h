/* SPDX-License-Identifier: MIT */
/*
 * effect_change.h: how an effect changes along an axis (experiment/change.h), in numbers.
 *
 * Each seed that has the effect at every label asked for gives one number: a difference of two
 * effects, a least-squares slope, or a step from one label to the next. Tests over seeds then need
 * nothing but independent seeds (a summary measure for each subject: Matthews et al. 1990, BMJ 300,
 * 230; for slopes Lorch and Myers 1990, J. Exp. Psychol. Learn. Mem. Cogn. 16, 149).
 */
#pragma once

#include "experiment/change.h"
#include "report/effects.h"

/* The changes in *out: one, or of CHANGE_MONOTONE one for each step, named "1500 to 6000". Returns
 * how many; 0: *why says why there is none. x is of the contrast alone, and c is not CHANGE_NONE.
 */
int effect_changes(const struct effects *x, const struct change *c, struct effect **out,
                   const char **why, struct arena *a);
