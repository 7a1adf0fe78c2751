/* SPDX-License-Identifier: MIT */
/* The scheme 'tape_equivariant' against a computed state; what shifting positions leaves alike. */
#include "../content_tests.h"

enum { T = 3, HEADS = 2, WIDTH = 4 };

/* A call at these positions, in layer 0 of 2, with width 3. */
static const peat_call *open_at(struct harness *h, const double *pos)
{
    peat_dims dims = {
        .D = HEADS * WIDTH, .H = HEADS, .L = 2, .V = 7, .T_train = T, .T_max = T, .causal = true};
    ck_assert_msg(harness_scheme(h, "tape_equivariant", "{\"width\": 3}", &dims) == PEAT_OK, "%s",
                  h->err.text);
    harness_call(h, 1, T, 1, pos);
    h->call.base.layer = 0;
    return &h->call.base;
}

/* The state behind layer 0, for a wave of phase 100 as x and of phase 200 as W. */
static void carry(struct harness *h)
{
    peat_node *x = content_wave(h, 1, 100, 3, (int64_t[]){1, T, HEADS * WIDTH});
    peat_node *W = content_wave(h, 1, 200, 4, (int64_t[]){1, HEADS, T, T});
    ck_assert_msg(h->scheme->carry(&h->call.base, x, W, h->pass.shared[0]) == PEAT_OK, "%s",
                  h->graph.err.text);
    h->call.base.layer = 1;
}

static const double places[] = {0, 3, 1};

TEST(the_carried_state_and_what_it_turns_match_the_reference)
{
    const double state[] = {
        0.7255789346948103,  3.642485526742522,   1.3510125919640452,  0.04831926580426506,
        -2.5302011285950154, 0.5656161780965079,  -0.8584320172063267, 0.042582899996541954,
        2.470086252467306,   5.171467847595993,   3.242752707888882,   0.052307677854001616,
        1.3251064020592032,  -1.1812420040919331, -1.415275978282543,  -0.042483877049110566,
        1.1986251666468342,  0.514701132199028,   1.2019143253097613,  -0.005565462663131439,
        -0.8050569270825367, -1.6977924133846423, -1.06701658672277,   -0.017268746199104595};
    const double queries[] = {
        -0.5136850966136104, 3.639182747525714,    1.0627199578993285,  -1.1234356484348162,
        2.614272035473945,   -0.4507501815584215,  0.3656035825858406,  0.49325970445934675,
        4.820951235547985,   -0.18224598384378657, 0.5129776515543827,  -4.6048978842375154,
        1.2092755516013833,  -0.9171975139608163,  1.3903416307835779,  -0.3129033889075184,
        -0.3802933993924188, -0.502180523304751,   -1.2741321383264383, 0.3043062520152924,
        -1.2948277683967133, -0.8639056750107659,  -0.695503920882196,  1.6818576615654708};
    struct harness h;
    open_at(&h, places);
    scheme_wave(&h);
    carry(&h);
    scheme_assert(h.pass.shared[0][0], HEADS * T * WIDTH, state, 1e-13);
    peat_qkv io = content_qkv(&h, T);
    ck_assert_int_eq(h.scheme->qkv(&h.call.base, &io), PEAT_OK);
    scheme_assert(io.q, HEADS * T * WIDTH, queries, 1e-13);
    harness_close(&h);
}

/* With the initial tensors all layers turn as the first. */
TEST(training_starts_from_rotary)
{
    const double expected[] = {1,
                               1,
                               0,
                               0,
                               -0.98999249660044542,
                               0.99955003374898754,
                               0.14112000805986721,
                               0.029995500202495661,
                               0.54030230586813977,
                               0.99995000041666526,
                               0.8414709848078965,
                               0.0099998333341666645};
    struct harness h;
    open_at(&h, places);
    scheme_assert(h.pass.shared[0][0], T * WIDTH, expected, 1e-14);
    carry(&h);
    for (int64_t i = 0; i < HEADS * T * WIDTH; i++)
        ck_assert_double_eq_tol(harness_at(h.pass.shared[0][0], i), expected[i % (T * WIDTH)],
                                1e-14);
    harness_close(&h);
}

/* Products of all queries with all keys behind a carry [HEADS, T, T]. */
static void products(const double *pos, double out[HEADS * T * T])
{
    struct harness h;
    const peat_call *c = open_at(&h, pos);
    scheme_wave(&h);
    carry(&h);
    peat_qkv io = content_qkv(&h, T);
    ck_assert_int_eq(h.scheme->qkv(c, &io), PEAT_OK);
    scheme_copy(peat_matmul(c->g, io.q, io.k, PEAT_TRANS_B), HEADS * T * T, out);
    harness_close(&h);
}

TEST(products_behind_a_carry_do_not_change_where_all_positions_shift)
{
    const double shifted[] = {50, 53, 51}, other[] = {0, 4, 1};
    double at[HEADS * T * T], moved[HEADS * T * T];
    products(places, at);
    products(shifted, moved);
    ck_assert_double_le(content_distance(at, moved, HEADS * T * T), 1e-12);
    products(other, moved);
    ck_assert_double_ge(content_distance(at, moved, HEADS * T * T), 1e-2);
}

TEST(a_single_layer_has_no_tensors)
{
    struct harness h;
    scheme_open(&h, "tape_equivariant", NULL, 2, 4, 3, true);
    ck_assert_int_eq(h.weights.n, 0);
    harness_close(&h);
}

TEST(odd_heads_are_refused)
{
    scheme_refuses("tape_equivariant", NULL, 1, 5, 4, true,
                   "a head width of 5 does not split into pairs that turn: make model.d_model / "
                   "model.n_head even");
}

TEST(a_model_learns)
{
    content_gradients("tape_equivariant", "{\"width\": 3}", PEAT_DECODER, PATH_AUTO);
    content_gradients("tape_equivariant", "{\"width\": 3}", PEAT_ENCODER, PATH_AUTO);
    content_no_future("tape_equivariant", "{\"width\": 3}");
    content_documents_are_apart("tape_equivariant", "{\"width\": 3}", PEAT_ENCODER);
}

PLUGIN_TESTS("tape_equivariant")
