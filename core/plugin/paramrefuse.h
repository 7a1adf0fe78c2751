/* SPDX-License-Identifier: MIT */
/* paramrefuse.h: reading and refusing one parameter; for params.c and paramread.c. */
#pragma once

#include "plugin/paramrow.h"

/* The state of one call of params_fill. */
struct filling {
    const peat_param *row; /* the table of rows */
    char *config;
    const char *what;
    const char *const *reserved;
    struct arena *a;
    struct error *err;
};

/* "scheme 'rotary'" or "train": plugins are named with their kind, sections of the file are not. */
bool is_plugin(const char *what);
/* A scalar as the user wrote it; NULL for lists and maps. */
const char *value_written(const struct value *v);
/* The nearest name, or else the only one that begins with the same three letters. */
const char *suggest_name(const char *word, const char *const *name, int n);
void add_quoted(struct strbuf *out, const char *text);
void add_found(struct strbuf *out, const struct value *v);

/* paramread.c: reads v into the row's field of f->config; PEAT_INVALID: f->err has the allowed
 * values. */
peat_status param_read(const struct filling *f, const peat_param *row, const struct value *v);

/* Sets f->err to the text in `out`, placed at `at`, and releases out. Returns PEAT_INVALID, as the
 * two functions below. */
peat_status refuse(const struct filling *f, struct place at, struct strbuf *out);
/* `item`: v is in a list, and the message is about each item of it. */
peat_status refuse_value(const struct filling *f, const peat_param *row, bool item,
                         const struct value *v);
/* looked_for: the path as resolved; error: the errno of reaching it */
peat_status refuse_path(const struct filling *f, const peat_param *row, const struct value *v,
                        const char *looked_for, int error);
