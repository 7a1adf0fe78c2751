/* SPDX-License-Identifier: MIT */
/* test_wrap.c: lines are broken between words, and go on where their column begins. */
#include "support/support.h"

static void assert_wraps(const char *text, size_t width, const char *expected)
{
    struct strbuf out = STRBUF_NEW;
    wrap_add(&out, text, width);
    ck_assert_str_eq(out.text, expected);
    strbuf_release(&out);
}

TEST(what_fits_stays_as_it_is)
{
    assert_wraps("", 10, "");
    assert_wraps("one two\nthree\n", 7, "one two\nthree\n");
    assert_wraps("one two  three", 0, "one two  three");
}

TEST(longer_lines_break_between_words)
{
    assert_wraps("one two three four\n", 9, "one two\n  three\n  four\n");
    assert_wraps("- one two three", 9, "- one two\n  three");
    assert_wraps("  one two", 6, "  one\n    two");
}

TEST(a_word_that_is_too_long_stays_whole)
{
    assert_wraps("incomprehensibilities one", 10, "incomprehensibilities\n  one");
}

TEST(columns_go_on_below_themselves)
{
    assert_wraps("-j, --jobs N  cells at a time, or auto", 30,
                 "-j, --jobs N  cells at a time,\n              or auto");
}

/* A letter of two bytes has one column, a change of colour none. */
TEST(columns_are_those_that_a_terminal_shows)
{
    assert_wraps("\xc3\xa9\xc3\xa9\xc3\xa9 two", 7, "\xc3\xa9\xc3\xa9\xc3\xa9 two");
    assert_wraps("\033[1mone\033[0m two", 7, "\033[1mone\033[0m two");
}

int main(void)
{
    return run_tests((struct tests){"wrap"});
}
