/* SPDX-License-Identifier: MIT */
/* The scheme 'alibi2d' against steps counted by hand; the ends of lines and what it refuses. */
#include "../content_tests.h"
#include "../grid_tests.h"

/* A grid of 3 columns: 0 1 2 over 3 4 5. Slopes 1/16 and 1/256. */
TEST(logits_fall_with_steps_in_the_grid)
{
    const double pos[] = {0, 1, 2, 3, 4, 5};
    const double steps[] = {0, 1, 2, 1, 2, 3, 1, 0, 1, 2, 1, 2, 2, 1, 0, 3, 2, 1,
                            1, 2, 3, 0, 1, 2, 2, 1, 2, 1, 0, 1, 3, 2, 1, 2, 1, 0};
    double expected[72];
    struct harness h;
    for (int64_t i = 0; i < 36; i++) {
        expected[i] = -steps[i] / 16;
        expected[36 + i] = -steps[i] / 256;
    }
    scheme_open(&h, "alibi2d", "{\"columns\": 3}", 2, 4, 6, false);
    scheme_assert(h.scheme->bias(harness_call(&h, 1, 6, 1, pos), NULL), 72, expected, 1e-15);
    harness_close(&h);
}

/* Places 2 and 3 are neighbours in the text and 3 steps apart. */
TEST(the_end_of_a_line_is_far_from_the_start_of_the_next)
{
    const double pos[] = {2, 3};
    struct harness h;
    scheme_open(&h, "alibi2d", "{\"columns\": 3}", 1, 4, 6, false);
    peat_node *n = h.scheme->bias(harness_call(&h, 1, 2, 1, pos), NULL);
    ck_assert_double_eq(harness_at(n, 1), -3.0 / 256);
    ck_assert_double_eq(harness_at(n, 2), -3.0 / 256);
    harness_close(&h);
}

TEST(rows_of_a_batch_have_their_own_places)
{
    const double pos[] = {0, 4, 1, 5, 2, 2};
    const double steps[] = {0, 2, 2, 0, 0, 2, 2, 0, 0, 0, 0, 0};
    double expected[12];
    struct harness h;
    for (int64_t i = 0; i < 12; i++)
        expected[i] = -steps[i] / 256;
    scheme_open(&h, "alibi2d", "{\"columns\": 3}", 1, 4, 6, false);
    scheme_assert(h.scheme->bias(harness_call(&h, 3, 2, 3, pos), NULL), 12, expected, 1e-15);
    harness_close(&h);
}

TEST(a_single_line_is_alibi)
{
    static const enum attention_path path[] = {PATH_FUSED, PATH_COMPOSED};
    double line[CONTENT_LOGITS], plain[CONTENT_LOGITS], grid[CONTENT_LOGITS];
    for (int i = 0; i < 2; i++) {
        content_logits("alibi", NULL, PEAT_ENCODER, path[i], plain);
        content_logits("alibi2d", "{\"columns\": 5}", PEAT_ENCODER, path[i], line);
        content_logits("alibi2d", "{\"columns\": 2}", PEAT_ENCODER, path[i], grid);
        ck_assert_double_le(content_distance(plain, line, CONTENT_LOGITS), 1e-13);
        ck_assert_double_ge(content_distance(plain, grid, CONTENT_LOGITS), 1e-4);
    }
}

TEST(the_grid_is_of_the_data_or_square)
{
    grid_is_of_the_data_or_square("alibi2d");
}

TEST(gradients_are_exact)
{
    scheme_gradients("alibi2d", "{\"columns\": 2}", PEAT_ENCODER, PEAT_ONCE);
    content_gradients("alibi2d", "{\"columns\": 2}", PEAT_DECODER, PATH_COMPOSED);
    content_no_future("alibi2d", "{\"columns\": 2}");
}

PLUGIN_TESTS("alibi2d")
