/* SPDX-License-Identifier: MIT */
/* test_patches.c: a model of patches with positions on two axes, with every hook of a scheme. */
#include "hook_cases.h"
#include "nn/attention.h"
#include "support/support.h"

enum { T = 5, P = 3, CLASSES = 3 };

static struct modelcheck m;
static float patch[2 * T * P];
static const double rows_and_columns[] = {0, 0, 1, 1, 2, 0, 0, 1, 1, 2,
                                          0, 1, 0, 1, 0, 0, 1, 0, 1, 0};

/* An encoder that tells classes of patches. */
static void set_up(void)
{
    modelcheck_init(&m, PEAT_ENCODER);
    for (int i = 0; i < 2 * T * P; i++)
        patch[i] = (float)sin(i * i);
    m.config.input = PEAT_INPUT_PATCHES;
    m.config.patch_width = P;
    m.config.n_axes = 2;
    m.config.head = PEAT_HEAD_CLASS;
    m.config.n_class = CLASSES;
    m.input.rows.token = NULL;
    m.input.patch = patch;
    m.input.rows.n_axes = 2;
    m.input.rows.pos = rows_and_columns;
    m.target[0] = 0;
    m.target[1] = 2;
}

static void tear_down(void)
{
    modelcheck_release(&m);
}

LOOP_TEST(gradients_are_right_with_every_hook, N_CASES)
{
    const struct hook_case *k = &hook_case[_i];
    modelcheck_scheme(&m, "first", k->scheme);
    if (k->second)
        modelcheck_scheme(&m, "second", k->second);
    modelcheck_build(&m);
    ck_assert_ptr_null(weights_find(&m.model.weights, "token.weight"));
    modelcheck_gradients(&m, 1e-7);
}

/* ---- axes ---- */

/* Which sides the schemes below were given. */
static int seen_line, seen_grid;

static peat_status sees_a_line(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    (void)shared;
    ck_assert_int_eq(c->q->n_axes, 1);
    ck_assert_int_eq(c->dims.n_axes, 1);
    ck_assert_int_eq(c->q->T, T + 1);
    for (int t = 0; t <= T; t++)
        ck_assert_double_eq(c->q->pos[t], t);
    seen_line++;
    return PEAT_OK;
}

/* The class token at 0 of both axes, all others from 1 on. */
static peat_status sees_a_grid(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    (void)shared;
    ck_assert_int_eq(c->q->n_axes, 2);
    ck_assert_int_eq(c->dims.n_axes, 2);
    ck_assert_int_eq(c->q->pos_B, 1);
    for (int axis = 0; axis < 2; axis++) {
        const double *pos = c->q->pos + axis * (T + 1);
        ck_assert_double_eq(pos[0], 0);
        for (int t = 0; t < T; t++)
            ck_assert_double_eq(pos[1 + t], 1 + rows_and_columns[axis * 2 * T + t]);
    }
    seen_grid++;
    return PEAT_OK;
}

TEST(a_scheme_is_given_the_axes_that_it_understands)
{
    const peat_scheme line = {.size = sizeof(line), .prepare = sees_a_line};
    const peat_scheme grid = {.size = sizeof(grid), .max_axes = 2, .prepare = sees_a_grid};
    modelcheck_scheme(&m, "line", &line);
    modelcheck_scheme(&m, "grid", &grid);
    modelcheck_build(&m);
    seen_line = seen_grid = 0;
    modelcheck_loss(&m, false);
    ck_assert_int_eq(seen_line, 1);
    ck_assert_int_eq(seen_grid, 1);
}

/* Differences of two axes reach bias_rel as pairs: -0.2 |rows| - 0.5 |columns|. */
static peat_node *bias_of_two_axes(const peat_call *c, const peat_rel *r)
{
    double *bias = peat_scratch(c, r->n);
    ck_assert_int_eq(r->n_axes, 2);
    for (int64_t i = 0; i < r->n; i++)
        bias[i] = -0.2 * fabs(r->delta[i]) - 0.5 * fabs(r->delta[r->n + i]);
    return peat_fill(c, 2, (int64_t[]){1, r->n}, bias);
}

static peat_node *the_same_as_bias(const peat_call *c, const peat_qkv *p)
{
    int64_t n = c->q->T;
    double *bias = peat_scratch(c, n * n);
    (void)p;
    for (int64_t i = 0; i < n * n; i++)
        bias[i] = -0.2 * fabs(c->q->pos[i / n] - c->q->pos[i % n]) -
                  0.5 * fabs(c->q->pos[n + i / n] - c->q->pos[n + i % n]);
    return peat_fill(c, 4, (int64_t[]){1, 1, n, n}, bias);
}

TEST(differences_of_two_axes_are_those_of_all_pairs)
{
    const peat_scheme rel = {.size = sizeof(rel), .max_axes = 2, .bias_rel = bias_of_two_axes};
    const peat_scheme pairs = {.size = sizeof(pairs), .max_axes = 2, .bias = the_same_as_bias};
    double one[2 * CLASSES], two[2 * CLASSES];
    modelcheck_scheme(&m, "first", &rel);
    modelcheck_build(&m);
    modelcheck_logits(&m, one);
    tear_down();
    set_up();
    modelcheck_scheme(&m, "first", &pairs);
    modelcheck_build(&m);
    modelcheck_logits(&m, two);
    for (int i = 0; i < 2 * CLASSES; i++)
        ck_assert_msg(fabs(one[i] - two[i]) < 1e-12, "%.15g, %.15g", one[i], two[i]);
}

TEST(a_scheme_of_token_ids_is_refused)
{
    const peat_scheme reads = {.size = sizeof(reads), .needs = PEAT_NEED_TOKENS};
    modelcheck_scheme(&m, "reads", &reads);
    ck_assert_int_eq(modelcheck_try(&m), PEAT_REFUSED);
    ck_assert_str_eq(m.err.text, "scheme 'reads' reads the ids of tokens, and patches have none");
}

TEST(more_axes_than_a_scheme_understands_are_refused)
{
    const peat_scheme two = {.size = sizeof(two), .max_axes = 2};
    m.config.n_axes = 3;
    modelcheck_scheme(&m, "two", &two);
    ck_assert_int_eq(modelcheck_try(&m), PEAT_REFUSED);
    ck_assert_str_eq(m.err.text,
                     "scheme 'two' understands 2 axes of positions, and the data has 3");
}

int main(void)
{
    return run_tests((struct tests){"patches", set_up, tear_down, .seconds = 60});
}
