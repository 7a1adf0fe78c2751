/* SPDX-License-Identifier: MIT */
/* test_claims.c: contrasts and claims from the experiment file to the results, as a user has them.
 */
#include "support/run_maker.h"
#include "support/shell.h"
#include "support/support.h"

static const char experiment[] =
    "version: 1\n"
    "name: x\n"
    "defaults:\n"
    "  task: {plugin: copy}\n"
    "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
    "  train: {steps: 4, batch: 2, seq_len: 16}\n"
    "  eval: {lengths: 6, tokens: 60}\n"
    "matrix:\n"
    "  position.scheme: [none, learned]\n"
    "  position.combine: [sum, {plugin: concat_split, d_pos: 4}]\n"
    "seeds: 2\n"
    "report:\n"
    "  metric: loss\n"
    "  contrasts:\n"
    "    - {name: joins, factor: position.combine, of: ['concat_split(d_pos=4)', sum]}\n"
    "claims:\n"
    "  - {name: first, text: said before, contrast: joins, direction: less, margin: MARGIN}\n";

/* The experiment with this margin. */
static void write_experiment(const char *margin)
{
    const char *at = strstr(experiment, "MARGIN");
    char text[2048];
    snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - experiment), experiment, margin, at + 6);
    shell_write("x.yaml", text);
}

TEST(claims_are_kept_with_hash_and_time_before_anything_is_trained)
{
    write_experiment("0.5");
    shell_expect(0, "peat plan x.yaml --write");
    shell_prints(0, "      \"results\": 0,", "cat runs/x/claims.json");
    assert_printed("\"sha256\":");
    assert_printed("\"written_utc\":");
    assert_printed("\"margin\": 0.5");
    assert_printed("\"metric\": \"loss\"");
    shell_expect(0, "cp runs/x/claims.json before.json");
    shell_expect(0, "peat run x.yaml");
    shell_expect(0, "cmp runs/x/claims.json before.json");
}

TEST(results_end_with_contrasts_and_claims_in_every_format)
{
    write_experiment("0.5");
    shell_says(0, "before the first step", "peat run x.yaml");
    assert_printed("left out, being the same model for every combine: none.-");
    shell_says(0, "first: said before", "peat results runs/x --notes");
    shell_prints(0, "| claim | verdict | says | metric | effect | p\\_holm | n |",
                 "peat results runs/x -f md");
    shell_prints(0, "\\begin{tabular}{llllrrr}", "peat results runs/x -f tex --part claims");
    shell_prints(0, "    \"changed_after_first_result\": false,", "peat results runs/x -f json");
    assert_printed("\"contrasts\": [");
    shell_says(0, "state,sha256,written_utc,name,", "peat results runs/x -f csv --part claims");
    shell_says(0, "contrast,metric,length,kind,of,", "peat results runs/x -f csv --part contrasts");
    shell_says(0, "joins,loss,6,line,learned,1,2,", "peat results runs/x -f csv --part contrasts");
    shell_prints(2,
                 "peat: option '--part all' is not for --format csv: results, contrasts and claims "
                 "have other columns",
                 "peat results runs/x -f csv --part all");
}

TEST(claims_that_change_after_a_result_are_shown_with_those_before)
{
    write_experiment("0.5");
    shell_expect(0, "peat run x.yaml seeds=[0]");
    write_experiment("0.25");
    shell_says(0, "CHANGED AFTER THE FIRST STEP", "peat run x.yaml");
    assert_printed("< -0.25");
    assert_printed("The claims as they were before the first step");
    assert_printed("< -0.5");
    write_experiment("0.5");
    shell_says(0, "before the first step; changed after it, and changed back", "peat run x.yaml");
    shell_prints(0, "3", "grep -c written_utc runs/x/claims.json");
}

TEST(claims_that_are_not_those_of_the_plan_are_a_problem)
{
    write_experiment("0.5");
    shell_expect(0, "peat run x.yaml -o other -q claims=[] && peat run x.yaml -q && "
                    "mv runs/x/claims.json mine");
    shell_prints(1, "problem: claims.json is missing, and the experiment has claims",
                 "peat verify runs/x");
    write_experiment("0.25");
    shell_expect(0, "peat plan x.yaml -o other --write && cp other/claims.json runs/x");
    shell_prints(1, "problem: claims.json does not end with the claims of plan.json",
                 "peat verify runs/x");
    shell_prints(0, "runs/x: 6 cells, 6 finished, 0 problems",
                 "mv mine runs/x/claims.json && peat verify runs/x");
}

