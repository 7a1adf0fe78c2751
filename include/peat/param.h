/* SPDX-License-Identifier: MIT */
/*
 * param.h: a plugin's parameters as a table of rows.
 *
 * The host reads the YAML, refuses unknown, duplicate, mistyped and out-of-range keys with
 * file:line:column, and fills the plugin's config struct. A plugin contains no parsing code. The
 * reference pages and the resolved values in each result are made from the same rows.
 */
#ifndef PEAT_PARAM_H
#define PEAT_PARAM_H

#include <peat/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The type of a row and of the config field it fills. */
typedef enum peat_param_type {
    PEAT_BOOL = 1,    /* bool                                                         */
    PEAT_INT = 2,     /* int64_t                                                      */
    PEAT_REAL = 3,    /* double                                                       */
    PEAT_ENUM = 4,    /* int64_t: index into labels                                   */
    PEAT_STRING = 5,  /* const char *, never NULL; "" unless given                    */
    PEAT_STRINGS = 6, /* peat_strings; the YAML may give one text or a list of texts  */
    PEAT_REALS = 7    /* peat_reals; the YAML may give one number or a list           */
} peat_param_type;

/* Lists of n items; n is 0 where none is given. The items live as long as the config. */
typedef struct peat_strings {
    int64_t n;
    const char *const *item;
} peat_strings;

typedef struct peat_reals {
    int64_t n;
    const double *item;
} peat_reals;

typedef enum peat_param_flag {
    PEAT_REQUIRED = 1, /* the user must give it                                                   */
    PEAT_AUTO = 2,     /* 0 where the user gives nothing or `auto`: the plugin then chooses, and
                        * `automatic` describes its choice */
    PEAT_PATH = 4,     /* names files: resolved against the experiment file, must exist, content
                          hashed into the cell's identity                                         */
    PEAT_OPEN_MIN = 8, /* the lower bound itself is not allowed                                   */
    PEAT_LATER = 16    /* a list or ENUM added after cells were trained with the plugin: while empty
                        * or preset, cells keep the identity that they had without it */
} peat_param_flag;

/*
 * One row. Keys are snake_case and equal the field they fill. For ENUM, `labels` is a
 * NULL-terminated list and `preset` an index. Bounds, for INT, REAL and each item of REALS, are
 * inclusive; both 0 means no bounds.
 * Not allowed as keys: `plugin`, `where`, `at`, `share`.
 */
typedef struct peat_param {
    const char *key;
    peat_param_type type;
    size_t offset; /* of the field in the config struct */
    double preset; /* default for BOOL, INT, REAL, ENUM */
    double min, max;
    const char *const *labels; /* ENUM only                                        */
    const char *automatic;     /* with PEAT_AUTO: what is chosen, e.g. "d_model/4" */
    const char *unit;          /* "tokens", "radians per position", or NULL        */
    const char *doc;           /* one line                                         */
    uint32_t flags;
} peat_param;

/* Ends a table. */
#define PEAT_PARAM_END                                                                             \
    {                                                                                              \
        NULL, PEAT_BOOL, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0                                     \
    }

#ifdef __cplusplus
}
#endif
#endif
