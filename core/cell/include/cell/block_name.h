/* SPDX-License-Identifier: MIT */
/* block_name.h: model.block, a name for several settings of a model. */
#pragma once

#include "base/json.h"

extern const char *const block_names[]; /* ended by NULL; the first has the defaults */

/* The section `model` with the settings that its block fills in, which have the place of its name;
 * a key that is given wins. The section itself where it names no block, or an unknown one. */
const struct value *block_name_filled(const struct value *model, struct arena *a);
/* The settings that the name fills in: "norm: rms, norm_eps: 1e-6, activation: swiglu, bias:
 * false". NULL: it fills in nothing. */
const char *block_name_text(const struct value *model, struct arena *a);
