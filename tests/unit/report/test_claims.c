/* SPDX-License-Identifier: MIT */
/*
 * test_claims.c: contrasts and claims about run directories in which the truth is planted.
 *
 * bpb is 3 + a seed's own part + what is planted + small noise; less is better.
 */
#include "maths/spending.h"
#include "report/claim_verdict.h"
#include "report/comparison_tables.h"
#include "support/run_maker.h"
#include "support/support.h"
#include "support/texts.h"

static struct {
    struct arena arena;
    struct run_maker run;
    struct results r;
    struct error err;
    struct claim_history h;
    struct strbuf out;
} b;

static void open_run(void)
{
    arena_init(&b.arena, "claims", 1 << 20);
    run_maker_open(&b.run, "claims");
    strbuf_init(&b.out);
}

static void close_run(void)
{
    run_maker_close(&b.run);
    strbuf_release(&b.out);
    arena_release(&b.arena);
}

/* ---- planting ---- */

static double noise(int64_t seed, const char *what)
{
    return rng_normal(rng_stream((uint64_t)seed, "planted", what), 0);
}

static void plant(const char *scheme, const char *combine, int64_t seed, double effect)
{
    char what[64];
    snprintf(what, sizeof(what), "%s.%s", scheme, combine);
    double x = 3.0 + 0.3 * noise(seed, "seed") + effect + 0.01 * noise(seed, what);
    run_maker_done(&b.run, scheme, combine, seed, x, x + 1.0);
}

/* concat - sum is `effect` in both schemes. */
static void plant_effects(int seeds, double in_learned, double in_sine)
{
    for (int seed = 0; seed < seeds; seed++) {
        plant("learned", "sum", seed, 0.0);
        plant("learned", "concat", seed, in_learned);
        plant("sine", "sum", seed, 0.1);
        plant("sine", "concat", seed, 0.1 + in_sine);
        plant("rotary", "-", seed, -1.0);
    }
}

#define CONTRAST                                                                                   \
    "\"factor\":\"position.combine\",\"of\":[\"concat\",\"sum\"],\"over\":[\"position.scheme\"],"  \
    "\"pool\":[]"
#define REPORT                                                                                     \
    "{\"metric\":\"bpb\",\"goal\":\"metric\",\"baseline\":null,\"at\":\"final\",\"contrasts\":["   \
    "{\"name\":\"joins\"," CONTRAST "}]}"

static const char *claim_text(const char *name, const char *more, const char *direction,
                              double margin)
{
    return arena_printf(&b.arena,
                        "{\"name\":\"%s\",\"text\":\"\"," CONTRAST
                        "%s,\"direction\":\"%s\",\"margin\":%g,\"alpha\":0.05,\"test\":\"t\"}",
                        name, more, direction, margin);
}

static const char *list_of(const char *one, const char *two)
{
    return arena_printf(&b.arena, "[%s%s%s]", one, two ? "," : "", two ? two : "");
}

static void claim(const char *direction, double margin)
{
    run_maker_claim(&b.run, list_of(claim_text("it", "", direction, margin), NULL), 0);
}

/* ---- judging ---- */

static void judge(void)
{
    char *dir[] = {b.run.dir};
    static const struct results_options none;
    run_maker_finish(&b.run);
    ck_assert_msg(results_read(&b.r, 1, dir, &none, &b.arena, &b.err) == PEAT_OK, "%s", b.err.text);
    ck_assert_msg(claims_history(&b.h, &b.r, &b.arena, &b.err) == PEAT_OK, "%s", b.err.text);
}

static void assert_verdict(int i, enum claim_end verdict, const char *why)
{
    const struct claim_verdict *v = &b.h.now.item[i];
    ck_assert_msg(v->verdict == verdict, "%s: %s (p %g, against %g): %s", v->claim.name,
                  claim_ends[v->verdict], v->p_holm, v->against_holm, v->why);
    ck_assert_msg(strstr(v->why, why), "no '%s' in '%s'", why, v->why);
}

static const struct effects *contrast(void)
{
    struct effects *x = ARENA_NEW(&b.arena, struct effects);
    ck_assert_int_eq(effects_count(&b.r), 1);
    ck_assert_msg(effects_of_report(x, &b.r, 0, -1, &b.arena, &b.err) == PEAT_OK, "%s", b.err.text);
    return x;
}

static void show_claims(bool earlier)
{
    struct table t;
    strbuf_clear(&b.out);
    claims_table(&t, &b.h, earlier, &b.arena);
    format_text(&t, 200, false, &b.out);
}

