/* SPDX-License-Identifier: MIT */
/* The scheme 'rotary_scaled' against computed rotations; when it scales and when it does not. */
#include "../scheme_tests.h"

/* The query at 90 of sequences trained with 64. */
static void assert_golden(const char *json, const double expected[8])
{
    scheme_turns_query("rotary_scaled", json, 64, 90, expected);
}

TEST(linear_matches_the_reference)
{
    const double expected[] = {0.010104438482750333,  -0.2233783792647541, -0.4996813655719902,
                               -0.017847490022719292, 0.35353323625542443, 0.6964296453072387,
                               0.6818243386865286,    0.8155461796702121};
    assert_golden("{\"kind\": \"linear\", \"factor\": 4}", expected);
}

TEST(ntk_matches_the_reference)
{
    const double expected[] = {-0.2236066943330286, -0.00021505686577823202, 0.4755907379925993,
                               0.15431607154037694, 0.25867397275523074,     0.7369448933394045,
                               0.6818243386865286,  0.8155461796702121};
    assert_golden("{\"kind\": \"ntk\", \"factor\": 4}", expected);
}

TEST(yarn_matches_the_reference)
{
    const double expected[] = {-0.25460516427928226, -0.00024487007781308356, -0.4989545595519113,
                               -0.2741597995650251,  0.40254334944436043,     0.7929752943278536,
                               0.776345262286072,    0.9286048866811807};
    assert_golden("{\"kind\": \"yarn\", \"factor\": 4, \"beta_fast\": 8, \"beta_slow\": 0.5}",
                  expected);
}

/* The last pair of a query of ones at position 9, in a sequence of n. */
static void last_pair(const char *json, int64_t n, double pair[2])
{
    static const double ones[3 * 8] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                       1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct harness h;
    scheme_open(&h, "rotary_scaled", json, 1, 8, 64, true);
    peat_qkv io = scheme_turn(&h, n, (double[]){9, 1, 2}, 8, ones, ones);
    pair[0] = harness_at(io.q, 6);
    pair[1] = harness_at(io.q, 7);
    harness_close(&h);
}

/* The frequency 0.001 over the last factor; all is multiplied by sqrt(1 + ln 4 / ln 2). */
TEST(longrope_has_factors_for_short_and_for_long_sequences)
{
    for (int64_t n = 2; n <= 3; n++) {
        double pair[2], angle = 9 * 0.001 / (n == 2 ? 2.5 : 4), size = sqrt(3);
        last_pair("{\"kind\": \"longrope\", \"original_length\": 2, \"factor\": 4, "
                  "\"short_factor\": [1, 1, 2, 2.5], \"long_factor\": [1, 1, 3, 4]}",
                  n, pair);
        ck_assert_double_eq_tol(pair[0], size * (cos(angle) - sin(angle)), 1e-14);
        ck_assert_double_eq_tol(pair[1], size * (cos(angle) + sin(angle)), 1e-14);
    }
}

/* Largest difference of what two settings make of two positions. */
static double apart(const char *a, const char *b)
{
    struct harness x, y;
    double most = 0;
    scheme_open(&x, "rotary_scaled", a, 1, 8, 64, true);
    scheme_open(&y, "rotary_scaled", b, 1, 8, 64, true);
    peat_qkv p = scheme_turn_8(&x, 7, 2), q = scheme_turn_8(&y, 7, 2);
    for (int64_t i = 0; i < 16; i++)
        most = fmax(most, fabs(harness_at(p.q, i) - harness_at(q.q, i)));
    harness_close(&x);
    harness_close(&y);
    return most;
}

/* The calls are of two positions. */
TEST(an_automatic_factor_acts_beyond_the_original_length_alone)
{
    static const char *const kind[] = {"linear", "ntk", "yarn"};
    for (int i = 0; i < 3; i++) {
        char fits[128], longer[128], one[128], two[128];
        snprintf(fits, sizeof(fits), "{\"kind\": \"%s\", \"original_length\": 3}", kind[i]);
        snprintf(longer, sizeof(longer), "{\"kind\": \"%s\", \"original_length\": 1}", kind[i]);
        snprintf(one, sizeof(one), "{\"kind\": \"%s\", \"factor\": 1}", kind[i]);
        snprintf(two, sizeof(two), "{\"kind\": \"%s\", \"factor\": 2, \"original_length\": 1}",
                 kind[i]);
        ck_assert_double_le(apart(fits, one), 1e-15);
        ck_assert_double_le(apart(longer, two), 1e-15);
        ck_assert_double_ge(apart(longer, one), 1e-3);
    }
}

/* A factor of 1 is the plain rotation of the golden values of rotary. */
TEST(a_factor_of_one_is_rotary)
{
    const double expected[] = {-0.127223251272018, -0.18388649851410238, 0.16839286407314596,
                               0.4707906576486443, 0.48177771675299647,  0.6147277703506404,
                               0.6975968536023608, 0.8020963968527014};
    scheme_turns_query("rotary_scaled", NULL, 64, 3, expected);
}

TEST(products_depend_on_the_distance_alone)
{
    scheme_products_follow_distance("rotary_scaled", "{\"kind\": \"yarn\", \"factor\": 3}");
}

TEST(impossible_settings_are_refused)
{
    scheme_refuses("rotary_scaled", NULL, 1, 7, 8, true,
                   "a head width of 7 does not split into pairs that turn: make model.d_model / "
                   "model.n_head even");
    scheme_refuses("rotary_scaled", "{\"beta_fast\": 1, \"beta_slow\": 2}", 1, 8, 8, true,
                   "beta_fast = 1 must be above beta_slow = 2");
    scheme_refuses("rotary_scaled", "{\"kind\": \"yarn\", \"ramp\": \"index\", \"beta_slow\": 0}",
                   1, 8, 8, true, "ramp: index needs beta_slow above 0");
    scheme_refuses("rotary_scaled", "{\"kind\": \"longrope\", \"long_factor\": [1, 2]}", 1, 8, 8,
                   true,
                   "a head of 8 has 4 pairs, and long_factor has 2 numbers: give one for each "
                   "pair");
    scheme_refuses("rotary_scaled", "{\"long_factor\": [1, 2, 3, 4]}", 1, 8, 8, true,
                   "short_factor and long_factor are for kind: longrope");
}

TEST(gradients_of_the_model_around_it_are_exact)
{
    scheme_gradients("rotary_scaled", "{\"kind\": \"yarn\", \"original_length\": 2}", PEAT_DECODER,
                     PEAT_ONCE);
    scheme_gradients("rotary_scaled", "{\"layout\": \"halves\", \"factor\": 2}", PEAT_ENCODER,
                     PEAT_ONCE);
}

PLUGIN_TESTS("rotary_scaled")
