/* SPDX-License-Identifier: MIT */
/* test_statistics.c: the formulas against values that tests/golden/statistics.py had from scipy. */
#include "maths/statistics.h"

#include "support/support.h"

static void assert_near(double x, double expected, double relative, const char *what)
{
    ck_assert_msg(fabs(x - expected) <= relative * fabs(expected), "%s: %.17g instead of %.17g",
                  what, x, expected);
}

static void assert_same(double x, double expected, double relative, const char *what)
{
    if (isnan(expected))
        ck_assert_msg(isnan(x), "%s: %.17g instead of NaN", what, x);
    else if (isinf(expected))
        ck_assert_msg(isinf(x), "%s: %.17g instead of infinity", what, x);
    else
        assert_near(x, expected, relative, what);
}

static const struct {
    double p, t[100];
} quantiles[] = {
    {0.975, {12.706204736174696, 4.302652729749462,  3.1824463052837086, 2.7764451051977934,
             2.570581835636315,  2.4469118511449692, 2.364624251592785,  2.3060041352041662,
             2.262157162798205,  2.2281388519862744, 2.2009851600916392, 2.1788128296672284,
             2.160368656462792,  2.1447866879178026, 2.1314495455597746, 2.1199052992212533,
             2.109815577833316,  2.1009220402410373, 2.0930240544083083, 2.0859634472658644,
             2.07961384472768,   2.0738730679040263, 2.068657610419048,  2.063898561628025,
             2.059538552753297,  2.0555294386428726, 2.051830516480285,  2.0484071417952445,
             2.045229642132704,  2.0422724563012378, 2.0395134463964086, 2.0369333434601016,
             2.034515297449338,  2.032244509317718,  2.030107928250342,  2.02809400098045,
             2.026192463029109,  2.0243941639119694, 2.0226909200367604, 2.0210753903062724,
             2.019540970441375,  2.0180817028184452, 2.016692199227825,  2.015367574443764,
             2.014103388880846,  2.012895598919428,  2.011740513729765,  2.0106347576242323,
             2.0095752371292397, 2.0085591121007598, 2.007583770315836,  2.0066468050616875,
             2.0057459953178682, 2.0048792881880564, 2.004044783289145,  2.0032407188478714,
             2.0024654592910056, 2.0017174841452365, 2.000995378088266,  2.00029782201426,
             1.9996235849949402, 1.998971517033379,  1.9983405425207417, 1.997729654317692,
             1.9971379083920036, 1.9965644189523115, 1.9960083540252949, 1.9954689314298417,
             1.994945415107237,  1.9944371117711843, 1.993943367845626,  1.9934635666618703,
             1.9929971258898538, 1.9925434951809333, 1.9921021540022412, 1.9916726096446633,
             1.9912543953883879, 1.9908470688116868, 1.990450210230128,  1.9900634212544481,
             1.9896863234569024, 1.9893185571365728, 1.9889597801751604, 1.9886096669757065,
             1.9882679074772232, 1.98793420623902,   1.9876082815890723, 1.9872898648311705,
             1.9869786995062828, 1.9866745407037698, 1.9863771544186166, 1.986086316951129,
             1.9858018143458214, 1.985523441866601,  1.9852510035054973, 1.9849843115224548,
             1.9847231860139847, 1.9844674545084815, 1.984216951586415,  1.9839715185235538}},
    {0.9995, {636.6192487687898,  31.59905457644537,  12.923978636687966, 8.610301581379524,
              6.868826625881274,  5.958816178818885,  5.407882520861828,  5.041305433373456,
              4.780912585931217,  4.586893858702707,  4.436979338234517,  4.317791283606247,
              4.220831727707181,  4.14045411273826,   4.0727651959038464, 4.014996327184108,
              3.9651262721190825, 3.9216458250852098, 3.8834058525921313, 3.8495162749308744,
              3.8192771642745087, 3.792130671698436,  3.7676268043118255, 3.7453986192900963,
              3.725143949728693,  3.706611743480954,  3.6895917134592784, 3.6739064007013185,
              3.6594050194663748, 3.6459586350420623, 3.633456349758372,  3.6218022598675352,
              3.6109130076544678, 3.600715797386448,  3.5911467758108175, 3.582149701456376,
              3.5736748444452453, 3.565678071580272,  3.5581200813327767, 3.550965760863359,
              3.544183642971618,  3.537745445327475,  3.531625677808082,  3.5258013064872165,
              3.520251464971135,  3.514957205481853,  3.5099012834495014, 3.5050679704702503,
              3.500442891367391,  3.496012881811184,  3.4917658635339257, 3.48769073465722,
              3.483777273038498,  3.480016050870316,  3.4763983590336287, 3.4729161399299318,
              3.469561927704822,  3.4663287949310577, 3.4632103049519665, 3.4602004691963884,
              3.45729370887045,   3.454484820512048,  3.45176894496102,   3.4491415393564,
              3.446598351822016,  3.444135398544042,  3.441748942981228,  3.4394354769795346,
              3.4371917035911235, 3.4350145214208543, 3.4329010103441235, 3.4308484184581696,
              3.428854150143918,  3.4269157551303997, 3.425030918463984,  3.423197451297207,
              3.421413282419352,  3.4196764504606256, 3.4179850967078877, 3.4163374584769968,
              3.4147318629916326, 3.4131667217247332, 3.411640525161616,  3.410151837948883,
              3.4086992943964516, 3.407281594302754,  3.4058974990766577, 3.404545828131773,
              3.4032254555307864, 3.401935306860247,  3.4006743563172006, 3.399441623991359,
              3.3982361733275437, 3.3970571087545607, 3.395903573468039,  3.3947747473556404,
              3.3936698450540668, 3.392588114128206,  3.3915288333636684, 3.390491311164258}},
};

