/* SPDX-License-Identifier: MIT */
/* planseconds.h: how long a plan's work takes on this machine. */
#ifndef CLI_PLANSECONDS_H
#define CLI_PLANSECONDS_H

#include "experiment/experiment.h"

/* Seconds of `work` FLOPs (plan_work) as this machine would run them now, from a matrix product
 * that is timed for an instant; NaN: nothing here multiplies. Right within a factor of two or
 * three: products are a part of a step, and small models have small ones. */
double plan_seconds(const struct run_settings *run, double work);

#endif
