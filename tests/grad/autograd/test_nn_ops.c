/* SPDX-License-Identifier: MIT */
/*
 * test_nn_ops.c: softmax, norms, rotate, dropout, cross-entropy, attention, recurrence and
 * convolution against central differences in F64, against themselves in F32, at several thread
 * counts and without data; and each of them again with a gradient that is wrong by one in a
 * thousand.
 */
#include "autograd/ops.h"
#include "support/gradcase.h"
#include "support/products.h"
#include "support/support.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* --- softmax ------------------------------------------------------------------------------- */

BUILD(softmax, op_softmax(g, in[0], NULL))

BUILD(softmax_of_view, op_softmax(g, op_permute(g, in[0], 2, (const int32_t[]){1, 0}), NULL))

/* The mask stretches over the second axis of [2,3,T,T]; row 0 of batch 1 sees nothing. */
static peat_node *softmax_masked(struct graph *g, peat_node *const *in, void *ctx)
{
    const uint8_t pad[] = {0, 0, 0, 0, 1, 1, 0, 0};
    const struct attention_mask mask = {.causal = true, .pad_k = pad};
    (void)ctx;
    return op_softmax(&g->base, in[0], attention_mask_node(g, &mask, 2, 4, 4));
}

static const struct gradcase softmax_cases[] = {
    {"softmax of one", 1, {{1, {1}}}, softmax},
    {"softmax of a row", 1, {{1, {17}, -3, 3}}, softmax},
    {"softmax", 1, {{3, {2, 3, 37}, -3, 3}}, softmax},
    {"softmax of a view", 1, {{2, {5, 7}, -3, 3}}, softmax_of_view},
    {"softmax with a mask", 1, {{4, {2, 3, 4, 4}, -3, 3}}, softmax_masked},
};

/* --- norms --------------------------------------------------------------------------------- */

static const double norm_eps = 1e-3;

BUILD(layernorm, op_layernorm(g, in[0], in[1], in[2], norm_eps))

BUILD(layernorm_plain, op_layernorm(g, in[0], NULL, NULL, norm_eps))

BUILD(layernorm_offset, op_layernorm(g, in[0], NULL, in[1], norm_eps))

BUILD(layernorm_of_view, op_layernorm(g, op_slice(g, in[0], 1, 2, 9), in[1], NULL, norm_eps))

BUILD(rmsnorm, op_rmsnorm(g, in[0], in[1], norm_eps))

BUILD(rmsnorm_plain, op_rmsnorm(g, in[0], NULL, norm_eps))

BUILD(normalize, op_normalize(g, in[0], norm_eps))

static const struct gradcase norm_cases[] = {
    {"layernorm", 3, {{3, {2, 3, 19}}, {1, {19}}, {1, {19}}}, layernorm},
    {"layernorm far from zero", 3, {{2, {3, 16}, 9, 11}, {1, {16}}, {1, {16}}}, layernorm},
    {"layernorm alone", 1, {{2, {5, 16}}}, layernorm_plain},
    {"layernorm with an offset", 2, {{2, {5, 7}}, {1, {7}}}, layernorm_offset},
    {"layernorm of a view", 2, {{2, {4, 11}}, {1, {7}}}, layernorm_of_view},
    {"rmsnorm", 2, {{3, {2, 3, 19}}, {1, {19}}}, rmsnorm},
    {"rmsnorm alone", 1, {{1, {5}}}, rmsnorm_plain},
    {"normalize", 1, {{4, {2, 3, 5, 8}}}, normalize},
    {"normalize of one", 1, {{2, {3, 1}}}, normalize},
};

/* --- rotate -------------------------------------------------------------------------------- */

BUILD(interleaved, op_rotate(g, in[0], in[1], in[2], PEAT_INTERLEAVED))

BUILD(halves, op_rotate(g, in[0], in[1], in[2], PEAT_HALVES))

