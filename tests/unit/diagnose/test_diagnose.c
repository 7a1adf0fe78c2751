/* SPDX-License-Identifier: MIT */
/* test_diagnose.c: models whose weights the test writes, so that the figures are known. */
#include "diagnose/diagnostics.h"
#include "diagnose/parts.h"
#include "support/modelcheck.h"
#include "support/support.h"

enum { T = 8, B = 12, V = 7, D = 8, HALF = D / 2 };

/* ---- a subject ---- */

static struct exam {
    struct modelcheck m;
    struct subject subject;
    peat_batch batch;
    int32_t token[B * T], target[B * T], segment[B * T], document[B * T];
    uint8_t pad[B * T], special[B * T];
    int64_t sequence[B];
} e;

static void exam_release(void)
{
    subject_release(&e.subject);
    modelcheck_release(&e.m);
    memset(&e, 0, sizeof(e));
}

static void exam_init(peat_arch arch)
{
    exam_release();
    modelcheck_init(&e.m, arch);
    e.m.config.T_train = e.m.config.T_max = T;
    e.m.config.norm = NORM_RMS;
    uint64_t stream = rng_stream(5, "test", "windows");
    for (int i = 0; i < B * T; i++) {
        e.token[i] = (int32_t)(rng_bits(stream, (uint64_t)i) % V);
        e.target[i] = (int32_t)(rng_bits(stream, (uint64_t)(1000 + i)) % V);
    }
    e.batch = (peat_batch){.size = sizeof(e.batch),
                           .B = B,
                           .T = T,
                           .token = e.token,
                           .target = e.target,
                           .segment = e.segment,
                           .document = e.document,
                           .pad = e.pad,
                           .special = e.special,
                           .sequence = e.sequence};
}

static void exam_build(void)
{
    modelcheck_build(&e.m);
    subject_init(&e.subject, &e.m.model, &e.m.team, 1);
    e.subject.batch = &e.batch;
    e.subject.n_batch = 1;
}

/* A model with one scheme; NULL: none. */
static void exam_of(peat_arch arch, const char *id, const peat_scheme *scheme)
{
    exam_init(arch);
    if (scheme)
        modelcheck_scheme(&e.m, id, scheme);
    exam_build();
}

static const struct value *ask(diagnostic_fn diagnostic)
{
    struct json v = json_map(&e.subject.arena);
    diagnostic(&e.subject, v);
    ck_assert_msg(subject_is_well(&e.subject), "%s", e.subject.err.text);
    return v.v;
}

static struct weight *weight(const char *name)
{
    struct weight *w = weights_find(&e.m.model.weights, name);
    ck_assert_msg(w != NULL, "no weight '%s'", name);
    return w;
}

static void put(const char *name, int64_t row, int64_t column, double x)
{
    struct weight *w = weight(name);
    tensor_set(&w->value, row * w->value.dim[w->value.rank - 1] + column, x);
}

static void clear(const char *name)
{
    tensor_fill(&weight(name)->value, 0.0);
}

/* Of the first layer; the values too. */
static void clear_queries_and_keys(void)
{
    clear("block.0.attention.qkv.weight");
    clear("block.0.attention.qkv.bias");
}

static const struct value *item(const struct value *list, int i)
{
    ck_assert(list && list->n > i);
    return list->item[i];
}

static const struct value *head_of(const struct value *v, int layer, int head)
{
    return item(value_get(item(value_get(v, "layers"), layer), "heads"), head);
}

static void assert_number(const struct value *v, const char *key, double x, double tolerance)
{
    ck_assert_double_eq_tol(json_get_number(v, key), x, tolerance);
}

static void assert_share(const struct value *v, const char *term, double x, double tolerance)
{
    assert_number(value_get(item(value_get(v, "layers"), 0), "share"), term, x, tolerance);
}

static void assert_skipped(const struct value *v, const char *why)
{
    const char *text = json_get_text(v, "skipped");
    ck_assert_msg(text && strstr(text, why), "skipped: %s, not %s", text ? text : "no", why);
}

/* ---- schemes of the test ---- */

