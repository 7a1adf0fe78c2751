/* SPDX-License-Identifier: MIT */
/*
 * test_planted.c: contrasts and claims of whole runs, in which the differences of tests/golden are
 * planted, against scipy and statsmodels.
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

#define COMBINE                                                                                    \
    "\"factor\":\"position.combine\",\"of\":[\"concat\",\"sum\"],\"over\":[\"position.scheme\"],"  \
    "\"pool\":[]"

static void read_run(void)
{
    char *dir[] = {b.run.dir};
    static const struct results_options none;
    run_maker_finish(&b.run);
    ck_assert_msg(results_read(&b.r, 1, dir, &none, &b.arena, &b.err) == PEAT_OK, "%s", b.err.text);
}

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

TEST(contrasts_and_claims_of_whole_runs_are_scipys_and_statsmodels)
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

int main(void)
{
    return run_tests((struct tests){"planted", open_arena, close_arena, .seconds = 60});
}
