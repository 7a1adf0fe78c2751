/* SPDX-License-Identifier: MIT */
/* The scheme 'abacus': the places of digits, its random offset, its limits and its gradient. */
#include "../scheme_tests.h"

enum { T = 8 };

/* Ids 3, 4, 5 are digits: "0 34 5 6 333 then 1". */
static const int32_t token[] = {0, 3, 4, 1, 5, 2, 3, 3};
static const char three[] = "{\"digits\": [3, 4, 5], \"max_offset\": 4, \"scale\": 1}";

/* Row of the table of each place, with value(row, channel) = row in the table. */
static peat_status places(struct harness *h, const char *json, int64_t B, const int32_t *id,
                          const int32_t *document, peat_phase phase, int64_t step, double *row)
{
    peat_status status = scheme_try(h, "abacus", json, 1, 2, T, true);
    ck_assert_msg(status == PEAT_OK, "%s", h->err.text);
    struct tensor *table = &h->weights.item[0]->value;
    for (int64_t i = 0; i < tensor_count(table); i++)
        tensor_set(table, i, (double)(i / 2));
    harness_call(h, B, T, 1, NULL);
    h->call.own.token = id;
    h->call.own.document = document;
    h->call.base.phase = phase;
    h->call.base.step = step;
    peat_node *n = harness_again(h) ? h->scheme->encode(&h->call.base) : NULL;
    for (int64_t i = 0; n && i < B * T; i++)
        row[i] = harness_at(n, 2 * i);
    return n ? PEAT_OK : PEAT_FAILED;
}

static void assert_places(const char *json, const int32_t *id, const int32_t *document,
                          const double expected[T])
{
    struct harness h;
    double row[T];
    ck_assert_int_eq(places(&h, json, 1, id, document, PEAT_EVAL, 0, row), PEAT_OK);
    for (int64_t i = 0; i < T; i++)
        ck_assert_double_eq(row[i], expected[i]);
    harness_close(&h);
}

TEST(places_restart_at_each_number)
{
    assert_places(three, token, NULL, (double[]){0, 1, 2, 0, 1, 0, 1, 2});
}

/* The id of a model's class token is one beyond the vocabulary. */
TEST(a_class_token_is_no_digit)
{
    const int32_t with_class[] = {7, 4, 4, 7, 5, 2, 3, 3};
    assert_places(three, with_class, NULL, (double[]){0, 1, 2, 0, 1, 0, 1, 2});
}

TEST(numbers_end_with_their_document)
{
    const int32_t document[] = {0, 0, 1, 1, 1, 1, 1, 2};
    assert_places(three, token, document, (double[]){0, 1, 1, 0, 1, 0, 1, 1});
}

/* Training adds 0 .. max_offset to the places of a sequence, all equally often. */
TEST(training_shifts_all_numbers_of_a_sequence_alike)
{
    int32_t twice[2 * T];
    memcpy(twice, token, sizeof(token));
    memcpy(twice + T, token, sizeof(token));
    int times[5] = {0}, apart = 0;
    for (int64_t step = 1; step <= 200; step++) {
        struct harness h;
        double row[2 * T];
        places(&h, three, 2, twice, NULL, PEAT_TRAIN, step, row);
        for (int b = 0; b < 2; b++) {
            const double *at = row + b * T;
            const double expected[T] = {0, at[1], at[1] + 1, 0, at[1], 0, at[1], at[1] + 1};
            for (int64_t i = 0; i < T; i++)
                ck_assert_double_eq(at[i], expected[i]);
            times[(int)at[1] - 1]++;
        }
        apart += row[1] < row[T + 1] || row[1] > row[T + 1];
        harness_close(&h);
    }
    for (int k = 0; k < 5; k++)
        ck_assert_int_ge(times[k], 50);
    ck_assert_int_ge(apart, 100);
}

TEST(numbers_longer_than_the_table_are_errors)
{
    struct harness h;
    double row[T];
    const int32_t seven[] = {3, 3, 3, 3, 3, 3, 3, 0};
    ck_assert_int_ne(
        places(&h, "{\"digits\": 3, \"max_digits\": 6}", 1, seven, NULL, PEAT_EVAL, 0, row),
        PEAT_OK);
    scheme_says(&h, "a number has more than max_digits = 6 digits");
    harness_close(&h);
}

TEST(without_token_ids_it_gives_up)
{
    struct harness h;
    scheme_open(&h, "abacus", three, 1, 2, T, true);
    harness_call(&h, 1, T, 1, NULL);
    ck_assert(!harness_again(&h));
    scheme_says(
        &h, "abacus.own_positions: positions are computed from token ids, and the batch has none");
    harness_close(&h);
}

TEST(digits_that_are_no_tokens_are_refused)
{
    scheme_refuses("abacus", NULL, 1, 2, T, true,
                   "digit 48 is not one of the 7 token ids of the task: name the ids of its digits "
                   "in digits");
    scheme_refuses("abacus", "{\"digits\": [3, 2.5]}", 1, 2, T, true,
                   "digit 2.5 is not one of the 7 token ids of the task: name the ids of its "
                   "digits in digits");
}

TEST(gradients_are_exact)
{
    scheme_gradients("abacus", "{\"digits\": [1, 3, 5], \"max_offset\": 2}", PEAT_DECODER,
                     PEAT_ONCE);
}

PLUGIN_TESTS("abacus")