/* A trained table [T, D], "table". */
static peat_status table_setup(peat_setup *s, const void *config, void **self)
{
    (void)config;
    (void)self;
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = 1};
    peat_param_new(s, "table", 2, (int64_t[]){T, s->dims.d}, init, PEAT_ONCE, 0);
    return PEAT_OK;
}

static peat_node *table_encode(const peat_call *c)
{
    return peat_reshape(c->g, peat_use(c, 0), 3, (int64_t[]){1, T, c->d});
}

static const peat_scheme table = {
    .size = sizeof(table), .setup = table_setup, .encode = table_encode};

/* -3 per token of distance */
static peat_node *slope_rel(const peat_call *c, const peat_rel *r)
{
    double *value = peat_scratch(c, r->n);
    for (int64_t i = 0; value && i < r->n; i++)
        value[i] = -3.0 * fabs(r->delta[i]);
    return peat_fill(c, 2, (int64_t[]){1, r->n}, value);
}

static const peat_scheme slope = {.size = sizeof(slope), .bias_rel = slope_rel};

/* The same in units of q.k, as one term. */
static peat_node *slope_scores(const peat_call *c, const peat_qkv *p)
{
    double value[T * T];
    (void)p;
    for (int i = 0; i < T * T; i++)
        value[i] = -3.0 * fabs((double)(i / T) - i % T);
    return peat_fill(c, 4, (int64_t[]){1, 1, T, T}, value);
}

static const peat_scheme scores = {
    .size = sizeof(scores), .needs = PEAT_NEED_QK, .score_add = slope_scores};

/* q and k turned by half a radian per place. */
static peat_status turn_qkv(const peat_call *c, peat_qkv *io)
{
    double turn[2 * T * 2];
    for (int t = 0; t < T; t++)
        for (int i = 0; i < 2; i++) {
            turn[2 * t + i] = cos(0.5 * (i + 1) * t);
            turn[2 * T + 2 * t + i] = sin(0.5 * (i + 1) * t);
        }
    const int64_t dim[] = {1, 1, T, 2};
    peat_node *cosine = peat_fill(c, 4, dim, turn), *sine = peat_fill(c, 4, dim, turn + 2 * T);
    io->q = peat_rotate(c->g, io->q, cosine, sine, PEAT_INTERLEAVED);
    io->k = peat_rotate(c->g, io->k, cosine, sine, PEAT_INTERLEAVED);
    return PEAT_OK;
}

static const peat_scheme turn = {.size = sizeof(turn), .qkv = turn_qkv};

/* q and k through a function that is not linear. */
static peat_status bent_qkv(const peat_call *c, peat_qkv *io)
{
    io->q = peat_softplus(c->g, io->q);
    io->k = peat_softplus(c->g, io->k);
    return PEAT_OK;
}

static const peat_scheme bent = {.size = sizeof(bent), .qkv = bent_qkv};

/* A merge that is not linear: y = x_0 x_1. */
static peat_status product_setup(peat_setup *s, const void *config, int32_t n,
                                 const char *const *stream, int64_t *width, int64_t *D_,
                                 void **self)
{
    (void)s;
    (void)config;
    (void)stream;
    (void)self;
    for (int32_t i = 0; i < n; i++)
        width[i] = *D_;
    return PEAT_OK;
}

static peat_node *product_merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    return n == 1 ? x[0] : peat_mul(c->g, x[0], x[1]);
}

static const peat_combine product = {
    .size = sizeof(product), .min_streams = 1, .setup = product_setup, .merge = product_merge};

/* A model with a table of positions; tokens fill the first half of the dimensions, positions the
 * second, both with arbitrary numbers. */
static void exam_split(peat_arch arch)
{
    exam_of(arch, "table", &table);
    for (int64_t i = 0; i < V; i++)
        for (int64_t j = HALF; j < D; j++)
            put("token.weight", i, j, 0.0);
    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j < HALF; j++)
            put("position.0.table.table", i, j, 0.0);
}

/* ---- logits ---- */