TEST(claims_that_are_withdrawn_are_not_gone)
{
    write_experiment("0.5");
    shell_expect(0, "peat run x.yaml");
    shell_prints(0, "all claims were withdrawn", "peat run x.yaml 'claims=[]'");
    assert_printed("< -0.5");
}

TEST(claims_written_after_the_cells_of_another_directory_are_not_called_before)
{
    write_experiment("0.5");
    shell_expect(0, "peat run x.yaml name=old claims=null -q && sleep 1");
    shell_says(0, "before the first step", "peat run x.yaml name=new seeds=[0] -q");
    shell_says(0, "WRITTEN AFTER 6 OF THE CELLS WERE STARTED",
               "peat results runs/new runs/old --part claims");
    shell_prints(
        0, "<p class=\"headline\">The claims were written after 6 of the cells were started.</p>",
        "peat report runs/new runs/old -o x.html && cat x.html");
}

TEST(a_claim_keeps_the_length_of_its_own_directory)
{
    write_experiment("0.5");
    shell_expect(0, "peat run x.yaml name=own -q");
    shell_expect(0, "peat run x.yaml name=more claims=null seeds=3 eval.lengths=[3,6] -q");
    shell_says(0, "loss@6", "peat results runs/own runs/more --part claims");
    ck_assert(!shell_printed("loss@3"));
    shell_prints(0, "scheme   combine                      loss@3        loss@6",
                 "peat results runs/own runs/more --part results");
    assert_printed(" over 3 seeds"); /* of two copies of a cell the one with more values counts */
}

TEST(damaged_claims_are_refused_by_name)
{
    write_experiment("0.5");
    shell_expect(0, "peat run x.yaml");
    shell_expect(0, "sed -i 's/\"margin\": 0.5/\"margin\": 0.1/' runs/x/claims.json");
    shell_prints(2,
                 "peat: 'runs/x/claims.json' is damaged: its checksum does not match its content",
                 "peat results runs/x");
    /* Without its seal it counts as made by hand, but claims have a hash of their own. */
    shell_expect(0, "sed -i 's/\"check\": \"[^\"]*\"/\"was\": 1/' runs/x/claims.json");
    shell_prints(2, "peat: 'runs/x/claims.json' is damaged: the claims do not match their hash",
                 "peat results runs/x");
}

#define HASHES "peat results %s --format json | grep -A1 hashes"

TEST(claims_are_in_the_hash_of_the_directory)
{
    write_experiment("0.5");
    shell_expect(0, "peat run x.yaml && " HASHES " > was", "runs/x");
    shell_expect(0, "cp -r runs/x later && sed -i 's/written_utc\": \"..../written_utc\": \"1999/; "
                    "s/\"check\": \"[^\"]*\"/\"was\": 1/' later/claims.json");
    shell_expect(0, HASHES " | cmp - was", "later");
    shell_prints(1, "problem: claims.json has no check: it was made or changed by hand",
                 "peat verify later");
    shell_expect(0, "sed -i 's/\"results\": 0/\"results\": 1/' later/claims.json");
    shell_expect(1, HASHES " | cmp - was", "later");
    shell_expect(0, "sed -i 's/\"margin\": 0.5/\"margin\": 0.1/' later/claims.json");
    shell_says(1, "problem: ", "peat verify later");
    assert_printed("later/claims.json' is damaged");
    assert_printed("hash none");
}

TEST(an_experiment_without_claims_registers_its_plan)
{
    write_experiment("0.5");
    shell_expect(0, "sed -i '/^claims/,$d' x.yaml");
    shell_expect(0, "peat run x.yaml");
    shell_says(0, "registered: plan, ", "peat status runs/x");
    shell_prints(2, "peat: option '--part claims': the experiment has no claims",
                 "peat results runs/x --part claims");
}

TEST(a_claim_says_its_length_where_there_are_several)
{
    write_experiment("0.5");
    shell_expect(0, "sed -i 's/lengths: 6/lengths: [6, 12]/' x.yaml");
    shell_prints(2,
                 "peat: x.yaml:17:5: claim 'first' needs a 'length': row "
                 "'learned.concat_split-d_pos=4.s0' is evaluated at 6, 12",
                 "peat validate x.yaml");
    shell_expect(0, "sed -i 's/contrast: joins/contrast: joins, length: 7/' x.yaml");
    shell_says(2, "is not evaluated at length 7", "peat validate x.yaml");
    shell_expect(0, "sed -i 's/length: 7/length: 12/' x.yaml");
    shell_expect(0, "peat validate x.yaml");
}

