/* SPDX-License-Identifier: MIT */
/*
 * quantity.h: the numbers of a cell, defined by the rows of quantities.inc.
 *
 * All seeds of a setting have the same numbers in plan.json. Of any other number, tables show the
 * median over the seeds that count.
 */
#pragma once

#include "base/record.h"

#define QUANTITY(files, name, ...) Q_##name,
enum quantity_name {
#include "base/quantities.inc"
    QUANTITIES
};

/* The files that have the number. */
enum quantity_file { IN_PLAN = 1, IN_CONFIG = 2, IN_RESULT = 4 };

/* Flags beside FIELD_NULL and FIELD_SIGNED of base/record.h. */
enum quantity_flag {
    QUANTITY_WHOLE = 1 << 20,  /* written as a whole number */
    QUANTITY_SPARSE = 1 << 21, /* a missing number is 0, 0 is not written, and a table has the
                                * column only when a row has the number */
    QUANTITY_TIMED = 1 << 22,  /* differs when the same cell runs again: left out of hashes and
                                * comparisons of bits */
};

/* How a table prints a number: 12.3k; 16 : 1; 1.50; 3.2; KiB as MiB. */
enum quantity_form { FORM_COUNT, FORM_RATIO, FORM_MILLISECONDS, FORM_SECONDS, FORM_KIB };

struct quantity {
    unsigned files;     /* enum quantity_file */
    const char *key;    /* key in these files, and in `peat results --format json` */
    unsigned flags;     /* enum quantity_flag, enum field_flag */
    const char *csv;    /* its column in the csv; NULL: the key */
    const char *column; /* its word in --columns; NULL: results do not show it */
    const char *head;   /* head of its column in tables */
    enum quantity_form form;
    const char *unit, *meaning; /* as in docs/formats.md */
};
extern const struct quantity quantities[QUANTITIES];

/* The row of a record, without a key where the file does not have the number. In a configuration
 * and a result any number that is not sparse may be null. */
#define QUANTITY_FIELD(is_in_file, key, flags) {(is_in_file) ? (key) : "", FIELD_NUMBER | (flags)},
#define QUANTITY_FIELD_OR_NULL(is_in_file, key, flags)                                             \
    QUANTITY_FIELD(is_in_file, key, (flags) | ((flags)&QUANTITY_SPARSE ? 0 : FIELD_NULL))

/* Writes the numbers of this file from q[QUANTITIES]; NaN becomes null. */
void quantities_put(struct json map, enum quantity_file file, const double *q);
/* Reads the numbers of one file into q; NaN: missing. Other numbers keep their value. */
void quantities_read(const struct value *map, enum quantity_file file, double *q);
/* True where the number under this key is a timing. */
bool quantity_is_timed(const char *key);