/* Layer 0's queries read dimensions [q, q + HALF) alone and its keys [k, k + HALF). */
static void read_halves(int64_t q, int64_t k)
{
    clear("block.0.attention.qkv.bias");
    for (int64_t row = 0; row < 2 * D; row++)
        for (int64_t j = 0; j < D; j++) {
            int64_t begin = row < D ? q : k;
            if (j < begin || j >= begin + HALF)
                put("block.0.attention.qkv.weight", row, j, 0.0);
        }
}

START_TEST(queries_of_tokens_and_keys_of_positions_give_that_term_alone)
{
    static const char *const term[] = {"token.token", "token.position", "position.token",
                                       "position.position"};
    for (int i = 0; i < 4; i++) {
        exam_split(PEAT_ENCODER);
        read_halves(i / 2 * HALF, i % 2 * HALF);
        const struct value *v = ask(diagnose_logits);
        for (int j = 0; j < 4; j++)
            assert_share(v, term[j], i == j, 1e-12);
        assert_share(v, "bias", 0.0, 1e-12);
    }
}
END_TEST

/* Every query is the same number a for its token and b for its position, every key varies alike by
 * its token: the terms' variances are as a^2 to b^2. */
START_TEST(shares_are_as_the_squares_of_what_the_queries_hold)
{
    exam_split(PEAT_ENCODER);
    clear("token.weight");
    clear("position.0.table.table");
    clear_queries_and_keys();
    for (int64_t i = 0; i < V; i++) {
        put("token.weight", i, 0, 1.0);
        put("token.weight", i, 1, i % 2 ? 1.0 : -1.0);
    }
    for (int64_t i = 0; i < T; i++)
        put("position.0.table.table", i, HALF, sqrt(8.0));
    for (int64_t h = 0; h < 2; h++) {
        put("block.0.attention.qkv.weight", h * 4, 0, 1.0);
        put("block.0.attention.qkv.weight", h * 4, HALF, 3.0);
        put("block.0.attention.qkv.weight", D + h * 4, 1, 1.0);
        put("block.0.attention.qkv.bias", 0, D + h * 4, 7.0); /* the same for all keys */
    }
    const struct value *v = ask(diagnose_logits);
    assert_share(v, "token.token", 0.1, 1e-6);
    assert_share(v, "position.token", 0.9, 1e-6);
    assert_share(v, "position.constant", 0.0, 1e-12);
    const struct value *cross = value_get(head_of(v, 0, 1), "covariance");
    assert_number(cross, "token.token", 0.25, 1e-6);
    assert_number(cross, "position.token", 0.75, 1e-6);
}
END_TEST

START_TEST(a_bias_has_all_the_variance_when_queries_are_zero)
{
    exam_of(PEAT_DECODER, "slope", &slope);
    clear_queries_and_keys();
    const struct value *v = ask(diagnose_logits);
    assert_share(v, "bias", 1.0, 1e-12);
    assert_share(v, "token.token", 0.0, 1e-12);
}
END_TEST

/* A head is 4 wide: the host multiplies what is added to q.k by 1 / sqrt(4). */
START_TEST(what_is_added_to_scores_is_scaled_as_they_are)
{
    double variance[2];
    for (int i = 0; i < 2; i++) {
        exam_of(PEAT_ENCODER, i ? "scores" : "slope", i ? &scores : &slope);
        clear_queries_and_keys();
        variance[i] = json_get_number(head_of(ask(diagnose_logits), 0, 0), "variance");
    }
    ck_assert_double_gt(variance[0], 1.0);
    ck_assert_double_eq_tol(variance[1], variance[0] / 4, 1e-4);
}
END_TEST

/* The parts of every layer of a model with everything: layer norms with beta, biases, segments,
 * positions, a turn and a bias; and of one without biases. */
