/* SPDX-License-Identifier: MIT */
/* The combination 'multiply'. */
#include "../combine_tests.h"

TEST(product_multiplies_elements)
{
    combine_gives_small("multiply", NULL, (double[]){10, -40, 30, -80});
}

TEST(one_plus_leaves_tokens_where_position_is_zero)
{
    combine_gives_small("multiply", "{\"form\": \"one_plus\"}", (double[]){11, -38, 33, -76});
}

TEST(a_stream_of_another_width_is_refused)
{
    combine_wants_equal_widths("multiply");
}

TEST(gradients_are_right_for_every_stream_and_tensor)
{
    combine_gradients("multiply", NULL, 6, 3);
    combine_gradients("multiply", "{\"form\": \"one_plus\"}", 6, 3);
}

PLUGIN_TESTS("multiply")
