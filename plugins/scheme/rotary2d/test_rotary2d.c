/* SPDX-License-Identifier: MIT */
/* The scheme 'rotary2d': its identities and its gradient. */
#include "../content_tests.h"
#include "../grid_tests.h"

static const char axial[] = "{\"columns\": 3}";
static const char mixed[] = "{\"columns\": 3, \"learned\": true}";

/* A query and a key of 8 at two places. */
static peat_qkv turned(struct harness *h, const char *json, double a, double b, bool wave)
{
    const double pos[] = {a, b};
    scheme_open(h, "rotary2d", json, 1, 8, 9, false);
    if (wave)
        scheme_wave(h);
    harness_call(h, 1, 2, 1, pos);
    h->call.base.layer = 0;
    double q[16], k[16];
    for (int i = 0; i < 16; i++) {
        q[i] = sin(1 + i % 8 + 100.0);
        k[i] = sin(1 + i % 8 + 200.0);
    }
    peat_qkv io = {.size = sizeof(io)};
    io.q = harness_constant(h, 4, (int64_t[]){1, 1, 2, 8}, q);
    io.k = harness_constant(h, 4, (int64_t[]){1, 1, 2, 8}, k);
    ck_assert_msg(h->scheme->qkv(&h->call.base, &io) == PEAT_OK, "%s", h->graph.err.text);
    return io;
}

/* From (0,0) to (1,1) is from (1,1) to (2,2), and not from (0,0) to (1,0). */
TEST(products_depend_on_both_distances_alone)
{
    static const char *const json[] = {axial, mixed};
    for (int i = 0; i < 2; i++) {
        struct harness h;
        peat_qkv io = turned(&h, json[i], 0, 4, false);
        double first = scheme_product(&io, 0, 1);
        harness_close(&h);
        io = turned(&h, json[i], 4, 8, false);
        ck_assert_double_eq_tol(scheme_product(&io, 0, 1), first, 1e-13);
        harness_close(&h);
        io = turned(&h, json[i], 0, 3, false);
        ck_assert_double_ge(fabs(scheme_product(&io, 0, 1) - first), 1e-3);
        harness_close(&h);
    }
}

TEST(norms_are_preserved)
{
    static const char *const json[] = {axial, mixed};
    for (int i = 0; i < 2; i++) {
        struct harness h;
        peat_qkv io = turned(&h, json[i], 8, 0, false);
        double norm = 0, plain = 0;
        for (int64_t e = 0; e < 8; e++) {
            norm += harness_at(io.q, e) * harness_at(io.q, e);
            plain += pow(sin((double)(1 + e) + 100), 2);
        }
        ck_assert_double_eq_tol(norm, plain, 1e-13);
        harness_close(&h);
    }
}

/* Head h of 4 looks along h quarters of a right angle; the pairs' other half stands upright. */
TEST(learned_directions_begin_apart)
{
    struct harness h;
    scheme_open(&h, "rotary2d", mixed, 4, 8, 9, false);
    const struct tensor *column = &h.weights.item[0]->value, *line = &h.weights.item[1]->value;
    for (int64_t head = 0; head < 4; head++)
        for (int64_t i = 0; i < 2; i++) {
            double a = (double)head * acos(-1) / 8, f = i ? 1 / sqrt(10) : 1;
            ck_assert_double_eq_tol(tensor_get(column, 4 * head + i), f * cos(a), 1e-15);
            ck_assert_double_eq_tol(tensor_get(line, 4 * head + i), f * sin(a), 1e-15);
            ck_assert_double_eq_tol(tensor_get(column, 4 * head + 2 + i), -f * sin(a), 1e-15);
            ck_assert_double_eq_tol(tensor_get(line, 4 * head + 2 + i), f * cos(a), 1e-15);
        }
    ck_assert(!h.weights.item[0]->decay && !h.weights.item[1]->decay);
    harness_close(&h);
}

/* At the start one head of the learned kind is the axial one with its base. */
TEST(one_learned_head_begins_axial)
{
    struct harness a, b;
    peat_qkv x = turned(&a, "{\"columns\": 3, \"base\": 10}", 5, 7, false);
    peat_qkv y = turned(&b, mixed, 5, 7, false);
    for (int64_t i = 0; i < 16; i++)
        ck_assert_double_eq_tol(harness_at(x.k, i), harness_at(y.k, i), 1e-14);
    harness_close(&a);
    harness_close(&b);
}

TEST(widths_without_quarters_are_refused)
{
    scheme_refuses("rotary2d", axial, 2, 6, 9, false,
                   "a head width of 6 does not split into pairs of two axes: make it a multiple "
                   "of 4");
}

TEST(a_group_of_heads_and_dims_has_right_gradients)
{
    struct modelcheck m;
    struct harness h;
    modelcheck_init(&m, PEAT_ENCODER);
    m.config.d_model = 16;
    scheme_open(&h, "rotary2d", mixed, 2, 8, 5, false);
    struct scheme_part *part = modelcheck_scheme(&m, "rotary2d", h.scheme);
    part->part.config = h.config;
    part->where.head_begin = 1;
    part->where.head_end = 2;
    part->where.dim_begin = 2;
    part->where.dim_end = 6;
    modelcheck_build(&m);
    modelcheck_gradients(&m, 1e-6);
    content_close(&m, &h);
}

TEST(a_model_learns_on_either_path)
{
    const char *learned = "{\"columns\": 2, \"learned\": true}";
    content_gradients("rotary2d", learned, PEAT_ENCODER, PATH_FUSED);
    content_gradients("rotary2d", learned, PEAT_DECODER, PATH_COMPOSED);
    content_gradients("rotary2d", axial, PEAT_ENCODER, PATH_FUSED);
    content_paths_agree("rotary2d", learned, PEAT_ENCODER);
    content_no_future("rotary2d", learned);
}

TEST(the_grid_is_of_the_data_or_square)
{
    grid_is_of_the_data_or_square("rotary2d");
}

PLUGIN_TESTS("rotary2d")
