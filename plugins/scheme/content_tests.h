/* SPDX-License-Identifier: MIT */
/*
 * content_tests.h: what tests of schemes that look at content share: inputs that the reference
 * computation has too, and properties of the scheme in a whole tiny model on either path.
 */
#pragma once

#include "nn/attention.h"
#include "scheme_tests.h"

enum { CONTENT_LOGITS = 2 * 5 * 7, CONTENT_FIRST_FOUR = 4 * 7 };

/* A constant whose element i is scale sin(1 + i + phase). */
static inline peat_node *content_wave(struct harness *h, double scale, double phase, int32_t rank,
                                      const int64_t *dim)
{
    double value[256];
    int64_t n = 1;
    for (int32_t i = 0; i < rank; i++)
        n *= dim[i];
    ck_assert_int_le(n, 256);
    for (int64_t i = 0; i < n; i++)
        value[i] = scale * sin((double)(1 + i) + phase);
    return harness_constant(h, rank, dim, value);
}

/* The call of one row in layer 0 of a scheme whose tensors are scheme_wave's. */
static inline const peat_call *content_call(struct harness *h, int64_t T, const double *pos)
{
    scheme_wave(h);
    harness_call(h, 1, T, 1, pos);
    h->call.base.layer = 0;
    return &h->call.base;
}

/* q, k and v of one row: waves of phase 100, 200 and 300. */
static inline peat_qkv content_qkv(struct harness *h, int64_t T)
{
    const int64_t dim[] = {1, h->dims.H, T, h->dims.C};
    return (peat_qkv){.size = sizeof(peat_qkv),
                      .q = content_wave(h, 1, 100, 4, dim),
                      .k = content_wave(h, 1, 200, 4, dim),
                      .v = content_wave(h, 1, 300, 4, dim)};
}

/* score_add of one row for waves. */
static inline peat_node *content_scores(struct harness *h, int64_t T, const double *pos)
{
    const peat_call *c = content_call(h, T, pos);
    peat_qkv p = content_qkv(h, T);
    peat_node *n = h->scheme->score_add(c, &p);
    ck_assert_msg(n, "%s", h->graph.err.text);
    return n;
}

/* q and k of one row that a scheme turns by the inputs x of the layer, waves of phase 100. */
static inline void content_turns_by_input(struct harness *h, int64_t T, const double *q,
                                          const double *k)
{
    const peat_call *c = content_call(h, T, NULL);
    h->call.base.x_q = h->call.base.x_k = content_wave(h, 1, 100, 3, (int64_t[]){1, T, h->dims.D});
    peat_qkv io = content_qkv(h, T);
    ck_assert_msg(h->scheme->qkv(c, &io) == PEAT_OK, "%s", h->graph.err.text);
    scheme_assert(io.q, T * h->dims.D, q, 1e-13);
    scheme_assert(io.k, T * h->dims.D, k, 1e-13);
}

/* q of one row that a scheme turns at the positions 0, 3 and where `third` stands. */
static inline void content_turns_at(struct harness *h, double third, const double *q)
{
    const double pos[] = {0, 3, third};
    const peat_call *c = content_call(h, 3, pos);
    peat_qkv io = content_qkv(h, 3);
    ck_assert_msg(h->scheme->qkv(c, &io) == PEAT_OK, "%s", h->graph.err.text);
    scheme_assert(io.q, 3 * h->dims.D, q, 1e-13);
}

/* Element i of the k-th tensor of any scheme becomes 0.4 sin(1 + i + 10 k). */
static inline void content_fill(struct modelcheck *m)
{
    int k = 0;
    for (int w = 0; w < m->model.weights.n; w++) {
        struct weight *x = m->model.weights.item[w];
        if (strncmp(x->name, "position.", 9) != 0)
            continue;
        for (int64_t i = 0; i < tensor_count(&x->value); i++)
            tensor_set(&x->value, i, 0.4 * sin((double)(1 + i + 10 * k)));
        k++;
    }
}

/* scheme_model with a choice of path and known tensors. */
static inline void content_model(struct modelcheck *m, struct harness *h, const char *name,
                                 const char *json, peat_arch arch, enum attention_path path)
{
    scheme_open(h, name, json, 2, 4, 5, arch == PEAT_DECODER);
    modelcheck_init(m, arch);
    struct scheme_part *part = modelcheck_scheme(m, name, h->scheme);
    part->part.config = h->config;
    m->config.attention_path = path;
    modelcheck_build(m);
    content_fill(m);
}

/* Adds a second scheme before modelcheck_build. */
static inline void content_add(struct modelcheck *m, struct harness *h, const char *name,
                               const char *json)
{
    scheme_open(h, name, json, 2, 4, 5, m->config.arch == PEAT_DECODER);
    modelcheck_scheme(m, name, h->scheme)->part.config = h->config;
}

static inline void content_close(struct modelcheck *m, struct harness *h)
{
    modelcheck_release(m);
    harness_close(h);
}