/* in[0] is [B,T,H,C]: heads come second as a view. */
static peat_node *of_heads(struct graph *g, peat_node *const *in, void *ctx)
{
    static const int32_t order[] = {0, 2, 1, 3};
    const peat_layout *layout = ctx;
    peat_node *x = op_permute(&g->base, in[0], 4, order);
    return op_rotate(&g->base, x, in[1], in[2], *layout);
}

/* The last axis of the operand is strided, the angles' is stretched. */
static peat_node *of_columns(struct graph *g, peat_node *const *in, void *ctx)
{
    static const int32_t turned[] = {1, 0};
    const peat_layout *layout = ctx;
    return op_rotate(&g->base, op_permute(&g->base, in[0], 2, turned), in[1], in[2], *layout);
}

static const peat_layout layouts[] = {PEAT_INTERLEAVED, PEAT_HALVES};
#define LAYOUT(i) ((void *)&layouts[i])

static const struct gradcase rotate_cases[] = {
    {"rotate pairs", 3, {{2, {5, 8}}, {2, {5, 4}}, {2, {5, 4}}}, interleaved},
    {"rotate halves", 3, {{2, {5, 8}}, {2, {5, 4}}, {2, {5, 4}}}, halves},
    {"rotate pairs, [T,C/2]", 3, {{4, {2, 3, 5, 6}}, {2, {5, 3}}, {2, {5, 3}}}, interleaved},
    {"rotate halves, [1,T,C/2]", 3, {{4, {2, 3, 5, 6}}, {3, {1, 5, 3}}, {3, {1, 5, 3}}}, halves},
    {"rotate, angles per head", 3, {{4, {2, 3, 5, 6}}, {3, {3, 1, 3}}, {4, {2, 1, 5, 3}}}, halves},
    {"rotate, stretched operand", 3, {{4, {1, 3, 5, 6}}, {4, {2, 1, 5, 3}}, {2, {5, 3}}}, halves},
    {"rotate, stretched angles", 3, {{3, {2, 3, 6}}, {1, {1}}, {1, {3}}}, interleaved},
    {"rotate pairs of heads",
     3,
     {{4, {2, 5, 3, 8}}, {2, {5, 4}}, {2, {5, 4}}},
     of_heads,
     LAYOUT(0)},
    {"rotate halves of heads",
     3,
     {{4, {2, 5, 3, 8}}, {2, {5, 4}}, {2, {5, 4}}},
     of_heads,
     LAYOUT(1)},
    {"rotate pairs of columns", 3, {{2, {8, 3}}, {2, {3, 1}}, {2, {1, 4}}}, of_columns, LAYOUT(0)},
    {"rotate halves of columns", 3, {{2, {8, 3}}, {2, {1, 4}}, {2, {3, 1}}}, of_columns, LAYOUT(1)},
    {"rotate one pair", 3, {{1, {2}}, {1, {1}}, {1, {1}}}, interleaved},
};

/* --- dropout and cross-entropy ------------------------------------------------------------- */

BUILD(dropout, op_dropout(g, in[0], 0.3, 11))

/* Every third row has no target. */
static peat_node *cross_entropy(struct graph *g, peat_node *const *in, void *ctx)
{
    const struct tensor *x = &in[0]->value;
    int64_t V = x->dim[x->rank - 1], rows = tensor_count(x) / V;
    peat_node *target = graph_constant(g, PEAT_I32, x->rank - 1, x->dim, NULL);
    (void)ctx;
    for (int64_t i = 0; target && target->value.data && i < rows; i++)
        ((int32_t *)target->value.data)[i] = (int32_t)(i % 3 == 2 ? -1 : 7 * i % V);
    return op_cross_entropy(&g->base, in[0], target);
}

static const struct gradcase loss_cases[] = {
    {"dropout", 1, {{2, {3, 17}}}, dropout},
    {"cross_entropy of a row", 1, {{2, {1, 5}, -3, 3}}, cross_entropy},
    {"cross_entropy", 1, {{3, {2, 4, 11}, -3, 3}}, cross_entropy},
    {"cross_entropy of a wide row", 1, {{2, {3, 1300}, -3, 3}}, cross_entropy},
};

/* --- attention ----------------------------------------------------------------------------- */