START_TEST(terms_add_up_to_the_logits_in_every_layer)
{
    static const int64_t activation[] = {ACTIVATION_GELU, ACTIVATION_GELU_TANH, ACTIVATION_RELU,
                                         ACTIVATION_SWIGLU, ACTIVATION_GEGLU};
    for (int k = 0; k < 5; k++) {
        exam_init(k % 2 ? PEAT_DECODER : PEAT_ENCODER);
        e.m.config.norm = NORM_LAYER;
        e.m.config.n_layer = 3;
        e.m.config.n_segment = 2;
        e.m.config.activation = activation[k];
        e.m.config.bias = k != 4;
        modelcheck_scheme(&e.m, "table", &table);
        modelcheck_scheme(&e.m, "turn", &turn);
        modelcheck_scheme(&e.m, "slope", &slope);
        e.batch.has_segment = true;
        for (int i = 0; i < B * T; i++)
            e.segment[i] = i % 3 == 0;
        exam_build();
        uint64_t stream = rng_stream(9, "test", "biases");
        for (int i = 0; i < e.m.model.weights.n; i++) {
            struct tensor *x = &e.m.model.weights.item[i]->value;
            for (int64_t j = 0; x->rank == 1 && j < x->dim[0]; j++)
                tensor_set(x, j,
                           tensor_get(x, j) + 0.3 * rng_normal(stream, (uint64_t)(99 * i + j)));
        }
        const struct value *v = ask(diagnose_logits);
        const struct value *layers = value_get(v, "layers");
        ck_assert_int_eq(layers->n, 3);
        for (int l = 0; l < 3; l++) {
            double sum = 0.0;
            const struct value *all = value_get(head_of(v, l, 1), "covariance");
            for (int i = 0; i < all->n; i++)
                sum += all->item[i]->real;
            ck_assert_double_eq_tol(sum, 1.0, 1e-4);
            ck_assert_double_lt(json_get_number(layers->item[l], "error"), 1e-12);
        }
        ck_assert_int_eq(value_get(item(layers, 0), "share")->n, 4 * 4 + 1);
    }
}
END_TEST

START_TEST(what_is_not_linear_is_said_to_be_not_decomposed)
{
    exam_init(PEAT_DECODER);
    modelcheck_scheme(&e.m, "table", &table);
    e.m.positional.combine = &product;
    exam_build();
    assert_skipped(ask(diagnose_logits), "not linear");
    assert_skipped(ask(diagnose_subspaces), "not linear");
    exam_init(PEAT_DECODER);
    modelcheck_scheme(&e.m, "table", &table);
    modelcheck_scheme(&e.m, "bent", &bent);
    exam_build();
    assert_skipped(ask(diagnose_logits), "not linear");
}
END_TEST

/* ---- subspaces and support ---- */

START_TEST(tokens_and_positions_in_other_dimensions_are_at_right_angles)
{
    exam_split(PEAT_DECODER);
    const struct value *v = ask(diagnose_subspaces);
    assert_number(v, "smallest", 90.0, 1e-4);
    ck_assert_int_eq(json_get_int(value_get(v, "token"), "rank", 0), HALF);
    ck_assert_int_eq(json_get_int(value_get(v, "position"), "rank", 0), HALF);
    ck_assert_double_lt(json_get_number(value_get(v, "random"), "mean"), 89.0);
    v = ask(diagnose_support);
    assert_number(v, "disjoint", 1.0, 1e-9);
}
END_TEST

START_TEST(lines_at_45_degrees_are_found_at_45_degrees)
{
    exam_split(PEAT_DECODER);
    clear("token.weight");
    clear("position.0.table.table");
    for (int64_t i = 0; i < V; i++)
        put("token.weight", i, 0, (double)i);
    for (int64_t i = 0; i < T; i++) {
        put("position.0.table.table", i, 0, (double)i);
        put("position.0.table.table", i, 1, (double)i);
    }
    const struct value *v = ask(diagnose_subspaces);
    assert_number(v, "mean", 45.0, 1e-4);
    ck_assert_int_eq(json_get_int(value_get(v, "sum"), "rank", 0), 2);
    /* Profiles (1, 0) and (1/2, 1/2): half of the variance is apart. */
    v = ask(diagnose_support);
    assert_number(v, "disjoint", 0.5, 1e-6);
}
END_TEST

