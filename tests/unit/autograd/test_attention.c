/* SPDX-License-Identifier: MIT */
/* Fused attention against the same computation composed of plain operations. */
#include "autograd/ops.h"
#include "support/products.h"
#include "support/support.h"
#include "tensor/gemm.h"

enum { Q, K, V, SCORE_ADD, BIAS, REL, N_INPUT, OUT = N_INPUT, N_RESULT };

struct setup {
    const char *name;
    int64_t B, H, Tq, Tk, C, Cv;
    enum { HEADS_FIRST, PACKED, SHARED, OVERLAPPING } layout;
    struct attention_mask mask; /* arrays are made when the flags ask for them */
    bool pad, documents;
    int64_t score_add[4], bias[4]; /* first dim 0: absent */
    int64_t rel_heads;             /* 0: absent */
};

/* Result and gradients, as doubles: conversion from F32 keeps the bits apart. */
struct outcome {
    int64_t n[N_RESULT];
    double *x[N_RESULT];
};

static void outcome_free(struct outcome *o)
{
    for (int i = 0; i < N_RESULT; i++)
        free(o->x[i]);
}

static void outcome_take(struct outcome *o, int i, const struct tensor *t)
{
    o->n[i] = tensor_count(t);
    o->x[i] = malloc((size_t)o->n[i] * sizeof(double));
    ck_assert_ptr_nonnull(o->x[i]);
    for (int64_t a = 0; a < o->n[i]; a++)
        o->x[i][a] = tensor_get(t, a);
}

/* Of numbers that bf16 has. */
static peat_node *leaf(struct graph *g, int rank, const int64_t *dim, const char *name)
{
    struct tensor t = tensor_new(g->arena, g->dtype, rank, dim);
    uint64_t stream = rng_stream(1, "test", name);
    for (int64_t i = 0; i < tensor_count(&t); i++)
        tensor_set(&t, i, nearbyint(128.0 * rng_uniform(stream, (uint64_t)i) - 64.0) / 64.0);
    return graph_leaf(g, &t, NULL, name);
}

/* [B,T,H,C] columns of a packed row, heads second. */
static peat_node *heads(struct graph *g, peat_node *x, const struct setup *s, int64_t T,
                        int64_t first, int64_t C)
{
    peat_graph *p = &g->base;
    const int64_t split[] = {s->B, T, s->H, C};
    const int32_t order[] = {0, 2, 1, 3};
    x = op_slice(p, x, 2, first, first + s->H * C);
    return op_permute(p, op_reshape(p, x, 4, split), 4, order);
}

static void make_qkv(struct graph *g, const struct setup *s, peat_node **leaves, peat_node **qkv)
{
    int64_t D = s->H * s->C;
    const int64_t q[] = {s->B, s->H, s->Tq, s->C}, k[] = {s->B, s->H, s->Tk, s->C},
                  v[] = {s->B, s->H, s->Tk, s->Cv}, packed[] = {s->B, s->Tq, 3 * D};
    if (s->layout == HEADS_FIRST) {
        qkv[Q] = leaves[Q] = leaf(g, 4, q, "q");
        qkv[K] = leaves[K] = leaf(g, 4, k, "k");
        qkv[V] = leaves[V] = leaf(g, 4, v, "v");
        return;
    }
    peat_node *root = leaves[Q] = leaf(g, 3, packed, "qkv");
    int64_t step = s->layout == PACKED ? D : s->layout == SHARED ? 0 : s->C;
    for (int i = Q; i <= V; i++)
        qkv[i] = heads(g, root, s, s->Tq, i * step, s->C);
}

