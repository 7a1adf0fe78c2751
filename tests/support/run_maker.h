/* SPDX-License-Identifier: MIT */
/*
 * run_maker.h: run directories without training.
 *
 * Axes are position.scheme and position.combine (or another second one), the metric is bpb (and
 * accuracy, 1 - bpb / 10) at the lengths 128 and 256 tokens. Labels are the insides of JSON texts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/quantity.h"
#include "base/strbuf.h"

struct run_maker {
    char dir[96];
    const char *name;
    const char *report;  /* JSON of plan.json's "report"; preset: bpb, no baseline */
    const char *axes;    /* JSON of plan.json's "axes" */
    const char *dropped; /* JSON list */
    int64_t d_model;     /* in every cell's configuration */
    const char *arch;    /* of the cells to come; preset: decoder */
    const char *task;    /* JSON of further settings of their task, as ",\"objective\":\"auto\"" */
    const char *train;   /* JSON of their section train; NULL: they have none */
    const char *second;  /* key of the second axis; "task": its labels are the tasks' names too */
    const char *batches, *init, *shapes; /* the hashes of the cells to come; NULL: not recorded */
    double q[QUANTITIES]; /* numbers of the cells to come; tokens per second rise by 1 with each */
    struct strbuf cells, claims;
    int n;
};

/* A new directory below /tmp. */
void run_maker_open(struct run_maker *m, const char *name);
/* Gives every number of the cells to come a value that no other has, of three digits. */
void run_maker_own_numbers(struct run_maker *m);
/* Such a number as a table shows it: "117", "110 : 1". */
void run_maker_shown(int quantity, char text[32]);
/* A cell that is finished; NaN: the value is null. */
void run_maker_done(struct run_maker *m, const char *scheme, const char *combine, int64_t seed,
                    double at_128, double at_256);
/* A cell without values: "todo", "diverged", "stale" (with values 9 and 9), or an end such as
 * "crashed". */
void run_maker_state(struct run_maker *m, const char *scheme, const char *combine, int64_t seed,
                     const char *state);
/* A version of the claims: a JSON list of their normal forms (experiment/claim.h), written when
 * there were so many results. */
void run_maker_claim(struct run_maker *m, const char *claims, int results);
/* Writes plan.json, and claims.json where there are claims. */
void run_maker_finish(struct run_maker *m);
/* Removes the directory. */
void run_maker_close(struct run_maker *m);
/* Writes <dir>/cells/<id>/<name>; id as the maker gives it: "rotary.sum.s0-00000000", the hash
 * being the number of the cell. */
void run_maker_file(const struct run_maker *m, int cell, const char *name, const char *text);
