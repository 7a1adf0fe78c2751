/* SPDX-License-Identifier: MIT */
/* The scheme 'sinusoidal' against printed tables and its identities. */
#include "../scheme_tests.h"

/* The stream [1, T, d] of positions 0 .. T-1, or of pos [T]. */
static peat_node *table(struct harness *h, const char *json, int64_t d, int64_t T,
                        const double *pos)
{
    scheme_open(h, "sinusoidal", json, 1, d, T, false);
    peat_node *n = h->scheme->encode(harness_call(h, 1, T, 1, pos));
    ck_assert_int_eq(n->value.rank, 3);
    ck_assert_int_eq(n->value.dim[0], 1);
    ck_assert_int_eq(n->value.dim[1], T);
    ck_assert_int_eq(n->value.dim[2], d);
    return n;
}

static void assert_rows(const char *json, const double expected[4][8])
{
    struct harness h;
    peat_node *n = table(&h, json, 8, 4, NULL);
    for (int64_t i = 0; i < 32; i++)
        ck_assert_double_eq_tol(harness_at(n, i), expected[i / 8][i % 8], 1e-14);
    harness_close(&h);
}

/* Vaswani et al. 2017, section 3.5, d = 8, computed in double. */
static const double paper[4][8] = {
    {0, 1, 0, 1, 0, 1, 0, 1},
    {0.8414709848078965, 0.5403023058681397, 0.09983341664682815, 0.9950041652780256,
     0.009999833334166664, 0.9999500004166654, 0.0009999998333333417, 0.9999995000000417},
    {0.9092974268256816, -0.4161468365471424, 0.19866933079506122, 0.9800665778412417,
     0.01999866669333308, 0.999800006666578, 0.0019999986666669333, 0.9999980000006666},
    {0.1411200080598672, -0.9899924966004454, 0.2955202066613396, 0.9553364891256061,
     0.02999550020249566, 0.9995500337489878, 0.002999995500002025, 0.999995500003375},
};

static const double tensor2tensor[4][8] = {
    {0, 0, 0, 0, 1, 1, 1, 1},
    {0.8414709848078965, 0.04639922346473126, 0.0021544330233656027, 9.999999983333325e-05,
     0.5403023058681397, 0.9989229760406305, 0.9999976792064809, 0.999999995},
    {0.9092974268256816, 0.0926985007787272, 0.004308856046742809, 0.0001999999986666665,
     -0.4161468365471424, 0.9956942241237398, 0.9999907168366957, 0.9999999800000001},
    {0.1411200080598672, 0.1387981010800505, 0.0064632590701896395, 0.0002999999954999997,
     -0.9899924966004454, 0.9903206991356749, 0.9999791129229608, 0.9999999550000004},
};

TEST(the_default_is_the_table_of_the_paper)
{
    assert_rows(NULL, paper);
}

TEST(halves_with_tensor2tensor_frequencies_is_its_timing_signal)
{
    assert_rows("{\"layout\": \"halves\", \"frequencies\": \"tensor2tensor\"}", tensor2tensor);
}

