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

enum { CASE_SETTINGS = 32 };

/* The progress of check_cases, for the parent process. */
struct cases_end {
    int64_t tried, refused; /* refused: cases whose configuration the plugin refuses */
    int64_t index;          /* index of the case that failed, or of the next one to try */
    const char *text;       /* text of the failed case; NULL: none failed */
    int n_setting;
    const char *setting[CASE_SETTINGS];
};

/* The plugin under check. */
struct checked {
    struct arena *arena;
    const struct plugin *plugin;
    const struct value *given;       /* parameters to check it with; NULL: the defaults */
    const struct state *unloaded;    /* state of the process before the plugin was loaded */
    const char *scratch;             /* a directory for files */
    struct data_files *files;        /* files that the parameters name */
    const struct team *team;         /* one thread, after gemm_start */
    struct trail *trail;             /* records calls of the plugin; NULL: not recorded */
    const char *cases;               /* argument of check_cases, below */
    const char *reference;           /* Python file for check 'reference'; NULL: none */
    void (*trace)(const char *line); /* gets the lines of check_trace; otherwise NULL */
    struct cases_end *end;
};

struct check {
    const char *name; /* "causality" */
    const char *doc;  /* the property that it tests, one line */
    unsigned kinds;   /* bit 1 << peat_kind: the check is for plugins of this kind */
};

/* All checks in the order they are run, ended by a NULL name. */
extern const struct check checks[];
/* Finds check_cases and check_trace too, which are not in the table; NULL: no check has this
 * name. */
const struct check *check_find(const char *name);
bool check_is_for(const struct check *c, peat_kind kind);
/* Why the check does not apply to this plugin; NULL: it applies. */
const char *check_unfit(const struct check *c, const struct checked *s);
void check_run(const struct check *c, const struct checked *s, struct check_outcome *o);

/* Tries all properties in drawn configurations, the same on every machine, with the plugin's
 * parameters drawn as settings, "reach=3". s->cases is a case's text: it is run; or "at SEED
 * INDEX": that case is only described, in s->end; or "from SEED INDEX STEP END SECONDS": every
 * STEPth case from INDEX on and before END is run, until one fails or the time is up. */
extern const struct check check_cases;

/* Runs one pass of each model and gives s->trace a line for each call of a hook of the scheme or
 * combine. */
extern const struct check check_trace;

/* The first failure counts; without one, the first reason to skip. check_add adds to the reason. */
void check_fail(struct check_outcome *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void check_skip(struct check_outcome *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void check_add(struct check_outcome *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
