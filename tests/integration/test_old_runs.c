/* SPDX-License-Identifier: MIT */
/*
 * test_old_runs.c: run directories and archives that earlier versions wrote are read as they were.
 *
 * old_runs/ has, by the commit that made them, an archive of a run directory, and the table that
 * this version printed of it as csv. They are never made again: docs/formats.md. 145786c had no
 * column `label` and no archives: its column `cell`, which had another meaning, is left out, and
 * the archive is of tar.
 */
#include "support/shell.h"
#include "support/support.h"

static const struct {
    const char *commit, *archive, *name, *hash;
    const char *page; /* stands on it */
} runs[] = {
    {"145786c", "tar.gz", "first",
     "328ada219190388e223aa2e8904b3988e2b64186bce27af148314dd408379404", "rotary"},
    {"6c1f1fa", "tar.xz", "second",
     "fc49678ffaa73e6e6429dc9987c03f75992be42a80ee90c6482c3038f7254693", "positions help"},
};
enum { RUNS = sizeof(runs) / sizeof(*runs) };

static void open_runs(void)
{
    shell_open();
    for (int i = 0; i < RUNS; i++)
        shell_expect(0,
                     "old=$PEAT_SOURCE/tests/integration/old_runs/%s && cp $old.csv . && "
                     "tar xf $old.%s && mv %s %s",
                     runs[i].commit, runs[i].archive, runs[i].name, runs[i].commit);
}

LOOP_TEST(old_run_has_the_table_that_its_version_printed, RUNS)
{
    const char *dir = runs[_i].commit;
    shell_expect(0, "peat results %s --format csv --columns $(head -n 1 %s.csv) | diff %s.csv -",
                 dir, dir, dir);
}

LOOP_TEST(old_run_is_verified_and_has_its_hash, RUNS)
{
    shell_says(0, runs[_i].hash, "peat verify %s", runs[_i].commit);
    assert_printed(" 0 problems");
}

LOOP_TEST(old_run_is_read_by_every_verb, RUNS)
{
    const char *dir = runs[_i].commit;
    shell_says(0, " done", "peat status %s", dir);
    shell_says(0, runs[_i].page, "peat report %s -o page.html && cat page.html", dir);
    shell_expect(0, "peat results %s && peat results %s --format json", dir, dir);
    if (is_here("python3-jinja2 python3-matplotlib"))
        shell_expect(0, "peat plot %s --kind bars -o figure.svg", dir);
    shell_expect(0, "peat bundle %s -o again.tar.gz && tar tf again.tar.gz >/dev/null", dir);
}

/* Bits that were made in another order of sums cannot come again; values do. */
LOOP_TEST(old_cells_are_trained_again_to_nearly_the_same_values, RUNS)
{
    shell_says(0, ": close: another arithmetic; its values differ by ",
               "peat verify %s --retrain 1 --seed 1", runs[_i].commit);
    assert_printed("retrained with seed 1: 0 the same, 1 close\n");
}

TEST(old_cells_are_not_trained_on_in_another_arithmetic)
{
    shell_expect(0, "c=$(basename %s/cells/*s0*) && rm %s/cells/$c/result.json && echo $c >cell",
                 runs[0].commit, runs[0].commit);
    shell_says(1,
               "the cell was planned with arithmetic 1, and this peat computes with arithmetic 2",
               "peat cell %s $(cat cell); cat %s/cells/$(cat cell)/log.txt; exit 1", runs[0].commit,
               runs[0].commit);
}

/* A value of the table is of the files, and not of the test. */
TEST(changed_old_run_is_seen)
{
    shell_expect(
        0, "sed -i '0,/\"value\": [0-9.]*/s//\"value\": 0.5/' 6c1f1fa/cells/learned*/result.json");
    shell_expect(1, "peat results 6c1f1fa --format csv --columns $(head -n 1 6c1f1fa.csv) | "
                    "diff -q 6c1f1fa.csv -");
    shell_expect(1, "peat verify 6c1f1fa");
}

int main(void)
{
    return run_tests((struct tests){.subject = "old_runs",
                                    .open = open_runs,
                                    .close = shell_close,
                                    .seconds = 60,
                                    .needs = "PEAT PEAT_SOURCE tar xz"});
}