/* Every tensor of a scheme in the model has a gradient that is not 0 throughout. */
static inline void content_all_learn(struct modelcheck *m)
{
    modelcheck_loss(m, true);
    for (int i = 0; i < m->model.weights.n; i++) {
        const struct weight *w = m->model.weights.item[i];
        double largest = 0;
        for (int64_t e = 0; e < tensor_count(&w->grad); e++)
            largest = fmax(largest, fabs(tensor_get(&w->grad, e)));
        ck_assert_msg(strncmp(w->name, "position.", 9) != 0 || largest > 1e-7, "%s got no gradient",
                      w->name);
    }
}

static inline void content_gradients(const char *name, const char *json, peat_arch arch,
                                     enum attention_path path)
{
    struct modelcheck m;
    struct harness h;
    content_model(&m, &h, name, json, arch, path);
    content_all_learn(&m);
    modelcheck_gradients(&m, 1e-6);
    content_close(&m, &h);
}

static inline void content_logits(const char *name, const char *json, peat_arch arch,
                                  enum attention_path path, double *out)
{
    struct modelcheck m;
    struct harness h;
    content_model(&m, &h, name, json, arch, path);
    modelcheck_logits(&m, out);
    content_close(&m, &h);
}

/* Heads 1 and 2 of 4 alone: the scheme takes their part of the projections. */
static inline void content_group_gradients(const char *name, const char *json)
{
    struct modelcheck m;
    struct harness h;
    modelcheck_init(&m, PEAT_DECODER);
    m.config.n_head = 4;
    scheme_open(&h, name, json, 4, 2, 5, true);
    struct scheme_part *part = modelcheck_scheme(&m, name, h.scheme);
    part->part.config = h.config;
    part->where.head_begin = 1;
    part->where.head_end = 3;
    modelcheck_build(&m);
    content_fill(&m);
    modelcheck_gradients(&m, 1e-6);
    content_close(&m, &h);
}

static inline double content_distance(const double *a, const double *b, int64_t n)
{
    double largest = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

/* The scores of an encoder are scaled as the sum of so many terms, of 4 products each. */
static inline void content_scale_has_terms(const char *name, int terms)
{
    double automatic[CONTENT_LOGITS], given[CONTENT_LOGITS];
    struct modelcheck m;
    struct harness h;
    content_logits(name, NULL, PEAT_ENCODER, PATH_AUTO, automatic);
    content_model(&m, &h, name, NULL, PEAT_ENCODER, PATH_AUTO);
    m.model.config.attention_scale_value = 1 / sqrt(terms * 4);
    modelcheck_logits(&m, given);
    ck_assert_double_le(content_distance(automatic, given, CONTENT_LOGITS), 1e-13);
    m.model.config.attention_scale_value = 1 / sqrt(4);
    modelcheck_logits(&m, given);
    ck_assert_double_ge(content_distance(automatic, given, CONTENT_LOGITS), 1e-4);
    content_close(&m, &h);
}

static inline void content_paths_agree(const char *name, const char *json, peat_arch arch)
{
    double fused[CONTENT_LOGITS], composed[CONTENT_LOGITS];
    content_logits(name, json, arch, PATH_FUSED, fused);
    content_logits(name, json, arch, PATH_COMPOSED, composed);
    ck_assert_double_le(content_distance(fused, composed, CONTENT_LOGITS), 1e-12);
}

/* Logits at the first four of five tokens do not move with the fifth; those at the fifth do. */
static inline void content_sees_no_future(struct modelcheck *m)
{
    double before[CONTENT_LOGITS], after[CONTENT_LOGITS];
    modelcheck_logits(m, before);
    m->token[4] = (m->token[4] + 1) % 7;
    modelcheck_logits(m, after);
    ck_assert_double_eq(content_distance(before, after, CONTENT_FIRST_FOUR), 0);
    ck_assert_double_ge(
        content_distance(before + CONTENT_FIRST_FOUR, after + CONTENT_FIRST_FOUR, 7), 1e-3);
}

static inline void content_no_future(const char *name, const char *json)
{
    struct modelcheck m;
    struct harness h;
    content_model(&m, &h, name, json, PEAT_DECODER, PATH_AUTO);
    content_sees_no_future(&m);
    content_close(&m, &h);
}

/* In a row of two packed documents, of 2 and 3 tokens, the second is as if it stood alone. */
static inline void content_documents_are_apart(const char *name, const char *json, peat_arch arch)
{
    static const int32_t document[] = {0, 0, 1, 1, 1, 0, 0, 1, 1, 1};
    double packed[CONTENT_LOGITS], other[CONTENT_LOGITS];
    struct modelcheck m;
    struct harness h;
    content_model(&m, &h, name, json, arch, PATH_AUTO);
    m.input.rows.document = document;
    modelcheck_logits(&m, packed);
    m.token[0] = (m.token[0] + 1) % 7;
    m.token[1] = (m.token[1] + 2) % 7;
    modelcheck_logits(&m, other);
    ck_assert_double_le(content_distance(packed + 2 * 7, other + 2 * 7, 3 * 7), 1e-12);
    ck_assert_double_ge(content_distance(packed, other, 2 * 7), 1e-3);
    content_close(&m, &h);
}
