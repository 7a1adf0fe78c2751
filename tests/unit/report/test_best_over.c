/* SPDX-License-Identifier: MIT */
/*
 * test_best_over.c: best_over about run directories in which it is planted what is best.
 *
 * Axes are position.scheme and train.lr, the metric is bpb, less is better.
 */
#include "report/claim_verdict.h"
#include "report/comparison_tables.h"
#include "support/run_maker.h"
#include "support/support.h"

static struct {
    struct arena arena;
    struct run_maker run;
    struct results r;
    struct error err;
    struct strbuf out;
} b;

#define REPORT(more)                                                                               \
    "{\"metric\":\"bpb\",\"goal\":\"metric\",\"baseline\":null,\"at\":\"final\"" more "}"
#define OVER(seeds, more)                                                                          \
    ",\"best_over\":{\"axes\":[\"train.lr\"],\"by\":\"seeds\",\"choose\":[" seeds "]" more "}"

static void open_maker(struct run_maker *m)
{
    run_maker_open(m, "best");
    m->axes = "[{\"key\":\"position.scheme\",\"labels\":[]},{\"key\":\"train.lr\",\"labels\":[]}]";
    m->second = "train.lr";
    m->report = REPORT(OVER("7, 8", ""));
}

static void open_run(void)
{
    arena_init(&b.arena, "best", 1 << 20);
    open_maker(&b.run);
    strbuf_init(&b.out);
}

static void close_run(void)
{
    run_maker_close(&b.run);
    strbuf_release(&b.out);
    arena_release(&b.arena);
}

/* ---- planting and reading ---- */

static void plant(const char *scheme, const char *lr, int64_t seed, double x)
{
    run_maker_done(&b.run, scheme, lr, seed, x, x + 1.0);
}

/* At both seeds for choosing. */
static void plant_choice(const char *scheme, const char *lr, double x)
{
    plant(scheme, lr, 7, x - 0.25);
    plant(scheme, lr, 8, x + 0.25);
}

static void read_run(void)
{
    char *dir[] = {b.run.dir};
    static const struct results_options none;
    run_maker_finish(&b.run);
    ck_assert_msg(results_read(&b.r, 1, dir, &none, &b.arena, &b.err) == PEAT_OK, "%s", b.err.text);
}

static void show(void)
{
    struct table t;
    const struct table_options o = {.length = -1};
    strbuf_clear(&b.out);
    ck_assert_int_eq(table_build(&t, &b.r, &o, &b.arena, &b.err), PEAT_OK);
    format_text(&t, 400, false, &b.out);
}

static void assert_shown(const char *text)
{
    ck_assert_msg(strstr(b.out.text, text), "no '%s' in\n%s", text, b.out.text);
}

static const char *chosen(int row)
{
    const char *value = strchr(b.r.row[row].chosen, '=');
    return value ? value + 1 : "none";
}

/* ---- what is chosen ---- */

TEST(the_best_value_is_chosen_on_its_seeds_and_reported_on_the_others)
{
    plant_choice("sum", "1e-3", 3.0);
    plant_choice("sum", "3e-3", 2.0);
    plant("sum", "1e-3", 0, 1.0);
    plant("sum", "1e-3", 1, 1.0);
    plant("sum", "3e-3", 0, 5.0);
    plant("sum", "3e-3", 1, 6.0);
    read_run();
    ck_assert_int_eq(b.r.n_row, 1);
    ck_assert_str_eq(chosen(0), "3e-3");
    ck_assert_int_eq(b.r.row[0].at[0].n, 2);
    ck_assert_double_eq(b.r.row[0].at[0].mean, 5.5);
    ck_assert_int_eq(b.r.n_axis, 1);
    ck_assert_int_eq(b.r.n_seed, 2);
    show();
    assert_shown("lr=3e-3");
    assert_shown(
        "chosen: the best lr of each row by bpb at 128 tokens, by its mean over seeds 7, 8");
    assert_shown("the largest lr that was tried is chosen, so a larger one may be better: sum");
}

TEST(each_row_has_its_own_best_value_and_is_paired_with_others)
{
    b.run.report = "{\"metric\":\"bpb\",\"goal\":\"metric\",\"at\":\"final\","
                   "\"baseline\":{\"position.scheme\":\"sum\"}" OVER("7, 8", "") "}";
    plant_choice("sum", "1e-3", 2.0);
    plant_choice("sum", "3e-3", 3.0);
    plant_choice("cat", "1e-3", 3.0);
    plant_choice("cat", "3e-3", 2.0);
    for (int seed = 0; seed < 3; seed++) {
        plant("sum", "1e-3", seed, 2.0 + seed);
        plant("cat", "3e-3", seed, 1.5 + seed);
    }
    read_run();
    ck_assert_str_eq(chosen(0), "1e-3");
    ck_assert_str_eq(chosen(1), "3e-3");
    ck_assert_int_eq(b.r.row[1].baseline, 0);
    ck_assert_int_eq(b.r.row[1].at[0].pairs.n, 3);
    ck_assert_double_eq(b.r.row[1].at[0].diff.mean, -0.5);
}