/* Two random lines of this space are some 70 degrees apart. */
START_TEST(an_angle_is_compared_with_those_of_random_subspaces)
{
    static const struct {
        double degrees;
        const char *said;
    } line[] = {{10, ": nearer to each other than random subspaces ("},
                {70, ": as far apart as random subspaces ("},
                {90, ": more apart than random subspaces ("}};
    exam_split(PEAT_DECODER);
    clear("token.weight");
    clear("position.0.table.table");
    double angle = line[_i].degrees * acos(-1.0) / 180;
    for (int64_t i = 0; i < V; i++)
        put("token.weight", i, 0, (double)i);
    for (int64_t i = 0; i < T; i++) {
        put("position.0.table.table", i, 0, (double)i * cos(angle));
        put("position.0.table.table", i, 1, (double)i * sin(angle));
    }
    const char *said = json_get_text(ask(diagnose_subspaces), "summary");
    ck_assert_msg(strstr(said, line[_i].said), "%s", said);
}
END_TEST

/* The head reads dimension 0, which tokens alone fill, and nothing else changes the stream. */
START_TEST(the_loss_moves_only_without_the_dimensions_it_is_made_of)
{
    exam_split(PEAT_DECODER);
    for (int l = 0; l < 2; l++) {
        clear(l ? "block.1.attention.out.weight" : "block.0.attention.out.weight");
        clear(l ? "block.1.mlp.down.weight" : "block.0.mlp.down.weight");
    }
    clear("head.weight");
    for (int64_t i = 0; i < V; i++)
        put("head.weight", i, 0, (double)(i - 3));
    /* The last norm divides by the length of the whole row: equal for all, whatever is zeroed. */
    for (int64_t i = 0; i < V; i++)
        for (int64_t j = 0; j < HALF; j++)
            put("token.weight", i, j, j == 0 ? (i % 2 ? 1.0 : -1.0) : 0.0);
    clear("position.0.table.table");
    for (int64_t i = 0; i < T; i++)
        put("position.0.table.table", i, HALF, i % 2 ? 1e-4 : -1e-4);
    const struct value *v = ask(diagnose_support), *blocks = value_get(v, "blocks");
    ck_assert_int_eq(blocks->n, D);
    for (int i = 0; i < D; i++) {
        double token = json_get_number(item(blocks, i), "token");
        double position = json_get_number(item(blocks, i), "position");
        if (i == 0)
            ck_assert_double_gt(fabs(token), 1e-2);
        else
            ck_assert_double_eq_tol(token, 0.0, 1e-12);
        ck_assert_double_eq_tol(position, 0.0, 1e-6);
    }
    assert_number(value_get(v, "whole"), "token", json_get_number(item(blocks, 0), "token"), 1e-9);
}
END_TEST

/* ---- collisions ---- */

/* e_b = e_a + (p_1 - p_0) / sqrt(D), the tokens' scale: a at position 1 is b at position 0. */
static void plant_collision(int64_t a, int64_t b)
{
    struct weight *token = weight("token.weight");
    struct weight *position = weight("position.0.table.table");
    for (int64_t j = 0; j < D; j++) {
        double move = tensor_get(&position->value, D + j) - tensor_get(&position->value, j);
        tensor_set(&token->value, b * D + j,
                   tensor_get(&token->value, a * D + j) + move / sqrt((double)D));
    }
}

START_TEST(a_planted_collision_is_found_and_named)
{
    exam_of(PEAT_DECODER, "table", &table);
    const struct value *v = ask(diagnose_collisions);
    ck_assert_int_eq(json_get_int(v, "exact", -1), 0);
    assert_number(item(value_get(v, "decoded"), 0), "both", 1.0, 1e-12);
    plant_collision(2, 5);
    v = ask(diagnose_collisions);
    ck_assert_int_eq(json_get_int(v, "exact", -1), 2);
    assert_number(item(value_get(v, "decoded"), 0), "both", 1.0 - 2.0 / (V * T), 1e-6);
    const struct value *pair = item(value_get(v, "pairs"), 0);
    int64_t a = json_get_int(pair, "token_a", -1), i = json_get_int(pair, "position_a", -1);
    int64_t b = json_get_int(pair, "token_b", -1), j = json_get_int(pair, "position_b", -1);
    ck_assert((a == 2 && i == 1 && b == 5 && j == 0) || (a == 5 && i == 0 && b == 2 && j == 1));
}
END_TEST

