/* SPDX-License-Identifier: MIT */
/* test_reuse.c: a backward pass that reuses memory gives the gradients of one that does not. */
#include "autograd/ops.h"
#include "autograd/recompute.h"
#include "support/products.h"
#include "support/support.h"

#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

enum { ROWS = 40, D = 16, N_LEAF = 4 };

/* A function of x [2, ROWS, D], w [D, D], b [D], s [2, ROWS, D]. */
typedef peat_node *(*build_fn)(peat_graph *b, peat_node *const *in);

static peat_node *residual(peat_graph *b, peat_node *const *in)
{
    peat_node *x = op_mul(b, in[0], in[3]);
    x = op_add(b, x, op_linear(b, op_layernorm(b, x, NULL, in[2], 1e-5), in[1], in[2]));
    return op_add(b, x, op_linear(b, op_gelu(b, x), in[1], NULL));
}

/* The last operand of the sum is made from the other: their gradients must not share memory. */
static peat_node *sum_with_own_function(peat_graph *b, peat_node *const *in)
{
    peat_node *x = op_mul(b, in[0], in[3]);
    x = op_add(b, x, op_linear(b, x, in[1], in[2]));
    return op_add(b, op_gelu(b, x), x);
}

static peat_node *sum_with_itself(peat_graph *b, peat_node *const *in)
{
    peat_node *x = op_exp(b, in[0]);
    return op_mul(b, op_add(b, x, x), op_affine(b, x, 2.0, 1.0));
}

static peat_node *in_place_after_a_sum(peat_graph *b, peat_node *const *in)
{
    peat_node *x = op_mul(b, in[0], in[3]), *y = op_sigmoid(b, in[3]);
    peat_node *z = op_add(b, x, op_gelu(b, y));
    return op_add(b, op_tanh(b, z), op_mul(b, x, y));
}

static peat_node *views(peat_graph *b, peat_node *const *in)
{
    static const int32_t turned[] = {0, 2, 1};
    peat_node *x = op_gelu(b, op_mul(b, in[0], in[3]));
    peat_node *left = op_slice(b, x, 2, 0, D / 2), *right = op_slice(b, x, 2, D / 2, D);
    peat_node *y = op_concat(b, 2, (peat_node *[]){op_tanh(b, right), left}, 2);
    y = op_contiguous(b, op_permute(b, op_add(b, y, x), 3, turned));
    return op_matmul(b, y, op_reshape(b, x, 3, DIMS(2, ROWS, D)), 0);
}

static peat_node *heads(peat_graph *b, peat_node *qkv, int64_t which)
{
    static const int32_t turned[] = {0, 2, 1, 3};
    peat_node *part = op_slice(b, qkv, 2, which * D / 4, (which + 1) * D / 4);
    return op_permute(b, op_reshape(b, part, 4, DIMS(2, ROWS, 2, D / 8)), 4, turned);
}

/* With q, k and v beside a fourth part, and the three alone. */
static peat_node *attention(peat_graph *b, peat_node *const *in)
{
    const struct attention_mask mask = {.causal = true};
    peat_node *qkv = op_linear(b, op_mul(b, in[0], in[3]), in[1], in[2]);
    peat_node *o = op_attention(b, heads(b, qkv, 0), heads(b, qkv, 1), heads(b, qkv, 2), NULL, NULL,
                                NULL, 0.5, &mask);
    peat_node *three = op_contiguous(b, op_slice(b, qkv, 2, 0, 3 * D / 4));
    peat_node *p = op_attention(b, heads(b, three, 0), heads(b, three, 1), heads(b, three, 2), NULL,
                                NULL, NULL, 0.5, &mask);
    return op_add(b, o, p);
}

static peat_node *mlp(peat_graph *b, peat_node *const *in)
{
    peat_node *x = op_mul(b, in[0], in[3]);
    x = op_add(b, x, op_mlp(b, x, in[1], in[2], in[1], in[2], MLP_GELU));
    return op_mlp(b, x, in[1], in[2], in[1], in[2], MLP_RELU);
}

