/* SPDX-License-Identifier: MIT */
/* test_registration.c: whatever changes after the first step of a cell is said in words. */
#include "support/shell.h"
#include "support/support.h"

static const char experiment[] = "version: 2\n"
                                 "name: x\n"
                                 "defaults:\n"
                                 "  task: {plugin: text, path: text.txt}\n"
                                 "  model: {d_model: 8, n_layer: 1, n_head: 2}\n"
                                 "  train: {steps: 4, batch: 2, seq_len: 16}\n"
                                 "  eval: {lengths: 6, tokens: 60}\n"
                                 "matrix:\n"
                                 "  position.scheme: [none, learned]\n"
                                 "  arm: {low: {train.lr: 1e-3}, high: {train.lr: 1e-2}}\n"
                                 "seeds: 4\n"
                                 "report:\n"
                                 "  best_over: {axes: arm, choose: [0]}\n"
                                 "  baseline: {position.scheme: none}\n"
                                 "claims:\n"
                                 "  - {name: it, rows: [{position.scheme: learned}, "
                                 "{position.scheme: none}], direction: less}\n";

/* A finished run, and the folder that each change is tried in. */
static void finish_run(void)
{
    shell_write("x.yaml", experiment);
    shell_expect(0, "for i in $(seq 2000); do echo $i; done > text.txt");
    shell_expect(0, "peat run x.yaml -o base -q");
    ck_assert(!shell_printed("changed "));
}

#define LATE    "WRITTEN AFTER THE FIRST STEP"
#define CHANGED "CHANGED AFTER THE FIRST STEP"

/* What is done in a copy of the folder, `edit` to x.yaml and `before` in the shell, before `peat
 * run` with these words; and what the results then say. */
static const struct {
    const char *name, *edit, *before, *words, *said;
} ways[] = {
    /* the claims again, without what shows that they are new */
    {"claims removed", "s/less/greater/", "rm run/claims.json", "", LATE},
    {"and results", "s/less/greater/", "rm run/claims.json run/cells/*/result.json", "", LATE},
    {"and curves", "s/less/greater/", "rm run/claims.json run/cells/*/[rm]e[st]*", "", LATE},
    {"and checkpoints", "s/less/greater/",
     "rm -r run/claims.json run/cells/*/result.json run/cells/*/ckpt", "", LATE},
    {"cells moved away, then back", "s/less/greater/",
     "mv run/cells kept; rm run/claims.json; sleep 1; peat plan x.yaml -o run --write; "
     "rm -r run/cells; mv kept run/cells",
     "eval.tokens=30", "after 10 of the cells were started"},
    {"moved, with the claims", "s/less/greater/",
     "mv run/cells kept; sleep 1; peat plan x.yaml -o run --write; rm -r run/cells; "
     "mv kept run/cells",
     "", "claims.it.direction less -> greater"},
    {"evaluated again", "", "rm run/claims.json; sleep 1", "eval.tokens=30", LATE},
    /* what the claims are about */
    {"labels",
     "s/{low: {train.lr: 1e-3}, high: {train.lr: 1e-2}}/{high: {train.lr: 1e-3}, low: "
     "{train.lr: 1e-2}}/",
     "", "", "label none.-.low its own settings -> those that none.-.high had"},
    {"length", "s/lengths: 6/lengths: 3/", "", "", ": eval.lengths [6] -> [3]"},
    {"chosen seeds", "s/seeds: 4/seeds: [0, 2, 3]/", "", "", ": seeds 4 -> [0, 2, 3]"},
    {"seeds of the command line", "", "", "seeds=[0,1]", ": seeds 4 -> 2"},
    {"more seeds", "s/seeds: 4/seeds: 5/", "", "", ": seeds 4 -> 5"},
    {"override",
     "s/^seeds/overrides: [{when: {position.scheme: none, arm: low}, set: {train.lr: "
     "2e-3}}]\\nseeds/",
     "", "", ": train.lr 0.001 -> 0.002 in none.-.low"},
    {"tokens", "", "", "eval.tokens=30", ": eval.tokens 60 -> 30"},
    {"choice", "s/choose: .0./choose: [1, 2]/", "", "", ": report.best_over.choose [0] -> [1, 2]"},
    {"a third value", "s/high: /more: {train.lr: 5e-3}, high: /", "", "",
     ": with row none.-.more and 1 more row"},
    /* ten more */
    {"metric", "s/^report:/report:\\n  metric: loss/", "", "", "report.metric \"\" -> loss"},
    {"goal", "s/^report:/report:\\n  goal: max/", "", "", ": report.goal metric -> max"},
    {"baseline", "/baseline/d", "", "",
     ": report.baseline {\"position.scheme\": \"none\"} -> null"},
    {"contrast",
     "s/^report:/report:\\n  contrasts: [{name: c, factor: position.scheme, of: "
     "[learned, none]}]/",
     "", "", ": with report.contrasts"},
    {"row left out", "s/\\[none, learned\\]/[none, learned, rotary]/", "",
     "position.scheme=[none,learned]", NULL},
    {"another row", "s/\\[none, learned\\]/[none, learned, rotary]/", "", "",
     ": with row rotary.-.low and 1 more row; with scheme rotary"},
    {"steps of all rows", "s/steps: 4/steps: 5/", "", "", ": train.steps 4 -> 5"},
    {"data", "", "echo more >> text.txt", "", ": task.path ["},
    {"margin", "s/direction: less/direction: less, margin: 0.1/", "", "",
     "claims.it.margin 0 -> 0.1"},
    {"another claim",
     "$a\\  - {name: two, rows: [{position.scheme: none}, {position.scheme: "
     "learned}], direction: less}",
     "", "", ": with claims.two"},
    {"claims withdrawn", "/^claims/,$d", "", "", ": without claims.it"},
    {"looks", "s/seeds: 4/seeds: {from: 2, at_most: 4, until: claims}/", "", "",
     "seeds 4 -> {\"from\": 2, \"every\": 2, \"at_most\": 4, \"spending\": \"obrien-fleming\"}"},
    {"order of seeds", "s/seeds: 4/seeds: [3, 2, 1, 0]/", "", "", ": seeds 4 -> [3, 2, 1, 0]"},
    {"name of a label", "s/low:/slow:/", "", "",
     ": with row none.-.slow and 1 more row; without row none.-.low and 1 more "},
    {"alpha", "s/direction: less/direction: less, alpha: 0.1/", "", "",
     ": claims.it.alpha 0.05 -> 0.1"},
    {"name of a claim", "s/name: it/name: its/", "", "", ": without claims.it; with claims.its"},
    {"order of rows", "s/learned}, {position.scheme: none}/none}, {position.scheme: learned}/", "",
     "", ": claims.it.rows [{\"position.scheme\": \"learned\"}"},
    {"test part", "s/tokens: 60/tokens: 60, test: 0.3/", "", "", ": eval.test 0.5 -> 0.3"},
};