/* ---- probes ---- */

START_TEST(probes_find_what_is_there_and_nothing_else)
{
    exam_split(PEAT_ENCODER);
    clear("position.0.table.table");
    for (int64_t i = 0; i < T; i++)
        put("position.0.table.table", i, HALF, (double)i / 2);
    const struct value *v = ask(diagnose_probes);
    const struct value *input = item(value_get(v, "layers"), 0);
    ck_assert_int_eq(value_get(v, "layers")->n, 3);
    ck_assert_double_gt(json_get_number(input, "position_r2"), 0.999);
    assert_number(input, "position_accuracy", 1.0, 1e-12);
    assert_number(input, "token_accuracy", 1.0, 1e-12);
    clear("position.0.table.table");
    v = ask(diagnose_probes);
    input = item(value_get(v, "layers"), 0);
    ck_assert_double_lt(json_get_number(input, "position_r2"), 0.3);
    ck_assert_double_lt(json_get_number(input, "position_accuracy"), 0.5);
    assert_number(input, "token_accuracy", 1.0, 1e-12);
}
END_TEST

/* ---- order ---- */

/* Largest |permuted output - output of the permuted| / largest |output|, over all places. */
static double equivariance(peat_dtype dtype, int64_t layers, peat_arch arch, bool last_alone)
{
    static const int from[T] = {3, 0, 6, 1, 5, 2, 4, 7};
    int32_t permuted[B * T];
    double worst = 0.0, most = 0.0;
    exam_init(arch);
    e.m.config.n_layer = layers;
    ck_assert_int_eq(model_build(&e.m.model, &e.m.config, &e.m.positional, &e.m.arena, dtype, 3,
                                 false, &e.m.err),
                     PEAT_OK);
    for (int i = 0; i < B * T; i++)
        permuted[i] = e.token[i / T * T + from[i % T]];
    struct model_input in = {.B = B, .T = T, .token = e.token, .phase = PEAT_EVAL};
    struct graph g, h;
    graph_init(&g, &e.m.step, &e.m.team, dtype);
    const peat_node *x = model_forward(&e.m.model, &g, &in, NULL);
    in.token = permuted;
    graph_init(&h, &e.m.step, &e.m.team, dtype);
    const peat_node *y = model_forward(&e.m.model, &h, &in, NULL);
    ck_assert(x && y);
    for (int i = 0; i < B * T; i++)
        for (int64_t v = 0; v < V && (!last_alone || i % T == T - 1); v++) {
            double was = tensor_get(&x->value, (i / T * T + from[i % T]) * V + v);
            worst = fmax(worst, fabs(tensor_get(&y->value, i * V + v) - was));
            most = fmax(most, fabs(was));
        }
    return worst / most;
}

START_TEST(an_encoder_without_positions_is_permutation_equivariant_at_every_depth)
{
    for (int64_t layers = 1; layers <= 6; layers++) {
        ck_assert_double_lt(equivariance(PEAT_F64, layers, PEAT_ENCODER, false), 1e-12);
        ck_assert_double_lt(equivariance(PEAT_F32, layers, PEAT_ENCODER, false), 1e-5);
    }
}
END_TEST

START_TEST(a_causal_model_without_positions_knows_order_from_its_second_layer_on)
{
    ck_assert_double_lt(equivariance(PEAT_F64, 1, PEAT_DECODER, true), 1e-12);
    ck_assert_double_lt(equivariance(PEAT_F32, 1, PEAT_DECODER, true), 1e-5);
    ck_assert_double_gt(equivariance(PEAT_F64, 2, PEAT_DECODER, true), 1e-3);
    ck_assert_double_gt(equivariance(PEAT_F32, 2, PEAT_DECODER, true), 1e-3);
}
END_TEST

static bool zero_is_due(const struct value *layer)
{
    const struct value *v = value_get(layer, "must_be_zero");
    ck_assert(v && v->kind == VALUE_BOOL);
    return v->boolean;
}

