/* SPDX-License-Identifier: MIT */
/* slices.h: whether tasks may write to the gradients of two operands side by side. */
#pragma once

#include "autograd/graph.h"

/* For x and y [B,H,T,C]: slices (b,h) of one and (b',h') of the other never share memory unless
 * (b,h) = (b',h'). True for different roots, the same view, separate parts of a root, and separate
 * columns of its rows (such as q, k and v of one projection); false when in doubt. */
bool slices_apart(const peat_node *x, const peat_node *y);
/* True where the three are separate views of one root and together show all of it. */
bool slices_cover(const peat_node *x, const peat_node *y, const peat_node *z);