/* Pairs of rows, three layers of them; the second's values are views of views. */
static peat_node *layers_of_pairs(peat_graph *b, peat_node *const *in)
{
    static const int32_t turned[] = {0, 2, 1};
    peat_node *x = op_mul(b, in[0], in[3]);
    for (int i = 0; i < 3; i++) {
        int begin = recompute_begin((struct graph *)b);
        peat_node *S = op_matmul(b, x, op_permute(b, x, 3, turned), 0);
        S = op_cumsum(b, op_sigmoid(b, op_permute(b, op_affine(b, S, 0.1, 0.0), 3, turned)), -1, i);
        peat_node *part = op_slice(b, S, 1, 1, ROWS);
        S = op_concat(b, 2, (peat_node *[]){part, op_slice(b, S, 1, 0, 1)}, 1);
        peat_node *y = op_matmul(b, op_softmax(b, S, NULL), op_gelu(b, x), 0);
        recompute_end((struct graph *)b, begin, 2, (peat_node *[]){y, NULL});
        x = op_add(b, x, op_linear(b, y, in[1], in[2]));
    }
    return x;
}

/* Each layer reads a value and a view of the first one's, which it was not told of. */
static peat_node *layers_that_remember(peat_graph *b, peat_node *const *in)
{
    static const int32_t turned[] = {0, 2, 1};
    peat_node *x = op_mul(b, in[0], in[3]), *first = NULL, *view = NULL;
    for (int i = 0; i < 4; i++) {
        int begin = recompute_begin((struct graph *)b);
        peat_node *S = op_sigmoid(b, op_matmul(b, x, op_permute(b, x, 3, turned), 0));
        first = first ? first : S;
        view = view ? view : op_slice(b, op_tanh(b, S), 1, 0, 1);
        S = op_mul(b, op_add(b, S, first), view);
        peat_node *y = op_matmul(b, op_softmax(b, S, NULL), x, 0);
        recompute_end((struct graph *)b, begin, 1, &y);
        x = op_add(b, x, op_linear(b, y, in[1], in[2]));
    }
    return x;
}

static const build_fn functions[] = {
    residual, sum_with_own_function, sum_with_itself,     in_place_after_a_sum, views, attention,
    mlp,      layers_of_pairs,       layers_that_remember};

struct result {
    float loss, grad[N_LEAF][2 * ROWS * D];
    size_t bytes;
    int dropped; /* stretches, on the way forward */
};

static void run_keeping(build_fn f, bool reuse, size_t keep, struct result *out)
{
    static const int64_t dim[N_LEAF][3] = {{2, ROWS, D}, {D, D}, {D}, {2, ROWS, D}};
    static const int rank[N_LEAF] = {3, 2, 1, 3};
    struct arena a;
    struct graph g;
    struct team team = team_of(1);
    memset(out, 0, sizeof(*out));
    arena_init(&a, "test", 1 << 16);
    graph_init(&g, &a, &team, PEAT_F32);
    g.reuse = reuse;
    g.keep = keep;
    peat_node *in[N_LEAF];
    for (int i = 0; i < N_LEAF; i++) {
        struct tensor t = tensor_new(&a, PEAT_F32, rank[i], dim[i]);
        for (int64_t k = 0; k < tensor_count(&t); k++)
            tensor_set(&t, k, rng_normal(rng_stream(1, "leaf", "x") + (uint64_t)i, (uint64_t)k));
        in[i] = graph_leaf(&g, &t, NULL, "x");
    }
    peat_node *y = f(&g.base, in);
    ck_assert_msg(y != NULL, "%s", g.err.text);
    peat_node *flat = op_reshape(&g.base, op_contiguous(&g.base, y), 1, DIMS(-1));
    peat_node *loss = op_mean(&g.base, op_mul(&g.base, flat, flat), 0);
    out->loss = (float)tensor_get(&loss->value, 0);
    for (int i = 0; i < g.n_recomputed; i++)
        out->dropped += g.recomputed[i].dropped;
    graph_backward(&g, loss);
    ck_assert_msg(!graph_failed(&g), "%s", g.err.text);
    for (int i = 0; i < N_LEAF; i++)
        if (in[i]->reached) {
            struct tensor grad = node_grad(in[i]);
            memcpy(out->grad[i], grad.data, tensor_bytes(&grad));
        }
    out->bytes = a.used;
    arena_release(&a);
}