START_TEST(order_sensitivity_is_zero_where_it_must_be_and_nowhere_else)
{
    for (int causal = 0; causal < 2; causal++) {
        exam_init(causal ? PEAT_DECODER : PEAT_ENCODER);
        e.m.config.n_layer = 4;
        exam_build();
        const struct value *layers = value_get(ask(diagnose_order), "layers");
        ck_assert_int_eq(layers->n, 4);
        for (int l = 0; l < 4; l++) {
            bool zero = !causal || l == 0;
            ck_assert_int_eq(zero_is_due(layers->item[l]), zero);
            if (zero)
                ck_assert_double_lt(json_get_number(layers->item[l], "change"), 1e-12);
            else
                ck_assert_double_gt(json_get_number(layers->item[l], "change"), 1e-4);
        }
        exam_of(causal ? PEAT_DECODER : PEAT_ENCODER, "slope", &slope);
        layers = value_get(ask(diagnose_order), "layers");
        ck_assert(!zero_is_due(layers->item[0]));
        ck_assert_double_gt(json_get_number(layers->item[0], "change"), 1e-4);
    }
}
END_TEST

/* ---- attention ---- */

START_TEST(zero_queries_look_at_all_keys_alike)
{
    exam_of(PEAT_ENCODER, NULL, NULL);
    clear_queries_and_keys();
    const struct value *v = ask(diagnose_attention), *h = head_of(v, 0, 0);
    assert_number(h, "entropy", log(T), 1e-5);
    assert_number(h, "entropy_share", 1.0, 1e-6);
    assert_number(h, "self", 1.0 / T, 1e-6);
    assert_number(h, "first", 1.0 / T, 1e-6);
    assert_number(h, "mean_distance", (T * T - 1) / (3.0 * T), 1e-5);
    const struct value *by = value_get(h, "by_distance"), *uniform = value_get(v, "uniform");
    ck_assert_int_eq(by->n, 4); /* 0, 1, 2-3, 4-7 */
    for (int i = 0; i < by->n; i++)
        ck_assert_double_eq_tol(by->item[i]->real, uniform->item[i]->real, 1e-6);
}
END_TEST

START_TEST(a_slope_alone_is_all_distance_and_all_bias)
{
    exam_of(PEAT_DECODER, "slope", &slope);
    clear_queries_and_keys();
    const struct value *v = ask(diagnose_attention), *h = head_of(v, 0, 1);
    assert_number(h, "bias_share", 1.0, 1e-6);
    assert_number(h, "position_share", 1.0, 1e-6);
    assert_number(h, "distance_share", 1.0, 1e-3);
    /* (1 - r) / (1 - r^n) with r = e^-3, mean over the n = 1 .. T keys seen */
    double self = 0.0, r = exp(-3.0);
    for (int n = 1; n <= T; n++)
        self += (1 - r) / (1 - pow(r, n)) / T;
    assert_number(h, "self", self, 1e-5);
    ck_assert(isnan(json_get_number(h, "rotation_share")));
}
END_TEST

/* Constant queries and keys (0.., biases alone) that are turned: all logits are due to the turn. */
START_TEST(a_turn_of_constant_queries_is_all_rotation)
{
    exam_of(PEAT_ENCODER, "turn", &turn);
    clear("block.0.attention.qkv.weight");
    tensor_fill(&weight("block.0.attention.qkv.bias")->value, 1.0);
    const struct value *v = ask(diagnose_attention), *h = head_of(v, 0, 0);
    assert_number(h, "rotation_share", 1.0, 1e-6);
    assert_number(h, "distance_share", 1.0, 1e-3);
    ck_assert(isnan(json_get_number(h, "bias_share")));
}
END_TEST

/* Queries of zeros have no logits to turn: all are the bias's. */
START_TEST(a_turn_of_zero_queries_explains_nothing_beside_a_bias)
{
    exam_init(PEAT_DECODER);
    modelcheck_scheme(&e.m, "turn", &turn);
    modelcheck_scheme(&e.m, "slope", &slope);
    exam_build();
    clear_queries_and_keys();
    const struct value *h = head_of(ask(diagnose_attention), 0, 1);
    assert_number(h, "bias_share", 1.0, 1e-6);
    assert_number(h, "rotation_share", 0.0, 1e-6);
}
END_TEST

