/* SPDX-License-Identifier: MIT */
/*
 * front.h: cutting the front of a span (nn/pass.h) off for hooks, and putting it back behind them.
 *
 * The front is a class token without a position. It stays as it is. Where a span has none, each
 * function returns its operand. For the model and its attention.
 */
#ifndef NN_FRONT_H
#define NN_FRONT_H

#include "nn/pass.h"

/* x without its front along one axis. */
peat_node *front_cut(struct pass *pass, peat_node *x, int32_t axis);
/* The front of `whole` along one axis, then `rest`. */
peat_node *front_join(struct pass *pass, peat_node *whole, peat_node *rest, int32_t axis);
/* x [.., Tq, Tk] without the rows and columns of the front. */
peat_node *front_cut_pairs(struct pass *pass, peat_node *x);
/* `whole` [.., Tq, Tk] with `rest` in the place of what front_cut_pairs gives. */
peat_node *front_join_pairs(struct pass *pass, peat_node *whole, peat_node *rest);
/* A term [1|B, 1|H, 1|T, 1|T] of the logits as one that is 0 at the rows and columns of the front;
 * NULL stays NULL. */
peat_node *front_pad_pairs(struct pass *pass, peat_node *term);

#endif
