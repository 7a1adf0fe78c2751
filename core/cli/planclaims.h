/* SPDX-License-Identifier: MIT */
/* planclaims.h: whether the seeds of a plan can decide its claims. */
#ifndef CLI_PLANCLAIMS_H
#define CLI_PLANCLAIMS_H

#include "base/json.h"
#include "cli/loadplan.h"

/* Prints a line for each claim. pilot: a run directory that shows the spread of differences;
 * NULL: none. */
peat_status plan_claims_print(struct loaded_plan *l, const char *pilot, struct error *err);
/* The same as a list of maps. */
peat_status plan_claims_json(struct loaded_plan *l, const char *pilot, struct json list,
                             struct error *err);

#endif
