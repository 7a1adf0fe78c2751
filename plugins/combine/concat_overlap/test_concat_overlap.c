/* SPDX-License-Identifier: MIT */
/* The combination 'concat_overlap'. */
#include "../combine_tests.h"

TEST(tokens_have_what_positions_leave_and_what_is_shared)
{
    const char *name = "concat_overlap";
    combine_widths(name, NULL, 128, 4, 2, (int64_t[]){0, 0}, (int64_t[]){96, 32}, 128);
    combine_widths(name, "{\"d_pos\": 16, \"shared\": 5}", 64, 4, 3, (int64_t[]){0, 0, 16},
                   (int64_t[]){53, 16, 16}, 64);
    combine_widths(name, "{\"d_pos\": 64, \"shared\": 64}", 64, 4, 2, (int64_t[]){0, 0},
                   (int64_t[]){64, 64}, 64);
}

TEST(what_leaves_no_tokens_or_cannot_be_shared_is_refused)
{
    combine_refuses("concat_overlap", "{\"d_pos\": 8, \"shared\": 9}", 64, 4, 2, (int64_t[]){0, 0},
                    "shared, 9, is more than d_pos, 8");
    combine_refuses("concat_overlap", "{\"d_pos\": 64}", 64, 4, 2, (int64_t[]){0, 0},
                    "positions would take 64 of the model's 64 dimensions, 0 of them shared, and "
                    "leave none for tokens; lower d_pos");
}

TEST(shared_dimensions_are_added)
{
    struct harness h;
    combine_open(&h, "concat_overlap", "{\"d_pos\": 2, \"shared\": 1}", 3, 2);
    /* tokens (1, 2) and (3, 4), position (10, 20) */
    combine_gives(combine_merge(&h, 2, (double[]){10, 20}), 1, 3, (double[]){1, 12, 20, 3, 14, 20});
    harness_close(&h);
}

TEST(gradients_are_right_for_every_stream_and_tensor)
{
    combine_gradients("concat_overlap", "{\"d_pos\": 4, \"shared\": 2}", 8, 3);
    combine_gradients("concat_overlap", "{\"d_pos\": 8, \"shared\": 8}", 8, 2);
}

PLUGIN_TESTS("concat_overlap")
