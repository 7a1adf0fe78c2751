/* SPDX-License-Identifier: MIT */
/*
 * test_planted.c: ten situations of which the truth is planted, each with the verdict it must get;
 * and contrasts of whole runs against scipy and statsmodels on the hard cases of tests/golden.
 *
 * bpb is 3 + a seed's own part + what is planted + small noise; less is better.
 */
#include "report/claim_verdict.h"
#include "support/golden_file.h"
#include "support/run_maker.h"
#include "support/support.h"

static struct {
    struct arena arena;
    struct run_maker run;
    struct results r;
    struct error err;
    struct claim_history h;
} b;

static void open_arena(void)
{
    arena_init(&b.arena, "planted", 1 << 20);
}

static void close_arena(void)
{
    arena_release(&b.arena);
}

/* ---- planting ---- */

static void plant(const char *scheme, const char *label, int64_t seed, double effect, double spread)
{
    char what[64];
    snprintf(what, sizeof(what), "%s.%s", scheme, label);
    double own = rng_normal(rng_stream((uint64_t)seed, "planted", "seed"), 0);
    double noise = rng_normal(rng_stream((uint64_t)seed, "planted", what), 0);
    double x = 3.0 + 0.3 * own + effect + spread * noise;
    run_maker_done(&b.run, scheme, label, seed, x, x + 1.0);
}

/* concat - sum in two schemes, beside a row that is the same model for both. */
static void plant_effects(int seeds, double in_learned, double in_sine)
{
    for (int seed = 0; seed < seeds; seed++) {
        plant("learned", "sum", seed, 0.0, 0.01);
        plant("learned", "concat", seed, in_learned, 0.01);
        plant("sine", "sum", seed, 0.1, 0.01);
        plant("sine", "concat", seed, 0.1 + in_sine, 0.01);
        plant("rotary", "-", seed, -1.0, 0.01);
    }
}

#define COMBINE                                                                                    \
    "\"factor\":\"position.combine\",\"of\":[\"concat\",\"sum\"],\"over\":[\"position.scheme\"],"  \
    "\"pool\":[]"
#define SCHEME "\"factor\":\"position.scheme\",\"of\":[\"many\",\"one\"],\"over\":[],\"pool\":[]"

static void claim(const char *compared, const char *direction, double margin, int results)
{
    run_maker_claim(&b.run,
                    arena_printf(&b.arena,
                                 "[{\"name\":\"it\",\"text\":\"\",%s,\"direction\":\"%s\","
                                 "\"margin\":%g,\"alpha\":0.05,\"test\":\"t\"}]",
                                 compared, direction, margin),
                    results);
}

/* ---- the situations ---- */

static void true_effect(void)
{
    plant_effects(5, -0.1, -0.1);
    claim(COMBINE, "less", 0.02, 0);
}

static void no_effect(void)
{
    plant_effects(8, 0.0, 0.0);
    claim(COMBINE, "less", 0.02, 0);
}

static void no_effect_and_few_seeds(void)
{
    plant_effects(2, 0.0, 0.0);
    claim(COMBINE, "less", 0.005, 0);
}

static void equal_within_margin(void)
{
    plant_effects(6, 0.002, -0.002);
    claim(COMBINE, "equal", 0.03, 0);
}

static void effect_in_the_other_scheme(void)
{
    plant_effects(6, -0.2, 0.0);
    claim(COMBINE ",\"where\":{\"position.scheme\":\"sine\"}", "less", 0.03, 0);
}

/* It is far better than the row that it is compared with, whatever stands for its combination. */
static void dash_as_baseline(void)
{
    b.run.report = "{\"metric\":\"bpb\",\"goal\":\"metric\",\"at\":\"final\","
                   "\"baseline\":{\"position.scheme\":\"rotary\"}}";
    plant_effects(5, -0.1, -0.1);
    claim("\"rows\":[{\"position.scheme\":\"learned\",\"position.combine\":\"sum\"},"
          "{\"position.scheme\":\"rotary\"}]",
          "less", 0.0, 0);
}

static void claim_changed_after_the_run(void)
{
    plant_effects(5, -0.1, -0.1);
    claim(COMBINE, "greater", 0.0, 0);
    claim(COMBINE, "less", 0.0, 7);
}