TEST(each_change_is_said)
{
    finish_run();
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        shell_expect(0, "rm -rf try && mkdir try && cp -r base try/run && cp x.yaml text.txt try");
        shell_expect(0, "cd try && sed -i '%s' x.yaml", ways[i].edit);
        if (*ways[i].before)
            shell_expect(0, "cd try && { %s; } > ../said 2>&1", ways[i].before);
        shell_expect(0, "cd try && peat run x.yaml -o run -q %s", ways[i].words);
        shell_expect(0, "cd try && peat results run");
        if (ways[i].said)
            ck_assert_msg(shell_printed(ways[i].said), "%s: no '%s' in:\n%s", ways[i].name,
                          ways[i].said, shell.printed.text);
        else
            ck_assert_msg(!shell_printed("changed "), "%s", shell.printed.text);
    }
}

TEST(a_change_is_said_everywhere)
{
    static const char *const show[] = {
        "peat results run",         "peat results run --part claims",
        "peat results run -f tex",  "peat results run -f md",
        "peat results run -f json", "peat results run -f csv",
        "peat status run",          "peat results run -f csv --part claims",
        "peat verify run",          "peat compare run learned none",
        "peat verify run --json",   "peat compare run learned none --json",
        "peat status run --json",   "peat report run"};
    finish_run();
    shell_expect(0, "mv base run; peat run x.yaml -o run -q seeds=[0,1,3]");
    for (size_t i = 0; i < sizeof(show) / sizeof(*show); i++) {
        int status = shell_run(
            "%s > said; sed 's/&gt;/>/g; s/\\\\textgreater{}/>/g; s/[\\\\]//g' said", show[i]);
        ck_assert_msg(status == 0 && shell_printed("seeds 4 -> [0, 1, 3]"), "%s: %s", show[i],
                      shell.printed.text);
    }
    shell_says(0, "after 40 steps, 10 evaluations and 10 results of 10 started cells",
               "peat status run");
    shell_says(0, "Claims, THE PLAN CHANGED AFTER THE FIRST STEP", "peat results run");
    shell_expect(0, "peat run x.yaml -o run -q");
    shell_says(0, "seeds [0, 1, 3] -> 4", "peat status run");
}