/* The mask with its arrays: the last keys of a batch are padding, documents are thirds. */
static struct attention_mask make_mask(struct graph *g, const struct setup *s)
{
    struct attention_mask mask = s->mask;
    uint8_t *pad = arena_zalloc(g->arena, (size_t)(s->B * s->Tk));
    int32_t *doc_q = ARENA_ARRAY(g->arena, s->B * s->Tq, int32_t);
    int32_t *doc_k = ARENA_ARRAY(g->arena, s->B * s->Tk, int32_t);
    for (int64_t b = 0; b < s->B; b++) {
        for (int64_t j = 0; j < s->Tk; j++) {
            pad[b * s->Tk + j] = j >= s->Tk - 2 * b - 1;
            doc_k[b * s->Tk + j] = (int32_t)(3 * (j + b) / s->Tk);
        }
        for (int64_t i = 0; i < s->Tq; i++)
            doc_q[b * s->Tq + i] = (int32_t)(3 * (i + b) / s->Tq);
    }
    mask.pad_k = s->pad ? pad : NULL;
    mask.doc_q = s->documents ? doc_q : NULL;
    mask.doc_k = s->documents ? doc_k : NULL;
    return mask;
}

static peat_node *composed(struct graph *g, const struct setup *s, peat_node *const *in,
                           double scale, const struct attention_mask *mask)
{
    peat_graph *p = &g->base;
    peat_node *x = op_matmul(p, in[Q], in[K], PEAT_TRANS_B);
    x = in[SCORE_ADD] ? op_add(p, x, in[SCORE_ADD]) : x;
    x = op_affine(p, x, scale, 0.0);
    x = in[BIAS] ? op_add(p, x, in[BIAS]) : x;
    if (in[REL]) {
        const int64_t dim[] = {s->Tq, s->Tk}, apart[] = {s->rel_heads, 1, s->Tq + s->Tk - 1};
        peat_node *index = graph_constant(g, PEAT_I32, 2, dim, NULL);
        for (int64_t i = 0; i < s->Tq; i++)
            for (int64_t j = 0; j < s->Tk; j++)
                ((int32_t *)index->value.data)[i * s->Tk + j] = (int32_t)(j - i + s->Tq - 1);
        x = op_add(p, x, op_take_last(p, op_reshape(p, in[REL], 3, apart), index));
    }
    x = op_softmax(p, x, attention_mask_node(g, mask, s->B, s->Tq, s->Tk));
    return op_matmul(p, x, in[V], 0);
}

static void run_with(const struct setup *s, peat_dtype dtype, const struct team *with, bool fused,
                     struct outcome *result)
{
    struct arena arena;
    struct team team = *with;
    struct graph g;
    arena_init(&arena, "test", 1 << 20);
    graph_init(&g, &arena, &team, dtype);
    peat_node *leaves[N_INPUT] = {NULL}, *in[N_INPUT] = {NULL};
    make_qkv(&g, s, leaves, in);
    if (s->score_add[0])
        in[SCORE_ADD] = leaves[SCORE_ADD] = leaf(&g, 4, s->score_add, "score_add");
    if (s->bias[0])
        in[BIAS] = leaves[BIAS] = leaf(&g, 4, s->bias, "bias");
    if (s->rel_heads) {
        const int64_t dim[] = {s->rel_heads, s->Tq + s->Tk - 1};
        in[REL] = leaves[REL] = leaf(&g, 2, dim, "rel");
    }
    struct attention_mask mask = make_mask(&g, s);
    const double scale = 0.7;
    peat_node *out = fused ? op_attention(&g.base, in[Q], in[K], in[V], in[SCORE_ADD], in[BIAS],
                                          in[REL], scale, &mask)
                           : composed(&g, s, in, scale, &mask);
    ck_assert_msg(out != NULL, "%s: %s", s->name, g.err.text);
    *result = (struct outcome){0};
    outcome_take(result, OUT, &out->value);
    const int64_t flat = -1;
    peat_node *w = leaf(&g, 4, out->value.dim, "weights");
    peat_node *loss = op_sum(&g.base, op_reshape(&g.base, op_mul(&g.base, out, w), 1, &flat), 0);
    graph_backward(&g, loss);
    ck_assert_msg(!graph_failed(&g), "%s: %s", s->name, g.err.text);
    for (int i = 0; i < N_INPUT; i++)
        if (leaves[i]) {
            struct tensor grad = node_grad(leaves[i]);
            outcome_take(result, i, &grad);
        }
    arena_release(&arena);
}

static void run(const struct setup *s, peat_dtype dtype, int threads, bool fused,
                struct outcome *result)
{
    struct team team = team_by("auto", threads);
    run_with(s, dtype, &team, fused, result);
}