enum role { NONE, SCORE_ADD, BIAS, REL };

struct attention_case {
    struct attention_mask mask;
    enum role role[2]; /* of inputs 3 and 4 */
};

static peat_node *attention(struct graph *g, peat_node *const *in, void *ctx)
{
    static const struct attention_case plain = {{0}, {NONE}};
    const struct attention_case *c = ctx ? ctx : &plain;
    peat_node *extra[4] = {NULL};
    for (int i = 0; i < 2; i++)
        if (c->role[i] != NONE)
            extra[c->role[i]] = in[3 + i];
    return op_attention(&g->base, in[0], in[1], in[2], extra[SCORE_ADD], extra[BIAS], extra[REL],
                        0.6, &c->mask);
}

/* One operand [B,T,3HC] for all three, as the layer passes it. */
static peat_node *self_attention(struct graph *g, peat_node *const *in, void *ctx)
{
    const struct attention_mask mask = {.causal = true};
    const int64_t split[] = {2, 9, 2, 4};
    const int32_t order[] = {0, 2, 1, 3};
    peat_node *part[3];
    (void)ctx;
    for (int i = 0; i < 3; i++) {
        part[i] = op_slice(&g->base, in[0], 2, 8 * i, 8 * i + 8);
        part[i] = op_permute(&g->base, op_reshape(&g->base, part[i], 4, split), 4, order);
    }
    return op_attention(&g->base, part[0], part[1], part[2], NULL, NULL, NULL, 0.6, &mask);
}

/* For B = 2, T = 9: the second batch has three padding keys, and three documents. */
static const uint8_t pad[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1};
static const int32_t doc[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2};

static const struct attention_case
    causal = {{.causal = true}, {NONE}},
    late = {{.causal = true, .offset = 4}, {NONE}},
    blind = {{.causal = true, .offset = -3}, {NONE}},
    window = {{.causal = true, .window = 3}, {NONE}}, band = {{.window = 3}, {NONE}},
    padded = {{.pad_k = pad}, {NONE}},
    documents = {{.causal = true, .doc_q = doc, .doc_k = doc}, {NONE}},
    bias = {{.causal = true}, {BIAS}}, score_add = {{.causal = true}, {SCORE_ADD}},
    both = {{.causal = true}, {BIAS, SCORE_ADD}}, rel = {{.causal = true}, {REL}},
    rel_and_bias = {{0}, {REL, BIAS}},
    everything = {{.causal = true, .window = 6, .pad_k = pad, .doc_q = doc, .doc_k = doc},
                  {REL, SCORE_ADD}};
#define CASE(c) ((void *)&(c))
/* q, k and v of B batches, H heads and C wide */
#define QKV(B, H, Tq, Tk, C, Cv)                                                                   \
    {4, {B, H, Tq, C}}, {4, {B, H, Tk, C}},                                                        \
    {                                                                                              \
        4,                                                                                         \
        {                                                                                          \
            B, H, Tk, Cv                                                                           \
        }                                                                                          \
    }
#define QKV_9 QKV(2, 3, 9, 9, 4, 4)