static void show_contrast(void)
{
    struct table t;
    strbuf_clear(&b.out);
    effects_table(&t, contrast(), &b.arena);
    format_text(&t, 200, false, &b.out);
}

/* ---- planted situations ---- */

/* Where the interval of the effect lies, and what an undecided claim says about it. */
static const struct {
    enum claim_direction direction;
    double margin, low, high;
    const char *why;
} places[] = {
    {CLAIM_GREATER, 0.025, -0.050, -0.033, "is below 0.025, but p_holm of the opposite is 0.071"},
    {CLAIM_GREATER, 0.025, 0.026, 0.050, "is above 0.025, but p_holm is 0.062"},
    {CLAIM_GREATER, 0.025, 0.010, 0.050,
     "includes 0.025, so the data are consistent with the claim"},
    {CLAIM_LESS, 0.025, -0.050, -0.033, "is below -0.025, but p_holm is 0.062"},
    {CLAIM_LESS, 0.025, -0.020, 0.010, "is above -0.025, but p_holm of the opposite is 0.071"},
    {CLAIM_LESS, 0.0, -0.020, 0.010, "includes 0, so the data are consistent with the claim"},
    {CLAIM_EQUAL, 0.025, -0.010, 0.010, "is within ±0.025, but p_holm is 0.062"},
    {CLAIM_EQUAL, 0.025, 0.030, 0.040, "is above 0.025, but p_holm of the opposite is 0.071"},
    {CLAIM_EQUAL, 0.025, -0.040, -0.030, "is below -0.025, but p_holm of the opposite is 0.071"},
    {CLAIM_EQUAL, 0.025, 0.010, 0.040, "includes 0.025, so the data are consistent with the claim"},
    {CLAIM_EQUAL, 0.025, -0.040, 0.010, "includes -0.025, so the data are consistent"},
    {CLAIM_EQUAL, 0.025, -0.040, 0.040, "includes -0.025 and 0.025, so the data are consistent"},
};
enum { PLACES = sizeof(places) / sizeof(*places) };

LOOP_TEST(an_undecided_claim_says_where_the_interval_lies, PLACES)
{
    const struct claim_verdict v = {
        .claim = {.direction = places[_i].direction, .margin = places[_i].margin, .alpha = 0.05},
        .ci_low = places[_i].low,
        .ci_high = places[_i].high,
        .p_holm = 0.062,
        .against_holm = 0.071};
    const char *why = claim_undecided(&v, &b.arena);
    ck_assert_msg(strstr(why, places[_i].why), "no '%s' in '%s'", places[_i].why, why);
    bool includes = !strncmp(places[_i].why, "includes", 8);
    ck_assert_int_eq(strstr(why, "consistent") != NULL, includes);
}

TEST(a_true_effect_holds)
{
    plant_effects(5, -0.1, -0.1);
    claim("less", 0.02);
    judge();
    assert_verdict(0, CLAIM_HOLDS, "");
    ck_assert_int_eq(b.h.now.item[0].effects.pooled.of.n, 5);
    ck_assert_double_eq_tol(b.h.now.item[0].effects.pooled.of.mean, -0.1, 0.02);
}

TEST(the_opposite_of_a_true_effect_fails)
{
    plant_effects(5, -0.1, -0.1);
    claim("greater", 0.0);
    judge();
    assert_verdict(0, CLAIM_FAILS, "");
}

TEST(no_effect_with_enough_seeds_fails_a_claim_with_a_margin)
{
    plant_effects(8, 0.0, 0.0);
    claim("less", 0.02);
    judge();
    assert_verdict(0, CLAIM_FAILS, "");
}

TEST(no_effect_with_too_few_seeds_is_undecided)
{
    plant_effects(2, 0.0, 0.0);
    claim("less", 0.005);
    judge();
    assert_verdict(0, CLAIM_UNDECIDED, "consistent with the claim and with its opposite");
}

TEST(seeds_that_no_test_can_pass_are_named)
{
    plant_effects(4, -0.1, -0.1);
    run_maker_claim(&b.run,
                    "[{\"name\":\"it\",\"text\":\"\"," CONTRAST
                    ",\"direction\":\"less\",\"margin\":0,\"alpha\":0.05,\"test\":\"sign-flip\"}]",
                    0);
    judge();
    assert_verdict(0, CLAIM_UNDECIDED, "4 seeds cannot decide it");
    assert_verdict(0, CLAIM_UNDECIDED, "it needs 5 seeds");
}