TEST(t_quantile_is_scipys_for_1_to_100_degrees_of_freedom)
{
    for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++)
        for (int df = 1; df <= 100; df++) {
            assert_near(student_t_quantile(quantiles[i].p, df), quantiles[i].t[df - 1], 1e-10,
                        "quantile");
            assert_near(student_t_quantile(1.0 - quantiles[i].p, df), -quantiles[i].t[df - 1],
                        1e-10, "other side");
        }
}

TEST(t_quantile_is_scipys_at_the_edges_and_nan_or_infinite_beyond)
{
    static const struct {
        double p, df, t;
    } other[] = {
        {0.025, 4, -2.7764451051977943},
        {0.75, 2.5, 0.7850136829923011},
        {1e-12, 3, -10331.108244292487},
        {0.975, 1000000.0, 1.9599663568838133},
        {0.3, 0.5, -1.009525878607166},
        {0.995, 1000, 2.5807546980658573},
        {0.6, 7, 0.2631668613520228},
        {0.50001, 3, 2.7206990467864813e-05},
        {0.5, 9, 0.0},
        {0.975, 0, NAN},
        {-0.1, 3, NAN},
        {NAN, 3, NAN},
        {1.0, 3, INFINITY},
    };
    for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
        assert_same(student_t_quantile(other[i].p, other[i].df), other[i].t, 1e-9, "quantile");
}

TEST(t_quantile_of_one_degree_is_a_tangent)
{
    for (double p = 0.01; p < 0.995; p += 0.01)
        ck_assert_double_eq_tol(student_t_quantile(p, 1), tan(M_PI * (p - 0.5)),
                                1e-12 * fmax(1.0, fabs(tan(M_PI * (p - 0.5)))));
}

