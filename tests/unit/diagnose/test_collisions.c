/* SPDX-License-Identifier: MIT */
/* test_collisions.c: sums that are known to meet or not, and tests/golden/diagnostics.py's. */
#include "diagnose/collisions.h"

#include "support/fixed_table.h"
#include "support/products.h"
#include "support/support.h"
#include "tensor/parallel.h"

static struct collision_settings with_team(const struct collision_settings *s)
{
    struct collision_settings with = *s;
    with.team = s->team ? s->team : lone_team();
    return with;
}

static struct collisions ask(const struct matrix *token, const struct matrix *position,
                             const struct collision_settings *s)
{
    struct collisions c;
    const struct collision_settings with = with_team(s);
    assert_ok(collisions_of_sums(&c, token, position, &with, &arena, &err));
    return c;
}

static const struct collision_settings plain = {.stream = 1};

/* All sums as rows, with their labels. */
static struct collisions ask_rows(const struct matrix *token, const struct matrix *position,
                                  const struct collision_settings *s)
{
    int64_t V = token->rows, T = position->rows, d = token->columns;
    float *x;
    struct matrix m = empty_table(V * T, d, &x);
    int64_t *a = ARENA_ARRAY(&arena, V * T, int64_t), *i = ARENA_ARRAY(&arena, V * T, int64_t);
    for (int64_t r = 0; r < V * T; r++) {
        a[r] = r / T;
        i[r] = r % T;
        for (int64_t k = 0; k < d; k++)
            x[r * d + k] = token->x[a[r] * d + k] + position->x[i[r] * d + k];
    }
    struct collisions c;
    const struct collision_settings with = with_team(s);
    assert_ok(collisions_of_rows(&c, &m, a, i, &with, &arena, &err));
    return c;
}

/* ---- golden ---- */

static const struct collision golden[] = {
    {0, 2, 19, 0, 0.2872795927098914},  {10, 4, 12, 3, 0.33107553882250096},
    {4, 0, 27, 2, 0.3530813615273574},  {0, 2, 23, 0, 0.3660934922235664},
    {13, 2, 26, 0, 0.3665803596285036}, {3, 0, 5, 2, 0.37532333293916226},
    {9, 0, 13, 2, 0.3997986900005305},  {10, 0, 12, 2, 0.41546699981998125},
};

static void assert_golden(const struct collisions *c, double tolerance)
{
    ck_assert_int_eq(c->queries, 210);
    ck_assert(c->exhaustive);
    ck_assert_double_eq_tol(c->scale, 1.5409895868280385, tolerance);
    ck_assert_double_eq_tol(c->spread, c->scale / sqrt(12.0), 1e-12);
    ck_assert_double_eq_tol(c->near_token, 0.12208126242237045, tolerance);
    ck_assert_double_eq_tol(c->near_position, 0.41857780956063173, tolerance);
    ck_assert_double_eq_tol(c->near_least, 0.18642539519116774, tolerance);
    ck_assert_double_eq_tol(c->near_mean, 0.41670541802915473, tolerance);
    ck_assert_int_eq(c->exact, 0);
    ck_assert_double_eq(c->decoded[0].both, 1.0);
    ck_assert_int_eq(c->n_pairs, COLLISION_PAIRS);
    for (int k = 0; k < COLLISION_PAIRS; k++) {
        const struct collision *p = &c->pair[k], *g = &golden[k];
        ck_assert_msg(p->a == g->a && p->i == g->i && p->b == g->b && p->j == g->j, "pair %d", k);
        ck_assert_double_eq_tol(p->distance, g->distance, tolerance);
    }
}

START_TEST(neighbours_in_fixed_tables_are_those_of_all_distances)
{
    struct matrix token = fixed_table(3, 30, 6, false);
    struct matrix position = fixed_table(4, 7, 6, true);
    struct collisions c = ask(&token, &position, &plain), r = ask_rows(&token, &position, &plain);
    assert_golden(&c, 1e-12);
    assert_golden(&r, 1e-6); /* its rows are sums rounded to F32 */
}
END_TEST

/* ---- planted ---- */