TEST(equal_within_the_margin_holds_and_beyond_it_fails)
{
    plant_effects(6, 0.002, -0.002);
    run_maker_claim(&b.run,
                    list_of(claim_text("near", "", "equal", 0.03),
                            claim_text("far", ",\"metric\":\"accuracy\"", "equal", 0.003)),
                    0);
    judge();
    assert_verdict(0, CLAIM_HOLDS, "");
    run_maker_close(&b.run);
    run_maker_open(&b.run, "far");
    plant_effects(6, 0.1, 0.1);
    claim("equal", 0.03);
    judge();
    assert_verdict(0, CLAIM_FAILS, "");
}

TEST(equal_with_too_few_seeds_is_undecided)
{
    plant_effects(2, 0.0, 0.0);
    claim("equal", 0.005);
    judge();
    assert_verdict(0, CLAIM_UNDECIDED, "");
}

TEST(an_effect_in_one_scheme_only_holds_there_and_interacts)
{
    b.run.report = REPORT;
    plant_effects(6, -0.2, 0.0);
    run_maker_claim(
        &b.run,
        list_of(
            claim_text("in learned", ",\"where\":{\"position.scheme\":\"learned\"}", "less", 0.03),
            claim_text("in sine", ",\"where\":{\"position.scheme\":\"sine\"}", "less", 0.03)),
        0);
    judge();
    assert_verdict(0, CLAIM_HOLDS, "");
    assert_verdict(1, CLAIM_FAILS, "");
    const struct effects *x = contrast();
    ck_assert_int_eq(x->n_line, 2);
    ck_assert_double_eq_tol(x->line[0].of.mean, -0.2, 0.03);
    ck_assert_double_eq_tol(x->pooled.of.mean, -0.1, 0.03);
    ck_assert_int_eq(x->n_interaction, 1);
    ck_assert_double_lt(x->interaction[0].test.p, 0.01);
    show_contrast();
    assert_has(b.out.text, "interaction: that the difference depends on scheme is shown");
}

/* ---- looks ---- */

#define LOOKS ",\"looks\":[4,8,12],\"spending\":\"obrien-fleming\",\"share\":0.5"

static double level_at(int look, double alpha)
{
    double level[3];
    spending_levels(SPEND_OBRIEN_FLEMING, alpha, (const double[]){4 / 12.0, 8 / 12.0, 1.0}, 3,
                    level);
    return level[look - 1];
}

TEST(a_claim_with_looks_is_judged_by_the_seeds_of_the_first_that_decides)
{
    plant_effects(12, -0.05, -0.05);
    run_maker_claim(
        &b.run,
        list_of(claim_text("small", LOOKS, "less", 0.04), claim_text("far", LOOKS, "less", 0.0)),
        0);
    judge();
    const struct claim_verdict *far = &b.h.now.item[1];
    assert_verdict(1, CLAIM_HOLDS, "");
    ck_assert_int_lt(far->look, 3);
    ck_assert_int_eq(far->shown->of.n, 4 * far->look);
    ck_assert_double_eq_tol(far->level, level_at(far->look, 0.025), 1e-12);
    ck_assert_double_lt(far->p, far->level);
    /* The repeated confidence interval: Student's t at the level of the look. */
    double half = student_t_quantile(1.0 - far->level, far->shown->of.n - 1) * far->shown->of.sd /
                  sqrt(far->shown->of.n);
    ck_assert_double_eq_tol(far->ci_high - far->ci_low, 2.0 * half, 1e-12);
    show_claims(false);
    assert_has(b.out.text, "looks at 4, 8, 12 seeds");
    ck_assert_ptr_null(strstr(b.out.text, "Holm"));
}

TEST(a_claim_that_no_look_decides_has_used_them_all)
{
    plant_effects(12, -0.02, -0.02);
    run_maker_claim(&b.run, list_of(claim_text("it", LOOKS, "less", 0.02), NULL), 0);
    judge();
    assert_verdict(0, CLAIM_UNDECIDED, "all 3 looks, up to 12 seeds, are used");
    ck_assert_int_eq(b.h.now.item[0].shown->of.n, 12);
}

