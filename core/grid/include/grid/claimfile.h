/* SPDX-License-Identifier: MIT */
/*
 * claimfile.h: claims.json of a run directory: the claims, and when they were made.
 *
 * It is written at the first start, before any cell is trained. Claims that change later do not
 * replace earlier ones: they are added, with the number of results at that time.
 */
#pragma once

#include "experiment/experiment.h"

/* One state of the claims. */
struct claims_version {
    const char *hash; /* SHA-256 of their canonical JSON */
    const char *written_utc;
    int results;                /* finished cells in the directory at that time */
    const struct value *claims; /* list of normal forms (experiment/claim.h) */
};

struct claims_kept {
    int n; /* 0: the experiment never had claims */
    struct claims_version *version;
};

/* Adds the experiment's claims to the file unless they are its last version. */
peat_status claims_keep(const char *dir, const struct experiment *e, struct arena *a,
                        struct error *err);
/* PEAT_CORRUPT: the file is damaged, or claims do not match their hash. */
peat_status claims_kept_read(const char *dir, struct claims_kept *kept, struct arena *a,
                             struct error *err);