TEST(of_equal_values_the_smaller_number_is_chosen)
{
    plant_choice("sum", "1e-2", 2.0);
    plant_choice("sum", "9e-3", 2.0);
    plant_choice("sum", "3e-2", 2.0);
    plant("sum", "9e-3", 0, 1.0);
    read_run();
    ck_assert_str_eq(chosen(0), "9e-3");
}

TEST(of_equal_values_that_are_no_numbers_the_earlier_is_chosen)
{
    plant_choice("sum", "small", 2.0);
    plant_choice("sum", "large", 2.0);
    plant("sum", "small", 0, 1.0);
    read_run();
    ck_assert_str_eq(chosen(0), "small");
}

TEST(a_value_that_diverged_is_not_chosen)
{
    plant_choice("sum", "1e-3", 3.0);
    plant("sum", "1e-2", 7, 1.0);
    run_maker_state(&b.run, "sum", "1e-2", 8, "diverged");
    plant("sum", "1e-3", 0, 3.5);
    read_run();
    ck_assert_str_eq(chosen(0), "1e-3");
    show();
    assert_shown("not chosen, since a cell for choosing diverged: sum lr=1e-2");
}

TEST(a_row_of_which_every_value_diverged_counts_as_diverged)
{
    for (int seed = 7; seed <= 8; seed++) {
        run_maker_state(&b.run, "sum", "1e-3", seed, "diverged");
        run_maker_state(&b.run, "sum", "1e-2", seed, "diverged");
    }
    run_maker_state(&b.run, "sum", "1e-3", 0, "todo");
    run_maker_state(&b.run, "sum", "1e-2", 0, "todo");
    read_run();
    ck_assert_str_eq(chosen(0), "none");
    ck_assert_int_eq(b.r.row[0].diverged, 1);
    ck_assert_int_eq(b.r.row[0].at[0].n, 0);
    show();
    assert_shown(
        "sum: no lr could be chosen: each had a cell of seeds 7, 8 that diverged or has no number");
}

TEST(nothing_is_chosen_while_a_cell_for_choosing_has_no_result)
{
    static const char *const state[] = {"todo", "crashed", "stale"};
    for (size_t i = 0; i < sizeof(state) / sizeof(*state); i++) {
        run_maker_close(&b.run);
        open_maker(&b.run);
        plant_choice("sum", "1e-3", 3.0);
        plant("sum", "1e-2", 7, 1.0);
        run_maker_state(&b.run, "sum", "1e-2", 8, state[i]);
        plant("sum", "1e-3", 0, 3.5);
        read_run();
        ck_assert_str_eq(chosen(0), "none");
        ck_assert_int_eq(b.r.row[0].at[0].n, 0);
        ck_assert_int_eq(b.r.row[0].missing, 1);
        show();
        assert_shown("sum: no lr is chosen yet: 1 of 4 cells of seeds 7, 8 have no result");
    }
    const struct table_options first = {.length = -1};
    ck_assert_int_eq(format_json(&b.r, &first, &b.arena, &b.out, &b.err), PEAT_OK);
    for (int i = 0; i < b.r.n_cell; i++) /* a cell without results stands in the row for each */
        ck_assert_int_eq(b.r.cell[i].row, -1);
}

TEST(metric_and_length_of_the_choice_are_those_it_names)
{
    b.run.report = REPORT(OVER("7", ",\"metric\":\"accuracy\",\"length\":128"));
    plant("sum", "1e-3", 7, 2.0);
    plant("sum", "1e-2", 7, 1.0);
    plant("sum", "1e-2", 0, 1.0);
    read_run();
    ck_assert_str_eq(value_get_path(b.r.row[0].choice, "choice.metric")->text, "accuracy");
    ck_assert_int_eq(value_get_path(b.r.row[0].choice, "choice.length")->integer, 128);
    ck_assert_str_eq(chosen(0), "1e-2");
}

TEST(without_it_every_value_and_seed_is_a_row)
{
    char *dir[] = {b.run.dir};
    static const struct results_options all = {.every_value = true};
    plant_choice("sum", "1e-3", 3.0);
    plant_choice("sum", "3e-3", 2.0);
    run_maker_finish(&b.run);
    ck_assert_int_eq(results_read(&b.r, 1, dir, &all, &b.arena, &b.err), PEAT_OK);
    ck_assert_int_eq(b.r.n_row, 2);
    ck_assert_int_eq(b.r.row[0].at[0].n, 2);
}

