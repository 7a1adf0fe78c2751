/* SPDX-License-Identifier: MIT */
/* The combination 'multiply'. */
#include "../combine_tests.h"

START_TEST(product_multiplies_elements)
{
    combine_gives_small("multiply", NULL, (double[]){10, -40, 30, -80});
}
END_TEST

START_TEST(one_plus_leaves_tokens_where_position_is_zero)
{
    combine_gives_small("multiply", "{\"form\": \"one_plus\"}", (double[]){11, -38, 33, -76});
}
END_TEST

START_TEST(a_stream_of_another_width_is_refused)
{
    combine_wants_equal_widths("multiply");
}
END_TEST

START_TEST(gradients_are_right_for_every_stream_and_tensor)
{
    combine_gradients("multiply", NULL, 6, 3);
    combine_gradients("multiply", "{\"form\": \"one_plus\"}", 6, 3);
}
END_TEST

PLUGIN_TESTS("multiply", product_multiplies_elements, one_plus_leaves_tokens_where_position_is_zero,
             a_stream_of_another_width_is_refused, gradients_are_right_for_every_stream_and_tensor)