static const struct gradcase attention_cases[] = {
    {"attention of one", 3, {QKV(1, 1, 1, 1, 1, 1)}, attention},
    {"attention", 3, {QKV(2, 3, 5, 7, 4, 6)}, attention},
    {"attention, causal", 3, {QKV_9}, attention, CASE(causal)},
    {"attention, blocks", 3, {QKV(1, 2, 67, 67, 4, 4)}, attention, CASE(causal)},
    {"attention, long blocks", 3, {QKV(1, 1, 131, 131, 4, 4)}, attention},
    {"attention, offset", 3, {QKV(2, 3, 5, 9, 4, 4)}, attention, CASE(late)},
    {"attention, blind rows", 3, {QKV_9}, attention, CASE(blind)},
    {"attention, window", 3, {QKV(1, 2, 67, 67, 4, 4)}, attention, CASE(window)},
    {"attention, band", 3, {QKV_9}, attention, CASE(band)},
    {"attention, padding", 3, {QKV_9}, attention, CASE(padded)},
    {"attention, documents", 3, {QKV_9}, attention, CASE(documents)},
    {"attention of one operand", 1, {{3, {2, 9, 24}}}, self_attention},
    {"attention, bias", 4, {QKV_9, {4, {2, 3, 9, 9}}}, attention, CASE(bias)},
    {"attention, bias of heads", 4, {QKV_9, {3, {3, 9, 9}}}, attention, CASE(bias)},
    {"attention, bias of batches", 4, {QKV_9, {4, {2, 1, 9, 9}}}, attention, CASE(bias)},
    {"attention, bias of keys", 4, {QKV_9, {1, {9}}}, attention, CASE(bias)},
    {"attention, bias of queries", 4, {QKV_9, {4, {1, 3, 9, 1}}}, attention, CASE(score_add)},
    {"attention, score_add", 4, {QKV_9, {4, {1, 1, 9, 9}}}, attention, CASE(score_add)},
    {"attention, two biases",
     5,
     {QKV_9, {4, {1, 3, 9, 9}}, {4, {2, 1, 1, 9}}},
     attention,
     CASE(both)},
    {"attention, rel", 4, {QKV_9, {2, {3, 17}}}, attention, CASE(rel)},
    {"attention, rel of all heads", 4, {QKV_9, {2, {1, 17}}}, attention, CASE(rel)},
    {"attention, rel and bias",
     5,
     {QKV(2, 3, 9, 5, 4, 4), {1, {13}}, {4, {2, 3, 9, 1}}},
     attention,
     CASE(rel_and_bias)},
    {"attention, everything",
     5,
     {QKV_9, {2, {3, 17}}, {4, {2, 3, 9, 9}}},
     attention,
     CASE(everything)},
};

/* --- recurrence and convolution ------------------------------------------------------------ */

struct mixing {
    int64_t from_left;
    struct attention_mask mask;
};

static peat_node *recurrence(struct graph *g, peat_node *const *in, void *ctx)
{
    const struct mixing *m = ctx;
    return op_recurrence(&g->base, in[0], in[1], m->from_left, &m->mask);
}

/* Columns of one operand, as the layer passes them. */
static peat_node *recurrence_of_columns(struct graph *g, peat_node *const *in, void *ctx)
{
    peat_node *part[] = {op_slice(&g->base, in[0], -1, 0, 5), op_slice(&g->base, in[0], -1, 5, 10)};
    return recurrence(g, part, ctx);
}

static peat_node *convolution(struct graph *g, peat_node *const *in, void *ctx)
{
    const struct mixing *m = ctx;
    return op_convolution(&g->base, in[0], in[1], &m->mask);
}

/* For B = 2, T = 9: in front, between and behind. */
static const uint8_t scattered[] = {1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1};

static const struct mixing from_left = {5, {.causal = true}}, from_right = {0, {0}},
                           both_ways = {3, {0}}, much_from_left = {70, {0}},
                           left_documents = {5, {.causal = true, .doc_q = doc, .doc_k = doc}},
                           all_documents = {3, {.pad_k = pad, .doc_q = doc, .doc_k = doc}},
                           left_scattered = {5, {.causal = true, .pad_k = scattered}},
                           all_scattered = {3, {.pad_k = scattered, .doc_q = doc, .doc_k = doc}};
/* states and gates of B rows, T places and D channels */
#define STATES(B, T, D)                                                                            \
    {3, {B, T, D}},                                                                                \
    {                                                                                              \
        3, {B, T, D}, 0.1, 0.9                                                                     \
    }
#define TAPS(B, T, D, K)                                                                           \
    {3, {B, T, D}},                                                                                \
    {                                                                                              \
        2,                                                                                         \
        {                                                                                          \
            K, D                                                                                   \
        }                                                                                          \
    }

