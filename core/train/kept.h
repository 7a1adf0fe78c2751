/* SPDX-License-Identifier: MIT */
/*
 * kept.h: generations that the run does not continue from, kept beside the others until it is done.
 *
 * step-00000500.kept-1a2b3c4d: a generation, by its step and the start of its state's SHA-256, with
 * a copy of the curve as it was, and in `why` one line for the user.
 */
#pragma once

#include "base/base.h"

/* The step of such a name; -1: another name. */
int64_t kept_step(const char *name);
/* Keeps generation `name` of dir. curve: a file of the run's that belongs to it (NULL: none). from:
 * the step that the run goes on from instead. */
peat_status kept_put(const char *dir, const char *name, const char *curve, int64_t from,
                     const char *why, struct error *err);
/* Copies the curve into a generation, unless it is there; and from there back into its place. */
peat_status kept_put_curve(const char *generation, const char *curve, struct error *err);
peat_status kept_take_curve(const char *generation, const char *curve, struct error *err);
/* Makes it the generation of its step again, and restores the curve. */
peat_status kept_take_back(const char *dir, const char *name, const char *curve, struct error *err);
