/* SPDX-License-Identifier: MIT */
/*
 * check.h: checks of the promises of plugins.
 *
 * A check works on one loaded plugin and ends in a verdict with a reason. It may crash, hang or
 * spoil the process with the plugin, so the caller gives each check a process of its own.
 */
#pragma once

#include "plugin/registry.h"
#include "process/state.h"

/* How a check ended; in a process of its own it may also crash, or not end in time. */
enum check_end {
    CHECK_PASSED,
    CHECK_FAILED,
    CHECK_SKIPPED,
    CHECK_CRASHED,
    CHECK_TIMEOUT,
    CHECK_ENDS
};

/* why: the mistake and its place, or the reason to skip; "" when the check passed. */
struct check_outcome {
    enum check_end verdict;
    char why[2048];
};

/* The progress of check_cases, and the cell of a failure, for the parent process. */
struct cells_end {
    int64_t tried;
    int64_t index;     /* index of the cell that failed, or of the next one to try */
    const char *text;  /* the experiment file of the cell that failed; NULL: none did. Of
                        * check_cells: the labels that they have, and how many of them */
    const char *check; /* of check_cases: the check that failed */
};

/* The plugin under check. */
struct checked {
    struct arena *arena;
    const struct plugin *plugin;
    struct registry *registry;
    const struct value *given;       /* parameters to check it with; NULL: the defaults */
    const struct state *unloaded;    /* state of the process before the plugin was loaded */
    const char *scratch;             /* a directory for files */
    const char *cells;               /* a file of a cell, or a folder of them; where the folder has
                                      * none, they are drawn and written there */
    struct check_cells *open;        /* those that were read */
    struct data_files *files;        /* files that the parameters name */
    const struct team *team;         /* one thread, after gemm_start */
    struct trail *trail;             /* records calls of the plugin; NULL: not recorded */
    const char *sweep;               /* argument of check_cases, below */
    const char *reference;           /* Python file for check 'reference'; NULL: none */
    void (*trace)(const char *line); /* gets the lines of check_trace; otherwise NULL */
    struct cells_end *end;
};

struct check {
    const char *name; /* "causality" */
    const char *doc;  /* the property that it tests, one line */
    unsigned kinds;   /* bit 1 << peat_kind: the check is for plugins of this kind */
};

/* All checks in the order they are run, ended by a NULL name. */
extern const struct check checks[];
/* Finds check_cases, check_cells and check_trace too, which are not in the table; NULL: no check
 * has this name. */
const struct check *check_find(const char *name);
bool check_is_for(const struct check *c, peat_kind kind);
/* Why the check does not apply to this plugin; NULL: it applies. */
const char *check_unfit(const struct check *c, const struct checked *s);
void check_run(const struct check *c, const struct checked *s, struct check_outcome *o);

/* Tries all properties in drawn cells, the same on every machine. s->sweep: "SEED INDEX STEP END
 * SECONDS": every STEPth cell from INDEX on and before END is tried, until one fails or the time is
 * up. */
extern const struct check check_cases;
/* The cell that it tries, in s->scratch. */
#define CHECK_CELL "cell.yaml"

/* Runs one pass of each cell and gives s->trace a line for each call of a hook of the scheme or
 * combine. */
extern const struct check check_trace;

/* Draws the cells. A process that has run the plugin for that is not as one that has not. */
extern const struct check check_cells;

/* The first failure counts; without one, the first reason to skip, or else the first note, of
 * CHECK_PASSED. */
void check_say(struct check_outcome *o, enum check_end verdict, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define check_fail(o, ...) check_say((o), CHECK_FAILED, __VA_ARGS__)
