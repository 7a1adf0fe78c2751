/* SPDX-License-Identifier: MIT */
/*
 * scheme_tests.h: what tests of schemes share: known weights, terms of the logits, and the scheme
 * inside a whole tiny model.
 */
#pragma once

#include "support/modelcheck.h"
#include "support/plugin_harness.h"
#include "support/support.h"

/* The scheme for a model of H heads of width C, trained and evaluated with T positions; its stream
 * is d_model wide. */
static inline peat_status scheme_try(struct harness *h, const char *name, const char *json,
                                     int64_t H, int64_t C, int64_t T, bool causal)
{
    peat_dims dims = {
        .D = H * C, .H = H, .d = H * C, .L = 1, .V = 7, .T_train = T, .T_max = T, .causal = causal};
    return harness_scheme(h, name, json, &dims);
}

static inline void scheme_open(struct harness *h, const char *name, const char *json, int64_t H,
                               int64_t C, int64_t T, bool causal)
{
    peat_status status = scheme_try(h, name, json, H, C, T, causal);
    ck_assert_msg(status == PEAT_OK, "%s", h->err.text);
}

static inline void scheme_refuses(const char *name, const char *json, int64_t H, int64_t C,
                                  int64_t T, bool causal, const char *text)
{
    struct harness h;
    ck_assert_int_eq(scheme_try(&h, name, json, H, C, T, causal), PEAT_REFUSED);
    ck_assert_str_eq(h.err.text, text);
    harness_close(&h);
}

/* A hook failed with this among other words. */
static inline void scheme_says(const struct harness *h, const char *text)
{
    ck_assert_msg(strstr(h->graph.err.text, text), "%s", h->graph.err.text);
}

/* A hook gave no node and failed with this among other words. */
static inline void scheme_fails(const struct harness *h, const peat_node *given, const char *text)
{
    ck_assert_ptr_null(given);
    scheme_says(h, text);
}

/* The scheme is for decoders alone. */
static inline void scheme_refuses_encoders(const char *name)
{
    struct modelcheck m;
    struct harness h;
    char text[128];
    scheme_open(&h, name, NULL, 2, 4, 5, false);
    modelcheck_init(&m, PEAT_ENCODER);
    modelcheck_scheme(&m, name, h.scheme)->part.config = h.config;
    ck_assert_int_eq(modelcheck_try(&m), PEAT_REFUSED);
    snprintf(text, sizeof(text),
             "scheme '%s' is defined only for a causal model (model.arch: decoder)", name);
    ck_assert_str_eq(m.err.text, text);
    modelcheck_release(&m);
    harness_close(&h);
}

/* Element i of tensor k becomes sin(1 + i + 10 k). */
static inline void scheme_wave(struct harness *h)
{
    for (int k = 0; k < h->weights.n; k++)
        for (int64_t i = 0; i < tensor_count(&h->weights.item[k]->value); i++)
            tensor_set(&h->weights.item[k]->value, i, sin((double)(1 + i + 10 * k)));
}

static inline void scheme_assert(const peat_node *n, int64_t count, const double *expected,
                                 double tolerance)
{
    ck_assert_ptr_nonnull(n);
    ck_assert_int_eq(tensor_count(&n->value), count);
    for (int64_t i = 0; i < count; i++)
        ck_assert_double_eq_tol(harness_at(n, i), expected[i], tolerance);
}

static inline void scheme_copy(const peat_node *n, int64_t count, double *out)
{
    ck_assert_ptr_nonnull(n);
    ck_assert_int_eq(tensor_count(&n->value), count);
    for (int64_t i = 0; i < count; i++)
        out[i] = harness_at(n, i);
}

/* bias_rel of the scheme for n differences. */
static inline peat_node *scheme_bias_rel(struct harness *h, int64_t n, const double *delta)
{
    const peat_rel rel = {.size = sizeof(rel), .n = n, .n_axes = 1, .delta = delta};
    peat_node *node = h->scheme->bias_rel(harness_call(h, 1, 4, 1, NULL), &rel);
    ck_assert_msg(node, "%s", h->graph.err.text);
    ck_assert_int_eq(node->value.dim[1], n);
    return node;
}