/* ---- observing ---- */

static peat_node *hear_stream(void *ctx, struct pass *pass, enum stream_kind kind, int scheme,
                              peat_node *x)
{
    (void)pass;
    (void)kind;
    (void)scheme;
    ++*(int *)ctx;
    return x;
}

static void hear_residual(void *ctx, int64_t layer, peat_node *x)
{
    (void)layer;
    (void)x;
    ++*(int *)ctx;
}

static void hear_attention(void *ctx, const struct attention_seen *seen)
{
    ck_assert(seen->logits && seen->weights);
    ++*(int *)ctx;
}

START_TEST(an_observer_hears_everything_and_changes_no_bit)
{
    int heard = 0;
    exam_init(PEAT_DECODER);
    modelcheck_scheme(&e.m, "table", &table);
    modelcheck_scheme(&e.m, "slope", &slope);
    exam_build();
    const struct observer o = {.ctx = &heard,
                               .stream = hear_stream,
                               .residual = hear_residual,
                               .attention = hear_attention};
    struct model_input in = {.B = B, .T = T, .token = e.token, .phase = PEAT_TRAIN, .step = 1};
    struct graph g, h;
    struct pass watched = {.observer = &o};
    graph_init(&g, &e.m.step, &e.m.team, PEAT_F64);
    const peat_node *x = model_forward(&e.m.model, &g, &in, NULL);
    ck_assert_int_eq(heard, 0);
    graph_init(&h, &e.m.step, &e.m.team, PEAT_F64);
    const peat_node *y = model_forward(&e.m.model, &h, &in, &watched);
    ck_assert(x && y);
    ck_assert_mem_eq(x->value.data, y->value.data, tensor_bytes(&x->value));
    ck_assert_int_eq(heard, 2 + 3 + 2); /* streams; residuals of 2 layers and the end; layers */
}
END_TEST

START_TEST(the_same_subject_gives_the_same_tree)
{
    struct strbuf text[2];
    for (int i = 0; i < 2; i++) {
        exam_split(PEAT_DECODER);
        struct json map = json_map(&e.subject.arena);
        const struct value *v = map.v;
        diagnose(&e.subject, NULL, 0, map);
        ck_assert(subject_is_well(&e.subject));
        strbuf_init(&text[i]);
        json_print(v, JSON_INDENTED, &text[i]);
        for (const struct diagnostic *d = diagnostics; d->name; d++)
            ck_assert_ptr_nonnull(value_get(v, d->name));
    }
    ck_assert_str_eq(text[0].text, text[1].text);
    strbuf_release(&text[0]);
    strbuf_release(&text[1]);
}
END_TEST

int main(void)
{
    return run_list(
        (struct tests){"diagnose", NULL, exam_release, 120,
                       .loops = LOOPS({an_angle_is_compared_with_those_of_random_subspaces, 3})},
        TESTS(queries_of_tokens_and_keys_of_positions_give_that_term_alone,
              shares_are_as_the_squares_of_what_the_queries_hold,
              a_bias_has_all_the_variance_when_queries_are_zero,
              what_is_added_to_scores_is_scaled_as_they_are,
              terms_add_up_to_the_logits_in_every_layer,
              what_is_not_linear_is_said_to_be_not_decomposed,
              tokens_and_positions_in_other_dimensions_are_at_right_angles,
              lines_at_45_degrees_are_found_at_45_degrees,
              the_loss_moves_only_without_the_dimensions_it_is_made_of,
              a_planted_collision_is_found_and_named, probes_find_what_is_there_and_nothing_else,
              an_encoder_without_positions_is_permutation_equivariant_at_every_depth,
              a_causal_model_without_positions_knows_order_from_its_second_layer_on,
              order_sensitivity_is_zero_where_it_must_be_and_nowhere_else,
              zero_queries_look_at_all_keys_alike, a_slope_alone_is_all_distance_and_all_bias,
              a_turn_of_constant_queries_is_all_rotation,
              a_turn_of_zero_queries_explains_nothing_beside_a_bias,
              an_observer_hears_everything_and_changes_no_bit,
              the_same_subject_gives_the_same_tree));
}
