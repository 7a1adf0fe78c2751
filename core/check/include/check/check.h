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

enum check_verdict { CHECK_PASSED, CHECK_FAILED, CHECK_SKIPPED };

/* why: the mistake and its place, or the reason to skip; "" when the check passed. */
struct check_outcome {
    enum check_verdict verdict;
    char why[2048];
};

enum { CASE_SETTINGS = 32 };

/* How far drawn cases came, for the parent. */
struct cases_end {
    int64_t tried, refused; /* the plugin does not want the configuration */
    int64_t index;          /* of the case that failed, or would be next  */
    const char *text;       /* of that case; NULL: none                   */
    int n_setting;
    const char *setting[CASE_SETTINGS];
};

/* The plugin under check. */
struct checked {
    struct arena *arena;
    const struct plugin *plugin;
    const struct value *given;       /* parameters to check it with; NULL: the defaults */
    const struct state *unloaded;    /* of the process before the plugin was loaded     */
    const char *scratch;             /* a directory for files                           */
    struct data_files *files;        /* has those that the parameters name              */
    const struct team *team;         /* one thread, after gemm_start                    */
    struct trail *trail;             /* where its functions are noted; NULL: nowhere    */
    const char *cases;               /* of check_cases                                  */
    const char *reference;           /* a Python file, of check 'reference'; NULL: none */
    void (*trace)(const char *line); /* of check_trace; NULL: others */
    struct cases_end *end;
};

struct check {
    const char *name; /* "causality" */
    const char *doc;  /* the property that it tests, one line */
    unsigned kinds;   /* bit 1 << kind: it is for this kind   */
};

/* All checks in the order they are run, ended by a NULL name. */
const struct check *check_table(void);
/* Also check_cases and check_trace, which are not in the table; NULL: there is none of that name.
 */
const struct check *check_find(const char *name);
bool check_is_for(const struct check *c, peat_kind kind);
/* Why the check has nothing to try with this plugin; NULL: it has. */
const char *check_unfit(const struct check *c, const struct checked *s);
void check_run(const struct check *c, const struct checked *s, struct check_outcome *o);

/* All properties in configurations that are drawn, the same on every machine, with parameters drawn
 * as settings, "reach=3". s->cases is one case as it is printed; "at SEED INDEX", which is written
 * to s->end and not run; or "from SEED INDEX STEP END SECONDS": every STEPth case before END until
 * one fails or time is up. */
extern const struct check check_cases;

/* Gives s->trace each call of a hook of a scheme or combine in one pass of each model. */
extern const struct check check_trace;

/* The first failure counts; without one, the first reason to skip. check_add adds to the reason. */
void check_fail(struct check_outcome *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void check_skip(struct check_outcome *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void check_add(struct check_outcome *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
