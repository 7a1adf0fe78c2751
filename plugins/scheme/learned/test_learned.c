/* SPDX-License-Identifier: MIT */
/* The scheme 'learned': its table, its gradient, and what happens beyond its last row. */
#include "../scheme_tests.h"

enum { WIDTH = 3 };

static peat_status open_learned(struct harness *h, const char *json, int64_t T_max)
{
    peat_dims dims = {.D = WIDTH, .H = 1, .d = WIDTH, .L = 1, .V = 4, .T_train = 4, .T_max = T_max};
    return harness_scheme(h, "learned", json, &dims);
}

/* Rows as they are in the table, and the settings of `more`. */
#define AS_IS           "{\"scale\": 1}"
#define AS_IS_AND(more) "{\"scale\": 1, " more "}"

/* The table is replaced by value(row, channel) = 10 row + channel. */
static peat_node *encode_counted(struct harness *h, const char *json, int64_t T_max, int64_t T,
                                 const double *pos)
{
    ck_assert_msg(open_learned(h, json, T_max) == PEAT_OK, "%s", h->err.text);
    struct tensor *table = &h->weights.item[0]->value;
    for (int64_t i = 0; i < tensor_count(table); i++)
        tensor_set(table, i, (double)(10 * (i / WIDTH) + i % WIDTH));
    return h->scheme->encode(harness_call(h, 1, T, 1, pos));
}

TEST(the_table_has_a_row_for_each_position_up_to_the_longest)
{
    struct harness h;
    ck_assert_int_eq(open_learned(&h, NULL, 12), PEAT_OK);
    ck_assert_int_eq(h.weights.n, 1);
    ck_assert_str_eq(h.weights.item[0]->name, "learned.table");
    ck_assert_int_eq(h.weights.item[0]->value.dim[0], 12);
    ck_assert_int_eq(h.weights.item[0]->value.dim[1], WIDTH);
    ck_assert_int_eq(value_get(h.positional.scheme[0].part.resolved, "max_len")->integer, 12);
    harness_close(&h);
}

TEST(rows_start_normal_with_init_std)
{
    struct harness h;
    ck_assert_int_eq(open_learned(&h, "{\"init_std\": 0.5, \"max_len\": 4000}", 4), PEAT_OK);
    const struct tensor *table = &h.weights.item[0]->value;
    double sum = 0, squares = 0, n = (double)tensor_count(table);
    for (int64_t i = 0; i < tensor_count(table); i++) {
        sum += tensor_get(table, i);
        squares += tensor_get(table, i) * tensor_get(table, i);
    }
    ck_assert_double_eq_tol(sum / n, 0, 0.02);
    ck_assert_double_eq_tol(squares / n, 0.25, 0.02);
    harness_close(&h);
}

/* As the token table, unless told otherwise: dims.D is WIDTH. */
TEST(the_table_starts_and_enters_as_the_token_table_does)
{
    struct harness h;
    ck_assert_int_eq(open_learned(&h, "{\"max_len\": 4000}", 4), PEAT_OK);
    const struct tensor *table = &h.weights.item[0]->value;
    double squares = 0, n = (double)tensor_count(table);
    for (int64_t i = 0; i < tensor_count(table); i++)
        squares += tensor_get(table, i) * tensor_get(table, i);
    ck_assert_double_eq_tol(squares / n, 1.0 / WIDTH, 0.02);
    const struct value *resolved = h.positional.scheme[0].part.resolved;
    ck_assert_double_eq_tol(value_get(resolved, "init_std")->real, 1 / sqrt(WIDTH), 1e-15);
    ck_assert_double_eq_tol(value_get(resolved, "scale")->real, sqrt(WIDTH), 1e-15);
    const double pos[] = {7};
    const peat_node *row = h.scheme->encode(harness_call(&h, 1, 1, 1, pos));
    for (int64_t i = 0; i < WIDTH; i++)
        ck_assert_double_eq_tol(harness_at(row, i), sqrt(WIDTH) * tensor_get(table, 7 * WIDTH + i),
                                1e-15);
    harness_close(&h);
}

