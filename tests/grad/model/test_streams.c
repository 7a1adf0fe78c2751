/* SPDX-License-Identifier: MIT */
/* test_streams.c: streams of a task's own, ids and numbers, from the batch to the loss. */
#include "hook_cases.h"
#include "support/support.h"

enum { B = 2, T = 5, V = 7, IDS = 3, NUMBERS = 2 };

static struct modelcheck m;
static int32_t kind[B * T];
static float place[B * T * NUMBERS];

/* kind: ids; place: numbers. */
static void add_streams(void)
{
    for (int i = 0; i < B * T; i++)
        kind[i] = i % IDS;
    for (int i = 0; i < B * T * NUMBERS; i++)
        place[i] = (float)(i % 7 - 3) / 4;
    m.config.n_stream = 2;
    m.config.stream[0] = (peat_stream){"kind", IDS, 0};
    m.config.stream[1] = (peat_stream){"place", 0, NUMBERS};
    m.input.stream_id[0] = kind;
    m.input.stream_number[1] = place;
}

static void start(peat_arch arch)
{
    modelcheck_release(&m);
    modelcheck_init(&m, arch);
    add_streams();
}

static void set_up(void)
{
    modelcheck_init(&m, PEAT_DECODER);
    add_streams();
}

static void tear_down(void)
{
    modelcheck_release(&m);
}

TEST(they_are_trained_with_and_without_a_combination)
{
    modelcheck_scheme(&m, "sine", &with_encode);
    modelcheck_build(&m);
    modelcheck_gradients(&m, 1e-7);
    start(PEAT_DECODER);
    m.config.n_segment = 2;
    int32_t segment[B * T] = {0, 1, 1, 0, 0, 1, 0, 1, 0, 1};
    m.input.rows.segment = segment;
    modelcheck_build(&m);
    modelcheck_gradients(&m, 1e-7);
    start(PEAT_DECODER);
    m.positional.combine = NULL;
    modelcheck_build(&m);
    modelcheck_gradients(&m, 1e-7);
}

/* A class token has id 0 and the shift alone. */
LOOP_TEST(a_class_token_has_them_wherever_it_stands, 3)
{
    start(PEAT_ENCODER);
    m.config.head = PEAT_HEAD_CLASS;
    m.config.n_class = 3;
    m.config.cls_position = (enum cls_position)_i;
    for (int i = 0; i < B; i++)
        m.target[i] = i;
    modelcheck_scheme(&m, "sine", &with_encode);
    modelcheck_build(&m);
    modelcheck_gradients(&m, 1e-7);
}

/* Width and names as the combination gets them. */
TEST(they_come_last_by_their_own_names)
{
    modelcheck_scheme(&m, "sine", &with_encode);
    m.config.n_segment = 2;
    modelcheck_build(&m);
    static const char *const names[] = {"token", "position", "segment", "kind", "place"};
    ck_assert_int_eq(m.positional.n_stream, 5);
    for (int i = 0; i < 5; i++)
        ck_assert_str_eq(m.positional.stream[i], names[i]);
    const struct weight *w = weights_find(&m.model.weights, "stream.kind.weight");
    ck_assert(w && w->value.dim[0] == IDS && w->value.dim[1] == 8 && w->decay);
    w = weights_find(&m.model.weights, "stream.place.weight");
    ck_assert(w && w->value.dim[0] == 8 && w->value.dim[1] == NUMBERS);
    w = weights_find(&m.model.weights, "stream.place.bias");
    ck_assert(w && w->value.rank == 1 && !w->decay);
}

static void logits(double *out)
{
    m.input.phase = PEAT_EVAL;
    modelcheck_logits(&m, out);
}

/* Tokens, ids and numbers are added at one size: with their tables made equal, one stands for
 * another. */
TEST(they_are_scaled_as_tokens_are)
{
    double x[B * T * V], y[B * T * V];
    int32_t token[B * T];
    m.config.embed_scale = 3;
    m.positional.combine = NULL;
    modelcheck_build(&m);
    struct weight *ids = weights_find(&m.model.weights, "stream.kind.weight");
    struct weight *tokens = weights_find(&m.model.weights, "token.weight");
    for (int64_t i = 0; i < IDS * 8; i++)
        tensor_set(&ids->value, i, tensor_get(&tokens->value, i));
    for (int i = 0; i < B * T; i++)
        token[i] = (2 * i) % IDS;
    m.input.rows.token = token;
    logits(x);
    m.input.rows.token = kind;
    m.input.stream_id[0] = token;
    logits(y);
    for (int i = 0; i < B * T * V; i++)
        ck_assert_double_eq_tol(x[i], y[i], 1e-12);
    m.input.stream_id[0] = kind;
    logits(y);
    ck_assert(fabs(x[0] - y[0]) < 1e-12 && fabs(x[V] - y[V]) > 1e-6);
}

TEST(a_batch_without_one_is_refused_and_answers_are_decoded_in_full)
{
    struct graph g;
    const char *id;
    m.positional.combine = NULL;
    modelcheck_build(&m);
    ck_assert_str_eq(model_not_storable(&m.model, &id), "its task has streams of its own");
    m.input.stream_number[1] = NULL;
    graph_init(&g, &m.step, &m.team, PEAT_F64);
    ck_assert_ptr_null(model_forward(&m.model, &g, &m.input, NULL));
    ck_assert_msg(strstr(g.err.text, "takes a stream 'place'"), "%s", g.err.text);
}

TEST(they_are_counted)
{
    struct model_cost with, without;
    modelcheck_build(&m);
    ck_assert_int_eq(model_plan(&m.model, B, T, true, &with, &m.err), PEAT_OK);
    modelcheck_release(&m);
    modelcheck_init(&m, PEAT_DECODER);
    modelcheck_build(&m);
    ck_assert_int_eq(model_plan(&m.model, B, T, true, &without, &m.err), PEAT_OK);
    ck_assert_int_eq(with.trainable - without.trainable, 8 * IDS + 8 * NUMBERS + 8);
    ck_assert_int_eq(with.forward_flops - without.forward_flops, 2 * B * T * 8 * NUMBERS);
}

int main(void)
{
    return run_tests((struct tests){"streams", set_up, tear_down, .seconds = 60});
}