TEST(a_plan_says_whether_its_seeds_can_decide_a_claim)
{
    write_experiment("0.5");
    shell_prints(0, "claim first: 2 seeds can decide it (t)", "peat plan x.yaml");
    shell_says(0, "claim first: 1 seed cannot decide it", "peat plan x.yaml seeds=1");
    assert_printed("needs 2 seeds");
    shell_expect(0, "sed -i 's/direction: less/direction: less, test: sign-flip/' x.yaml");
    shell_says(
        0,
        "4 seeds cannot decide it: the smallest p of the exact sign-flip test is 0.062, and Holm "
        "over 1 claim asks for 0.05; it needs 5 seeds",
        "peat plan x.yaml seeds=4");
    shell_says(0, "\"can_be_decided\": false", "peat plan x.yaml --json");
}

TEST(a_plan_says_what_the_sign_flip_test_needs)
{
    write_experiment("0.5");
    shell_says(0,
               "claims: without the assumption that differences are normal (test: sign-flip) 5 "
               "seeds are needed, Holm over 1 claim; 2 are planned\n",
               "peat plan x.yaml");
    ck_assert(!shell_printed("table: "));
    shell_expect(0,
                 "for i in 1 2 3; do echo \"  - {name: c$i, contrast: joins, direction: less}\"; "
                 "done >> x.yaml");
    shell_prints(0,
                 "claims: without the assumption that differences are normal (test: sign-flip) 7 "
                 "seeds are needed, Holm over 4 claims; 6 are planned",
                 "peat plan x.yaml seeds=6 'report.baseline={position.scheme: none}'");
    assert_printed("table: 2 differences to the baseline: the exact sign-flip test with Holm needs "
                   "7 seeds for p < 0.05, 6 are planned\n");
    shell_prints(0, "      \"seeds_for_sign_flip\": 7,", "peat plan x.yaml --json");
}

TEST(a_pilot_says_how_many_seeds_a_claim_needs)
{
    write_experiment("0");
    shell_expect(0, "peat run x.yaml seeds=3 -o runs/pilot");
    shell_says(0, "(pilot: sd ", "peat plan x.yaml --pilot pilot");
    shell_expect(0, "sed -i 's/direction: less/direction: less, expect: -10/' x.yaml");
    shell_says(0, "power 1.00 for an effect of -10 ", "peat plan x.yaml seeds=4 --pilot pilot");
    assert_printed(": 80 % needs 2 seeds");
    shell_expect(0, "sed -i 's/expect: -10/expect: 10/' x.yaml");
    shell_says(0, "with this effect the claim is wrong", "peat plan x.yaml --pilot pilot");
    shell_prints(2, "peat: there is no run directory 'nowhere'; those in 'runs' are pilot",
                 "peat plan x.yaml --pilot nowhere");
}

/* The claims that `said` has are those that NumPy makes of the csv file. */
static void assert_recomputed(const char *run)
{
    shell_expect(0, "peat results runs/%s -f csv > %s.csv", run, run);
    if (is_here("python3-numpy python3-scipy"))
        shell_expect(0,
                     "/usr/bin/python3 \"$PEAT_SOURCE\"/tests/integration/recompute_claims.py "
                     "runs/%s %s.csv said",
                     run, run);
}

/* Values are chosen on validation at 4 steps, and reported on the test part at all. */
TEST(claims_on_the_test_part_are_recomputed_from_the_csv)
{
    write_experiment("0");
    shell_expect(
        0, "sed -e 's/^version: 1/version: 2/' -e 's/position.scheme: .none, learned./"
           "position.scheme: [learned, sinusoidal]/' -e 's/^seeds: 2/seeds: 4/' -e "
           "'/^matrix/a\\  train.steps: [2, 4]\\n  train.lr: [1e-3, 1e-1]' -e "
           "'/^report/a\\  best_over: {axes: train.lr, choose: [0, 1], at: {train.steps: 4}}' "
           "x.yaml > y.yaml");
    shell_expect(0, "peat run y.yaml -o runs/y");
    shell_expect(0, "peat results runs/y --part claims > said");
    assert_recomputed("y");
    shell_expect(0, "sed -i -e 's/margin: 0/margin: 0.01, sampled: seeds_and_text/' -e "
                    "'s/^seeds: 4/seeds: 7/' y.yaml");
    shell_prints(
        0, "effect and p_holm are over seeds and test text for: first",
        "peat run y.yaml -o runs/z && peat results runs/z --part claims --notes | tee said");
    assert_recomputed("z");
}

