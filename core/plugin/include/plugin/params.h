/* SPDX-License-Identifier: MIT */
/*
 * params.h: converts settings to a config struct by parameter rows, and back.
 *
 * The rows of plugins and those of the experiment file's own sections are the same kind, so one
 * piece of code types, bounds and explains every key that a user can write.
 */
#pragma once

#include "base/base.h"
#include <peat/param.h>

/* A row for a field of a struct of the core: its type, the struct, the field, the key, the doc, and
 * then the members that it needs, by name: `PARAM_ROW(PEAT_INT, struct model_config, d_model,
 * "d_model", "width of the model", .preset = 128, WITHIN(1, 65536))`. */
#define PARAM_ROW(type_, owner, field, key_, ...)                                                  \
    {                                                                                              \
        .key = key_, .type = type_, .offset = offsetof(owner, field), .doc = __VA_ARGS__           \
    }
#define WITHIN(least, most) .min = least, .max = most

/* Fills config (zeroed, of the right size) from presets, then from the map `given` (NULL or
 * VALUE_NULL: nothing given). Strings and lists are copied into the arena. Unknown key, wrong type,
 * out of bounds, missing required key: PEAT_INVALID placed at the key's or the value's
 * file:line:column, with the allowed values and the nearest key. `what` names the owner of the rows
 * in messages: "scheme 'rotary'", "train". Keys in `reserved` (NULL-terminated, may be NULL) are
 * skipped. BOOL accepts only true and false; INT accepts whole numbers, REAL integers too; `auto`
 * is accepted where PEAT_AUTO is set. PATH values are resolved beside the file they were written in
 * (values of the command line: from the current directory) and must exist. */
peat_status params_fill(const peat_param *row, void *config, const struct value *given,
                        const char *what, const char *const *reserved, struct arena *a,
                        struct error *err);
/* Every row with its value in the config, in row order, as a map. PEAT_AUTO values still at 0
 * become the text "auto". */
struct value *params_value(const peat_param *row, const void *config, struct arena *a);
/* The i-th file or folder that rows with PEAT_PATH name, in row order; NULL: there are no more. */
const char *params_path(const peat_param *row, const void *config, int i);
/* The value in the form that a person would write: "1e-05", "interleaved", "[128, 256]". */
const char *params_text(const peat_param *row, const void *config, struct arena *a);
/* The allowed values of a row: "a whole number from 1 to 4096", "one of interleaved, halves". */
const char *params_allowed(const peat_param *row, struct arena *a);
/* Checks the table itself: unique legal keys, preset within bounds, labels where needed, doc
 * present, offsets inside config_size. */
peat_status params_check(const peat_param *row, size_t config_size, struct error *err);