/* With products of bf16. */
static void run_rounded(const struct setup *s, int threads, struct outcome *result)
{
    struct error err = {0};
    struct team team = team_by("auto", threads);
    ck_assert_msg(gemm_start_bf16(&team, &err) == PEAT_OK, "%s", err.text);
    run_with(s, PEAT_F32, &team, true, result);
    gemm_stop(&team);
}

static double largest_difference(const struct outcome *a, const struct outcome *b)
{
    double worst = 0.0;
    for (int i = 0; i < N_RESULT; i++) {
        ck_assert_int_eq(a->n[i], b->n[i]);
        for (int64_t j = 0; j < a->n[i]; j++) {
            double d = fabs(a->x[i][j] - b->x[i][j]) / fmax(1.0, fabs(b->x[i][j]));
            worst = d <= worst ? worst : d; /* NaN becomes the worst */
        }
    }
    return worst;
}

static const struct setup setups[] = {
    {"plain", 2, 3, 5, 5, 4, 4},
    {"one of each", 1, 1, 1, 1, 1, 1},
    {"blocks and a rest", 1, 2, 131, 131, 8, 8, .mask = {.causal = true}},
    {"other value width", 2, 2, 7, 9, 4, 6},
    {"causal with offset", 2, 2, 5, 12, 4, 4, .mask = {.causal = true, .offset = 7}},
    {"early queries see nothing", 1, 2, 6, 6, 4, 4, .mask = {.causal = true, .offset = -3}},
    {"window", 1, 2, 70, 70, 4, 4, .mask = {.causal = true, .window = 5}},
    {"window on both sides", 2, 1, 70, 75, 4, 4, .mask = {.window = 9, .offset = 3}},
    {"padding", 3, 2, 9, 9, 4, 4, .pad = true},
    {"all is padding", 3, 1, 4, 4, 4, 4, .pad = true},
    {"documents", 2, 2, 19, 19, 4, 4, .mask = {.causal = true}, .documents = true},
    {"everything masked together", 2, 2, 67, 67, 4, 4, .mask = {.causal = true, .window = 20},
     .pad = true, .documents = true},
    {"packed projections", 2, 3, 70, 70, 4, 4, PACKED, .mask = {.causal = true}},
    {"q, k and v alike", 2, 3, 10, 10, 4, 4, SHARED},
    {"q, k and v overlap", 2, 3, 10, 10, 4, 4, OVERLAPPING},
    {"bias of all axes", 2, 3, 6, 7, 4, 4, .bias = {2, 3, 6, 7}},
    {"bias over batches", 2, 3, 6, 7, 4, 4, .bias = {1, 3, 6, 7}, .score_add = {2, 1, 6, 7}},
    {"bias over heads", 2, 3, 6, 7, 4, 4, .bias = {2, 1, 6, 7}, .score_add = {1, 1, 6, 7}},
    {"bias per key", 2, 3, 6, 7, 4, 4, .bias = {2, 1, 1, 7}, .score_add = {1, 3, 1, 7}},
    {"bias per query", 2, 3, 6, 7, 4, 4, .bias = {1, 3, 6, 1}, .score_add = {2, 3, 6, 1}},
    {"bias per head", 2, 3, 6, 7, 4, 4, .bias = {1, 3, 1, 1}, .score_add = {1, 1, 1, 1}},
    {"masked bias", 2, 3, 66, 66, 4, 4, .mask = {.causal = true}, .bias = {1, 3, 66, 66},
     .score_add = {2, 1, 66, 66}},
    {"rel", 2, 3, 6, 7, 4, 4, .rel_heads = 3},
    {"rel for all heads", 2, 3, 66, 66, 4, 4, .mask = {.causal = true}, .rel_heads = 1},
    {"several waves of sums", 2, 1, 1030, 1030, 2, 2, .mask = {.causal = true},
     .bias = {1, 1, 1030, 1030}, .score_add = {2, 1, 1, 1030}},
    {"heads of 16", 2, 2, 64, 64, 16, 16, PACKED, .mask = {.causal = true}},
    {"heads of 40", 1, 2, 97, 97, 40, 40, PACKED, .mask = {.causal = true}},
    {"long heads", 1, 1, 150, 131, 72, 33},
    {"all at once", 2, 3, 67, 70, 4, 6, .mask = {.causal = true, .offset = 3, .window = 40},
     .pad = true, .documents = true, .bias = {1, 3, 67, 70}, .score_add = {2, 1, 1, 70},
     .rel_heads = 3},
};
enum { N_SETUP = sizeof(setups) / sizeof(*setups) };

