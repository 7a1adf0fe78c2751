/* SPDX-License-Identifier: MIT */
/* test_findings.c: findings, paper and claims say what the published results say. */
#include "support/shell.h"
#include "support/support.h"

/* All tests read the same bundles unpacked, which each sees as runs/; the first test unpacks them,
 * which takes longer than most tests. */
static char unpacked[64];

static void open_findings(void)
{
    shell_open();
    shell_expect(0,
                 "[ -e %s/whole ] || { for b in \"$PEAT_SOURCE\"/experiments/*/*.tar.xz; do "
                 "tar xf $b -C %s || exit 1; done; touch %s/whole; }; "
                 "mkdir runs && ln -s %s/*/ runs && ln -s \"$PEAT_SOURCE\"/experiments .",
                 unpacked, unpacked, unpacked, unpacked);
}

/* Copies findings.csv and texts, with an error of each kind that the check is for. */
static void plant_errors(void)
{
    shell_write("table",
                "/^sum-vs-concat,splitting beats the sum/s/-0.045/-0.046/\n" /* an effect */
                "/^scale,rotary is better/s/undecided,/holds,/\n"            /* a verdict */
                "/^settle,learned.split.6000/s/0.007/0.008/\n" /* a difference of rows */
                "/^sum-vs-concat,\"printed: angle, sum of sin/s/51.2/52.1/\n" /* a diagnosis */
                "/^images,without positions/d\n" /* a claim left out */);
    shell_write("findings",
                "s/0.457 ± 0.009 bits/0.475 ± 0.009 bits/\n" /* no row */
                "s/holds†: within 0.025, -0.014 /holds: within 0.025, -0.014 /\n"
                "s/holds, depends on positions \\(. -0.052\\)/holds \\1/\n" /* a mean */);
    shell_write("questions", "s/-0.0246 ± 0.0048/-0.0264 ± 0.0048/\n" /* no row */
                             "/^| 31 /d\n"                            /* a question left out */
                             "s/| `from-concat` /| /\n" /* a number without a run */);
    shell_write("paper", "s/holds}{+0.004 /fails}{+0.004 /\n" /* another verdict */
                         "s/0.0015 nats/0.0016 nats/\n"       /* a plain number */
                         "s/.claim{.*}{.*: a scalar gate is worse .*}//\n" /* a claim left out */);
    shell_expect(0, "mkdir -p planted/docs && ln -s \"$PEAT_SOURCE\"/experiments planted && "
                    "cp \"$PEAT_SOURCE\"/README.md planted && cd planted/docs && "
                    "for f in findings.csv findings.md questions.md paper/paper.tex; do "
                    "n=$(basename ${f%%.*}); [ $f = findings.csv ] && n=table; "
                    "sed -f ../../$n \"$PEAT_SOURCE\"/docs/$f >$(basename $f) || exit 1; done");
}

/* The check takes long, so it runs once: it must find the planted errors and nothing else. */
TEST(every_published_number_is_a_row_of_the_findings_and_each_row_is_what_the_runs_say)
{
    plant_errors();
    shell_expect(1, "/usr/bin/python3 -B \"$PEAT_SOURCE\"/tests/integration/findings_table.py "
                    "planted runs planted/docs/paper.tex >found; code=$?; cat found; "
                    "[ $(wc -l <found) = 33 ] || exit 9; exit $code");
    assert_printed(
        "findings.csv: effect of 'splitting beats the sum of sinusoids' of sum-vs-concat");
    assert_printed(
        "findings.csv: verdict of 'rotary is better than the split' of scale is undecided");
    assert_printed("findings.csv: half_width of 'learned.split.6000 - learned.sum.6000' of settle");
    assert_printed("no page prints 52.1 ± 2.6 of sum-vs-concat: printed: angle, sum of sinusoids");
    assert_printed(
        "findings.csv lacks the claim 'without positions the class is guessed' of images");
    assert_printed("findings: 0.475 ± 0.009 is no row of findings.csv");
    assert_printed("findings: no row -0.014 ± 0.006 that holds");
    assert_printed("findings: no row -0.052 ± 0.004 that holds: ");
    assert_printed("questions: -0.0264 ± 0.0048 is no row of findings.csv");
    assert_printed("questions: the rows are not 1 to 41, each once");
    assert_printed("questions: row 8 has no number of a run, and does not say 'not tested'");
    assert_printed("paper: fails +0.004 ± 0.006 is not what sum-vs-concat: concat and projection");
    assert_printed("paper: 0.0016 is neither marked with its row nor in docs/findings.md");
    assert_printed("paper: the claim 'a scalar gate is worse than adding' of sum-vs-concat is not");
}

TEST(verdicts_are_those_that_an_outsider_recomputes_from_the_csv)
{
    shell_expect(0, "/usr/bin/python3 "
                    "\"$PEAT_SOURCE\"/tests/integration/recompute_claims.py \"$PEAT_SOURCE\"");
}

TEST(claims_of_all_pages_are_one_family_where_asked)
{
    /* scale-control has claims about rows of scale, so it is judged beside it alone. */
    shell_expect(0, "peat results $(dirname runs/*/claims.json | grep -v scale-control) "
                    "--part claims --family -f csv >family.csv");
    shell_expect(0, "/usr/bin/python3 "
                    "\"$PEAT_SOURCE\"/tests/integration/recompute_claims.py family.csv");
    shell_says(0, "Holm over 12 claims",
               "peat results runs/sum-vs-concat runs/learned-vs-sinusoid --part claims --family "
               "--notes");
    assert_printed("runs/sum-vs-concat sinusoidal.sum-1to1 (9)");
    assert_printed("runs/learned-vs-sinusoid: 4 claims, written ");
    shell_says(
        2, "'--family': 'runs/sum-vs-concat-unmatched' has no claims",
        "peat results runs/sum-vs-concat runs/sum-vs-concat-unmatched --part claims --family");
    shell_says(2, "'runs/sum-vs-concat' and './runs/sum-vs-concat' are one directory",
               "peat results runs/sum-vs-concat ./runs/sum-vs-concat --part claims --family");
    shell_says(2, "option '--family' is for --part claims",
               "peat results runs/sum-vs-concat --family");
    static const char same[] =
        "peat results runs/sum-vs-concat runs/learned-vs-sinusoid --part claims --family -f json "
        ">family.json && cp -rL runs/sum-vs-concat copy && peat report runs/sum-vs-concat copy "
        "--family >family.html";
    shell_expect(0, "%s", same);
    shell_expect(0, "[ $(grep -c '\"p_holm\":' family.json) = 12 ] && "
                    "grep -q '\"run\": \"runs/learned-vs-sinusoid\"' family.json");
    shell_says(0, "Holm over 16 claims", "grep -o 'Holm over [0-9]* claims' family.html");
}

int main(void)
{
    new_folder(unpacked, sizeof(unpacked));
    int status = run_tests((struct tests){.subject = "findings",
                                          .open = open_findings,
                                          .close = shell_close,
                                          .seconds = 250,
                                          .needs = "PEAT PEAT_SOURCE python3-numpy python3-scipy"});
    dir_remove(unpacked, NULL);
    return status;
}