static const struct gradcase recurrence_cases[] = {
    {"recurrence", 2, {STATES(2, 9, 5)}, recurrence, CASE(from_left)},
    {"recurrence from the right", 2, {STATES(2, 9, 5)}, recurrence, CASE(from_right)},
    {"recurrence both ways", 2, {STATES(2, 9, 5)}, recurrence, CASE(both_ways)},
    {"recurrence of columns",
     1,
     {{3, {2, 9, 10}, 0.1, 0.9}},
     recurrence_of_columns,
     CASE(both_ways)},
    {"recurrence, one place", 2, {STATES(2, 1, 5)}, recurrence, CASE(both_ways)},
    {"recurrence, many channels", 2, {STATES(1, 3, 140)}, recurrence, CASE(much_from_left)},
    {"recurrence, documents", 2, {STATES(2, 9, 5)}, recurrence, CASE(left_documents)},
    {"recurrence both ways, documents", 2, {STATES(2, 9, 5)}, recurrence, CASE(all_documents)},
    {"recurrence, padding", 2, {STATES(2, 9, 5)}, recurrence, CASE(left_scattered)},
    {"recurrence both ways, padding", 2, {STATES(2, 9, 5)}, recurrence, CASE(all_scattered)},
};

static const struct gradcase convolution_cases[] = {
    {"convolution", 2, {TAPS(2, 9, 5, 4)}, convolution, CASE(from_left)},
    {"convolution of one tap", 2, {TAPS(2, 9, 5, 1)}, convolution, CASE(both_ways)},
    {"convolution of either side", 2, {TAPS(2, 9, 5, 5)}, convolution, CASE(both_ways)},
    {"convolution, more taps than places", 2, {TAPS(2, 3, 5, 9)}, convolution, CASE(both_ways)},
    {"convolution, many channels", 2, {TAPS(1, 3, 140, 3)}, convolution, CASE(from_left)},
    {"convolution, documents", 2, {TAPS(2, 9, 5, 4)}, convolution, CASE(left_documents)},
    {"convolution of either side, documents",
     2,
     {TAPS(2, 9, 5, 5)},
     convolution,
     CASE(all_documents)},
    {"convolution, padding", 2, {TAPS(2, 9, 5, 4)}, convolution, CASE(left_scattered)},
    {"convolution of either side, padding",
     2,
     {TAPS(2, 9, 5, 5)},
     convolution,
     CASE(all_scattered)},
};

/* --- several tiles: too large for a gradient check, which the same code passes above -------- */

static const struct gradcase large_cases[] = {
    {"softmax of many rows", 1, {{2, {700, 33}, -3, 3}}, softmax},
    {"layernorm of many rows", 3, {{2, {1500, 32}}, {1, {32}}, {1, {32}}}, layernorm},
    {"rmsnorm of many rows", 2, {{2, {1500, 32}}, {1, {32}}}, rmsnorm},
    {"rotate much", 3, {{4, {4, 4, 64, 32}}, {2, {64, 16}}, {2, {64, 16}}}, halves},
    {"dropout of many", 1, {{2, {90, 100}}}, dropout},
    {"cross_entropy of many rows", 1, {{2, {300, 65}, -3, 3}}, cross_entropy},
    {"attention, many tiles",
     5,
     {QKV(3, 4, 130, 140, 8, 8), {2, {4, 269}}, {4, {1, 4, 130, 140}}},
     attention,
     CASE(rel_and_bias)},
    {"recurrence of many", 2, {STATES(6, 90, 200)}, recurrence, CASE(much_from_left)},
    {"convolution of many", 2, {TAPS(6, 90, 200, 7)}, convolution, CASE(both_ways)},
};

