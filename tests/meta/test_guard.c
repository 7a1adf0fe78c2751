/* SPDX-License-Identifier: MIT */
/* test_guard.c: what a test is run by ends it in time, and leaves nothing of it. */
#include "support/shell.h"
#include "support/support.h"

#define GUARD "TMPDIR=$PWD PEAT_TEST_SECONDS=%d \"$PEAT_BUILD\"/tests/peat_guard "

TEST(exit_status_is_the_tests)
{
    shell_expect(0, GUARD "true", 20);
    shell_expect(77, GUARD "sh -c 'exit 77'", 20);
    shell_expect(128 + 11, GUARD "sh -c 'kill -SEGV $$'", 20);
}

/* One process that waits in its parent's group, one in a session of its own. */
TEST(test_that_does_not_end_is_ended_and_its_processes_are_shown)
{
    shell_expect(1, GUARD "sh -c 'setsid sleep 4711 & sleep 4712'", 1);
    assert_printed("has not ended in 1 s");
    assert_printed(": sleep 4711");
    assert_printed(": sleep 4712");
    shell_expect(1, "pgrep -fx 'sleep 471[12]'");
}

TEST(nothing_is_left_of_a_test_that_ends)
{
    shell_expect(0, GUARD "sh -c 'setsid sleep 4713 & mktemp -d && touch $TMPDIR/file'", 20);
    shell_expect(0, "test -z \"$(ls)\"");
    shell_expect(1, "pgrep -fx \'sleep 4713\'");
}

TEST(nothing_is_left_of_a_test_that_is_interrupted)
{
    shell_expect(128 + 15,
                 GUARD "sh -c 'mktemp -d; sleep 4714; :' & pid=$!; "
                       "until pgrep -fx 'sleep 4714'; do sleep 0.05; done; "
                       "kill -TERM $pid; wait $pid",
                 20);
    shell_expect(0, "test -z \"$(ls)\"");
    shell_expect(1, "pgrep -fx 'sleep 4714'");
}

TEST(folder_is_in_memory_that_has_room_and_runs_programs)
{
    static const char *const disk[][2] = {
        {"size=3g", "/dev/shm"}, {"size=1g", "/tmp"}, {"size=3g,noexec", "/tmp"}};
    if (shell_run("unshare -rm mount -t tmpfs none /dev/shm") != 0) {
        printf("skipped: a disk in memory needs a mount namespace\n");
        return;
    }
    for (int i = 0; i < 3; i++)
        shell_prints(0, disk[i][1],
                     "unset TMPDIR; unshare -rm sh -c 'mount -t tmpfs -o %s none /dev/shm && "
                     "PEAT_TEST_SECONDS=20 \"$PEAT_BUILD\"/tests/peat_guard "
                     "sh -c \"dirname \\$TMPDIR\"'",
                     disk[i][0]);
}

/* As support.c tells it. */
TEST(test_at_its_own_limit_shows_its_processes_and_goes_on)
{
    shell_expect(0, GUARD "sh -c 'echo 0.5 3 >$PEAT_TEST_LIMIT; sleep 2.5'", 60);
    assert_printed("has not ended in 3 s");
    assert_printed(": sleep 2.5");
}

TEST(a_failing_command_shows_the_end_of_its_output)
{
    shell_expect(1, "\"$PEAT_BUILD\"/tests/meta/meta_guard --fail");
    assert_printed("exit status 1, expected 0");
    assert_printed("100000\nthe reason");
}

GROUP(failing)

/* What this program runs when it is asked to fail. */
TEST(a_long_output_ends_in_a_failure)
{
    shell_expect(0, "seq 100000; echo the reason; false");
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return run_tests((struct tests){"fail", shell_open, shell_close, .group = "failing"});
    return run_tests((struct tests){"guard", shell_open, shell_close, .seconds = 60,
                                    .needs = "PEAT_BUILD setsid mktemp pgrep"});
}
