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

START_TEST(findings_say_numbers_and_verdicts_of_the_csv)
{
    shell_expect(0, "[ -x /usr/bin/python3 ] || exit 0; /usr/bin/python3 "
                    "\"$PEAT_SOURCE\"/tests/integration/published_numbers.py \"$PEAT_SOURCE\"");
}
END_TEST

/* Writes the paper with an error of each kind that its check is for. */
static void plant_errors(void)
{
    shell_write("errors", "s/{-0.045 .pm 0.006/{-0.046 \\\\pm 0.006/\n" /* an effect */
                          "s/holds}{+0.004 /fails}{+0.004 /\n"          /* a verdict */
                          "s/holds.dag}{-0.010 /holds}{-0.010 /\n"      /* a mark of the family */
                          "s/+0.044 .pm 0.006/+0.044 \\\\pm 0.007/\n"   /* a difference of rows */
                          "s/0.743 /0.473 /\n"                          /* a diagnosis */
                          "s/0.0015 nats/0.0016 nats/\n"                /* a plain number */
                          "s/.claim{.*}{.*: a scalar gate is worse .*}//\n" /* a claim left out */);
    shell_expect(0, "sed -f errors \"$PEAT_SOURCE\"/docs/paper/paper.tex >planted.tex");
}

/* The check takes long, so it runs once: it must find the planted errors and nothing else. */
START_TEST(the_paper_says_numbers_and_verdicts_of_the_published_results)
{
    if (shell_run("test -x /usr/bin/python3") != 0)
        return;
    plant_errors();
    shell_expect(1, "/usr/bin/python3 -B \"$PEAT_SOURCE\"/tests/integration/paper_numbers.py "
                    "\"$PEAT_SOURCE\" runs planted.tex >found; code=$?; cat found; "
                    "[ $(wc -l <found) = 7 ] || exit 9; exit $code");
    assert_printed("holds -0.046 ± 0.006 is not what sum-vs-concat: splitting beats the sum");
    assert_printed("fails +0.004 ± 0.006 is not what sum-vs-concat: concat and projection");
    assert_printed("holds -0.010 ± 0.006 is not what sum-vs-concat: the ratio decides");
    assert_printed("+0.044 ± 0.007 is not what sum-vs-concat: learned.project");
    assert_printed("0.473 ± 0.016 is not what sum-vs-concat says");
    assert_printed("0.0016 is neither marked with its source nor in docs/findings.md");
    assert_printed("the claim 'a scalar gate is worse than adding' of sum-vs-concat is not in");
}
END_TEST

START_TEST(verdicts_are_those_that_an_outsider_recomputes_from_the_csv)
{
    shell_expect(0, "/usr/bin/python3 -c 'import numpy, scipy' || exit 0; /usr/bin/python3 "
                    "\"$PEAT_SOURCE\"/tests/integration/recompute_claims.py \"$PEAT_SOURCE\"");
}
END_TEST

START_TEST(claims_of_all_pages_are_one_family_where_asked)
{
    shell_expect(0, "peat results $(dirname runs/*/claims.json) --part claims --family -f csv > "
                    "family.csv");
    shell_expect(0, "/usr/bin/python3 -c 'import numpy, scipy' || exit 0; /usr/bin/python3 "
                    "\"$PEAT_SOURCE\"/tests/integration/recompute_claims.py family.csv");
    shell_says(0, "Holm over 12 claims",
               "peat results runs/sum-vs-concat runs/learned-vs-sinusoid --part claims --family");
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
    shell_expect(0, "[ $(grep -c '\"p_holm\"' family.json) = 12 ] && "
                    "grep -q '\"run\": \"runs/learned-vs-sinusoid\"' family.json");
    shell_says(0, "Holm over 16 claims", "grep -o 'Holm over [0-9]* claims' family.html");
}
END_TEST

int main(void)
{
    new_folder(unpacked, sizeof(unpacked));
    int status = run_list((struct tests){.subject = "findings",
                                         .open = open_findings,
                                         .close = shell_close,
                                         .seconds = 250,
                                         .needs = "PEAT PEAT_SOURCE python3-numpy python3-scipy"},
                          TESTS(findings_say_numbers_and_verdicts_of_the_csv,
                                the_paper_says_numbers_and_verdicts_of_the_published_results,
                                verdicts_are_those_that_an_outsider_recomputes_from_the_csv,
                                claims_of_all_pages_are_one_family_where_asked));
    dir_remove(unpacked, NULL);
    return status;
}