LOOP_TEST(a_look_waits_for_its_cells_and_the_one_before_it_stands, 2)
{
    plant_effects(7, -0.02, -0.02);
    run_maker_state(&b.run, "learned", "concat", 7, _i ? "crashed" : "todo");
    plant("learned", "sum", 7, 0.0);
    plant("sine", "concat", 7, 0.0);
    plant("sine", "sum", 7, 0.0);
    run_maker_claim(&b.run, list_of(claim_text("it", LOOKS, "less", 0.02), NULL), 0);
    judge();
    assert_verdict(0, CLAIM_UNDECIDED,
                   "at look 1 of 3, with 4 seeds; look 2 has 1 cell that is not");
    ck_assert_int_eq(b.h.now.item[0].shown->of.n, 4);
    ck_assert_int_eq(b.h.now.item[0].look, 1);
}

TEST(equality_fails_by_half_of_its_level_on_either_side)
{
    plant_effects(12, 0.1, 0.1);
    run_maker_claim(&b.run, list_of(claim_text("it", LOOKS, "equal", 0.03), NULL), 0);
    judge();
    const struct claim_verdict *v = b.h.now.item;
    assert_verdict(0, CLAIM_FAILS, "");
    ck_assert_double_lt(v->against, 2.0 * level_at(v->look, 0.0125));
    ck_assert_double_eq_tol(v->against_holm / v->against, 0.05 / (2.0 * level_at(v->look, 0.0125)),
                            1e-9);
}

/* ---- changes along an axis ---- */

/* learned - sine at three lengths of training: of seed s the numbers of row s, which the values of
 * scipy below are of. */
static const double gaps[4][3] = {
    {0.05, 0.02, 0.01}, {0.04, 0.03, 0.02}, {0.06, 0.02, 0.0}, {0.05, 0.01, 0.02}};

static void plant_gaps(const char *const *steps, int labels)
{
    b.run.second = "train.steps";
    b.run.axes = "[{\"key\":\"position.scheme\",\"labels\":[]},{\"key\":\"train.steps\","
                 "\"labels\":[]}]";
    for (int seed = 0; seed < 4; seed++)
        for (int k = 0; k < labels; k++) {
            run_maker_done(&b.run, "sine", steps[k], seed, 2.0, 2.0);
            run_maker_done(&b.run, "learned", steps[k], seed, 2.0 + gaps[seed][k], 2.0);
        }
}

static const char *change_text(const char *change, const char *direction, double margin)
{
    return arena_printf(&b.arena,
                        "{\"name\":\"%s\",\"text\":\"\",\"factor\":\"position.scheme\",\"of\":["
                        "\"learned\",\"sine\"],\"over\":[],\"pool\":[\"train.steps\"],%s,"
                        "\"direction\":\"%s\",\"margin\":%g,\"alpha\":0.05,\"test\":\"t\"}",
                        direction, change, direction, margin);
}

/* By numpy.polyfit of each seed and scipy.stats.ttest_1samp over seeds. */
static const struct {
    const char *change, *direction;
    double margin, effect, p;
    const char *says, *per;
} changes[] = {
    {"\"trend\":{\"train.steps\":\"log2\"}", "less", 0.0, -0.01125, 0.012897934844461043,
     "slope of (scheme: learned - sine) over log2 steps < 0", " per doubling of steps"},
    {"\"trend\":{\"train.steps\":\"value\"}", "less", 0.0, -2.6162790697674424e-06,
     0.016706178393633087, "slope of (scheme: learned - sine) over steps < 0", " per 1 of steps"},
    {"\"trend\":{\"train.steps\":\"order\"}", "less", 0.0, -0.01875, 0.010937699391378905,
     "slope of (scheme: learned - sine) over the order of steps < 0", " per label of steps"},
    {"\"trend\":{\"train.steps\":\"monotone\"}", "less", 0.0, -0.0075, 0.1594658959563877,
     "every step of (scheme: learned - sine) along steps < 0", " from 3000 to 12000"},
    {"\"interaction\":{\"train.steps\":[\"1500\",\"12000\"]}", "greater", 0.02, 0.0375,
     0.06642092027988784, "(scheme: learned - sine) at steps=1500 minus that at steps=12000 > 0.02",
     ""},
};
enum { CHANGES = sizeof(changes) / sizeof(*changes) };

/* A claim about two rows that were trained for 1500 and 12000 steps, by cells whose batches have
 * other hashes. `batch` is that of the longer ones. */
