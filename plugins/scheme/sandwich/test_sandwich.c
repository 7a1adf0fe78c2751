/* SPDX-License-Identifier: MIT */
/* The scheme 'sandwich' and its limits. */
#include "../scheme_tests.h"

/* PE(p) . PE(p + d) of d = 128, as the scheme 'sinusoidal' has it, for the first of 8 heads. */
TEST(an_odd_width_is_refused)
{
    scheme_refuses("sandwich", "{\"width\": 7}", 2, 4, 8, true,
                   "width = 7 must be even: pairs of sine and cosine");
}

TEST(gradients_of_the_model_around_it_are_exact)
{
    scheme_gradients("sandwich", NULL, PEAT_DECODER, PEAT_ONCE);
    scheme_gradients("sandwich", NULL, PEAT_ENCODER, PEAT_ONCE);
}

PLUGIN_TESTS("sandwich")