TEST(each_position_gives_its_row)
{
    const double pos[] = {2, 0, 2};
    struct harness h;
    const double expected[] = {20, 21, 22, 0, 1, 2, 20, 21, 22};
    scheme_assert(encode_counted(&h, AS_IS, 4, 3, pos), 9, expected, 1e-15);
    harness_close(&h);
}

TEST(longer_evaluation_than_the_table_is_refused)
{
    struct harness h;
    ck_assert_int_eq(open_learned(&h, "{\"max_len\": 64}", 128), PEAT_REFUSED);
    ck_assert_str_eq(h.err.text,
                     "learns max_len = 64 positions, but sequences of 128 are evaluated; raise "
                     "max_len or set beyond to clamp, zero or interpolate");
    harness_close(&h);
}

static void assert_beyond(const char *json, const double expected[6])
{
    struct harness h;
    peat_node *n = encode_counted(&h, json, 6, 6, NULL);
    for (int64_t p = 0; p < 6; p++)
        for (int64_t i = 0; i < WIDTH; i++)
            ck_assert_double_eq_tol(harness_at(n, p * WIDTH + i),
                                    expected[p] < 0 ? 0 : expected[p] + (double)i, 1e-13);
    harness_close(&h);
}

TEST(clamp_repeats_the_last_row)
{
    const double expected[] = {0, 10, 20, 20, 20, 20};
    assert_beyond(AS_IS_AND("\"max_len\": 3, \"beyond\": \"clamp\""), expected);
}

TEST(zero_gives_zero_vectors)
{
    const double expected[] = {0, 10, 20, -1, -1, -1};
    assert_beyond(AS_IS_AND("\"max_len\": 3, \"beyond\": \"zero\""), expected);
}

/* Positions 0 .. 5 are squeezed into rows 0 .. 2: steps of 2/5 of a row. */
TEST(interpolate_stretches_the_table_over_the_sequence)
{
    const double expected[] = {0, 4, 8, 12, 16, 20};
    assert_beyond(AS_IS_AND("\"max_len\": 3, \"beyond\": \"interpolate\""), expected);
}

TEST(interpolate_changes_nothing_when_the_sequence_fits)
{
    const double expected[] = {0, 10, 20, 30, 40, 50};
    assert_beyond(AS_IS_AND("\"max_len\": 9, \"beyond\": \"interpolate\""), expected);
}

TEST(a_table_of_one_row_interpolates_to_that_row)
{
    const double expected[] = {0, 0, 0, 0, 0, 0};
    assert_beyond(AS_IS_AND("\"max_len\": 1, \"beyond\": \"interpolate\""), expected);
}

static void assert_fails(const char *json, const double pos[2], const char *text)
{
    struct harness h;
    scheme_fails(&h, encode_counted(&h, json, 4, 2, pos), text);
    harness_close(&h);
}

TEST(positions_without_a_row_are_errors)
{
    assert_fails(NULL, (double[]){0, 4},
                 "position 4 is beyond the positions learned: max_len is 4");
    assert_fails(NULL, (double[]){0, 0.5}, "position 0.5 is not a whole number: max_len is 4");
    assert_fails(NULL, (double[]){-1, 0}, "position -1 is not a position from 0 on: max_len is 4");
    assert_fails("{\"beyond\": \"clamp\"}", (double[]){7.5, 0}, "is not a whole number");
    assert_fails("{\"beyond\": \"interpolate\"}", (double[]){9, 0}, "is beyond");
}

TEST(gradients_reach_the_rows_used)
{
    static const char *const json[] = {
        NULL,
        "{\"max_len\": 3, \"beyond\": \"clamp\"}",
        "{\"max_len\": 3, \"beyond\": \"zero\"}",
        "{\"max_len\": 3, \"beyond\": \"interpolate\"}",
    };
    for (size_t i = 0; i < 4; i++) {
        struct harness h;
        ck_assert_int_eq(open_learned(&h, json[i], 5), PEAT_OK);
        harness_gradcheck_encode(&h, 5, NULL);
        harness_close(&h);
    }
}

PLUGIN_TESTS("learned")
