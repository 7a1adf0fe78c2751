/* SPDX-License-Identifier: MIT */
/*
 * kept.h: generations from which the run does not continue, kept beside the others until the run is
 * done.
 *
 * step-00000500.kept-1a2b3c4d: a generation, by its step and the start of its state's SHA-256, with
 * a copy of the curve as it was, and in `why` one line for the user.
 */
#pragma once

#include "base/base.h"

/* The step in such a name; -1: another name. */
int64_t kept_step(const char *name);
/* Those below return whether they succeeded. */
/* Keeps generation `name` of dir. curve: a file of the run that belongs to it (NULL: no file).
 * from: the step from which the run continues instead. */
bool kept_put(const char *dir, const char *name, const char *curve, int64_t from, const char *why,
              struct error *err);
/* The first copies the curve into a generation that has no copy; the second copies it back. */
bool kept_put_curve(const char *generation, const char *curve, struct error *err);
bool kept_take_curve(const char *generation, const char *curve, struct error *err);
/* Renames it to a usable generation of its step, and restores the curve. */
bool kept_take_back(const char *dir, const char *name, const char *curve, struct error *err);
