/* SPDX-License-Identifier: MIT */
/* test_experiments.c: the experiments that are published can be planned, and run in small. */
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/blocks.h"
#include "support/shell.h"
#include "support/support.h"

/* Words with an order, so that a run has something to learn. */
static void open_text(void)
{
    shell_open();
    shell_expect(0, "for i in $(seq 3000); do echo \"line $i of a text, and $((i * i)) too\"; done "
                    ">text.txt");
}

/* A copy of the experiments, beside the runs that some of them start from. */
START_TEST(every_experiment_can_be_planned)
{
    shell_expect(0, "cp -r \"$PEAT_SOURCE\"/experiments . && text=$PWD/text.txt && "
                    "peat run experiments/how-the-sum-is-read/concat.yaml task.path=$text "
                    "train.steps=1 eval.tokens=64 -q && "
                    "for f in experiments/*/*.yaml; do "
                    "peat validate $f task.path=$text || exit 1; done");
}
END_TEST

START_TEST(every_smoke_file_ends_with_its_claims_judged)
{
    shell_expect(0, "for f in \"$PEAT_SOURCE\"/experiments/*/smoke.yaml; do "
                    "peat run $f task.path=text.txt -o run -q >out || exit 1; "
                    "grep -q '^Claims' out || exit 2; rm -r run; done");
}
END_TEST

START_TEST(every_experiment_has_a_page_and_claims)
{
    shell_expect(0, "cd \"$PEAT_SOURCE\"/experiments && for f in */experiment.yaml; do "
                    "d=$(dirname $f); [ -e $d/README.md ] && [ -e $d/smoke.yaml ] && "
                    "grep -q '^claims:' $f || { echo $d; exit 1; }; done");
}
END_TEST

/* ---- what was published ---- */

/* Results stand beside their page as a bundle, and as csv of the same name; runs/ holds the bundles
 * unpacked, as commands on the pages expect. */
static void unpack(void)
{
    shell_expect(0, "mkdir -p runs; for b in \"$PEAT_SOURCE\"/experiments/*/*.tar.xz; do "
                    "tar xf $b -C runs || exit 1; done");
}

/* Each block that the page calls *.said begins with "$ command" and goes on with what that prints.
 */
static int run_said(const char *page)
{
    write_blocks(page);
    return shell_run("for f in *.said; do [ -e $f ] || continue; sed -n '1s/^. //p' $f >command; "
                     "tail -n +2 $f >expected; rm $f; sh ./command >printed 2>&1; "
                     "diff expected printed || { cat command; exit 1; }; done");
}

START_TEST(what_pages_print_is_what_the_published_results_say)
{
    glob_t page;
    ck_assert_int_eq(chdir(getenv("PEAT_SOURCE")), 0);
    ck_assert_int_eq(glob("experiments/*/README.md", 0, NULL, &page), 0);
    unpack();
    for (size_t i = 0; i < page.gl_pathc; i++)
        ck_assert_msg(run_said(page.gl_pathv[i]) == 0, "%s: %s", page.gl_pathv[i],
                      shell.printed.text);
    globfree(&page);
}
END_TEST

START_TEST(published_csv_is_what_the_published_results_say)
{
    shell_expect(0, "for b in \"$PEAT_SOURCE\"/experiments/*/*.tar.xz; do "
                    "csv=${b%%.tar.xz}.csv; columns=$(head -n 1 $csv); rm -rf one; mkdir one; "
                    "tar xf $b -C one || exit 1; "
                    "peat results one/* --format csv --columns $columns | "
                    "grep -e \"^$columns$\" -e ',bpb,' | cmp - $csv || exit 1; done");
}
END_TEST

START_TEST(published_results_are_as_they_were_sealed)
{
    unpack();
    shell_expect(0, "for d in runs/*; do peat verify $d >out || { cat out; exit 1; }; done");
}
END_TEST

int main(void)
{
    return run_list((struct tests){.subject = "experiments",
                                   .open = open_text,
                                   .close = shell_close,
                                   .seconds = 250,
                                   .needs = "PEAT PEAT_SOURCE"},
                    TESTS(every_experiment_can_be_planned,
                          every_smoke_file_ends_with_its_claims_judged,
                          every_experiment_has_a_page_and_claims,
                          what_pages_print_is_what_the_published_results_say,
                          published_csv_is_what_the_published_results_say,
                          published_results_are_as_they_were_sealed));
}