/* e_3 = e_1 + p_0 - p_2 in values that F32 holds. */
static struct matrix plant(const struct matrix *position)
{
    struct matrix token = fixed_table(5, 9, 6, false);
    float *e = (float *)(uintptr_t)token.x, *p = (float *)(uintptr_t)position->x;
    for (int k = 0; k < 6; k++) {
        p[2 * 6 + k] = ldexpf(rintf(ldexpf(p[2 * 6 + k], 10)), -10);
        p[k] = ldexpf(rintf(ldexpf(p[k], 10)), -10);
        e[6 + k] = ldexpf(rintf(ldexpf(e[6 + k], 10)), -10);
        e[3 * 6 + k] = e[6 + k] + p[k] - p[2 * 6 + k];
    }
    return token;
}

START_TEST(a_planted_collision_is_found_and_not_decoded)
{
    struct matrix position = fixed_table(6, 4, 6, true), token = plant(&position);
    struct collisions c = ask(&token, &position, &plain), r = ask_rows(&token, &position, &plain);
    const struct collisions *both[] = {&c, &r};
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(both[k]->exact, 2);
        ck_assert_double_eq(both[k]->near_least, 0.0);
        const struct collision *p = &both[k]->pair[0];
        ck_assert(p->a == 1 && p->i == 0 && p->b == 3 && p->j == 2 && p->distance == 0.0);
        ck_assert_double_gt(both[k]->pair[1].distance, 0.0);
        ck_assert_double_eq_tol(both[k]->decoded[0].token, 1.0 - 2.0 / 36.0, 1e-15);
        ck_assert_double_eq_tol(both[k]->decoded[0].position, 1.0 - 2.0 / 36.0, 1e-15);
    }
}
END_TEST

/* Two tokens alike: tokens are lost, positions are not. */
START_TEST(a_token_twice_costs_the_token_alone)
{
    struct matrix token = fixed_table(3, 5, 6, false);
    struct matrix position = fixed_table(4, 7, 6, true);
    memcpy((float *)(uintptr_t)token.x + 6, token.x + 4 * 6, 6 * sizeof(float));
    struct collisions c = ask(&token, &position, &plain);
    ck_assert_double_eq(c.near_token, 0.0);
    ck_assert_double_eq_tol(c.decoded[0].token, 0.6, 1e-15);
    ck_assert_double_eq(c.decoded[0].position, 1.0);
    ck_assert_double_eq_tol(c.decoded[0].both, 0.6, 1e-15);
    ck_assert_int_eq(c.exact, 0);
}
END_TEST

/* ---- noise ---- */

/* `n` places `step` apart along column `axis` of two. */
static struct matrix ruler(int64_t n, float step, int axis)
{
    float *x;
    struct matrix m = empty_table(n, 2, &x);
    for (int64_t i = 0; i < n; i++)
        x[2 * i + axis] = step * (float)i;
    return m;
}

/* Along a ruler the nearest mark is right while |noise| is below half a step: 68 % for noise of
 * half a step, 95 % for a quarter. Tokens and positions on their own axes do not disturb each
 * other. */
START_TEST(noise_on_two_rulers_costs_what_the_normal_distribution_says)
{
    enum { V = 50, T = 80 };
    struct matrix token = ruler(V, 1.0f, 0), position = ruler(T, 2.0f, 1);
    double variance = (V * V - 1.0) / 12.0 + 4.0 * (T * T - 1.0) / 12.0;
    const struct collision_settings s = {.stream = rng_stream(1, "diagnose", "collisions"),
                                         .n_noise = 1,
                                         .noise = {0.5 / sqrt(variance / 2.0)}};
    for (int rows = 0; rows < 2; rows++) {
        struct collisions c = (rows ? ask_rows : ask)(&token, &position, &s);
        ck_assert_int_eq(c.n_decoded, 2);
        ck_assert_double_eq_tol(c.spread, sqrt(variance / 2.0), 1e-9);
        ck_assert_double_eq(c.decoded[0].both, 1.0);
        ck_assert_double_eq(c.decoded[1].noise, s.noise[0]);
        /* the two ends have a neighbour on one side alone */
        ck_assert_double_eq_tol(c.decoded[1].token, 0.6827 + 0.3173 / V, 0.02);
        ck_assert_double_eq_tol(c.decoded[1].position, 0.9545 + 0.0455 / T, 0.01);
        ck_assert_double_eq_tol(c.decoded[1].both, c.decoded[1].token * c.decoded[1].position,
                                0.01);
    }
}
END_TEST