TEST(what_changes_before_the_first_step_is_no_matter)
{
    finish_run();
    shell_expect(0, "peat plan x.yaml -o run --write && peat plan x.yaml -o run --write seeds=3");
    shell_expect(0, "peat run x.yaml -o run -q");
    shell_says(0, ", before the first step", "peat results run");
    ck_assert(!shell_printed("changed "));
}

TEST(a_published_line_is_that_of_the_run_or_not)
{
    finish_run();
    shell_expect(0, "peat plan x.yaml --register > line");
    shell_says(0, "x: 1 claim, 16 cells, 4 seeds, SHA-256 ", "cat line");
    shell_expect(0, "peat plan base --register seeds=4 | cut -d, -f 4 > again && "
                    "cut -d, -f 4 line | cmp - again");
    shell_prints(0, "note: the registration is that of the line",
                 "peat verify base --registered \"$(cat line)\"");
    shell_expect(0, "peat plan x.yaml --register seeds=5 > other");
    shell_says(1, "problem: the registration of the line is SHA-256 ",
               "peat verify base --registered \"$(cat other)\"");
    shell_says(2, "has no SHA-256", "peat verify base --registered x");
    shell_expect(0, "peat run x.yaml -o base -q seeds=5");
    shell_says(0, "seeds 4 -> 5", "peat verify base --registered \"$(cat line)\"");
    shell_prints(2, "peat: option '--register' prints one line alone",
                 "peat plan x.yaml --register --ids");
}

TEST(a_run_of_the_first_version_says_what_was_registered)
{
    shell_expect(
        0, "tar xf \"$PEAT_SOURCE\"/tests/integration/old_runs/6c1f1fa.tar.xz && mv second old");
    shell_expect(0, "echo > line");
    shell_says(0, "registered: words of claims only, ", "peat status old");
    shell_says(0, "registered: words of claims only, ", "peat report old");
    shell_says(0, "registered: words of claims only, ", "peat results old -f json");
    shell_says(0, "note: registered: words of claims only, ", "peat verify old");
    shell_says(1, "problem: no plan was registered, so it is not that of the line",
               "peat verify old --registered $(sha256sum < line | cut -c -64)");
    shell_says(0, "before the first result)", "peat results old");
    ck_assert(!shell_printed("registered"));
}

/* The cell's values on the test part. */
#define TESTED "sed -n 's/.*\"metric\":\"bpb\",\"split\":\"test\",.*\"value\":\\([^,]*\\).*/\\1/p' "

TEST(the_test_part_keeps_its_first_value)
{
    static const char *const again[] = {"eval.tokens=20", "eval.tokens=all", "eval.tokens=20",
                                        "eval.lengths=3", "eval.tokens=40"};
    finish_run();
    shell_expect(0, TESTED "base/cells/learned.sum.low.s0*/metrics.jsonl > was");
    for (size_t i = 0; i < sizeof(again) / sizeof(*again); i++) {
        shell_expect(0,
                     "rm -f base/cells/learned.sum.low.s0*/result.json; "
                     "peat run x.yaml -o base -q %s",
                     again[i]);
        if (!strstr(again[i], "lengths"))
            shell_expect(0, TESTED "base/cells/learned.sum.low.s0*/metrics.jsonl | cmp - was");
    }
    shell_says(0, "note: the test part was evaluated again with eval.tokens 20,all,40 in ",
               "peat verify base");
    assert_printed(" 0 problems");
    shell_says(0, "the test part was evaluated again", "peat results base");
    shell_says(0, "the test part was evaluated again", "peat status base");
}

TEST(a_cell_is_started_once)
{
    finish_run();
    shell_expect(0, "grep -h started_utc base/cells/*/meta.json > was; sleep 1; "
                    "rm base/cells/none*/meta.json base/cells/*/result.json; "
                    "peat run x.yaml -o base -q; cp -r base copy; "
                    "peat run x.yaml -o copy -q eval.tokens=30; "
                    "for d in base copy; do grep -h started_utc $d/cells/*/meta.json | cmp - was "
                    "|| exit; done");
}

int main(void)
{
    return run_tests((struct tests){"registration", shell_open, shell_close, .seconds = 120,
                                    .needs = "PEAT PEAT_SOURCE"});
}
