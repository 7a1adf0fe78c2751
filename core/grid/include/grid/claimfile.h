/* SPDX-License-Identifier: MIT */
/*
 * claimfile.h: claims.json of a run directory: what was registered, and when.
 *
 * A version of it has the claims and all that they are about (plan_registration), the time, and
 * what the directory had computed by then. The first one is written before any cell is trained.
 * What changes later does not replace earlier versions: it is added. Versions of peat 1.0 have the
 * claims, the time and the number of results.
 */
#pragma once

#include "experiment/plan.h"
#include "grid/rundir.h"

extern const struct record claims_record;

/* What a directory has computed, by its results, curves, checkpoints and trunks. */
struct begun {
    int64_t cells; /* that were started */
    int64_t steps, evaluations, results;
    int64_t states; /* that cells share (trunks) */
};
struct begun begun_count(const char *dir, struct arena *a);

struct claims_version {
    const struct value *v; /* as the file has it */
    const char *hash;      /* SHA-256 of the claims' canonical JSON */
    const char *written_utc;
    const struct value *claims; /* list of normal forms (experiment/claim.h) */
    const char *registered;     /* SHA-256 of {claims, plan, plugins}; NULL: words of claims only */
    struct begun by_then;
};

struct claims_kept {
    int n;       /* 0: nothing was registered */
    bool claims; /* some version has claims */
    struct claims_version *version;
};

/* Adds the plan and its claims to the file unless they are its last version. */
peat_status claims_keep(const char *dir, const struct plan *p, struct arena *a, struct error *err);
/* PEAT_CORRUPT: the file is damaged, or a version does not match its hash; no version is kept. */
peat_status claims_kept_read(const char *dir, struct claims_kept *kept, struct arena *a,
                             struct error *err);

/* "step", or "result", which is all that versions of peat 1.0 counted. */
const char *claims_first(const struct claims_version *v);

/* Which version counts: the last one that was written before any step of a cell. */
struct registered {
    int at;    /* 0 also where every version is late; -1: no version */
    bool late; /* it was written after a step */
    int begun; /* planned cells whose first start is older than it */
};
/* r: the directory of the file and others whose cells its claims are judged by. */
struct registered claims_registered(const struct claims_kept *kept, int n, const struct rundir *r);
/* What claims_registered says, of version i alone. */
struct registered claims_registered_at(const struct claims_kept *kept, int i, int n,
                                       const struct rundir *r);

/*
 * registration.c: the registration in words: "registered: claims and plan, 2026-01-31T12:00:00Z,
 * SHA-256 1a2b3c4d5e6f, before the first step"; and for each later version when it was written,
 * after how much, and what changed: "changed ..., after 120 steps, 12 evaluations and 3 results:
 * seeds 6 -> [0, 2, 3, 5]".
 */
struct registration {
    int n, room;
    const char **line;
    bool changed; /* written or changed after a step, so that every table has to say it; versions of
                   * peat 1.0 keep the tables that it printed */
};
/* Adds the lines of one directory, each after `head`. */
void registration_add(struct registration *g, const char *head, const struct claims_kept *kept,
                      int n, const struct rundir *r, struct arena *a);
/* Says how a plan.json differs from the last registration; NULL: it does not, or nothing is
 * registered. */
const char *registration_other(const struct claims_kept *kept, const struct value *plan,
                               struct arena *a);
/* All lines in one, for a field; NULL: there are none. */
const char *registration_text(const struct registration *g, struct arena *a);
/* The lines as a list under "registration". */
void registration_put(struct json map, const struct registration *g);
