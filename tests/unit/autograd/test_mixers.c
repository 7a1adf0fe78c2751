/* SPDX-License-Identifier: MIT */
/* test_mixers.c: the recurrence and the convolution against their sums written out. */
#include "autograd/ops.h"
#include "support/products.h"
#include "support/support.h"

enum { B = 2, T = 7, D = 5, K = 3, LEFT = 3 };

/* Padding in front, between and behind; three documents in the second row. */
static const uint8_t pad[B * T] = {1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
static const int32_t doc[B * T] = {0, 0, 0, 0, 0, 0, 0, 4, 4, 9, 9, 9, 1, 1};
static const struct attention_mask masks[] = {{.causal = true},
                                              {.causal = false},
                                              {.causal = true, .pad_k = pad},
                                              {.causal = true, .doc_q = doc, .doc_k = doc},
                                              {.pad_k = pad, .doc_q = doc, .doc_k = doc}};
enum { MASKS = sizeof(masks) / sizeof(*masks) };

static struct arena arena;
static struct graph graph;
static peat_graph *const g = &graph.base;

static void set_up(void)
{
    arena_init(&arena, "test", 1 << 16);
    graph_init(&graph, &arena, lone_team(), PEAT_F64);
}

static void tear_down(void)
{
    arena_release(&arena);
}

/* Numbers in (lo, lo + 1) that differ. */
static peat_node *some(int rank, const int64_t *dim, double lo)
{
    peat_node *n = graph_constant(&graph, PEAT_F64, rank, dim, NULL);
    for (int64_t i = 0; i < tensor_count(&n->value); i++)
        tensor_set(&n->value, i, lo + (double)((37 * i + 11) % 101) / 101);
    return n;
}

static double at(const peat_node *n, int64_t b, int64_t t, int64_t d)
{
    return tensor_get(&n->value, (b * T + t) * D + d);
}

static bool real(const struct attention_mask *m, int64_t b, int64_t t)
{
    return !m->pad_k || !m->pad_k[b * T + t];
}

static bool one_document(const struct attention_mask *m, int64_t b, int64_t s, int64_t t)
{
    return !m->doc_k || m->doc_k[b * T + s] == m->doc_k[b * T + t];
}

/* sum over real s of t's document, not behind t: (1 - f_s) x_s times all f_r behind s, up to t */
static double read_so_far(const struct attention_mask *m, const peat_node *x, const peat_node *f,
                          int64_t b, int64_t t, int64_t d)
{
    int64_t step = d < LEFT ? 1 : -1;
    double sum = 0;
    for (int64_t s = t; s >= 0 && s < T; s -= step) {
        if (!real(m, b, s) || !one_document(m, b, s, t))
            continue;
        double share = 1 - at(f, b, s, d);
        for (int64_t r = s + step; r != t + step; r += step)
            share *= real(m, b, r) ? at(f, b, r, d) : 1;
        sum += share * at(x, b, s, d);
    }
    return sum;
}

LOOP_TEST(a_recurrence_is_the_sum_of_what_it_has_read, MASKS)
{
    const struct attention_mask *m = &masks[_i];
    const int64_t dim[] = {B, T, D};
    peat_node *x = some(3, dim, -0.5), *f = some(3, dim, 0);
    peat_node *h = op_recurrence(g, x, f, LEFT, m);
    for (int64_t b = 0; b < B; b++)
        for (int64_t t = 0; t < T; t++)
            for (int64_t d = 0; d < D && real(m, b, t); d++)
                ck_assert_double_eq_tol(at(h, b, t, d), read_so_far(m, x, f, b, t, d), 1e-14);
}

LOOP_TEST(a_convolution_is_a_sum_over_taps, MASKS)
{
    const struct attention_mask *m = &masks[_i];
    const int64_t dim[] = {B, T, D}, taps_dim[] = {K, D};
    peat_node *x = some(3, dim, -0.5), *w = some(2, taps_dim, -0.4);
    peat_node *y = op_convolution(g, x, w, m);
    for (int64_t b = 0; b < B; b++)
        for (int64_t t = 0; t < T; t++)
            for (int64_t d = 0; d < D; d++) {
                double sum = 0;
                for (int64_t k = 0; k < K; k++) {
                    int64_t s = t - k + (m->causal ? 0 : 1);
                    if (s >= 0 && s < T && real(m, b, s) && one_document(m, b, s, t))
                        sum += tensor_get(&w->value, k * D + d) * at(x, b, s, d);
                }
                ck_assert_double_eq_tol(at(y, b, t, d), sum, 1e-14);
            }
}

static void expect_failure(const peat_node *n, const char *text)
{
    ck_assert_ptr_null(n);
    ck_assert_msg(strstr(graph.err.text, text), "%s", graph.err.text);
    graph.err = (struct error){0};
}

TEST(what_does_not_fit_is_named)
{
    const int64_t dim[] = {B, T, D}, other[] = {B, T, D + 1}, even[] = {4, D}, flat[] = {T, D};
    peat_node *x = some(3, dim, 0), *f = some(3, other, 0), *w = some(2, even, 0);
    expect_failure(op_recurrence(g, x, f, 0, &masks[0]), "do not fit");
    expect_failure(op_recurrence(g, x, x, D + 1, &masks[0]), "6 channels from the left");
    expect_failure(op_convolution(g, some(2, flat, 0), w, &masks[0]), "do not fit");
    expect_failure(op_convolution(g, x, w, &masks[1]), "4 taps");
    ck_assert_ptr_nonnull(op_convolution(g, x, w, &masks[0]));
}

int main(void)
{
    return run_tests((struct tests){"mixers", set_up, tear_down});
}
