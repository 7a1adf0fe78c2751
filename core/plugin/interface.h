/* SPDX-License-Identifier: MIT */
/*
 * interface.h: a plugin's peat_scheme, peat_combine or peat_task as this program knows it.
 *
 * These structs grow only at their end. A plugin built with older headers has fewer fields: the
 * others are zero. One built with newer headers has more: they must be zero.
 */
#ifndef PLUGIN_INTERFACE_H
#define PLUGIN_INTERFACE_H

#include <peat/plugin.h>

#include "base/arena.h"
#include "base/error.h"

/* A copy in `a`, as long as this program's struct. `kind` must be known. PEAT_INVALID: no size, or
 * less than ABI 0.1 began with; PEAT_MISMATCH: a field is set that is not known here. */
peat_status interface_whole(struct arena *a, peat_kind kind, const void *given, const void **whole,
                            struct error *err);

#endif
