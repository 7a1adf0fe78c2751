/* SPDX-License-Identifier: MIT */
/*
 * combine_tests.h: what tests of combinations share: setting one up, two inputs that are easy to
 * calculate with, and the properties that more than one has.
 */
#pragma once

#include "support/plugin_harness.h"
#include "support/support.h"

enum { COMBINE_STREAMS = 3 };

/* ---- set-up ---- */

/* The combine for n streams of these widths (0: free), which are filled in. */
static inline peat_status combine_try(struct harness *h, const char *name, const char *json,
                                      int64_t D, int64_t H, int32_t n, int64_t *width)
{
    static const char *const stream[COMBINE_STREAMS] = {"token", "position", "position.2"};
    peat_dims dims = {.D = D, .H = H, .L = 1, .V = 4, .T_train = 3, .T_max = 3};
    return harness_combine(h, name, json, &dims, n, stream, width);
}

/* For n streams of free width and a model of two heads. */
static inline void combine_open(struct harness *h, const char *name, const char *json, int64_t D,
                                int32_t n)
{
    int64_t width[COMBINE_STREAMS] = {0};
    peat_status status = combine_try(h, name, json, D, 2, n, width);
    ck_assert_msg(status == PEAT_OK, "%s", h->err.text);
}

/* Streams get these widths, and the model becomes `final` wide. The caller closes h. */
static inline void combine_open_as(struct harness *h, const char *name, const char *json, int64_t D,
                                   int64_t H, int32_t n, int64_t *width, const int64_t *expected,
                                   int64_t final)
{
    peat_status status = combine_try(h, name, json, D, H, n, width);
    ck_assert_msg(status == PEAT_OK, "%s", h->err.text);
    for (int32_t i = 0; i < n; i++)
        ck_assert_int_eq(width[i], expected[i]);
    ck_assert_int_eq(h->positional.D, final);
}

static inline void combine_widths(const char *name, const char *json, int64_t D, int64_t H,
                                  int32_t n, int64_t *width, const int64_t *expected, int64_t final)
{
    struct harness h;
    combine_open_as(&h, name, json, D, H, n, width, expected, final);
    harness_close(&h);
}

static inline void combine_refuses(const char *name, const char *json, int64_t D, int64_t H,
                                   int32_t n, int64_t *width, const char *text)
{
    struct harness h;
    ck_assert_int_eq(combine_try(&h, name, json, D, H, n, width), PEAT_REFUSED);
    ck_assert_str_eq(h.err.text, text);
    harness_close(&h);
}

static inline void combine_wants_equal_widths(const char *name)
{
    combine_refuses(name, NULL, 8, 2, 2, (int64_t[]){0, 6},
                    "all streams must be as wide as the model, 8, but 'position' is always 6 wide");
}

/* Trained numbers of a combine of n streams. */
static inline int64_t combine_parameters(const char *name, const char *json, int64_t D, int32_t n)
{
    struct harness h;
    combine_open(&h, name, json, D, n);
    int64_t trained = weights_trainable(&h.weights);
    harness_close(&h);
    return trained;
}

/* ---- values ---- */

/* Merges x [2,1,2] = 1 2, 3 4 with p [1,1,width]. */
static inline peat_node *combine_merge(struct harness *h, int64_t width, const double *p)
{
    const peat_call *c = harness_call(h, 2, 1, 1, NULL);
    peat_node *src[] = {harness_constant(h, 3, (int64_t[]){2, 1, 2}, (double[]){1, 2, 3, 4}),
                        harness_constant(h, 3, (int64_t[]){1, 1, width}, p)};
    return h->combine->merge(c, 2, src);
}

/* (a i mod 7 - 3) / b */
static inline double combine_ramp(int64_t i, int64_t a, double b)
{
    return (double)(a * i % 7 - 3) / b;
}

/* The i-th element of a tensor of the combine becomes that. */
static inline void combine_fill(struct harness *h, int which, int64_t a, double b)
{
    struct tensor *t = &h->weights.item[which]->value;
    for (int64_t i = 0; i < tensor_count(t); i++)
        tensor_set(t, i, combine_ramp(i, a, b));
}

/* Merges the first n of the reference inputs, x [2,2,4] and p [1,2,4]. pos as in harness_call. */
static inline peat_node *combine_merge_ramps(struct harness *h, int32_t n, int64_t pos_B,
                                             const double *pos)
{
    const peat_call *c = harness_call(h, 2, 2, pos_B, pos);
    double x[16], p[8];
    for (int64_t i = 0; i < 16; i++)
        x[i] = combine_ramp(i, 3, 2);
    for (int64_t i = 0; i < 8; i++)
        p[i] = combine_ramp(i, 5, 4);
    peat_node *src[] = {harness_constant(h, 3, (int64_t[]){2, 2, 4}, x),
                        harness_constant(h, 3, (int64_t[]){1, 2, 4}, p)};
    return h->combine->merge(c, n, src);
}

/* y is [2, T, width], of these values in all. */
static inline void combine_gives(const peat_node *y, int64_t T, int64_t width,
                                 const double *expected)
{
    ck_assert_ptr_nonnull(y);
    ck_assert_int_eq(y->value.rank, 3);
    ck_assert_int_eq(y->value.dim[0], 2);
    ck_assert_int_eq(y->value.dim[1], T);
    ck_assert_int_eq(y->value.dim[2], width);
    for (int64_t i = 0; i < 2 * T * width; i++)
        ck_assert_double_eq_tol(harness_at(y, i), expected[i], 1e-14);
}

/* The merge of stream x with p = 10 -20, in a model 2 wide, is `expected`. */
static inline void combine_gives_small(const char *name, const char *json, const double expected[4])
{
    struct harness h;
    combine_open_as(&h, name, json, 2, 1, 2, (int64_t[]){0, 0}, (int64_t[]){2, 2}, 2);
    combine_gives(combine_merge(&h, 2, (double[]){10, -20}), 1, 2, expected);
    harness_close(&h);
}

/* Checks the gradients of n streams and all tensors; some streams are shared by the rows of a
 * batch. */
static inline void combine_gradients(const char *name, const char *json, int64_t D, int32_t n)
{
    struct harness h;
    combine_open(&h, name, json, D, n);
    harness_gradcheck_merge(&h, 3, n, (int64_t[COMBINE_STREAMS]){2, 1, 2});
    harness_close(&h);
}
