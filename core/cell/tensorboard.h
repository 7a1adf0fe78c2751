/* SPDX-License-Identifier: MIT */
/* tensorboard.h: scalars as a TensorBoard event file, events.out.tfevents.<host>.<pid>. */
#pragma once

#include "base/base.h"

struct tensorboard;

peat_status tensorboard_open(struct tensorboard **t, const char *dir, struct arena *a,
                             struct error *err);
/* With t NULL nothing is written. Values that are not finite are left out. */
void tensorboard_add(struct tensorboard *t, int64_t step, const char *tag, double value);
void tensorboard_close(struct tensorboard *t);
