/* SPDX-License-Identifier: MIT */
/*
 * test_controls.c: experiments whose outcome is known. A model without positions cannot tell order
 * and needs none to count, unless it reads in order; a decoder gets positions from its mask.
 * Minutes: label long.
 */
#include "support/shell.h"
#include "support/support.h"

static void run_control(const char *name)
{
    shell_expect(0, "nice peat run \"$PEAT_SOURCE\"/tests/integration/controls/%s.yaml -o %s -t 1",
                 name, name);
}

/* A metric at the end of the cell with this scheme. */
static double end_of(const char *metric, const char *run, const char *scheme)
{
    shell_expect(0,
                 "grep -h '\"%s\"' %s/cells/%s.*/metrics.jsonl | tail -1 | "
                 "sed 's/.*\"value\":\\([^,]*\\),.*/\\1/'",
                 metric, run, scheme);
    ck_assert_msg(shell.printed.n > 0, "%s has no cell of %s", run, scheme);
    return strtod(shell.printed.text, NULL);
}

static double exact_match(const char *run, const char *scheme)
{
    return end_of("exact_match", run, scheme);
}

static void assert_solved(const char *run, const char *scheme, double least)
{
    double value = exact_match(run, scheme);
    ck_assert_msg(value >= least, "%s with %s: %g", run, scheme, value);
}

TEST(only_positions_tell_which_of_two_came_first)
{
    run_control("order");
    ck_assert_double_eq(exact_match("order", "none"), 0.5);
    assert_solved("order", "sinusoidal", 0.99);
    assert_solved("order", "learned", 0.99);
    assert_solved("order", "rotary", 0.99);
}

TEST(models_that_read_in_order_need_no_positions)
{
    run_control("mixers");
    assert_solved("mixers", "none.-.rnn", 0.99);
    assert_solved("mixers", "none.-.conv33", 0.99);
    ck_assert_double_eq(exact_match("mixers", "none.-.conv1"), 0.5);
}

TEST(only_positions_tell_where_things_are_in_an_image)
{
    run_control("shapes");
    ck_assert_double_eq(end_of("accuracy", "shapes", "none"), 0.25);
    ck_assert_double_ge(end_of("accuracy", "shapes", "sincos2d"), 0.99);
    ck_assert_double_ge(end_of("accuracy", "shapes", "rotary2d"), 0.99);
    ck_assert_double_ge(end_of("accuracy", "shapes", "learned"), 0.99);
}

TEST(a_bag_of_symbols_needs_no_positions)
{
    run_control("bag");
    assert_solved("bag", "none", 0.99);
    assert_solved("bag", "sinusoidal", 0.99);
    assert_solved("bag", "learned", 0.99);
    assert_solved("bag", "rotary", 0.99);
}

TEST(a_decoder_without_positions_copies_in_distribution)
{
    run_control("copy");
    assert_solved("copy", "none", 0.98);
}

int main(void)
{
    return run_tests((struct tests){"controls", shell_open, shell_close, .seconds = 1500,
                                    .needs = "PEAT_SOURCE PEAT"});
}