/* --- the checks ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const struct gradcase *cases;
    int n;
} tables[] = {
    {"softmax", softmax_cases, COUNT(softmax_cases)},
    {"norms", norm_cases, COUNT(norm_cases)},
    {"rotate", rotate_cases, COUNT(rotate_cases)},
    {"losses", loss_cases, COUNT(loss_cases)},
    {"attention", attention_cases, COUNT(attention_cases)},
    {"recurrence", recurrence_cases, COUNT(recurrence_cases)},
    {"convolution", convolution_cases, COUNT(convolution_cases)},
    {"large", large_cases, COUNT(large_cases)},
};
enum { LARGE = COUNT(tables) - 1 };

LOOP_TEST(gradients_are_the_numeric_ones, LARGE)
{
    for (int i = 0; i < tables[_i].n; i++)
        gradcase_run(&tables[_i].cases[i]);
}

LOOP_TEST(f32_is_near_f64, COUNT(tables))
{
    for (int i = 0; i < tables[_i].n; i++)
        gradcase_f32(&tables[_i].cases[i]);
}

LOOP_TEST(same_bits_at_any_thread_count, COUNT(tables))
{
    for (int i = 0; i < tables[_i].n; i++)
        gradcase_threads(&tables[_i].cases[i]);
}

LOOP_TEST(shapes_need_no_data, COUNT(tables))
{
    for (int i = 0; i < tables[_i].n; i++)
        gradcase_shape(&tables[_i].cases[i]);
}

/* --- planted errors ------------------------------------------------------------------------ */

static bool leak_infer(const peat_op_call *c, peat_shape *out)
{
    *out = c->src[0].shape;
    return true;
}

static int64_t leak_units(const peat_op_call *c)
{
    int64_t n = 1;
    for (int32_t i = 0; i < c->src[0].shape.rank; i++)
        n *= c->src[0].shape.dim[i];
    return n;
}

static void leak_forward(const peat_op_call *c, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        ((double *)c->out->data)[i] = ((const double *)c->src[0].data)[i];
}

static void leak_backward(const peat_op_call *c, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        ((double *)c->src_grad[0].data)[i] += 1.001 * ((const double *)c->out_grad->data)[i];
}

static const peat_op leak = {
    sizeof(leak), "leak", leak_infer, leak_units, leak_forward, leak_backward, NULL,
};

/* A row of a table whose gradients are all too large by one in a thousand. */
static peat_node *leaking(struct graph *g, peat_node *const *in, void *ctx)
{
    const struct gradcase *c = ctx;
    peat_node *y = c->build(g, in, c->ctx);
    return op_custom(&g->base, &leak, 1, &y, NULL, 0);
}

LOOP_TEST(planted_errors_are_caught, LARGE)
{
    for (int i = 0; i < tables[_i].n; i++) {
        const struct gradcase *c = &tables[_i].cases[i];
        struct gradcase wrong = *c;
        struct error err = {0};
        /* One alone has a constant result: nothing to be wrong about. */
        if (c->build == softmax && c->input[0].dim[0] == 1)
            continue;
        wrong.build = leaking;
        wrong.ctx = (void *)c;
        ck_assert_msg(gradcase_check(&wrong, &err) == PEAT_FAILED, "%s: %s", c->name, err.text);
    }
}

/* --- what a gradient check cannot see ------------------------------------------------------ */

static void graph_start(struct graph *g, struct arena *arena)
{
    arena_init(arena, "test", 1 << 16);
    graph_init(g, arena, lone_team(), PEAT_F32);
}

TEST(softmax_of_a_masked_row_is_zero)
{
    struct arena arena;
    struct graph g;
    graph_start(&g, &arena);
    const int64_t dim[] = {2, 3}, mask_dim[] = {2, 1};
    float x[] = {1, 2, 3, 1, 2, 3}, mask[] = {0, 1};
    peat_node *y = op_softmax(&g.base, graph_constant(&g, PEAT_F32, 2, dim, x),
                              graph_constant(&g, PEAT_F32, 2, mask_dim, mask));
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq(tensor_get(&y->value, i), 0.0);
        sum += tensor_get(&y->value, 3 + i);
    }
    ck_assert_double_eq_tol(sum, 1.0, 1e-6);
    arena_release(&arena);
}

