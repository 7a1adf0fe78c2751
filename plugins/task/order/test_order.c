/* SPDX-License-Identifier: MIT */
/* The task 'order': which of two marks came first? */
#include <stdint.h>
#include <stdlib.h>

#define TASK  "order"
#define NAMED true
enum { IDS = 12, LEAST = 2, MIN_LEN = 2 };

static int64_t asked_by(int64_t n)
{
    return n;
}

static int64_t answered_by(int64_t n)
{
    (void)n;
    return 1;
}

static int64_t answer_of(const int32_t *x, int64_t n, int32_t *y)
{
    int64_t seen[2] = {0};
    for (int64_t i = n - 1; i >= 0; i--)
        if (x[i] == 3 || x[i] == 4) {
            y[0] = x[i];
            seen[x[i] - 3]++;
        }
    return seen[0] == 1 && seen[1] == 1 ? 1 : -1;
}

#include "../question_tests.h"

struct twin {
    int64_t rows, first[2];
    int32_t x[2 * QUESTION_SEQ_LEN], answer;
};

static int by_id(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* Every second row has the tokens of the one before and the other answer. */
static void see_twin(const struct row *r, void *ctx)
{
    struct twin *t = ctx;
    int32_t x[2 * QUESTION_SEQ_LEN];
    size_t bytes = (size_t)r->n * sizeof(*x);
    memcpy(x, r->x, bytes);
    qsort(x, (size_t)r->n, sizeof(*x), by_id);
    if (t->rows++ % 2) {
        ck_assert_mem_eq(x, t->x, bytes);
        ck_assert_int_ne(r->y[0], t->answer);
    }
    memcpy(t->x, x, bytes);
    t->answer = r->y[0];
    t->first[r->y[0] - FIRST]++;
}

TEST(tokens_without_their_places_give_the_right_answer_half_the_time)
{
    struct harness h;
    open_or_fail(&h, NULL, QUESTION_SEQ_LEN, 0);
    for (int64_t which = 0; which < 2; which++) {
        struct twin t = {0};
        ck_assert_int_eq(see_evaluated(&h, which, 64, see_twin, &t), 256);
        ck_assert_int_eq(t.first[0], 128);
    }
    harness_close(&h);
}

struct places {
    int64_t mark[2][8], first[2];
};

static void see_places(const struct row *r, void *ctx)
{
    struct places *p = ctx;
    for (int64_t i = 0; i < r->n; i++)
        if (r->x[i] < FIRST + 2)
            p->mark[r->x[i] - FIRST][i]++;
    p->first[r->y[0] - FIRST]++;
}

TEST(each_mark_stands_everywhere_as_often)
{
    struct harness h;
    struct places p = {0};
    open_or_fail(&h, "{\"min_len\": 8, \"max_len\": 8}", QUESTION_SEQ_LEN, 0);
    see_rows(&h, QUESTION_SEQ_LEN, 3200, see_places, &p);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 2; k++)
            ck_assert_msg(p.mark[k][i] > 300 && p.mark[k][i] < 500, "mark %d at %d: %d", k, i,
                          (int)p.mark[k][i]);
    ck_assert_msg(p.first[0] > 1450 && p.first[0] < 1750, "%d of 3200", (int)p.first[0]);
    harness_close(&h);
}

PLUGIN_TESTS(TASK)
