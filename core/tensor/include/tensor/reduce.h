/* SPDX-License-Identifier: MIT */
/* reduce.h: sums over the axes that a tensor does not have, in an order fixed by the shapes. */
#pragma once

#include "tensor/parallel.h"
#include "tensor/tensor.h"

/* dst += src summed over the axes of dst that are 1 or missing; dst broadcasts to src's shape.
 * Partial sums live in the arena during the call. False: out of memory, dst unchanged. */
bool reduce_add(const struct team *team, struct arena *arena, struct tensor *dst,
                const struct tensor *src);
