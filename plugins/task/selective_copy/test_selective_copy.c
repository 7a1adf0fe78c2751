/* SPDX-License-Identifier: MIT */
/* The task 'selective_copy': what is not blank is repeated. */
#include <stdint.h>

#define TASK  "selective_copy"
#define NAMED false
enum { IDS = 15, LEAST = 4, MIN_LEN = 4 };

static int64_t asked_by(int64_t n)
{
    return n;
}

static int64_t answered_by(int64_t n)
{
    (void)n;
    return 4;
}

static int64_t answer_of(const int32_t *x, int64_t n, int32_t *y)
{
    int64_t said = 0;
    for (int64_t i = 0; i < n; i++)
        if (x[i] != 3 + 14)
            y[said++] = x[i];
    return said;
}

#include "../question_tests.h"

enum { PLACES = 12 };

static void see_places(const struct row *r, void *ctx)
{
    int64_t *count = ctx;
    for (int64_t i = 0; i < PLACES; i++)
        count[i] += r->x[i] != FIRST + 14;
}

TEST(every_place_is_marked_as_often)
{
    struct harness h;
    int64_t count[PLACES] = {0};
    open_or_fail(&h, "{\"min_len\": 12, \"max_len\": 12}", QUESTION_SEQ_LEN, 0);
    see_rows(&h, QUESTION_SEQ_LEN, 3000, see_places, count);
    for (int i = 0; i < PLACES; i++)
        ck_assert_msg(count[i] > 850 && count[i] < 1150, "place %d: %d of 3000", i, (int)count[i]);
    harness_close(&h);
}

TEST(a_sequence_shorter_than_its_marks_is_refused)
{
    assert_refused("{\"marked\": 5}", QUESTION_SEQ_LEN,
                   "min_len = 4 is too short: a sequence has at least 5 symbols");
}

PLUGIN_TESTS(TASK)