TEST(claims_about_interactions_and_trends_go_from_the_file_to_every_format)
{
    write_experiment("0");
    shell_expect(0,
                 "sed -i -e 's/^  position.scheme.*/  position.scheme: [learned, sinusoidal]/' -e "
                 "'/^matrix/a\\  train.steps: [2, 4, 8]' x.yaml");
    shell_expect(0, "printf '%%s\\n%%s\\n' "
                    "'  - {name: both, contrast: joins, direction: less, interaction: "
                    "{position.scheme: [learned, sinusoidal]}}' "
                    "'  - {name: grows, contrast: joins, direction: greater, margin: 0.001, trend: "
                    "{train.steps: log2}}' >> x.yaml");
    shell_prints(0, "claim grows: 2 seeds can decide it (t)", "peat plan x.yaml");
    shell_expect(0, "peat run x.yaml");
    shell_expect(0, "peat results runs/x -f csv > x.csv");
    shell_says(0, "slope of (combine: concat_split(d_pos=4) - sum) over log2 steps > 0.001",
               "peat results runs/x --part claims | tee said");
    assert_printed("(combine: concat_split(d_pos=4) - sum) at scheme=learned minus that at "
                   "scheme=sinusoidal < 0");
    assert_printed("loss@6 per doubling of steps");
    assert_recomputed("x");
    shell_says(0, ",slope,per doubling of steps", "peat results runs/x -f csv --part claims");
    shell_prints(0, "          \"change\": \"interaction\",", "peat results runs/x -f json");
    shell_says(0, "per doubling of steps", "peat results runs/x -f md --part claims");
    shell_says(0, "per doubling of steps", "peat results runs/x -f tex --part claims");
    shell_expect(0, "peat report runs/x -o x.html && grep -q 'loss per doubling of steps' x.html");
    shell_says(0, "power ", "peat plan x.yaml --pilot runs/x");
    shell_expect(0, "grep sha256 runs/x/claims.json > was");
    shell_expect(0, "peat plan runs/x/resolved.yaml --write -o again");
    shell_expect(0, "grep sha256 again/claims.json | cmp - was");
}

TEST(a_narrowed_grid_keeps_claims_and_two_of_them_make_a_trend)
{
    write_experiment("0.5");
    shell_expect(0, "sed -i -e '/^matrix/a\\  train.steps: [2, 4]' x.yaml");
    shell_expect(0,
                 "printf '%%s\\n' '  - {name: grows, contrast: joins, direction: greater, trend: "
                 "{train.steps: log2}}' >> x.yaml");
    shell_prints(0, "claim grows: undecided: this grid leaves out rows that the claim compares",
                 "peat plan x.yaml train.steps=[2]");
    assert_printed("claim first: 2 seeds can decide it (t)");
    shell_prints(0, "claim first: undecided: this grid leaves out rows that the claim compares",
                 "peat plan x.yaml position.combine=sum");
    shell_says(0, "\"can_be_decided\": false", "peat plan x.yaml position.combine=sum --json");
    shell_prints(0, "first is undecided: no two rows of this run have these labels",
                 "peat run x.yaml position.combine=sum -o sums");
    shell_prints(0, "Holm over 2 claims", "peat results sums --notes");
    shell_prints(0,
                 "grows is undecided: a trend needs two labels of steps or more, and the rows that "
                 "are compared have 1",
                 "peat run x.yaml train.steps=[2] -o two");
    shell_expect(0, "peat run x.yaml train.steps=[4] -o four && peat run x.yaml -o whole");
    shell_expect(0, "for d in 'two four' whole; do peat results $d -f csv --part claims | "
                    "cut -d , -f 4- | sed 's/,[^,]*registered:.*//'; done > lines");
    shell_prints(0, "3", "sort -u lines | wc -l");
    shell_expect(0, "grep '^grows.*,2,0' lines");
}