/* What get_timing_signal_1d(length=512, channels=128) prints in single precision. */
TEST(six_printed_values_of_the_timing_signal_are_met)
{
    struct harness h;
    peat_node *n =
        table(&h, "{\"layout\": \"halves\", \"frequencies\": \"tensor2tensor\"}", 128, 512, NULL);
    const struct {
        int64_t pos, from_end;
        double printed;
    } row[] = {
        {0, 1, 1.0},  {63, 1, 0.99998015}, {127, 1, 0.99991935},
        {0, 16, 1.0}, {63, 16, 0.9984067}, {127, 16, 0.9935305},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
        ck_assert_double_eq_tol(harness_at(n, row[i].pos * 128 + 128 - row[i].from_end),
                                row[i].printed, 2e-8);
    harness_close(&h);
}

TEST(layouts_hold_the_same_values_in_another_order)
{
    struct harness a, b;
    peat_node *x = table(&a, NULL, 10, 5, NULL);
    peat_node *y = table(&b, "{\"layout\": \"halves\"}", 10, 5, NULL);
    for (int64_t p = 0; p < 5; p++)
        for (int64_t i = 0; i < 5; i++) {
            ck_assert_double_eq(harness_at(x, p * 10 + 2 * i), harness_at(y, p * 10 + i));
            ck_assert_double_eq(harness_at(x, p * 10 + 2 * i + 1), harness_at(y, p * 10 + 5 + i));
        }
    harness_close(&a);
    harness_close(&b);
}

static double dot(const peat_node *n, int64_t a, int64_t b)
{
    double sum = 0;
    for (int64_t i = 0; i < 128; i++)
        sum += harness_at(n, a * 128 + i) * harness_at(n, b * 128 + i);
    return sum;
}

TEST(products_of_rows_depend_on_their_distance_alone)
{
    const struct {
        int64_t distance;
        double product;
    } row[] = {
        {0, 64.0},
        {1, 62.093683805767625},
        {2, 57.38186055282377},
        {4, 48.58603046467245},
        {8, 45.72051406698772},
        {16, 39.70165387936216},
        {32, 35.677814529},
        {64, 30.520059008103473},
        {128, 21.298840407622095},
    };
    struct harness h;
    peat_node *n = table(&h, NULL, 128, 200, NULL);
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
        for (int64_t from = 0; from < 70; from += 23)
            ck_assert_double_eq_tol(dot(n, from, from + row[i].distance), row[i].product, 1e-9);
    harness_close(&h);
}

TEST(the_last_channel_of_an_odd_width_is_zero)
{
    static const char *const json[] = {NULL, "{\"layout\": \"halves\"}",
                                       "{\"frequencies\": \"tensor2tensor\"}"};
    for (size_t k = 0; k < 3; k++) {
        struct harness h;
        peat_node *n = table(&h, json[k], 7, 6, NULL);
        for (int64_t p = 0; p < 6; p++)
            ck_assert_double_eq(harness_at(n, p * 7 + 6), 0);
        ck_assert_double_eq(harness_at(n, 7), sin(1));
        harness_close(&h);
    }
}

/* Between whole numbers rows go straight into memory that is not cleared. */
TEST(the_last_channel_of_an_odd_width_is_written)
{
    const double pos[] = {0.5, 1.5};
    struct harness h;
    table(&h, NULL, 7, 2, pos);
    double *used = peat_scratch(&h.call.base, 1000);
    for (int64_t i = 0; i < 1000; i++)
        used[i] = 5;
    peat_node *n = h.scheme->encode(harness_call(&h, 1, 2, 1, pos));
    ck_assert_double_eq(harness_at(n, 6), 0);
    ck_assert_double_eq(harness_at(n, 13), 0);
    harness_close(&h);
}

TEST(scale_multiplies_and_base_spaces)
{
    struct harness h;
    peat_node *n = table(&h, "{\"scale\": 0.25, \"base\": 100}", 4, 3, NULL);
    ck_assert_double_eq_tol(harness_at(n, 2 * 4 + 0), 0.25 * sin(2), 1e-15);
    ck_assert_double_eq_tol(harness_at(n, 2 * 4 + 3), 0.25 * cos(0.2), 1e-15);
    harness_close(&h);
}

TEST(positions_may_lie_between_whole_numbers)
{
    const double pos[] = {-1.5, 0.25, 1e6};
    struct harness h;
    peat_node *n = table(&h, NULL, 4, 3, pos);
    for (int64_t p = 0; p < 3; p++)
        ck_assert_double_eq_tol(harness_at(n, p * 4), sin(pos[p]), 1e-15);
    harness_close(&h);
}

TEST(a_width_of_one_is_refused)
{
    scheme_refuses("sinusoidal", NULL, 1, 1, 4, false,
                   "a width of 1 holds no pair of sine and cosine");
}

PLUGIN_TESTS("sinusoidal")
