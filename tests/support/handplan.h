/* SPDX-License-Identifier: MIT */
/* handplan.h: a plan and a run directory made by hand: no plugin and no engine is needed. */
#pragma once

#include "experiment/plan.h"

enum { HANDPLAN_MAX = 16 };

struct handplan {
    struct arena arena;
    char dir[64];  /* a temporary directory: the files below are in it */
    char file[96]; /* the experiment file                              */
    char run[96];  /* the run directory; not made                      */
    struct experiment experiment;
    struct plan plan;
    struct plan_cell cell[HANDPLAN_MAX];
    int64_t seed;
};

void handplan_open(struct handplan *h);
/* A cell "<scheme>.s0" of 100 steps that is evaluated at length 8. Its hash and the end of its id
 * are eight digits, a number counted from 10000000 on. */
struct plan_cell *handplan_add(struct handplan *h, const char *scheme);
void handplan_close(struct handplan *h);
/* Of cell i in the run directory: "<dir>/run/cells/<id>/<name>". Lives as long as the plan. */
const char *handplan_path(struct handplan *h, int i, const char *name);
/* Writes a text into such a file; its directory must exist. */
void handplan_put(struct handplan *h, int i, const char *name, const char *text);
