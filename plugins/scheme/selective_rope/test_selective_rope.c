/* SPDX-License-Identifier: MIT */
/* The scheme 'selective_rope' against computed rotations, its convolution and its gradient. */
#include "../content_tests.h"

static const char with_gate[] = "{\"rank\": 3, \"kernel\": 2, \"gate\": true}";

START_TEST(turned_queries_and_keys_match_the_reference)
{
    const double q[] = {
        0.46896773056238306,  0.9948193870026921,   -0.610337132142381,  -0.3216453050552603,
        0.6356029766239648,   -0.7273279762966713,  0.756367560000312,   0.9266729586563309,
        -0.43030830683358806, -0.04317576634620218, -1.1087616758617687, -0.8900480007038057,
        -0.9161616979407535,  0.7852737966062838,   0.25286367252312303, 0.235685998920045,
        0.6163881339791506,   -0.9796936798136412,  -0.4834148576380864, 0.5844139827690754,
        0.17502065855723098,  0.4949482673805156,   1.0855923926438868,  -0.9975638317154281};
    const double k[] = {
        0.9124589990983155,    0.8064230596792349,  -0.2057084697436346,  0.2021017946440286,
        0.05430859831066831,   -0.9747637807021285, 0.7890369537744053,   0.6088728559776959,
        -0.015818733716964017, 0.4689149483089094,  -1.110776093813403,   -0.99778570011083,
        -1.1267897661798878,   0.36406391175427405, -0.19157401630173015, 0.6956067343228277,
        0.8156349990931104,    -0.9421747093342512, 0.10731371010630289,  0.09205234422808597,
        -0.288835469097923,    0.8658786415163824,  0.8392117120709932,   -0.814897773200023};
    struct harness h;
    scheme_open(&h, "selective_rope", with_gate, 2, 4, 3, true);
    content_turns_by_input(&h, 3, q, k);
    harness_close(&h);
}
END_TEST

START_TEST(odd_heads_are_refused)
{
    scheme_refuses("selective_rope", NULL, 1, 5, 4, true,
                   "a head width of 5 does not split into pairs that turn: make model.d_model / "
                   "model.n_head even");
}
END_TEST

START_TEST(a_model_learns_on_either_path)
{
    content_gradients("selective_rope", with_gate, PEAT_DECODER, PATH_FUSED);
    content_gradients("selective_rope", "{\"rank\": 2}", PEAT_ENCODER, PATH_COMPOSED);
    content_paths_agree("selective_rope", with_gate, PEAT_DECODER);
}
END_TEST

/* The convolution stays within the document, and in an encoder looks back, too. */
START_TEST(angles_come_from_the_past_of_the_document)
{
    content_no_future("selective_rope", with_gate);
    content_documents_are_apart("selective_rope", with_gate, PEAT_DECODER);
    content_documents_are_apart("selective_rope", NULL, PEAT_ENCODER);
}
END_TEST

PLUGIN_TESTS("selective_rope", turned_queries_and_keys_match_the_reference, odd_heads_are_refused,
             a_model_learns_on_either_path, angles_come_from_the_past_of_the_document)
