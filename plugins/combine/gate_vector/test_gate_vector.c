/* SPDX-License-Identifier: MIT */
/* The combination 'gate_vector'. Reference values: its formula, computed once. */
#include "../combine_tests.h"

static const double gate_vector_values[] = {
    -1.242757847005124,   0.047674732449554724, 1.2779292029524658,   -0.5,
    0.7707931741234806,   -0.6993886461863887,  0.3263935876242632,   -1.096927615992188,
    -0.38437304736315775, 0.9875026035157897,   -0.24375130175789483, 0.23125390527368467,
    0.2793525126025086,   0.39054412522144955,  -0.906223984348675,   -0.15440277885071044};

TEST(each_dimension_has_its_gate)
{
    struct harness h;
    combine_open(&h, "gate_vector", NULL, 4, 2);
    combine_fill(&h, 0, 2, 5);
    combine_fill(&h, 1, 4, 5);
    combine_fill(&h, 2, 3, 5);
    combine_gives(combine_merge_ramps(&h, 2, 1, NULL), 2, 4, gate_vector_values);
    harness_close(&h);
}

TEST(it_has_2dd_plus_d_parameters)
{
    ck_assert_int_eq(combine_parameters("gate_vector", NULL, 4, 2), 2 * 16 + 4);
}

TEST(a_stream_of_another_width_is_refused)
{
    combine_wants_equal_widths("gate_vector");
}

TEST(gradients_are_right_for_every_stream_and_tensor)
{
    combine_gradients("gate_vector", NULL, 4, 3);
}

PLUGIN_TESTS("gate_vector")