static void judge_lengths(int batch)
{
    b.run.second = "train.steps";
    b.run.axes = "[{\"key\":\"position.scheme\",\"labels\":[]},{\"key\":\"train.steps\","
                 "\"labels\":[]}]";
    for (int seed = 0; seed < 5; seed++) {
        b.run.batches = "one";
        b.run.train = "{\"steps\":1500,\"batch\":4,\"seq_len\":32}";
        plant("learned", "1500", seed, 0.1);
        b.run.batches = "two";
        b.run.train =
            arena_printf(&b.arena, "{\"steps\":12000,\"batch\":%d,\"seq_len\":32}", batch);
        plant("learned", "12000", seed, 0.0);
    }
    run_maker_claim(&b.run,
                    "[{\"name\":\"it\",\"text\":\"\",\"rows\":[{\"train.steps\":\"12000\"},"
                    "{\"train.steps\":\"1500\"}],\"direction\":\"less\",\"margin\":0,"
                    "\"alpha\":0.05,\"test\":\"t\"}]",
                    0);
    judge();
}

TEST(cells_whose_batches_go_on_after_those_of_the_other_are_pairs)
{
    judge_lengths(4);
    assert_verdict(0, CLAIM_HOLDS, "");
    ck_assert_int_eq(b.h.now.item[0].shown->of.n, 5);
}

TEST(a_claim_between_cells_of_other_batches_says_so)
{
    judge_lengths(8);
    assert_verdict(0, CLAIM_UNDECIDED, "5 of 5 pairs of cells refused: different batches");
}

/* The interval with text, from few seeds and much text, would be narrower. */
TEST(a_claim_over_seeds_and_text_has_the_wider_interval)
{
    double d[] = {-0.1, -0.2, -0.3};
    struct effect e = {.d = d, .of = difference_of(d, 3, TEST_T)};
    struct claim_verdict v = {.claim = {.sampled = SAMPLED_SEEDS_AND_TEXT}, .shown = &e};
    e.of.text_df = 60;
    for (int i = 0; i < 2; i++) {
        e.of.text_se = i ? 0.2 : 0.01;
        claim_interval(&v, 0.05);
        double seeds = student_t_quantile(0.95, 2) * 0.1 / sqrt(3);
        double text = student_t_quantile(0.95, 60) * e.of.text_se;
        ck_assert_int_eq(text > seeds, i);
        ck_assert_double_eq_tol(v.ci_high - e.of.mean, i ? text : seeds, 1e-12);
    }
}

LOOP_TEST(a_change_along_an_axis_is_judged_as_numpy_and_scipy_do, CHANGES)
{
    plant_gaps((const char *const[]){"1500", "3000", "12000"}, 3);
    run_maker_claim(
        &b.run,
        list_of(change_text(changes[_i].change, changes[_i].direction, changes[_i].margin), NULL),
        0);
    judge();
    const struct claim_verdict *v = b.h.now.item;
    ck_assert_double_eq_tol(v->shown->of.mean, changes[_i].effect, 1e-12);
    ck_assert_double_eq_tol(v->p, changes[_i].p, 1e-12);
    ck_assert_str_eq(claim_words(v, &b.arena), changes[_i].says);
    ck_assert_str_eq(claim_per(v, &b.arena), changes[_i].per);
    show_claims(false);
    assert_has(b.out.text, changes[_i].says);
}

TEST(labels_that_are_numbers_ascend_and_others_keep_their_order)
{
    const char *steps[] = {"12000", "1500", "3000", "1500"}, *size[] = {"S", "XL", "M", "S"};
    ck_assert_int_eq(change_order(steps, 4), 3);
    ck_assert_str_eq(steps[0], "1500");
    ck_assert_str_eq(steps[2], "12000");
    ck_assert_int_eq(change_order(size, 4), 3);
    ck_assert_str_eq(size[1], "XL");
    ck_assert_double_nan(change_x(SCALE_VALUE, "S", 0));
    ck_assert_double_nan(change_x(SCALE_LOG2, "0", 0));
    ck_assert_double_eq(change_x(SCALE_LOG2, "8", 0), 3.0);
}

