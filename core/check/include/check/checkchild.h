/* SPDX-License-Identifier: MIT */
/* checkchild.h: one check of a plugin in a process of its own. */
#pragma once

#include "check/check.h"
#include "process/child.h"

const char *check_end_name(enum check_end end); /* "passed" */
bool check_is_bad(enum check_end end);          /* neither passed nor skipped */

struct check_report {
    const char *check;
    enum check_end end;
    const char *text;            /* "" when it passed */
    const struct value *subject; /* the child's description of the plugin, with the reasons of
                                    checks that are to be skipped; NULL: not loaded */
    bool absent;                 /* the plugin was not found */
    double seconds;
    struct cells_end cells;
};

struct check_request {
    const char *plugin; /* name or path */
    int n_setting;
    char *const *setting;  /* "key=value" */
    double timeout;        /* seconds */
    struct trail *trail;   /* records each call of the plugin in the child; NULL: not recorded */
    const char *cells;     /* as in struct checked; NULL: drawn ones */
    const char *sweep;     /* argument of check_cases; NULL: another check */
    const char *reference; /* a Python file; NULL: check 'reference' is skipped */
    void (*trace)(const char *line); /* for check_trace, as in struct checked */
};

/* A check in a process of its own, from check_start to check_finish. */
struct check_running {
    struct check_request q;
    const char *check, *record;
    struct own_dir dir;
    struct child child;
};

/* The child's side: runs the check in this process and writes the report to `record` (NULL: it is
 * not written). Files of the check go to `scratch`. */
bool check_here(const struct check_request *q, const char *check, const char *record,
                const char *scratch, struct arena *arena, struct check_report *report,
                struct error *err);
/* The parent's side. The caller sets `q` and `check`, holds stops (base/stops.h), and calls
 * check_finish after a check_start that succeeded. */
bool check_start(struct check_running *r, struct arena *arena, struct error *err);
void check_finish(struct check_running *r, struct arena *arena, struct check_report *report);
/* check_start and check_finish, with stops held. False, without an error, where a stop came. */
bool check_apart(const struct check_request *q, const char *check, struct arena *arena,
                 struct check_report *report, struct error *err);
