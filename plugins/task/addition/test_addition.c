/* SPDX-License-Identifier: MIT */
/* The task 'addition': numbers are added digit by digit. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

#define TASK  "addition"
#define NAMED false
enum { IDS = 11, LEAST = 1, MIN_LEN = 1, ZERO = 3, PLUS = 13, END = 2 };

static int64_t asked_by(int64_t n)
{
    return 2 * n + 1;
}

static int64_t answered_by(int64_t n)
{
    return n + 1;
}

static bool is_number(const int32_t *digit, int64_t n)
{
    bool right = n >= 1 && (n == 1 || digit[0] != ZERO);
    for (int64_t i = 0; right && i < n; i++)
        right = digit[i] >= ZERO && digit[i] <= ZERO + 9;
    return right;
}

/* Adds the digits to a column of place values, units first; carries are made afterwards. */
static void add_digits(const int32_t *digit, int64_t n, int64_t *column)
{
    for (int64_t i = 0; i < n; i++)
        column[i] += digit[n - 1 - i] - ZERO;
}

static int64_t answer_of(const int32_t *x, int64_t n, int32_t *y)
{
    int64_t column[256] = {0}, a = 0;
    while (a < n && x[a] != PLUS)
        a++;
    int64_t b = n - a - 1, width = (a > b ? a : b) + 1, size = width;
    if (!is_number(x, a) || b < 1 || !is_number(x + a + 1, b))
        return -1;
    add_digits(x, a, column);
    add_digits(x + a + 1, b, column);
    for (int64_t i = 0; i < width; i++) {
        column[i + 1] += column[i] / 10;
        column[i] %= 10;
    }
    size -= column[width - 1] == 0;
    for (int64_t i = 0; i < width; i++)
        y[i] = i < size ? ZERO + (int32_t)column[size - 1 - i] : END;
    return width;
}

#include "../question_tests.h"

struct seen {
    int64_t pair[32][32], carried, of;
};

static void see_pair(const struct row *r, void *ctx)
{
    struct seen *s = ctx;
    int64_t plus = 0;
    while (r->x[plus] != PLUS)
        plus++;
    s->pair[plus][r->n - plus - 1]++;
    s->carried += r->y[r->n_y - 1] != END;
    s->of++;
}

TEST(every_pair_of_digit_counts_is_as_likely_in_training)
{
    struct harness h;
    struct seen s = {0};
    open_or_fail(&h, "{\"min_len\": 2, \"max_len\": 5}", QUESTION_SEQ_LEN, 0);
    see_rows(&h, QUESTION_SEQ_LEN, 3200, see_pair, &s);
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < 8; b++) {
            bool inside = a >= 2 && a <= 5 && b >= 2 && b <= 5;
            ck_assert_msg(inside ? s.pair[a][b] > 120 && s.pair[a][b] < 280 : s.pair[a][b] == 0,
                          "%d and %d digits: %d times", a, b, (int)s.pair[a][b]);
        }
    ck_assert_msg(s.carried > 300 && s.carried < 1500, "%d of 3200", (int)s.carried);
    harness_close(&h);
}

/* Of length 6: (6,1) ... (6,6) and (1,6) ... (5,6). */
TEST(every_pair_whose_longer_number_has_the_length_is_evaluated)
{
    const int64_t length = 6;
    struct harness h;
    struct seen s = {0};
    ck_assert_int_eq(open_task(&h, NULL, QUESTION_SEQ_LEN, 1, &length, 0), PEAT_OK);
    ck_assert_int_eq(see_evaluated(&h, 0, 64, see_pair, &s), 256);
    for (int a = 1; a <= 8; a++)
        for (int b = 1; b <= 8; b++) {
            int64_t times = (a > b ? a : b) == length ? 256 / 11 : 0;
            ck_assert_msg(s.pair[a][b] == times || (times && s.pair[a][b] == times + 1),
                          "%d and %d digits: %d times", a, b, (int)s.pair[a][b]);
        }
    harness_close(&h);
}

static void assert_backwards(const struct row *r)
{
    int32_t y[ANSWER_ROOM];
    int64_t n = answer_of(r->x, r->n, y), last = n - 1 - (y[n - 1] == END);
    ck_assert_int_eq(n, r->n_y);
    ck_assert_int_eq(r->y[n - 1] == END, y[n - 1] == END);
    for (int64_t i = 0; i <= last; i++)
        ck_assert_int_eq(r->y[i], y[last - i]);
}

TEST(a_reversed_answer_begins_with_its_last_digit)
{
    struct harness h;
    struct batch b;
    open_or_fail(&h, "{\"reversed\": true}", QUESTION_SEQ_LEN, 0);
    batch_init(&b, &h.arena, QUESTION_ROWS, QUESTION_SEQ_LEN);
    for (int64_t step = 1; step < 10; step++) {
        harness_train(&h, 1, step, &b);
        for (int64_t i = 0; i < b.b.B; i++) {
            struct row r = row_of(&b.b, i);
            assert_backwards(&r);
        }
    }
    harness_close(&h);
}

PLUGIN_TESTS(TASK)
