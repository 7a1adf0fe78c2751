/* SPDX-License-Identifier: MIT */
/* planseconds.h: how long a plan's work takes on this machine. */
#ifndef CLI_PLANSECONDS_H
#define CLI_PLANSECONDS_H

#include "experiment/experiment.h"

/* Seconds of `work` FLOPs (plan_work) on this machine when it does nothing else, from a matrix
 * product that is timed for an instant; NaN: nothing here multiplies. Mostly right within a third;
 * starting a cell, 0.05 s of a processor, is not counted. */
double plan_seconds(const struct run_settings *run, double work);

#endif