TEST(dropout_keeps_the_mean_and_the_same_elements)
{
    struct arena arena;
    struct graph g;
    graph_start(&g, &arena);
    const int64_t n = 20000;
    peat_node *x = graph_constant(&g, PEAT_F32, 1, &n, NULL);
    tensor_fill(&x->value, 1.0);
    peat_node *y = op_dropout(&g.base, x, 0.25, 5), *again = op_dropout(&g.base, x, 0.25, 5),
              *other = op_dropout(&g.base, x, 0.25, 6);
    double sum = 0.0;
    int64_t differ = 0;
    for (int64_t i = 0; i < n; i++) {
        double v = tensor_get(&y->value, i);
        ck_assert(v == 0.0 || v == (double)(4.0f / 3.0f));
        ck_assert_double_eq(v, tensor_get(&again->value, i));
        differ += v != tensor_get(&other->value, i);
        sum += v;
    }
    ck_assert_double_eq_tol(sum / (double)n, 1.0, 0.02);
    ck_assert_int_gt(differ, n / 4);
    ck_assert_ptr_eq(op_dropout(&g.base, x, 0.0, 5), x);
    ck_assert_ptr_null(op_dropout(&g.base, x, 1.0, 5));
    arena_release(&arena);
}

TEST(cross_entropy_without_targets_is_zero)
{
    struct arena arena;
    struct graph g;
    graph_start(&g, &arena);
    const int64_t dim[] = {2, 3};
    struct tensor x = tensor_new(&arena, PEAT_F32, 2, dim);
    tensor_fill(&x, 1.0);
    int32_t none[] = {-1, -1};
    peat_node *logits = graph_leaf(&g, &x, NULL, "logits");
    peat_node *loss = op_cross_entropy(&g.base, logits, graph_constant(&g, PEAT_I32, 1, dim, none));
    ck_assert_double_eq(tensor_get(&loss->value, 0), 0.0);
    graph_backward(&g, loss);
    struct tensor grad = node_grad(logits);
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq(tensor_get(&grad, i), 0.0);
    arena_release(&arena);
}

TEST(cross_entropy_refuses_a_target_beyond_the_classes)
{
    struct arena arena;
    struct graph g;
    graph_start(&g, &arena);
    const int64_t dim[] = {2, 3};
    float x[6] = {0};
    int32_t target[] = {0, 3};
    ck_assert_ptr_null(op_cross_entropy(&g.base, graph_constant(&g, PEAT_F32, 2, dim, x),
                                        graph_constant(&g, PEAT_I32, 1, dim, target)));
    ck_assert_str_eq(g.err.text, "cross_entropy: target 3 of row 1 is not below 3");
    arena_release(&arena);
}

TEST(sums_agree_with_the_loss_at_any_thread_count)
{
    enum { ROWS = 700, V = 7 };
    struct arena arena;
    struct graph g;
    graph_start(&g, &arena);
    const int64_t dim[] = {ROWS, V};
    struct tensor x = tensor_new(&arena, PEAT_F32, 2, dim);
    int32_t target[ROWS];
    int64_t targets = 0, correct = 0;
    for (int64_t row = 0; row < ROWS; row++) {
        target[row] = (int32_t)(row % 5 == 4 ? -1 : row % V);
        /* The highest logit stands at row % V or, tied with a lower index, also at V - 1. */
        for (int64_t j = 0; j < V; j++)
            tensor_set(&x, row * V + j, j == (row * 3) % V || j == V - 1 ? 2.0 : 0.1 * (double)j);
        targets += target[row] >= 0;
        correct += target[row] >= 0 && (row * 3) % V == row % V;
    }
    peat_node *loss = op_cross_entropy(&g.base, graph_constant(&g, PEAT_F32, 2, dim, x.data),
                                       graph_constant(&g, PEAT_I32, 1, dim, target));
    struct ce_sums one, many;
    const struct team team = {3};
    cross_entropy_sums(NULL, &x, target, &one);
    cross_entropy_sums(&team, &x, target, &many);
    ck_assert_int_eq(one.targets, targets);
    ck_assert_int_eq(one.correct, correct);
    ck_assert_double_eq_tol(one.nll / (double)targets, tensor_get(&loss->value, 0), 1e-6);
    ck_assert_double_eq(one.nll, many.nll);
    ck_assert_int_eq(one.correct, many.correct);
    arena_release(&arena);
}

int main(void)
{
    return run_tests((struct tests){"nn_ops"});
}
