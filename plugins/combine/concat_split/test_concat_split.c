/* SPDX-License-Identifier: MIT */
/* The combination 'concat_split'. */
#include "../combine_tests.h"

TEST(positions_take_their_width_from_the_tokens)
{
    const char *name = "concat_split", *json = "{\"d_pos\": 16}";
    combine_widths(name, NULL, 128, 4, 2, (int64_t[]){0, 0}, (int64_t[]){96, 32}, 128);
    combine_widths(name, json, 64, 4, 3, (int64_t[]){0, 0, 0}, (int64_t[]){32, 16, 16}, 64);
    combine_widths(name, json, 64, 4, 3, (int64_t[]){0, 3, 0}, (int64_t[]){45, 3, 16}, 64);
    combine_widths(name, NULL, 2, 1, 2, (int64_t[]){0, 0}, (int64_t[]){1, 1}, 2);
}

TEST(tokens_without_width_are_refused)
{
    combine_refuses("concat_split", "{\"d_pos\": 64}", 128, 4, 3, (int64_t[]){0, 0, 0},
                    "positions would take 128 of the model's 128 dimensions and leave none for "
                    "tokens; lower d_pos");
}

TEST(streams_stand_side_by_side)
{
    struct harness h;
    combine_open(&h, "concat_split", "{\"d_pos\": 1}", 3, 2);
    combine_gives(combine_merge(&h, 1, (double[]){9}), 1, 3, (double[]){1, 2, 9, 3, 4, 9});
    harness_close(&h);
}

TEST(gradients_are_right_for_every_stream_and_tensor)
{
    combine_gradients("concat_split", NULL, 8, 3);
    combine_gradients("concat_split", "{\"d_pos\": 2}", 8, 3);
}

PLUGIN_TESTS("concat_split")