/* q and k after the qkv hook: one head, n positions, q and k [n, C] alike at all of them. */
static inline peat_qkv scheme_turn(struct harness *h, int64_t n, const double *pos, int64_t C,
                                   const double *q, const double *k)
{
    double all_q[256], all_k[256];
    ck_assert_int_le(n * C, 256);
    harness_call(h, 1, n, 1, pos);
    for (int64_t i = 0; i < n * C; i++) {
        all_q[i] = q[i % C];
        all_k[i] = k[i % C];
    }
    peat_qkv io = {.size = sizeof(io)};
    io.q = harness_constant(h, 4, (int64_t[]){1, 1, n, C}, all_q);
    io.k = harness_constant(h, 4, (int64_t[]){1, 1, n, C}, all_k);
    ck_assert_msg(h->scheme->qkv(&h->call.base, &io) == PEAT_OK, "%s", h->graph.err.text);
    return io;
}

/* The product of the query in row i with the key in row j. */
static inline double scheme_product(const peat_qkv *io, int64_t i, int64_t j)
{
    int64_t C = io->q->value.dim[3];
    double sum = 0;
    for (int64_t m = 0; m < C; m++)
        sum += harness_at(io->q, i * C + m) * harness_at(io->k, j * C + m);
    return sum;
}

/* ---- rotations of one head of 8 ---- */

static const double scheme_q8[] = {.1, .2, .3, .4, .5, .6, .7, .8};
static const double scheme_k8[] = {.8, .7, .6, .5, .4, .3, .2, .1};

/* Row 0 is at position m, row 1 at n. */
static inline peat_qkv scheme_turn_8(struct harness *h, double m, double n)
{
    return scheme_turn(h, 2, (double[]){m, n}, 8, scheme_q8, scheme_k8);
}

/* The product of the query at m with the key at n. */
static inline double scheme_product_8(struct harness *h, double m, double n)
{
    peat_qkv io = scheme_turn_8(h, m, n);
    return scheme_product(&io, 0, 1);
}

static inline void scheme_products_follow_distance(const char *name, const char *json)
{
    struct harness h;
    scheme_open(&h, name, json, 1, 8, 8, true);
    double at = scheme_product_8(&h, 5, 2);
    ck_assert_double_eq_tol(scheme_product_8(&h, 105, 102), at, 1e-13);
    ck_assert_double_eq_tol(scheme_product_8(&h, 1005, 1002), at, 1e-12);
    ck_assert_double_ge(fabs(scheme_product_8(&h, 5, 3) - at), 1e-3);
    harness_close(&h);
}

/* The query at position m, of a model trained with T positions. */
static inline void scheme_turns_query(const char *name, const char *json, int64_t T, double m,
                                      const double expected[8])
{
    struct harness h;
    scheme_open(&h, name, json, 1, 8, T, true);
    peat_qkv io = scheme_turn_8(&h, m, 1);
    for (int64_t i = 0; i < 8; i++)
        ck_assert_double_eq_tol(harness_at(io.q, i), expected[i], 1e-14);
    harness_close(&h);
}

/* ---- models ---- */

/* The scheme in modelcheck's model: d_model 8, 2 heads, 2 layers, 5 positions, vocabulary of 7. */
static inline void scheme_model(struct modelcheck *m, struct harness *h, const char *name,
                                const char *json, peat_arch arch, peat_scope share)
{
    scheme_open(h, name, json, 2, 4, 5, arch == PEAT_DECODER);
    modelcheck_init(m, arch);
    struct scheme_part *part = modelcheck_scheme(m, name, h->scheme);
    part->part.config = h->config;
    part->where.share = share;
    modelcheck_build(m);
}

/* Analytic against numeric gradients of all weights of that model, the scheme's among them. */
static inline void scheme_gradients(const char *name, const char *json, peat_arch arch,
                                    peat_scope share)
{
    struct modelcheck m;
    struct harness h;
    scheme_model(&m, &h, name, json, arch, share);
    modelcheck_gradients(&m, 1e-6);
    modelcheck_release(&m);
    harness_close(&h);
}

/* Gradients of a model whose first scheme changes the positions that the second acts on. */
static inline void scheme_on_positions(const char *name, const char *json, const char *other)
{
    struct modelcheck m;
    struct harness positions, acting;
    scheme_open(&positions, name, json, 2, 4, 5, true);
    scheme_open(&acting, other, NULL, 2, 4, 5, true);
    modelcheck_init(&m, PEAT_DECODER);
    modelcheck_scheme(&m, name, positions.scheme)->part.config = positions.config;
    modelcheck_scheme(&m, other, acting.scheme)->part.config = acting.config;
    modelcheck_build(&m);
    modelcheck_gradients(&m, 1e-6);
    modelcheck_release(&m);
    harness_close(&positions);
    harness_close(&acting);
}