static const struct {
    const char *name;
    int n;
    double x[8], expected[4]; /* mean, deviation, half an interval, median */
} samples[] = {
    {"none", 0, {0.0}, {NAN, NAN, NAN, NAN}},
    {"one", 1, {3.5}, {3.5, NAN, NAN, 3.5}},
    {"pair", 2, {2.0, 2.5}, {2.25, 0.3535533905932738, 3.176551184043674, 2.25}},
    {"few",
     3,
     {2.143, 2.151, 2.139},
     {2.1443333333333334, 0.006110100926607792, 0.015178332134387051, 2.143}},
    {"ties", 5, {0.5, 0.25, 0.5, 0.25, 0.5}, {0.4, 0.13693063937629152, 0.1700218451645639, 0.5}},
    {"same", 4, {1.25, 1.25, 1.25, 1.25}, {1.25, 0.0, 0.0, 1.25}},
    {"mixed",
     8,
     {-1.5, 0.0, 3.25, 7.0, -2.75, 0.125, 4.5, 1.0},
     {1.453125, 3.245833524359674, 2.713584734491789, 0.5625}},
    {"close",
     4,
     {1000000.1, 1000000.2, 1000000.4, 1000000.3},
     {1000000.25, 0.12909944490363887, 0.2054260257238816, 1000000.25}},
};

TEST(moments_and_interval_are_scipys_where_there_are_any)
{
    static const double relative[] = {1e-15, 1e-10, 1e-10, 1e-15};
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
        double x[8];
        int n = samples[i].n;
        memcpy(x, samples[i].x, sizeof(x));
        double found[] = {stats_mean(x, n), stats_sd(x, n), stats_ci_half(x, n), 0.0};
        found[3] = stats_median(x, n); /* sorts x */
        for (int k = 0; k < 4; k++)
            assert_same(found[k], samples[i].expected[k], relative[k], samples[i].name);
    }
}

/* Differences, and what scipy and the share of sign patterns say of them. */
static const struct {
    const char *name;
    int n;
    double d[16], expected[5]; /* sign-flip p, Wilcoxon's p, Student's p, d_z, g_z */
} paired[] = {
    {"one", 1, {0.3}, {1.0, 1.0, NAN, NAN, NAN}},
    {"pair", 2, {0.25, 0.5}, {0.5, 0.5, 0.20483276469913345, 2.1213203435596424, NAN}},
    {"split",
     3,
     {0.25, -0.5, 1.0},
     {0.75, 0.75, 0.6220355269907728, 0.3333333333333333, 0.1880631945159188}},
    {"rounding",
     4,
     {0.1, 0.2, -0.3, 0.4},
     {0.625, 0.625, 0.5456274012746509, 0.33968311024337877, 0.2457951247243632}},
    {"ties",
     6,
     {0.5, 0.5, -0.5, 0.5, -0.5, 0.5},
     {0.6875, 0.6875, 0.465022638260757, 0.32274861218395134, 0.2713504704593503}},
    {"zeros", 4, {0.0, 0.0, 0.75, 0.0}, {1.0, 1.0, 0.39100221895577053, 0.5, 0.3618006272791338}},
    {"eight",
     8,
     {0.01, 0.03, -0.02, 0.05, 0.04, 0.02, -0.01, 0.06},
     {0.0859375, 0.0859375, 0.05832171173164498, 0.7990704058551495, 0.7097366579157893}},
    {"twelve",
     12,
     {0.3, -0.1, 0.25, 0.5, -0.4, 0.15, 0.05, 0.7, -0.2, 0.35, 0.45, -0.6},
     {0.31201171875, 0.30126953125, 0.3011485324087835, 0.31319878820776015, 0.2912622855663327}},
    {"sixteen",
     16,
     {-0.75, 0.125, 1.0, -0.125, 0.75, -0.375, 0.5, -0.625, 0.25, 1.125, 0.0, 0.875, -0.25, 0.625,
      -0.5, 0.375},
     {0.24395751953125, 0.24871826171875, 0.22683190885506566, 0.31506301890630223,
      0.2989971953701657}},
    {"equal sizes",
     8,
     {1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0},
     {0.2890625, 0.2890625, 0.17047066078705375, 0.5400617248673217, 0.4796843943499166}},
    {"nothing", 3, {0.0, 0.0, 0.0}, {1.0, 1.0, NAN, NAN, NAN}},
    {"no spread", 3, {0.25, 0.25, 0.25}, {0.25, 0.25, NAN, NAN, NAN}},
    {"ties and zeros",
     10,
     {0.5, -0.25, 0.5, 0.0, 0.75, -0.5, 0.25, 0.25, 0.0, 1.0},
     {0.1640625, 0.1640625, 0.11730680301423822, 0.5477225575051661, 0.5005498929723737}},
};

