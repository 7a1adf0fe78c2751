/* SPDX-License-Identifier: MIT */
/*
 * Every mistake of bad/mistakes.txt is refused before anything is made: exit code 2, nothing on
 * stdout, and on stderr the one line that the table has, whole.
 */
#include "support/shell.h"
#include "support/support.h"

static void make_mistakes(void)
{
    shell_open();
    shell_expect(0,
                 "b=\"$PEAT_SOURCE\"/tests/integration/bad; mkdir bad && cp \"$b\"/bad.txt bad && "
                 "awk -v dir=\"$PWD/bad\" -f \"$b\"/make.awk \"$b\"/mistakes.txt && "
                 "test $(ls bad/*.yaml | wc -l) -ge 140");
}

/* A mistake that is not refused so is printed, with what the program says of it. */
static void assert_all_refused(const char *verb)
{
    shell_expect(0,
                 "for f in \"$PWD\"/bad/*.yaml; do peat %s \"$f\" >out 2>err; code=$?; "
                 "test $code = 2 && ! test -s out && cmp -s err \"${f%%.yaml}.line\" && "
                 "test \"$(echo *)\" = 'bad err out' && continue; wrong=1; "
                 "echo \"$f: exit status $code, $(echo *); expected and printed:\"; "
                 "cat \"${f%%.yaml}.line\" err out; done; test -z \"$wrong\"",
                 verb);
}

TEST(validate_refuses_each_with_one_placed_line)
{
    assert_all_refused("validate");
}

TEST(run_refuses_each_with_the_same_line_and_makes_nothing)
{
    assert_all_refused("run");
}

int main(void)
{
    return run_tests((struct tests){.subject = "bad experiments",
                                    .open = make_mistakes,
                                    .close = shell_close,
                                    .seconds = 120,
                                    .needs = "PEAT PEAT_SOURCE"});
}