TEST(a_monotone_trend_holds_by_every_step_and_fails_by_one)
{
    b.run.second = "train.steps";
    b.run.axes = "[{\"key\":\"position.scheme\",\"labels\":[]},{\"key\":\"train.steps\","
                 "\"labels\":[]}]";
    for (int seed = 0; seed < 6; seed++)
        for (int k = 0; k < 3; k++) {
            const char *steps = ((const char *[]){"10", "20", "40"})[k];
            plant("sine", steps, seed, 0.0);
            plant("learned", steps, seed, ((double[]){0.3, 0.2, 0.1})[k]);
        }
    run_maker_claim(
        &b.run,
        list_of(change_text("\"trend\":{\"train.steps\":\"monotone\"}", "less", 0.0),
                change_text("\"trend\":{\"train.steps\":\"monotone\"}", "greater", 0.0)),
        0);
    judge();
    assert_verdict(0, CLAIM_HOLDS, "");
    assert_verdict(1, CLAIM_FAILS, "");
    ck_assert_int_eq(b.h.now.item[0].n_about, 2);
}

TEST(a_trend_counts_the_seeds_that_have_every_label)
{
    plant_gaps((const char *const[]){"1500", "3000", "12000"}, 3);
    run_maker_done(&b.run, "sine", "1500", 4, 2.0, 2.0);
    run_maker_done(&b.run, "learned", "1500", 4, 3.0, 2.0);
    run_maker_done(&b.run, "sine", "12000", 4, 2.0, 2.0);
    run_maker_done(&b.run, "learned", "12000", 4, 3.0, 2.0);
    run_maker_claim(&b.run, list_of(change_text(changes[0].change, "less", 0.0), NULL), 0);
    judge();
    ck_assert_int_eq(b.h.now.item[0].shown->of.n, 4);
}

TEST(a_change_that_diverged_on_either_side_is_undecided)
{
    plant_gaps((const char *const[]){"1500", "3000", "12000"}, 3);
    run_maker_state(&b.run, "sine", "1500", 4, "diverged");
    run_maker_done(&b.run, "learned", "1500", 4, 2.0, 2.0);
    run_maker_claim(&b.run, list_of(change_text(changes[0].change, "less", 0.0), NULL), 0);
    judge();
    assert_verdict(0, CLAIM_UNDECIDED, "1 seed diverged, which may speak against 'holds'");
}

TEST(a_trend_over_one_label_is_undecided)
{
    plant_gaps((const char *const[]){"1500"}, 1);
    run_maker_claim(&b.run, list_of(change_text(changes[0].change, "less", 0.0), NULL), 0);
    judge();
    assert_verdict(0, CLAIM_UNDECIDED, "a trend needs two labels of steps or more");
}

TEST(a_row_that_is_the_same_model_for_every_label_is_no_evidence)
{
    b.run.report = REPORT;
    plant_effects(5, -0.1, -0.1);
    judge();
    const struct effects *x = contrast();
    ck_assert_int_eq(x->pairs.n, 2);
    ck_assert_int_eq(x->pairs.n_alone, 1);
    ck_assert(x->pairs.alone[0].same_model);
    show_contrast();
    assert_has(b.out.text, "left out, being the same model for every combine: rotary.-");
}

TEST(claims_changed_after_the_first_result_are_shown_with_those_before)
{
    plant_effects(5, -0.1, -0.1);
    claim("greater", 0.0);
    run_maker_claim(&b.run, list_of(claim_text("other", "", "less", 0.0), NULL), 7);
    judge();
    assert_verdict(0, CLAIM_HOLDS, "");
    ck_assert_ptr_nonnull(b.h.first.version);
    ck_assert_int_eq(b.h.first.item[0].verdict, CLAIM_FAILS);
    show_claims(false);
    assert_has(b.out.text, "CHANGED AFTER THE FIRST RESULT");
    assert_has(b.out.text, "with 7 results");
    show_claims(true);
    assert_has(b.out.text, "The claims as they were before the first result");
    assert_has(b.out.text, "fails");
}

TEST(claims_changed_before_any_result_are_just_the_claims)
{
    plant_effects(5, -0.1, -0.1);
    claim("greater", 0.0);
    run_maker_claim(&b.run, list_of(claim_text("other", "", "less", 0.0), NULL), 0);
    judge();
    ck_assert_ptr_null(b.h.first.version);
    ck_assert(!b.h.late);
    show_claims(false);
    assert_has(b.out.text, "before the first result");
}

TEST(claims_first_written_after_results_are_called_late)
{
    plant_effects(5, -0.1, -0.1);
    run_maker_claim(&b.run, list_of(claim_text("it", "", "less", 0.0), NULL), 3);
    judge();
    show_claims(false);
    assert_has(b.out.text, "WRITTEN AFTER THE FIRST RESULT");
}