TEST(the_page_has_claims_first_and_contrasts_with_their_figure)
{
    write_experiment("0.5");
    shell_expect(0, "peat run x.yaml");
    shell_expect(0, "peat report runs/x -o x.html");
    shell_prints(0,
                 "<li class=\"undecided\"><p class=\"claim\"><b class=\"badge\">undecided</b> "
                 "<b>first</b>: said before</p>",
                 "cat x.html");
    shell_prints(0, "<section id=\"contrasts\">", "cat x.html");
    shell_expect(0, "grep -o -e 'id=\"claims\"' -e 'id=\"verdict\"' -e 'id=\"contrasts\"' x.html | "
                    "tr '\\n' ' ' | grep '^id=\"claims\" id=\"contrasts\" id=\"verdict\"'");
}

TEST(a_forest_plot_is_of_contrasts)
{
    write_experiment("0.5");
    shell_expect(0, "peat run x.yaml");
    shell_prints(0, "runs/x/figures/forest.svg", "peat plot runs/x --kind forest");
    shell_expect(0, "grep -q '>joins: learned<' runs/x/figures/forest.svg");
    shell_expect(0, "sed -i -e '/contrasts/,$d' x.yaml");
    shell_expect(0, "peat run x.yaml -o other");
    shell_prints(2, "peat: there is no contrast to draw: the experiment has no report.contrasts",
                 "peat plot other --kind forest");
}

TEST(compare_takes_two_labels_of_an_axis)
{
    write_experiment("0.5");
    shell_expect(0, "sed -i 's/none, learned/none, learned, sinusoidal/' x.yaml");
    shell_expect(0, "peat run x.yaml");
    shell_expect(0, "peat compare runs/x combine='concat_split(d_pos=4)' combine=sum");
    assert_printed("combine: concat_split(d_pos=4) - sum: loss at 6 symbols");
    assert_printed("\nsinusoidal ");
    assert_printed("\npooled ");
    assert_printed("left out, being the same model for every combine: none.-");
    shell_says(0, "\nsum ", "peat compare runs/x learned sinusoidal");
    shell_prints(0, "    \"interactions\": [", "peat compare runs/x learned sinusoidal --json");
    shell_prints(2, "peat: --over: 'scheme' is the axis that is compared",
                 "peat compare runs/x learned sinusoidal --over scheme");
    shell_prints(
        2, "peat: --over: there is no axis 'sise'; the axes are position.scheme, position.combine",
        "peat compare runs/x learned sinusoidal --over sise");
    shell_prints(2, "peat: option '--over' is for two labels of an axis that several rows have",
                 "peat compare runs/x none learned.sum --over combine");
    shell_prints(0, "mean difference +0.1 ± 1.3 (95 % CI, Student t, n = 2)",
                 "peat compare runs/x none learned.sum");
}

/* ---- two sizes that disagree ---- */

#define ABOUT(a, b)                                                                                \
    "\"factor\":\"position.scheme\",\"of\":[\"" a "\",\"" b "\"],\"over\":[],"                     \
    "\"pool\":[\"size\"],\"text\":\"\",\"margin\":0,\"alpha\":0.05,\"test\":\"t\""

/* sat - alibi is -0.063 at S and +0.010 at M; rotary - alibi is -0.2 at both. */
static void make_sizes(struct run_maker *m, const char *within)
{
    static const double noise[] = {-0.012, 0.008, -0.003, 0.010, -0.003};
    static char report[160];
    run_maker_open(m, "sizes");
    snprintf(report, sizeof(report), "{\"metric\":\"bpb\",\"goal\":\"metric\",\"baseline\":null%s}",
             within);
    m->report = report;
    m->second = "size";
    m->axes = "[{\"key\":\"position.scheme\",\"labels\":[]},{\"key\":\"size\",\"labels\":[]}]";
    for (int seed = 0; seed < 5; seed++)
        for (int large = 0; large < 2; large++) {
            const char *size = large ? "M" : "S";
            double of = 3.0 - large + 0.05 * seed, e = noise[seed];
            m->d_model = large ? 64 : 32;
            m->q[Q_PARAMS] = large ? 48000 : 12000;
            run_maker_done(m, "alibi", size, seed, of, of);
            run_maker_done(m, "sat", size, seed, of + (large ? 0.010 - 1.2 * e : -0.063 + e), of);
            run_maker_done(m, "rotary", size, seed, of - 0.2 + e * (large ? 0.9 : 1), of);
        }
    run_maker_claim(m,
                    "[{\"name\":\"saturating helps\",\"direction\":\"less\"," ABOUT(
                        "sat", "alibi") "},{\"name\":\"so does "
                                        "turning\",\"direction\":\"less\"," ABOUT(
                                            "rotary", "alibi") "},{"
                                                               "\"name"
                                                               "\":"
                                                               "\"turni"
                                                               "ng "
                                                               "hurts\""
                                                               ",\"dire"
                                                               "ction\""
                                                               ":"
                                                               "\"great"
                                                               "er\""
                                                               "," ABOUT("rot"
                                                                         "ar"
                                                                         "y",
                                                                         "ali"
                                                                         "bi") "}]",
                    0);
    run_maker_finish(m);
    shell_expect(0, "rm -rf runs && mkdir runs && cp -r %s runs/sizes", m->dir);
    run_maker_close(m);
}