TEST(formats_say_which_value_was_chosen_and_what_each_cell_is_for)
{
    plant_choice("sum", "1e-3", 3.0);
    plant_choice("sum", "3e-3", 2.0);
    plant("sum", "1e-3", 0, 1.0);
    plant("sum", "3e-3", 0, 5.0);
    read_run();
    strbuf_clear(&b.out);
    format_json(&b.r, &(struct table_options){.length = -1}, &b.arena, &b.out, &b.err);
    assert_shown("\"chosen\": {\n        \"train.lr\": \"3e-3\"");
    assert_shown("\"best_over\": {");
    strbuf_clear(&b.out);
    ck_assert_int_eq(
        format_csv(&b.r, false, "train.lr,seed,metric,best_over", false, &b.out, &b.err), PEAT_OK);
    assert_shown("1e-3,7,bpb,chooses\n");
    assert_shown("1e-3,0,bpb,unchosen\n");
    assert_shown("3e-3,0,bpb,reported\n");
    int reported = 0;
    for (int i = 0; i < b.r.n_cell; i++)
        reported += result_is_reported(&b.r.cell[i]);
    ck_assert_int_eq(reported, 1);
}

TEST(a_damaged_best_over_is_refused)
{
    char *dir[] = {b.run.dir};
    static const struct results_options none;
    b.run.report = REPORT(",\"best_over\":{\"axes\":[\"train.size\"],\"by\":\"seeds\","
                          "\"choose\":[7]}");
    plant("sum", "1e-3", 7, 2.0);
    run_maker_finish(&b.run);
    ck_assert_int_eq(results_read(&b.r, 1, dir, &none, &b.arena, &b.err), PEAT_CORRUPT);
    ck_assert_msg(strstr(b.err.text, "plan.json': report.best_over is damaged"), "%s", b.err.text);
}

/* ---- a winner chosen by noise ---- */

enum { TRIED = 40, CHOOSING = 6 };

/* No value differs but by noise: arm `many` tries many of them, arm `one` has one. */
static double noise_of(const char *arm, int lr, int64_t seed)
{
    char what[32];
    snprintf(what, sizeof(what), "%s.%d", arm, lr);
    double sd = strcmp(arm, "many") == 0 ? 0.1 : 0.02;
    return 3.0 + sd * rng_normal(rng_stream((uint64_t)seed, "noise", what), 0);
}

static void plant_noise(int lr, int64_t seed)
{
    char label[16];
    snprintf(label, sizeof(label), "%de-4", lr + 1);
    plant("many", label, seed, noise_of("many", lr, seed));
    if (lr == 0)
        plant("one", label, seed, noise_of("one", 0, seed));
}

static enum claim_end judge_noise(void)
{
    struct claim_history h;
    run_maker_claim(&b.run,
                    "[{\"name\":\"many is better\",\"text\":\"\",\"factor\":\"position.scheme\","
                    "\"of\":[\"many\",\"one\"],\"over\":[],\"pool\":[],\"direction\":\"less\","
                    "\"margin\":0,\"alpha\":0.05,\"test\":\"t\"}]",
                    0);
    read_run();
    ck_assert_msg(claims_history(&h, &b.r, &b.arena, &b.err) == PEAT_OK, "%s", b.err.text);
    return h.now.item[0].verdict;
}

static int best_by_noise(void)
{
    int best = 0;
    double least = 0;
    for (int lr = 0; lr < TRIED; lr++) {
        double sum = 0;
        for (int seed = 0; seed < CHOOSING; seed++)
            sum += noise_of("many", lr, seed);
        best = lr == 0 || sum < least ? lr : best;
        least = lr == 0 || sum < least ? sum : least;
    }
    return best;
}

TEST(a_winner_chosen_by_noise_holds_where_it_was_chosen_and_not_under_best_over)
{
    /* As one would do it by hand: the best of many, shown on the seeds that made it the best. */
    int best = best_by_noise();
    b.run.report = REPORT("");
    for (int seed = 0; seed < CHOOSING; seed++) {
        plant("one", "x", seed, noise_of("one", 0, seed));
        plant("many", "x", seed, noise_of("many", best, seed));
    }
    ck_assert_int_eq(judge_noise(), CLAIM_HOLDS);

    run_maker_close(&b.run);
    open_maker(&b.run);
    b.run.report = REPORT(OVER("0,1,2,3,4,5", ""));
    for (int64_t seed = 0; seed < CHOOSING + 6; seed++)
        for (int lr = 0; lr < TRIED; lr++)
            plant_noise(lr, seed);
    ck_assert_int_eq(judge_noise(), CLAIM_UNDECIDED);
    ck_assert_int_eq(b.r.n_row, 2);
    ck_assert_str_eq(chosen(0), arena_printf(&b.arena, "%de-4", best + 1));
}

int main(void)
{
    return run_tests((struct tests){"best_over", open_run, close_run, .seconds = 30});
}