static void assert_near_composed_f64(const struct setup *s, peat_dtype dtype, double limit)
{
    struct outcome fused, naive;
    run(s, dtype, 1, true, &fused);
    run(s, PEAT_F64, 1, false, &naive);
    double d = largest_difference(&fused, &naive);
    ck_assert_msg(d < limit, "%s: %g", s->name, d);
    outcome_free(&fused);
    outcome_free(&naive);
}

LOOP_TEST(fused_equals_composed_in_f64, N_SETUP)
{
    assert_near_composed_f64(&setups[_i], PEAT_F64, 1e-12);
}

LOOP_TEST(fused_f32_is_near_composed_f64, N_SETUP)
{
    assert_near_composed_f64(&setups[_i], PEAT_F32, 1e-5);
}

static void assert_same_bits(const struct setup *s, const struct outcome *one,
                             const struct outcome *other, int threads)
{
    for (int i = 0; i < N_RESULT; i++)
        ck_assert_msg(one->n[i] == other->n[i] &&
                          (one->n[i] == 0 ||
                           memcmp(one->x[i], other->x[i], (size_t)one->n[i] * sizeof(double)) == 0),
                      "%s: result %d at %d threads", s->name, i, threads);
}

LOOP_TEST(same_bits_at_any_thread_count, N_SETUP)
{
    const struct setup *s = &setups[_i];
    struct outcome one, other;
    run(s, PEAT_F32, 1, true, &one);
    for (int threads = 2; threads <= 4; threads += 2) {
        run(s, PEAT_F32, threads, true, &other);
        assert_same_bits(s, &one, &other, threads);
        outcome_free(&other);
    }
    outcome_free(&one);
}

static bool has_bf16;

LOOP_TEST(with_bf16_same_bits_at_any_thread_count_and_others_than_with_f32, has_bf16 ? N_SETUP : 0)
{
    const struct setup *s = &setups[_i];
    struct outcome one, other;
    run_rounded(s, 1, &one);
    for (int threads = 2; threads <= 4; threads += 2) {
        run_rounded(s, threads, &other);
        assert_same_bits(s, &one, &other, threads);
        outcome_free(&other);
    }
    run(s, PEAT_F32, 1, true, &other);
    ck_assert(s->Tk < 5 || largest_difference(&one, &other) > 1e-5);
    outcome_free(&other);
    outcome_free(&one);
}

/* Weights and their gradients are rounded by at most 2^-9 of themselves, each once. */
LOOP_TEST(with_bf16_fused_is_as_near_composed_f64_as_rounded_weights_let_it, has_bf16 ? N_SETUP : 0)
{
    const struct setup *s = &setups[_i];
    struct outcome fused, naive;
    run_rounded(s, 1, &fused);
    run(s, PEAT_F64, 1, false, &naive);
    for (int i = 0; i < N_RESULT; i++) {
        double apart = 0.0, length = 0.0;
        for (int64_t j = 0; j < fused.n[i]; j++) {
            double d = fused.x[i][j] - naive.x[i][j];
            apart += d * d;
            length += naive.x[i][j] * naive.x[i][j];
        }
        ck_assert_msg(sqrt(apart) < 0x1p-7 * fmax(sqrt(length), 1.0), "%s: result %d: %g of %g",
                      s->name, i, sqrt(apart), sqrt(length));
    }
    outcome_free(&fused);
    outcome_free(&naive);
}