static void run(build_fn f, bool reuse, struct result *out)
{
    run_keeping(f, reuse, RECOMPUTE_BYTES, out);
}

LOOP_TEST(reuse_changes_no_bit_and_takes_less_memory, sizeof(functions) / sizeof(*functions))
{
    struct result *kept = malloc(sizeof(*kept)), *reused = malloc(sizeof(*reused));
    ck_assert(kept != NULL && reused != NULL);
    run(functions[_i], false, kept);
    run(functions[_i], true, reused);
    ck_assert(kept->loss == reused->loss && kept->loss > 0.0f);
    for (int i = 0; i < N_LEAF; i++)
        ck_assert_mem_eq(kept->grad[i], reused->grad[i], sizeof(kept->grad[i]));
    ck_assert_uint_lt(reused->bytes, kept->bytes);
    free(kept);
    free(reused);
}

/* The bits of a function whose stretches are all dropped but the last are those of one that keeps
 * them. */
static void assert_made_again(build_fn f, struct result *kept, struct result *again)
{
    run_keeping(f, true, RECOMPUTE_BYTES, kept);
    run_keeping(f, true, 0, again);
    ck_assert(kept->loss == again->loss && kept->loss > 0.0f);
    for (int i = 0; i < N_LEAF; i++)
        ck_assert_mem_eq(kept->grad[i], again->grad[i], sizeof(kept->grad[i]));
    ck_assert_int_eq(kept->dropped, 0);
    ck_assert_int_gt(again->dropped, 0);
}

TEST(values_made_again_change_no_bit_and_take_less_memory)
{
    static struct result kept, again;
    assert_made_again(layers_of_pairs, &kept, &again);
    ck_assert_int_eq(again.dropped, 2); /* of three */
    ck_assert_uint_lt(again.bytes, kept.bytes);
}

/* The first two values are made again in the third layer, and are there in every later one. */
TEST(values_that_another_layer_reads_are_made_again_for_it)
{
    static struct result kept, again;
    assert_made_again(layers_that_remember, &kept, &again);
}

TEST(the_pool_prefers_the_smallest_and_the_newest_that_fits)
{
    struct arena a;
    struct pool pool = {.n = 0};
    arena_init(&a, "test", 1 << 16);
    void *small = arena_alloc(&a, 256), *large = arena_alloc(&a, 1024),
         *again = arena_alloc(&a, 256);
    pool_give(&pool, small, 256);
    pool_give(&pool, large, 1024);
    pool_give(&pool, again, 256);
    ck_assert_ptr_eq(pool_take(&pool, &a, 200), again);
    ck_assert_ptr_eq(pool_take(&pool, &a, 256), small);
    ck_assert_ptr_eq(pool_take(&pool, &a, 256), large);
    ck_assert_ptr_eq(pool_take(&pool, &a, 768), (char *)large + 256);
    size_t used = a.used;
    ck_assert_ptr_nonnull(pool_take(&pool, &a, 64));
    ck_assert_uint_gt(a.used, used);
    arena_release(&a);
}

TEST(a_full_pool_forgets_the_oldest)
{
    static unsigned char memory[POOL_BLOCKS + 1][64];
    struct arena a;
    struct pool pool = {.n = 0};
    arena_init(&a, "test", 1 << 16);
    for (int i = 0; i <= POOL_BLOCKS; i++)
        pool_give(&pool, memory[i], 64);
    ck_assert_int_eq(pool.n, POOL_BLOCKS);
    for (int i = POOL_BLOCKS; i > 0; i--)
        ck_assert_ptr_eq(pool_take(&pool, &a, 64), memory[i]);
    ck_assert_int_eq(pool.n, 0);
    arena_release(&a);
}

int main(void)
{
    return run_tests((struct tests){"reuse"});
}
