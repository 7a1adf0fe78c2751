/* SPDX-License-Identifier: MIT */
/*
 * start.h: weights that start from a file or from a cell of another run.
 *
 * `model.start` is a map or a list of maps; `model.embedding` is one of them for the table of
 * tokens. Each names a file and, by name or pattern, weights. The file is data: the
 * hash of its bytes is part of the cell's identity (base/data_files.h). All weights are drawn
 * first, so that those that start otherwise shift no other.
 */
#pragma once

#include "cell/cell.h"

struct assembly;

/* The sum of a concatenation is no longer made; old cells that have it are still read. */
enum start_as { START_SAME, START_SUM_OF_CONCAT };

struct weight_start {
    /* as written */
    peat_strings to;    /* names and patterns of weights */
    int64_t as;         /* enum start_as */
    const char *from;   /* a file, or a directory */
    const char *cell;   /* or a file of the directory; "{seed}" in it is this cell's seed */
    const char *tensor; /* ""; the name that each weight has */
    bool frozen;
    bool embedding; /* it is model.embedding */
    struct place at;
    /* found out */
    const char *file;           /* that is read */
    const char *sha256;         /* of its bytes */
    const struct value *config; /* config.json of the run's cell; NULL: from is a file */
};

/* Rows of model.start; those from this place on are the rows of model.embedding. */
enum { START_FIRST_OF_EMBEDDING = 2 };
extern const peat_param start_rows[];

/* After assemble: the values of all starts, for weights that have memory; for others the checks
 * alone. s->started says what was taken. Lines are placed where `from` is written; PEAT_REFUSED: of
 * another shape. */
peat_status start_apply(struct assembly *s, const struct cell_config *c, struct error *err);
