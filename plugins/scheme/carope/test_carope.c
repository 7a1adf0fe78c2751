/* SPDX-License-Identifier: MIT */
/* The scheme 'carope' against computed rotations, its start as rotary, and its gradient. */
#include "../content_tests.h"

START_TEST(turned_queries_and_keys_match_the_reference)
{
    const double q[] = {
        -0.5928873047133141, 0.917873793605881,    0.6260584924505904,   -0.3156050841684054,
        1.0650739922606207,  -0.5799071848365414,  0.1667251665918298,   0.930236289301093,
        -0.8023255251358877, 0.15905864256508323,  -0.8375575863945313,  -0.915444521836224,
        -0.7130458285613093, 0.34235096000831383,  0.9429691873841799,   0.24630407543456065,
        1.1799021968710222,  -0.21850427419122004, -0.38289684023674436, 0.5730971676200974,
        -1.0591979822640525, -0.3527694677500637,  -0.4300293881781951,  -1.0089492167160896};
    const double k[] = {
        -0.7120171361666875, 0.3836308745018303,   0.931318983978177,    0.21110325946401057,
        1.1837417109014121,  -0.2444603195053951,  -0.350084166132425,   0.6023745611080276,
        -1.0524989395393702, -0.32241644316298723, -0.46098165425836196, -1.0125812702696166,
        -0.6231956212415595, -0.29835442123225786, 0.9730861815584548,   0.7060327059161576,
        0.9519505676527382,  0.18483457987024043,  -0.7920188910055654,  0.0726351996589832,
        -0.9996991116399079, -0.735231119451654,   0.07721492777962252,  -0.8096796715930262};
    struct harness h;
    scheme_open(&h, "carope", NULL, 2, 4, 3, true);
    content_turns_by_input(&h, 3, q, k);
    harness_close(&h);
}
END_TEST

START_TEST(it_starts_as_rotary)
{
    struct harness h;
    struct modelcheck m;
    double carope[CONTENT_LOGITS], rotary[CONTENT_LOGITS];
    scheme_model(&m, &h, "carope", NULL, PEAT_DECODER, PEAT_ONCE);
    modelcheck_logits(&m, carope);
    content_close(&m, &h);
    scheme_model(&m, &h, "rotary", NULL, PEAT_DECODER, PEAT_ONCE);
    modelcheck_logits(&m, rotary);
    content_close(&m, &h);
    ck_assert_double_le(content_distance(carope, rotary, CONTENT_LOGITS), 1e-12);
}
END_TEST

START_TEST(odd_heads_are_refused)
{
    scheme_refuses("carope", NULL, 1, 5, 4, true,
                   "a head width of 5 does not split into pairs that turn: make model.d_model / "
                   "model.n_head even");
}
END_TEST

START_TEST(a_model_learns_on_either_path)
{
    content_gradients("carope", NULL, PEAT_DECODER, PATH_FUSED);
    content_gradients("carope", "{\"layout\": \"halves\"}", PEAT_ENCODER, PATH_COMPOSED);
    content_paths_agree("carope", NULL, PEAT_DECODER);
    content_no_future("carope", NULL);
    content_documents_are_apart("carope", NULL, PEAT_DECODER);
    content_documents_are_apart("carope", NULL, PEAT_ENCODER);
}
END_TEST

PLUGIN_TESTS("carope", turned_queries_and_keys_match_the_reference, it_starts_as_rotary,
             odd_heads_are_refused, a_model_learns_on_either_path)
