/* SPDX-License-Identifier: MIT */
/* The scheme 'roper': its order among others, and its gradient. */
#include "../content_tests.h"

static const double places[] = {0, 3, 20};

/* Values of 3 tokens through the hooks around W. */
static peat_node *contexts(struct harness *h, const char *json, const double *pos)
{
    scheme_open(h, "roper", json, 1, 4, 3, false);
    const peat_call *c = harness_call(h, 1, 3, 1, pos);
    peat_qkv io = content_qkv(h, 3);
    io.v = content_wave(h, 1, 100, 4, (int64_t[]){1, 1, 3, 4});
    ck_assert_int_eq(h->scheme->qkv(c, &io), PEAT_OK);
    peat_node *W = content_wave(h, 1, 200, 4, (int64_t[]){1, 1, 3, 3});
    return h->scheme->context(c, NULL, peat_matmul(c->g, W, io.v, 0), NULL);
}

TEST(only_distances_count)
{
    const double far[] = {500, 503, 520};
    double first[12];
    struct harness h;
    scheme_copy(contexts(&h, NULL, places), 12, first);
    harness_close(&h);
    scheme_assert(contexts(&h, NULL, far), 12, first, 1e-12);
    harness_close(&h);
}

TEST(a_value_comes_back_to_its_own_place_as_it_was)
{
    struct harness h;
    scheme_open(&h, "roper", "{\"scores\": false}", 1, 4, 3, false);
    const peat_call *c = harness_call(&h, 1, 3, 1, places);
    peat_qkv io = content_qkv(&h, 3), before = io;
    ck_assert_int_eq(h.scheme->qkv(c, &io), PEAT_OK);
    ck_assert_ptr_eq(io.q, before.q);
    ck_assert_ptr_eq(io.k, before.k);
    peat_node *o = h.scheme->context(c, NULL, io.v, NULL);
    for (int64_t i = 0; i < 12; i++)
        ck_assert_double_eq_tol(harness_at(o, i), harness_at(before.v, i), 1e-14);
    harness_close(&h);
}

/* Queries and keys turn as in rotary: without turning values, both are the same model. */
TEST(rotary_and_values_alone_make_the_whole)
{
    double whole[CONTENT_LOGITS], parts[CONTENT_LOGITS];
    struct modelcheck m;
    struct harness h[2];
    content_logits("roper", NULL, PEAT_ENCODER, PATH_AUTO, whole);
    modelcheck_init(&m, PEAT_ENCODER);
    content_add(&m, &h[0], "rotary", NULL);
    content_add(&m, &h[1], "roper", "{\"scores\": false}");
    modelcheck_build(&m);
    modelcheck_logits(&m, parts);
    ck_assert_double_le(content_distance(whole, parts, CONTENT_LOGITS), 1e-12);
    content_close(&m, &h[0]);
    harness_close(&h[1]);
}

/* Two that turn different pairs of values nest: the context is undone in reverse. With the weights
 * of a single key, that of the query itself, nothing is left of either. */
TEST(two_of_them_nest)
{
    double with[CONTENT_LOGITS], without[CONTENT_LOGITS];
    struct modelcheck m;
    struct harness h[2];
    modelcheck_init(&m, PEAT_DECODER);
    m.config.window = 1;
    modelcheck_build(&m);
    modelcheck_logits(&m, without);
    modelcheck_release(&m);
    modelcheck_init(&m, PEAT_DECODER);
    m.config.window = 1;
    content_add(&m, &h[0], "roper", NULL);
    content_add(&m, &h[1], "roper", "{\"layout\": \"halves\"}");
    modelcheck_build(&m);
    modelcheck_logits(&m, with);
    ck_assert_double_le(content_distance(with, without, CONTENT_LOGITS), 1e-12);
    content_close(&m, &h[0]);
    harness_close(&h[1]);
}

TEST(widths_that_do_not_turn_are_refused)
{
    struct modelcheck m;
    struct harness h;
    scheme_refuses("roper", NULL, 2, 3, 4, true,
                   "a head width of 3 does not split into pairs that turn: make model.d_model / "
                   "model.n_head even");
    modelcheck_init(&m, PEAT_DECODER);
    content_add(&m, &h, "roper", NULL);
    m.positional.scheme[0].where.dim_end = 2;
    ck_assert_int_eq(modelcheck_try(&m), PEAT_REFUSED);
    ck_assert_str_eq(m.err.text, "where.dims narrows q and k alone, and values turn whole");
    content_close(&m, &h);
}

TEST(a_model_learns_on_either_path)
{
    content_gradients("roper", NULL, PEAT_DECODER, PATH_FUSED);
    content_gradients("roper", "{\"layout\": \"halves\"}", PEAT_ENCODER, PATH_COMPOSED);
    content_paths_agree("roper", NULL, PEAT_DECODER);
    content_paths_agree("roper", NULL, PEAT_ENCODER);
    content_no_future("roper", NULL);
    content_documents_are_apart("roper", NULL, PEAT_ENCODER);
}

PLUGIN_TESTS("roper")
