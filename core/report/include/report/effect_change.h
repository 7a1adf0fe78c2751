/* SPDX-License-Identifier: MIT */
/*
 * effect_change.h: computes how an effect changes along an axis (experiment/change.h).
 *
 * Each seed that has the effect at every label asked for gives one number: a difference of two
 * effects, a least-squares slope, or a step from one label to the next. Tests over seeds then
 * assume only independent seeds (a summary measure for each subject: Matthews et al. 1990, BMJ 300,
 * 230; for slopes Lorch and Myers 1990, J. Exp. Psychol. Learn. Mem. Cogn. 16, 149).
 */
#pragma once

#include "experiment/change.h"
#include "report/effects.h"

/* Computes the changes into *out: one change, or for CHANGE_MONOTONE one for each step, named "1500
 * to 6000". Returns their number; 0: *why has the reason. x belongs to this contrast only, and c is
 * not CHANGE_NONE. */
int effect_changes(const struct effects *x, const struct change *c, struct effect **out,
                   const char **why, struct arena *a);