LOOP_TEST(rows_without_a_key_give_zeros_and_no_gradient, has_bf16 ? 2 : 1)
{
    const struct setup s = {"blind", 1, 1, 6, 6, 2, 2, .mask = {.causal = true, .offset = -3}};
    struct outcome o;
    if (_i == 0)
        run(&s, PEAT_F32, 1, true, &o);
    else
        run_rounded(&s, 1, &o);
    for (int64_t i = 0; i < 3 * 2; i++) {
        ck_assert_double_eq(o.x[OUT][i], 0.0);
        ck_assert_double_eq(o.x[Q][i], 0.0);
    }
    ck_assert_double_ne(o.x[OUT][3 * 2], 0.0);
    outcome_free(&o);
}

/* One query over two keys; the first logit is not a number. */
LOOP_TEST(nan_is_not_lost, 2)
{
    struct team team = team_by("auto", 1);
    struct arena arena;
    struct graph g;
    arena_init(&arena, "test", 1 << 16);
    graph_init(&g, &arena, &team, PEAT_F32);
    const int64_t q_dim[] = {1, 1, 1, 1}, k_dim[] = {1, 1, 2, 1};
    float q[] = {1.0f}, k[] = {NAN, NAN}, v[] = {1.0f, 1.0f};
    struct attention_mask mask = {.causal = _i == 1}; /* with one key or with two */
    peat_node *out =
        op_attention(&g.base, graph_constant(&g, PEAT_F32, 4, q_dim, q),
                     graph_constant(&g, PEAT_F32, 4, k_dim, k),
                     graph_constant(&g, PEAT_F32, 4, k_dim, v), NULL, NULL, NULL, 1.0, &mask);
    ck_assert(isnan(tensor_get(&out->value, 0)));
    arena_release(&arena);
}

TEST(plan_counts_the_whole_square)
{
    struct arena arena;
    struct graph g;
    arena_init(&arena, "test", 1 << 16);
    graph_init(&g, &arena, lone_team(), PEAT_F32);
    g.shape_only = true;
    const int64_t dim[] = {16, 4, 128, 32};
    struct attention_mask mask = {.causal = true};
    peat_node *x = graph_constant(&g, PEAT_F32, 4, dim, NULL);
    peat_node *out = op_attention(&g.base, x, x, x, NULL, NULL, NULL, 1.0, &mask);
    ck_assert_ptr_nonnull(out);
    ck_assert_ptr_null(out->value.data);
    ck_assert_int_eq(g.flops, 4 * 16 * 4 * 128 * 128 * 32);
    arena_release(&arena);
}

TEST(what_does_not_fit_is_refused)
{
    struct arena arena;
    struct graph g;
    arena_init(&arena, "test", 1 << 16);
    const int64_t x_dim[] = {2, 2, 3, 4}, short_dim[] = {2, 2, 3, 3}, bias_dim[] = {2, 2, 3, 2},
                  rel_dim[] = {2, 6};
    for (int i = 0; i < 3; i++) {
        graph_init(&g, &arena, lone_team(), PEAT_F32);
        g.shape_only = true;
        peat_node *x = graph_constant(&g, PEAT_F32, 4, x_dim, NULL);
        peat_node *k = graph_constant(&g, PEAT_F32, 4, i == 0 ? short_dim : x_dim, NULL);
        peat_node *bias = graph_constant(&g, PEAT_F32, 4, bias_dim, NULL);
        peat_node *rel = graph_constant(&g, PEAT_F32, 2, rel_dim, NULL);
        ck_assert_ptr_null(op_attention(&g.base, x, k, x, NULL, i == 1 ? bias : NULL,
                                        i == 2 ? rel : NULL, 1.0, NULL));
        static const char *const word[] = {"q [2, 2, 3, 4]", "bias", "rel"};
        ck_assert_msg(strstr(g.err.text, word[i]) != NULL, "%s", g.err.text);
    }
    arena_release(&arena);
}

int main(void)
{
    struct error missing = {0};
    use_built_plugins();
    has_bf16 = gemm_check_bf16("auto", &missing) == PEAT_OK;
    if (!has_bf16)
        printf("bf16 is not tested: %s\n", missing.text);
    return run_tests((struct tests){"attention", .seconds = 60});
}