TEST(signflip_p_is_the_share_of_sign_patterns)
{
    for (size_t i = 0; i < sizeof(paired) / sizeof(*paired); i++)
        assert_near(paired_p(TEST_SIGN_FLIP, paired[i].d, paired[i].n), paired[i].expected[0],
                    1e-15, paired[i].name);
    ck_assert_double_nan(paired_p(TEST_SIGN_FLIP, paired[0].d, 0));
}

TEST(signflip_p_of_a_clear_difference_is_two_over_two_to_the_n)
{
    double d[20];
    for (int n = 1; n <= 20; n++) {
        d[n - 1] = 0.1 + 0.01 * n;
        ck_assert_double_eq(paired_p(TEST_SIGN_FLIP, d, n), 2.0 / (double)(1 << n));
    }
}

TEST(signflip_p_does_not_depend_on_order_or_sign)
{
    double d[] = {0.1, 0.7, -0.3, 0.2, 0.2, -0.4}, other[6];
    for (int i = 0; i < 6; i++)
        other[i] = -d[5 - i];
    ck_assert_double_eq(paired_p(TEST_SIGN_FLIP, d, 6), paired_p(TEST_SIGN_FLIP, other, 6));
}

TEST(drawn_signflip_p_is_near_the_exact_one_and_always_the_same)
{
    /* +1 and -1 only: the sum of n signs is binomial. 25 of them with sum 9 or more: 0.107752. */
    double d[25];
    for (int i = 0; i < 25; i++)
        d[i] = i < 17 ? 1.0 : -1.0;
    double p = paired_p(TEST_SIGN_FLIP, d, 25);
    ck_assert_double_eq_tol(p, 0.1077521, 0.004);
    ck_assert_double_eq(paired_p(TEST_SIGN_FLIP, d, 25), p);
    for (int i = 0; i < 25; i++)
        d[i] = 1.0 + i;
    ck_assert_double_eq_tol(paired_p(TEST_SIGN_FLIP, d, 25), 1.0 / 100001.0, 1e-12);
}

TEST(holm_adjusts_as_defined_and_leaves_undefined_values_out)
{
    static const struct {
        const char *name;
        int n;
        double p[5], adjusted[5];
    } one[] = {
        {"one", 1, {0.04}, {0.04}},
        {"plain", 4, {0.01, 0.04, 0.03, 0.005}, {0.03, 0.06, 0.06, 0.02}},
        {"ties", 5, {0.02, 0.02, 0.5, 0.02, 0.9}, {0.1, 0.1, 1.0, 0.1, 1.0}},
        {"capped", 3, {0.6, 0.7, 0.8}, {1.0, 1.0, 1.0}},
        {"undefined", 4, {NAN, 0.01, NAN, 0.03}, {NAN, 0.02, NAN, 0.03}},
        {"none", 0, {0.0}, {0.0}},
    };
    for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++) {
        double p[5];
        memcpy(p, one[i].p, sizeof(p));
        holm_adjust(p, one[i].n);
        for (int j = 0; j < one[i].n; j++)
            assert_same(p[j], one[i].adjusted[j], 1e-15, one[i].name);
    }
}

/* ---- other paired tests ---- */

TEST(wilcoxon_t_and_effect_sizes_are_scipys)
{
    for (size_t i = 0; i < sizeof(paired) / sizeof(*paired); i++) {
        const double *d = paired[i].d;
        int n = paired[i].n;
        const double figure[] = {paired_p(TEST_WILCOXON, d, n), paired_p(TEST_T, d, n),
                                 effect_dz(d, n), effect_gz(d, n)};
        for (int k = 0; k < 4; k++)
            assert_same(figure[k], paired[i].expected[1 + k], k ? 1e-12 : 1e-13, paired[i].name);
    }
    ck_assert_double_nan(paired_p(TEST_WILCOXON, paired[0].d, 0));
    ck_assert_double_nan(paired_p(TEST_T, paired[0].d, 0));
}

