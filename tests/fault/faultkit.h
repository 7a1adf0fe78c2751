/* SPDX-License-Identifier: MIT */
/*
 * faultkit.h: what the fault tests share: a small grid, its uninterrupted run, programs run with a
 * fault and a time limit, and what must hold afterwards.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/strbuf.h"

/* A directory in memory where there is one: what is tested is the order of calls, not the disk. */
struct rig {
    char dir[64];
    const char *peat;
    bool is_long;            /* the long form was asked for: --long */
    unsigned long long seed; /* of what is drawn at random */
};

/* Reads the arguments: --long, --seed N. */
void rig_open(struct rig *s, int argc, char **argv);
/* Removes the directory; the exit status of the test. */
int rig_close(struct rig *s);
/* <dir>/name; freed by the caller. */
char *rig_path(const struct rig *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void rig_write(const struct rig *s, const char *name, const char *text);
/* "text.txt": so many lines to train on, of which line `other` differs; -1: none does. */
void rig_write_text(const struct rig *s, int lines, int other);
/* 64 random bits; the same seed gives the same ones. */
unsigned long long draw(unsigned long long *state);

/* A failed expectation is counted and printed; the test goes on. */
void expect(bool holds, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int failures(void);

/* ---- programs ---- */

enum { RAN_TOO_LONG = -1000 };

struct ran {
    int status; /* exit status, 1000 + signal, or RAN_TOO_LONG */
    struct strbuf out, err;
};

/* Runs `peat words...` in the rig's directory, whose "plugins" is searched first; with
 * PEAT_FAULT=fault when that is not NULL. Output goes to files "<slot>.out" and "<slot>.err". */
void run_peat(const struct rig *s, int slot, const char *fault, const char *words, struct ran *r);
/* Starts it without waiting, in a group of its own. */
pid_t start_peat(const struct rig *s, int slot, const char *words);
void ran_release(struct ran *r);
/* The last fault of the slot did happen. */
bool has_fired(const struct rig *s, int slot);
/* 0, 1, 2 or 130, and "killed" when that was the fault. */
bool is_good_end(const struct ran *r, bool killed);

/* ---- grids ---- */

/* What of a finished grid must be the same after any fault: every metrics.jsonl and every
 * result.json without times and memory. Freed by the caller. */
char *grid_fingerprint(const struct rig *s, const char *run);
/* The rows of `results --format csv` as far as the value, and every one with a value must be among
 * those of the reference. */
void expect_table_within(const struct rig *s, int slot, const char *run, const char *reference_csv,
                         const char *what);
/* No file of a temporary name is left below. */
void expect_no_leftovers(const struct rig *s, const char *run, const char *what);
/* A copy of a directory of plain files; nothing may be there before. */
void copy_tree(const char *from, const char *to);