START_TEST(the_same_stream_gives_the_same_answer_on_any_number_of_threads)
{
    struct matrix token = fixed_table(3, 300, 6, false);
    struct matrix position = fixed_table(4, 20, 6, true);
    struct collision_settings s = {.stream = 7, .budget = 1000000, .n_noise = 1, .noise = {0.2}};
    struct collisions c = ask(&token, &position, &s), again = ask(&token, &position, &s);
    ck_assert_int_eq(memcmp(&c, &again, sizeof(c)), 0);
    const struct team team = team_of(3);
    s.team = &team;
    again = ask(&token, &position, &s);
    ck_assert_int_eq(memcmp(&c, &again, sizeof(c)), 0);
    s.stream = 8;
    struct collisions other = ask(&token, &position, &s);
    ck_assert_double_ne(c.near_mean, other.near_mean);
    ck_assert(!c.exhaustive);
}
END_TEST

/* ---- size ---- */

/* More tokens and queries than one block: a sample's figures lie about those of all. */
START_TEST(a_sample_of_queries_is_compared_with_all_answers)
{
    struct matrix token = fixed_table(3, 700, 6, false);
    struct matrix position = fixed_table(4, 5, 6, true);
    struct collision_settings s = {.stream = 7, .n_noise = 1, .noise = {0.1}};
    struct collisions all = ask(&token, &position, &s);
    ck_assert(all.exhaustive);
    ck_assert_int_eq(all.queries, 3500);
    s.budget = INT64_C(2) * 1000 * 3500;
    struct collisions some = ask(&token, &position, &s);
    ck_assert_int_eq(some.queries, 1000);
    ck_assert_double_ge(some.near_least, all.near_least);
    ck_assert_double_eq_tol(some.near_mean, all.near_mean, 0.05 * all.near_mean);
    ck_assert_double_eq_tol(some.decoded[1].both, all.decoded[1].both, 0.05);
    s.budget = 1;
    ck_assert_int_eq(ask(&token, &position, &s).queries, 64);
}
END_TEST

START_TEST(one_token_or_one_position_has_no_such_neighbour)
{
    struct matrix one = fixed_table(3, 1, 6, false);
    struct matrix some = fixed_table(4, 9, 6, true);
    struct collisions c = ask(&one, &some, &plain);
    ck_assert(isnan(c.near_token) && isnan(c.near_least) && isnan(c.near_mean));
    ck_assert_double_eq(c.decoded[0].both, 1.0);
    ck_assert_int_eq(c.n_pairs, 0);
    c = ask(&some, &one, &plain);
    ck_assert(isnan(c.near_position) && isnan(c.near_least));
    ck_assert_double_gt(c.near_token, 0.0);
    c = ask(&one, &one, &plain);
    ck_assert_double_eq(c.decoded[0].both, 1.0);
}
END_TEST

START_TEST(a_table_that_is_not_finite_is_refused_by_name)
{
    struct matrix token = fixed_table(3, 5, 6, false);
    struct matrix position = fixed_table(4, 5, 6, true);
    ((float *)(uintptr_t)position.x)[7] = INFINITY;
    struct collisions c;
    assert_failed(collisions_of_sums(&c, &token, &position, &plain, &arena, &err), "positions");
}
END_TEST

int main(void)
{
    return run_list((struct tests){"collisions", table_open, table_close, 120},
                    TESTS(neighbours_in_fixed_tables_are_those_of_all_distances,
                          a_planted_collision_is_found_and_not_decoded,
                          a_token_twice_costs_the_token_alone,
                          noise_on_two_rulers_costs_what_the_normal_distribution_says,
                          the_same_stream_gives_the_same_answer_on_any_number_of_threads,
                          a_sample_of_queries_is_compared_with_all_answers,
                          one_token_or_one_position_has_no_such_neighbour,
                          a_table_that_is_not_finite_is_refused_by_name));
}
