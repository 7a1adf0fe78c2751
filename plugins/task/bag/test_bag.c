/* SPDX-License-Identifier: MIT */
/* The task 'bag': which symbol occurs most often? */
#include <stdint.h>
#include <stdlib.h>

#define TASK  "bag"
#define NAMED true
enum { IDS = 10, LEAST = 1, MIN_LEN = 1 };

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
    int64_t count[IDS] = {0}, most = 0, leading = 0;
    for (int64_t i = 0; i < n; i++)
        count[x[i] - 3]++;
    for (int32_t s = 0; s < IDS; s++) {
        leading = count[s] > most ? 1 : leading + (count[s] == most);
        if (count[s] > most)
            y[0] = 3 + s;
        most = count[s] > most ? count[s] : most;
    }
    return leading == 1 ? 1 : -1;
}

#include "../question_tests.h"

struct seen {
    int64_t answer[IDS], at[6];
};

static void see_answer(const struct row *r, void *ctx)
{
    struct seen *s = ctx;
    s->answer[r->y[0] - FIRST]++;
    for (int64_t i = 0; i < r->n; i++)
        s->at[i] += r->x[i] == r->y[0];
}

TEST(every_symbol_leads_as_often_and_stands_everywhere)
{
    struct harness h;
    struct seen s = {0};
    int64_t all = 0;
    open_or_fail(&h, "{\"min_len\": 6, \"max_len\": 6}", QUESTION_SEQ_LEN, 0);
    see_rows(&h, QUESTION_SEQ_LEN, 6000, see_answer, &s);
    for (int i = 0; i < 6; i++)
        all += s.at[i];
    for (int i = 0; i < IDS; i++)
        ck_assert_msg(s.answer[i] > 480 && s.answer[i] < 720, "symbol %d: %d of 6000", i,
                      (int)s.answer[i]);
    for (int i = 0; i < 6; i++)
        ck_assert_msg(llabs(6 * s.at[i] - all) < all / 12, "place %d: %d of %d", i, (int)s.at[i],
                      (int)all);
    harness_close(&h);
}

PLUGIN_TESTS(TASK)
