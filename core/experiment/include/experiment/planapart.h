/* SPDX-License-Identifier: MIT */
/*
 * planapart.h: plan_make in a process of its own, for a process that runs no plugin code.
 *
 * The plan comes back as data. A cell's configuration has only the parts that readers of the plan
 * need: resolved settings, hash, seed, train sizes, and kind, id and content hash of each plugin;
 * no plugin is loaded here, and no function of one can be called.
 */
#pragma once

#include "experiment/plan.h"

peat_status plan_make_apart(struct plan *p, const struct experiment *e, enum plan_depth depth,
                            struct arena *a, struct error *err);