TEST(a_claim_does_not_hold_by_the_seeds_at_which_its_side_diverged)
{
    plant_effects(5, -0.1, -0.1);
    run_maker_state(&b.run, "learned", "concat", 5, "diverged");
    plant("learned", "sum", 5, 0.0);
    claim("less", 0.0);
    judge();
    assert_verdict(0, CLAIM_UNDECIDED, "1 seed diverged, which may speak against 'holds'");
    ck_assert_int_eq(b.h.now.item[0].effects.pooled.a_diverged, 1);
}

LOOP_TEST(seeds_at_which_both_sides_diverged_leave_a_claim_undecided, 3)
{
    static const char *const direction[] = {"less", "greater", "equal"};
    plant_effects(5, -0.1, -0.1);
    run_maker_state(&b.run, "learned", "concat", 5, "diverged");
    run_maker_state(&b.run, "learned", "sum", 5, "diverged");
    claim(direction[_i], _i == 2 ? 1.0 : 0.0);
    judge();
    assert_verdict(0, CLAIM_UNDECIDED, "1 seed diverged, which may speak against");
    ck_assert_int_eq(b.h.now.item[0].effects.pooled.both_diverged, 1);
}

TEST(a_claim_holds_though_the_other_side_diverged)
{
    plant_effects(5, -0.1, -0.1);
    run_maker_state(&b.run, "learned", "sum", 5, "diverged");
    plant("learned", "concat", 5, 0.0);
    claim("less", 0.0);
    judge();
    assert_verdict(0, CLAIM_HOLDS, "");
    ck_assert_int_eq(b.h.now.item[0].effects.pooled.b_diverged, 1);
}

TEST(an_arm_that_always_diverged_is_undecided)
{
    for (int seed = 0; seed < 5; seed++) {
        plant("learned", "sum", seed, 0.0);
        run_maker_state(&b.run, "learned", "concat", seed, "diverged");
    }
    claim("equal", 0.1);
    judge();
    assert_verdict(0, CLAIM_UNDECIDED, "no seed has a value in every row");
}

TEST(mixed_objectives_are_neither_compared_nor_pooled)
{
    b.run.second = "model.arch";
    b.run.axes = "[{\"key\":\"position.scheme\",\"labels\":[]},{\"key\":\"model.arch\","
                 "\"labels\":[]}]";
    b.run.task = ",\"objective\":\"auto\"";
    b.run.report = "{\"metric\":\"bpb\",\"goal\":\"metric\",\"baseline\":null,\"contrasts\":["
                   "{\"name\":\"schemes\",\"factor\":\"position.scheme\",\"of\":[\"learned\","
                   "\"sine\"],\"over\":[\"model.arch\"],\"pool\":[]}]}";
    for (int seed = 0; seed < 5; seed++)
        for (int i = 0; i < 2; i++) {
            b.run.arch = i ? "encoder" : "decoder";
            plant("learned", b.run.arch, seed, -1.0 * i);
            plant("sine", b.run.arch, seed, -0.5 * i);
        }
    run_maker_claim(&b.run,
                    "[{\"name\":\"pooled\",\"text\":\"\",\"factor\":\"position.scheme\",\"of\":["
                    "\"learned\",\"sine\"],\"over\":[],\"pool\":[\"model.arch\"],\"direction\":"
                    "\"less\",\"margin\":0,\"alpha\":0.05,\"test\":\"t\"},{\"name\":\"across\","
                    "\"text\":\"\",\"factor\":\"model.arch\",\"of\":[\"encoder\",\"decoder\"],"
                    "\"over\":[],\"pool\":[],\"direction\":\"less\",\"margin\":0,\"alpha\":0.05,"
                    "\"test\":\"t\"}]",
                    0);
    judge();
    assert_verdict(0, CLAIM_UNDECIDED, "rows of different tasks, objectives or rules of stopping");
    assert_verdict(1, CLAIM_UNDECIDED, "rows of different tasks, objectives or rules of stopping");
    const struct effects *x = contrast();
    ck_assert_int_eq(x->n_line, 2);
    ck_assert_int_eq(x->line[1].of.n, 5);
    ck_assert_int_eq(x->pooled.of.n, 0);
    ck_assert_int_eq(x->n_interaction, 0);
}

TEST(a_run_that_is_not_finished_decides_nothing)
{
    plant_effects(5, -0.1, -0.1);
    run_maker_state(&b.run, "learned", "concat", 5, "todo");
    claim("less", 0.0);
    judge();
    assert_verdict(0, CLAIM_UNDECIDED, "1 cell of it is not finished");
}