TEST(a_claim_pooled_over_sizes_that_disagree_says_so_in_every_format)
{
    static const char line[] = "saturating helps: S -0.063, M +0.010: depends on size, p = ";
    struct run_maker m;
    make_sizes(&m, "");
    shell_says(0, "\nsaturating helps  holds, depends on size   scheme: sat - alibi < 0",
               "peat results runs/sizes --part claims");
    assert_printed(line);
    assert_printed("\nso does turning   holds                 *");
    assert_printed("\n*: the claim holds\n");
    assert_printed("\nturning hurts     fails ");
    ck_assert(!shell_printed("1.000"));
    shell_says(0, "saturating helps & holds, depends on size & ",
               "peat results runs/sizes --part claims -f tex");
    assert_printed(
        "  \\midrule \\multicolumn{7}{l}{saturating helps: S -0.063, M +0.010: depends ");
    assert_printed("so does turning & \\textbf{holds} & ");
    shell_says(0, "| saturating helps | holds, depends on size |",
               "peat results runs/sizes --part claims -f md");
    assert_printed("- saturating helps: S");
    shell_says(0, ",depends on size,\"S -0.063, M +0.010: depends on size, p = ",
               "peat results runs/sizes --part claims -f csv");
    shell_says(0, "\"depends\": \"depends on size\"", "peat results runs/sizes -f json");
    assert_printed("\"strata\": \"S -0.063, M +0.010: depends on size, p = ");
    assert_printed("\"verdict\": \"holds\"");
    shell_says(0,
               "<li class=\"undecided\"><p class=\"claim\"><b class=\"badge\">holds, depends on "
               "size</b> <b>saturating helps</b>",
               "peat report runs/sizes -o x.html && cat x.html");
    assert_printed("<p>S -0.063, M +0.010: depends on size, p = ");
    assert_printed("<li class=\"holds\"><p class=\"claim\"><b class=\"badge\">holds</b> <b>so ");
}

TEST(stars_and_headlines_compare_rows_within_a_size)
{
    struct run_maker m;
    make_sizes(&m, "");
    shell_expect(0, "peat results runs/sizes --part results >said");
    shell_says(0, "*: best within each size, and rows whose paired", "cat said");
    shell_expect(0, "grep -q '^rotary  S .*\\*' said && grep -q '^rotary  M .*\\*' said");
    shell_expect(1, "grep -E '^sat +[SM] +[0-9.]+ . [0-9.]+\\*' said");
    shell_says(0, "\"within\": [\"size\"]", "peat results runs/sizes -f json");
    shell_says(0, "<p class=\"headline\">Each size has a best row of its own</p>",
               "peat report runs/sizes -o x.html && cat x.html");
    make_sizes(&m, ",\"within\":[]");
    shell_expect(0, "peat results runs/sizes --part results >said");
    shell_says(0, "*: best, and rows whose paired", "cat said");
    shell_expect(1, "grep '^rotary  S .*\\*' said");
    shell_says(0, " has the lowest bpb at 128 tokens</p>",
               "peat report runs/sizes -o x.html && cat x.html");
}

TEST(within_names_axes_of_the_experiment)
{
    write_experiment("0.5");
    shell_expect(0,
                 "sed -i 's/^  metric: loss/  metric: loss\\n  within: position.scheme/' x.yaml");
    shell_says(0, "*: best within each scheme, and rows", "peat run x.yaml");
    shell_expect(0, "grep 'within.*position.scheme' runs/x/plan.json && "
                    "grep 'within: .position.scheme' runs/x/resolved.yaml");
    shell_expect(0, "sed -i 's/within: .*/within: [width]/' x.yaml");
    shell_says(2, "peat: x.yaml:14:12: within names 'width', which is not an axis",
               "peat validate x.yaml");
}

int main(void)
{
    return run_tests((struct tests){"claims", shell_open, shell_close, .seconds = 120});
}
