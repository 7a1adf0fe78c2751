/* SPDX-License-Identifier: MIT */
/* reopen.h: the configuration of a cell that a run directory has, with the plugins and the data
 * that are there now. */
#pragma once

#include "cell/cell.h"

/* A cell as its directory describes it. */
struct recorded_cell {
    const char *label, *dir;
    const struct value *config; /* config.json; NULL: unreadable */
    const struct value *meta;   /* meta.json, which names the data; NULL: missing */
    struct trail *trail;        /* where the loading of its plugins is recorded; NULL: nowhere */
};

/* Refuses data and plugin files that differ from those that the cell was planned with. `what` names
 * the purpose in the message: "a diagnosis". Initialises r. */
peat_status cell_reopen(struct cell_config *c, const struct recorded_cell *cell, const char *what,
                        struct registry *r, struct arena *a, struct error *err);
