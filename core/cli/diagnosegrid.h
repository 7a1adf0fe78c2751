/* SPDX-License-Identifier: MIT */
/* diagnosegrid.h: `peat diagnose` of many cells: their measures, row by row over seeds. */
#pragma once

#include "cli/command.h"
#include "findings/findings.h"
#include "tensor/parallel.h"

enum { DIAGNOSE_ONLY = 16 };
enum diagnose_format { DIAGNOSE_TABLE, DIAGNOSE_CSV, DIAGNOSE_JSON };

struct diagnose_grid {
    int n_only;
    const char *only[DIAGNOSE_ONLY]; /* names of diagnostics; without any: all */
    int64_t batches;
    bool save, kept;
    int format;
    const char *columns, *figure, *over, *file; /* NULL: the default columns; no figure; no axis;
                                                 * stdout */
    const char *lines, *panels;                 /* options of the figure */
};

/* Diagnoses the cells that match the second operand. Returns CLI_FAILED when a finished cell
 * could not be diagnosed, CLI_USAGE when none could. */
int diagnose_grid(const struct cli *cli, const struct diagnose_grid *g, const struct team *team);