static void diverged_arm(void)
{
    for (int seed = 0; seed < 5; seed++) {
        plant("learned", "sum", seed, 0.0, 0.01);
        run_maker_state(&b.run, "learned", "concat", seed, "diverged");
    }
    claim(COMBINE, "less", 0.0, 0);
}

static void mixed_objectives(void)
{
    b.run.task = ",\"objective\":\"auto\"";
    for (int seed = 0; seed < 5; seed++) {
        b.run.arch = "decoder";
        plant("learned", "sum", seed, 0.0, 0.01);
        b.run.arch = "encoder";
        plant("learned", "concat", seed, -1.0, 0.01);
    }
    claim(COMBINE, "less", 0.0, 0);
}

/* No value of the many differs but by noise, and the best of them is chosen. */
static void winner_by_noise(void)
{
    b.run.second = "train.lr";
    b.run.axes = "[{\"key\":\"position.scheme\",\"labels\":[]},{\"key\":\"train.lr\","
                 "\"labels\":[]}]";
    b.run.report = "{\"metric\":\"bpb\",\"goal\":\"metric\",\"baseline\":null,\"at\":\"final\","
                   "\"best_over\":{\"axes\":[\"train.lr\"],\"by\":\"seeds\","
                   "\"choose\":[0,1,2,3,4,5]}}";
    for (int64_t seed = 0; seed < 12; seed++)
        for (int lr = 0; lr < 40; lr++) {
            char label[16];
            snprintf(label, sizeof(label), "%de-4", lr + 1);
            plant("many", label, seed, 0.0, 0.1);
            if (lr == 0)
                plant("one", label, seed, 0.0, 0.02);
        }
    claim(SCHEME, "less", 0.0, 0);
}

static const struct {
    const char *name;
    void (*plant)(void);
    enum claim_end verdict;
} situations[] = {
    {"true effect", true_effect, CLAIM_HOLDS},
    {"no effect, enough seeds", no_effect, CLAIM_FAILS},
    {"no effect, too few seeds", no_effect_and_few_seeds, CLAIM_UNDECIDED},
    {"equal within the margin", equal_within_margin, CLAIM_HOLDS},
    {"effect in one scheme only", effect_in_the_other_scheme, CLAIM_FAILS},
    {"a - row as baseline", dash_as_baseline, CLAIM_FAILS},
    {"claims changed after the run", claim_changed_after_the_run, CLAIM_HOLDS},
    {"a diverged arm", diverged_arm, CLAIM_UNDECIDED},
    {"mixed objectives", mixed_objectives, CLAIM_UNDECIDED},
    {"a winner chosen by noise", winner_by_noise, CLAIM_UNDECIDED},
};
enum { SITUATIONS = sizeof(situations) / sizeof(*situations), CHANGED = 6 };

static void read_run(void)
{
    char *dir[] = {b.run.dir};
    static const struct results_options none;
    run_maker_finish(&b.run);
    ck_assert_msg(results_read(&b.r, 1, dir, &none, &b.arena, &b.err) == PEAT_OK, "%s", b.err.text);
}

START_TEST(each_of_ten_planted_situations_gets_its_verdict)
{
    run_maker_open(&b.run, "planted");
    situations[_i].plant();
    read_run();
    ck_assert_msg(claims_history(&b.h, &b.r, &b.arena, &b.err) == PEAT_OK, "%s", b.err.text);
    const struct claim_verdict *v = &b.h.now.item[0];
    ck_assert_msg(v->verdict == situations[_i].verdict, "%s: %s (p %g, against %g): %s",
                  situations[_i].name, claim_ends[v->verdict], v->p_holm, v->against_holm, v->why);
    /* What was said first is judged too, and only there. */
    ck_assert_int_eq(b.h.first.version != NULL, _i == CHANGED);
    if (_i == CHANGED)
        ck_assert_int_eq(b.h.first.item[0].verdict, CLAIM_FAILS);
    run_maker_close(&b.run);
}
END_TEST

/* ---- whole runs against scipy and statsmodels ---- */

/* concat - sum is d at this seed and stratum: no cell where it is missing, and a side that diverged
 * where it is infinite. */
static void plant_difference(const char *scheme, int seed, double d)
{
    if (isinf(d)) {
        run_maker_state(&b.run, scheme, d > 0 ? "concat" : "sum", seed, "diverged");
        run_maker_done(&b.run, scheme, d > 0 ? "sum" : "concat", seed, 4.0, 4.0);
        return;
    }
    run_maker_done(&b.run, scheme, "sum", seed, 4.0, 4.0);
    if (!isnan(d))
        run_maker_done(&b.run, scheme, "concat", seed, 4.0 + d, 4.0);
}