TEST(differences_without_spread_ask_for_another_test)
{
    for (int seed = 0; seed < 5; seed++) {
        run_maker_done(&b.run, "learned", "sum", seed, 2.0, 2.0);
        run_maker_done(&b.run, "learned", "concat", seed, 2.0, 2.0);
    }
    claim("equal", 0.1);
    judge();
    assert_verdict(0, CLAIM_UNDECIDED, "test: sign-flip");
}

/* ---- properties ---- */

TEST(more_claims_make_each_harder)
{
    plant_effects(3, -0.012, -0.012);
    claim("less", 0.0);
    judge();
    double alone = b.h.now.item[0].p_holm;
    run_maker_close(&b.run);
    run_maker_open(&b.run, "two");
    plant_effects(3, -0.012, -0.012);
    run_maker_claim(
        &b.run,
        list_of(claim_text("it", "", "less", 0.0),
                claim_text("nothing", ",\"where\":{\"position.scheme\":\"rotary\"}", "less", 0.0)),
        0);
    judge();
    ck_assert_double_eq(b.h.now.item[0].p_holm, 2.0 * alone);
    assert_verdict(1, CLAIM_UNDECIDED, "no two rows of this run have these labels");
}

TEST(a_seed_that_lacks_a_stratum_is_in_its_lines_but_not_pooled)
{
    b.run.report = REPORT;
    plant_effects(5, -0.1, -0.3);
    run_maker_state(&b.run, "sine", "concat", 5, "crashed");
    plant("sine", "sum", 5, 0.0);
    plant("learned", "concat", 5, 0.0);
    plant("learned", "sum", 5, 0.0);
    judge();
    const struct effects *x = contrast();
    ck_assert_int_eq(x->line[0].of.n, 6);
    ck_assert_int_eq(x->line[1].of.n, 5);
    ck_assert_int_eq(x->pooled.of.n, 5);
}

TEST(a_dash_goes_with_any_label_of_another_axis)
{
    b.run.report = "{\"metric\":\"bpb\",\"goal\":\"metric\",\"contrasts\":[{\"name\":\"x\","
                   "\"factor\":\"position.scheme\",\"of\":[\"rotary\",\"learned\"],\"over\":["
                   "\"position.combine\"],\"pool\":[]}]}";
    plant_effects(5, -0.1, -0.1);
    run_maker_claim(&b.run,
                    "[{\"name\":\"it\",\"text\":\"\",\"rows\":[{\"position.scheme\":\"learned\","
                    "\"position.combine\":\"sum\"},{\"position.scheme\":\"rotary\"}],"
                    "\"direction\":\"less\",\"margin\":0,\"alpha\":0.05,\"test\":\"t\"}]",
                    0);
    judge();
    assert_verdict(0, CLAIM_FAILS, "");
    const struct effects *x = contrast();
    ck_assert_int_eq(x->n_line, 2);
    ck_assert_str_eq(x->line[1].name, "concat");
    ck_assert_int_eq(x->pairs.n_alone, 0);
}

TEST(an_outlook_names_the_seeds_it_takes)
{
    const struct claim c = {
        .direction = CLAIM_LESS, .margin = 0.0, .alpha = 0.05, .test = "sign-flip"};
    struct claim_outlook o = claim_look_ahead(&c, 4, 1, (double)NAN, (double)NAN);
    ck_assert(!o.can);
    ck_assert_int_eq(o.seeds_for_p, 5);
    ck_assert_double_nan(o.power);
    o = claim_look_ahead(&c, 5, 1, -1.0, 1.0);
    ck_assert(o.can);
    ck_assert_double_eq_tol(o.power, 0.5796, 1e-3); /* of the one-sided t test at d = 1 */
    ck_assert_int_gt(o.seeds_for_power, 5);
    const struct claim by = {
        .direction = CLAIM_LESS, .margin = 0.5, .alpha = 0.05, .test = "sign-flip"};
    ck_assert_double_eq_tol(claim_look_ahead(&by, 5, 1, -1.5, 1.0).power, o.power, 1e-9);
    o = claim_look_ahead(&c, 5, 1, +1.0, 1.0);
    ck_assert_double_eq(o.power, 0.0);
    ck_assert_int_eq(o.seeds_for_power, 0);
}

int main(void)
{
    return run_tests((struct tests){"claims", open_run, close_run, .seconds = 30});
}
