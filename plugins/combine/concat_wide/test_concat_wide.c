/* SPDX-License-Identifier: MIT */
/* The combination 'concat_wide'. */
#include "../combine_tests.h"

TEST(the_model_grows_by_the_positions)
{
    const char *name = "concat_wide";
    combine_widths(name, NULL, 128, 4, 2, (int64_t[]){0, 0}, (int64_t[]){128, 32}, 160);
    combine_widths(name, "{\"d_pos\": 16}", 64, 4, 3, (int64_t[]){0, 0, 0}, (int64_t[]){64, 16, 16},
                   96);
    combine_widths(name, "{\"d_pos\": 13}", 64, 4, 3, (int64_t[]){0, 3, 0}, (int64_t[]){64, 3, 13},
                   80);
}

TEST(the_automatic_width_suits_the_heads)
{
    combine_widths("concat_wide", NULL, 40, 8, 2, (int64_t[]){0, 0}, (int64_t[]){40, 16}, 56);
}

TEST(widths_that_heads_do_not_divide_are_refused_with_the_nearest)
{
    const char *name = "concat_wide", *insists = "model width 128 + 5 = 133 is not divisible by 4 "
                                                 "heads";
    combine_refuses(name, "{\"d_pos\": 30}", 128, 4, 2, (int64_t[]){0, 0},
                    "model width 128 + 30 = 158 is not divisible by 4 heads; the nearest d_pos are "
                    "28 and 32");
    combine_refuses(name, "{\"d_pos\": 3}", 128, 4, 2, (int64_t[]){0, 0},
                    "model width 128 + 3 = 131 is not divisible by 4 heads; the nearest d_pos is "
                    "4");
    combine_refuses(name, "{\"d_pos\": 30}", 128, 4, 2, (int64_t[]){0, 5}, insists);
    combine_refuses(name, NULL, 128, 4, 2, (int64_t[]){0, 5}, insists);
}

TEST(streams_stand_side_by_side)
{
    struct harness h;
    combine_open_as(&h, "concat_wide", "{\"d_pos\": 1}", 2, 1, 2, (int64_t[]){0, 0},
                    (int64_t[]){2, 1}, 3);
    combine_gives(combine_merge(&h, 1, (double[]){9}), 1, 3, (double[]){1, 2, 9, 3, 4, 9});
    harness_close(&h);
}

TEST(gradients_are_right_for_every_stream_and_tensor)
{
    combine_gradients("concat_wide", NULL, 8, 3);
    combine_gradients("concat_wide", "{\"d_pos\": 3}", 8, 3);
}

PLUGIN_TESTS("concat_wide")