static void plant_case(const struct value *d)
{
    char scheme[16];
    for (int s = 0; s < d->n; s++)
        for (int j = 0; j < d->item[s]->n; j++) {
            snprintf(scheme, sizeof(scheme), "s%d", j);
            plant_difference(scheme, s, golden_number(d->item[s]->item[j]));
        }
}

static void near(const struct value *expected, const char *key, double x, const char *name)
{
    golden_near(x, golden_number(value_get(expected, key)), 1e-9,
                arena_printf(&b.arena, "%s: %s", name, key));
}

static void assert_effects(const struct effects *x, const struct value *expected, const char *name)
{
    const struct effect *e = &x->pooled;
    ck_assert_int_eq(e->of.n, json_get_int(expected, "n", -1));
    near(expected, "mean", e->of.mean, name);
    near(expected, "half", 0.5 * (e->of.ci_high - e->of.ci_low), name);
    const struct value *t = value_get(value_get(expected, "tests"), "t");
    double above = golden_number(t->item[0]), below = golden_number(t->item[1]);
    golden_near(e->of.p_t, isnan(above) ? above : 2.0 * fmin(above, below), 1e-9, name);
    if (x->n_interaction) {
        near(expected, "f", x->interaction[0].test.f, name);
        near(expected, "p", x->interaction[0].test.p, name);
    }
}

static void assert_claims(const struct value *golden, const struct value *expected,
                          const char *name)
{
    const struct value *t = value_get(value_get(expected, "tests"), "t");
    ck_assert_msg(claims_history(&b.h, &b.r, &b.arena, &b.err) == PEAT_OK, "%s", b.err.text);
    golden_near(b.h.now.item[0].p, golden_number(t->item[1]), 1e-9, name);
    golden_near(b.h.now.item[0].against, golden_number(t->item[0]), 1e-9, name);
    for (int m = 0; m < json_get_count(golden, "margins"); m++)
        golden_near(b.h.now.item[m + 1].p,
                    golden_number(value_get(expected, "equivalence")->item[m]), 1e-9, name);
}

static void claim_margins(const struct value *golden)
{
    const char *all = "[{\"name\":\"less\",\"text\":\"\"," COMBINE ",\"direction\":\"less\","
                      "\"margin\":0,\"alpha\":0.05,\"test\":\"t\"}";
    const struct value *m;
    for (int i = 0; (m = json_get_item(golden, "margins", i)); i++)
        all = arena_printf(&b.arena,
                           "%s,{\"name\":\"equal %d\",\"text\":\"\"," COMBINE
                           ",\"direction\":\"equal\",\"margin\":%g,\"alpha\":0.05,\"test\":\"t\"}",
                           all, i, m->real);
    run_maker_claim(&b.run, arena_printf(&b.arena, "%s]", all), 0);
}

START_TEST(contrasts_and_claims_of_whole_runs_are_scipys_and_statsmodels)
{
    const struct value *golden = golden_read("contrasts.json", &b.arena), *v;
    int n = 0;
    for (; (v = json_get_item(golden, "cases", n)); n++) {
        struct effects x;
        const char *name = json_get_text(v, "name");
        run_maker_open(&b.run, "golden");
        b.run.report = "{\"metric\":\"bpb\",\"goal\":\"metric\",\"baseline\":null,\"at\":\"final\","
                       "\"contrasts\":[{\"name\":\"joins\"," COMBINE "}]}";
        plant_case(value_get(v, "d"));
        claim_margins(golden);
        read_run();
        ck_assert_msg(effects_of_report(&x, &b.r, 0, 128, &b.arena, &b.err) == PEAT_OK, "%s",
                      b.err.text);
        assert_effects(&x, value_get(v, "expected"), name);
        assert_claims(golden, value_get(v, "expected"), name);
        run_maker_close(&b.run);
    }
    ck_assert_int_ge(n, 12);
}
END_TEST

int main(void)
{
    return run_list((struct tests){"planted", open_arena, close_arena, .seconds = 60,
                                   .loops = LOOPS({each_of_ten_planted_situations_gets_its_verdict,
                                                   SITUATIONS})},
                    TESTS(contrasts_and_claims_of_whole_runs_are_scipys_and_statsmodels));
}
