/* SPDX-License-Identifier: MIT */
/*
 * start.h: weights that start from a file or from a cell of another run.
 *
 * `model.start` is a map or a list of maps; `model.embedding` is one of them for the table of
 * tokens. Each names a file and, by name or pattern, weights. The file is data: the hash of its
 * bytes is part of the cell's identity (base/data_files.h). All weights are drawn first, so weights
 * from a file do not change the draws of others.
 */
#pragma once

#include "cell/cell.h"

struct assembly;

/* sum_of_concat was removed; configurations of old cells that have it are still read. */
enum start_as { START_SAME, START_SUM_OF_CONCAT };

struct weight_start {
    /* this and the fields below are as written in the experiment */
    peat_strings to;    /* names and patterns of weights */
    int64_t as;         /* enum start_as */
    const char *from;   /* a file, or a directory */
    const char *cell;   /* the cell of that run directory, or a file of it; "{seed}" in it is
                         * this cell's seed */
    const char *tensor; /* name of the tensor in the file; "": each weight's own name */
    bool frozen;
    bool embedding; /* the entry is model.embedding */
    struct place at;
    /* this and the fields below are set when the file is found */
    const char *file;           /* the file that is read */
    const char *sha256;         /* SHA-256 of its bytes */
    const struct value *config; /* config.json of the other run's cell; NULL: from is a file */
};

/* Rows of model.start; the rows of model.embedding are those from this index on. */
enum { START_FIRST_OF_EMBEDDING = 2 };
extern const peat_param start_rows[];

/* After assemble: sets the values of all starts, for weights that have memory; for others it only
 * checks. s->started then describes the sources. Messages name the line where `from` is written;
 * PEAT_REFUSED: another shape. */
peat_status start_apply(struct assembly *s, const struct cell_config *c, struct error *err);