TEST(wilcoxon_of_many_differences_is_scipys)
{
    static const struct {
        int n;
        double p;
    } one[] = {
        {60, 0.020652701520027014},
        {250, 2.4833970778269274e-08},
    };
    double d[250];
    for (int i = 0; i < 250; i++)
        d[i] = ((37 * i) % 101 - 40) / 16.0 + i / 1024.0;
    for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++)
        assert_near(paired_p(TEST_WILCOXON, d, one[i].n), one[i].p, 1e-9, "p");
}

TEST(sizes_that_differ_by_rounding_share_their_rank)
{
    const double exact[] = {0.5, -0.5, 0.5, 1.0, 0.75},
                 rounded[] = {0.7 - 0.2, -0.5, 0.9 - 0.4, 1.0, 0.75};
    ck_assert_double_eq(paired_p(TEST_WILCOXON, rounded, 5), paired_p(TEST_WILCOXON, exact, 5));
}

TEST(the_smallest_p_is_that_of_differences_of_one_sign)
{
    const double d[] = {0.25, 0.5, 0.125, 1.0, 2.0, 0.75, 3.0};
    for (int n = 1; n <= 7; n++) {
        ck_assert_double_eq(paired_p(TEST_SIGN_FLIP, d, n),
                            paired_p_smallest(TEST_SIGN_FLIP, 2, n));
        ck_assert_double_eq(paired_p(TEST_WILCOXON, d, n), paired_p_smallest(TEST_WILCOXON, 2, n));
    }
    ck_assert_double_eq(paired_p_smallest(TEST_T, 2, 2), 0.0);
    ck_assert_double_eq(paired_p_smallest(TEST_SIGN_FLIP, 2, 0), 1.0);
}

TEST(welchs_interval_is_scipys)
{
    static const struct {
        const char *name;
        double sd_x;
        int n_x;
        double sd_y;
        int n_y;
        double half;
    } one[] = {
        {"equal", 1.0, 3, 1.0, 3, 2.266957935527519},
        {"unlike", 0.24366985862022408, 5, 2.1213203435596424, 2, 18.643347605788964},
        {"pair", 0.7071067811865476, 2, 1.4142135623730951, 2, 6.918522830071065},
    };
    for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++)
        assert_near(welch_ci_half(one[i].sd_x, one[i].n_x, one[i].sd_y, one[i].n_y), one[i].half,
                    1e-11, one[i].name);
    ck_assert_double_nan(welch_ci_half(1.0, 1, 1.0, 5));
    ck_assert_double_eq(welch_ci_half(0.0, 3, 0.0, 3), 0.0);
}

TEST(tails_are_scipys)
{
    static const struct {
        char of; /* t or F */
        double x, a, b, p;
    } one[] = {
        {'t', 0.0, 3, 0, 1.0},
        {'t', 1.0, 1, 0, 0.49999999999999956},
        {'t', 2.5, 7, 0, 0.040992218585752874},
        {'t', 40.0, 2, 0, 0.0006244146721847406},
        {'t', -3.0, 19, 0, 0.007361724183868639},
        {'F', 0.5, 2, 8, 0.624295076969974},
        {'F', 4.0, 3, 15, 0.028137039870877897},
        {'F', 30.0, 1, 4, 0.0054084788647625745},
        {'F', 1.0, 19, 95, 0.4684050289409974},
    };
    for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++) {
        double x = one[i].x, a = one[i].a, b = one[i].b;
        double p = one[i].of == 't' ? student_t_p(x, a) : f_tail(x, a, b);
        assert_near(p, one[i].p, 1e-11, (const char[]){one[i].of, '\0'});
    }
    ck_assert_double_nan(student_t_p(1.0, 0));
    ck_assert_double_nan(f_tail((double)NAN, 1, 1));
}

int main(void)
{
    return run_tests((struct tests){"statistics"});
}
