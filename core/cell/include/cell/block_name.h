/* SPDX-License-Identifier: MIT */
/* block_name.h: model.block, a name for several settings of a model. */
#pragma once

#include "base/json.h"

extern const char *const block_names[]; /* ended by NULL; the first has the defaults */

/* The section `model` with the settings that its block stands for, at the place of its name; a key
 * that is given wins. The section itself where it names no block, or none that there is. */
const struct value *block_name_filled(const struct value *model, struct arena *a);
/* "norm: rms, norm_eps: 1e-6, activation: swiglu, bias: false": what the name fills in; NULL:
 * nothing. */
const char *block_name_text(const struct value *model, struct arena *a);
