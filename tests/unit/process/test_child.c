/* SPDX-License-Identifier: MIT */
/* test_child.c: starting a program, waiting for it, and how it ended. */
#include <sys/mman.h>

#include "process/child.h"
#include "support/support.h"

static const char *log_file;
static struct arena arena;
static struct error err;

static void open_directory(void)
{
    scratch_make();
    arena_init(&arena, "test", 1 << 12);
    log_file = arena_strdup(&arena, scratch_path("log.txt"));
    err = (struct error){0};
}

static void close_directory(void)
{
    arena_release(&arena);
    scratch_remove();
}

/* ---- programs ---- */

/* A shell command as a child; its output is in the log. */
static struct child shell_child(const char *command)
{
    char **argv = ARENA_ARRAY(&arena, 4, char *);
    argv[0] = arena_strdup(&arena, "sh");
    argv[1] = arena_strdup(&arena, "-c");
    argv[2] = arena_strdup(&arena, command);
    return (struct child){.argv = argv, .log = log_file, .own_group = true};
}

static struct child run_to_end(const char *command)
{
    struct child c = shell_child(command);
    ck_assert_msg(child_start(&c, &err) == PEAT_OK, "%s", err.text);
    child_wait(&c);
    ck_assert(child_has_ended(&c) && !c.late);
    return c;
}

TEST(end_is_a_code_or_a_signal)
{
    char name[SIGNAL_NAME];
    struct child c = run_to_end("exit 3");
    ck_assert_int_eq(c.code, 3);
    ck_assert_int_eq(c.signal, 0);
    c = run_to_end("kill -SEGV $$");
    ck_assert_int_eq(c.code, -1);
    ck_assert_str_eq(signal_name(c.signal, name), "SIGSEGV");
    ck_assert_str_eq(signal_name(40, name), "signal 40");
}

TEST(signals_that_are_ignored_here_lose_no_end)
{
    signal(SIGCHLD, SIG_IGN);
    ck_assert_int_eq(run_to_end("exit 4").code, 4);
}

TEST(program_that_is_not_there_is_not_found)
{
    char name[] = "peat-no-such-program", *argv[] = {name, NULL};
    struct child c = {.argv = argv};
    ck_assert_int_eq(child_start(&c, &err), PEAT_NOTFOUND);
    ck_assert_str_eq(err.text, "cannot start 'peat-no-such-program': No such file or directory");
    c = shell_child("true");
    c.log = "/nowhere/log";
    ck_assert_int_eq(child_start(&c, &err), PEAT_IO);
    ck_assert_str_eq(err.text, "cannot open '/nowhere/log': No such file or directory");
}

/* Soon: init has yet to wait for those that it was left. */
static void assert_group_is_gone(pid_t group)
{
    for (int i = 0; i < 60000 && kill(-group, 0) == 0; i++)
        usleep(1000);
    ck_assert_int_eq(kill(-group, 0), -1);
}

/* It ignores SIGTERM, and so does what it has started. */
TEST(deadline_ends_the_whole_group)
{
    struct child c = shell_child("trap '' TERM; sleep 100 & sleep 100");
    c.grace = 0.2;
    ck_assert_int_eq(child_start(&c, &err), PEAT_OK);
    ck_assert(!child_has_ended(&c));
    c.deadline = c.started + 0.2;
    child_wait(&c);
    double seconds = clock_seconds() - c.started;
    ck_assert(c.late && seconds > 0.3 && seconds < 90);
    ck_assert_int_eq(c.signal, SIGKILL);
    assert_group_is_gone(c.pid);
}

TEST(what_a_program_leaves_behind_ends_with_it)
{
    struct child c = run_to_end("sleep 100 & exit 0");
    ck_assert_int_eq(c.code, 0);
    assert_group_is_gone(c.pid);
}

TEST(output_is_read_back_together_or_apart)
{
    struct strbuf out = STRBUF_NEW, said = STRBUF_NEW;
    struct child c = shell_child("cat; echo one; echo two >&2; pwd");
    c.log = NULL;
    c.dir = "/";
    ck_assert_int_eq(child_run(&c, &out, &said, &err), PEAT_OK);
    ck_assert_str_eq(out.text, "one\n/\n");
    ck_assert_str_eq(said.text, "two\n");
    strbuf_clear(&out);
    c = shell_child("echo one; echo two >&2; exit 5");
    c.log = NULL;
    ck_assert_int_eq(child_run(&c, &out, NULL, &err), PEAT_OK);
    ck_assert_int_eq(c.code, 5);
    ck_assert_str_eq(out.text, "one\ntwo\n");
    strbuf_release(&out);
    strbuf_release(&said);
}

TEST(trail_and_environment_are_handed_over)
{
    char only[] = "A=b", *env[] = {only, NULL};
    struct child c = shell_child("[ -e /proc/self/fd/3 ] && [ $A = b ] && [ -z \"$HOME\" ]");
    c.env = env;
    c.has_trail = true;
    ck_assert_int_eq(child_start(&c, &err), PEAT_OK);
    ck_assert_ptr_nonnull(c.trail);
    child_wait(&c);
    ck_assert_int_eq(c.code, 0);
    child_release(&c);
    ck_assert_ptr_null(c.trail);
}

/* ---- logs ---- */

static void write_log(const char *text)
{
    ck_assert_int_eq(file_write(log_file, text, strlen(text), NULL), PEAT_OK);
}

TEST(last_lines_of_logs_are_found)
{
    ck_assert_ptr_null(log_last_line(log_file, 0, "", &arena));
    write_log("peat: old\none\npeat: new\nlast\n\n");
    ck_assert_str_eq(log_last_line(log_file, 0, "", &arena), "last");
    ck_assert_str_eq(log_last_line(log_file, 0, "peat: ", &arena), "new");
    ck_assert_str_eq(log_last_line(log_file, 10, "peat: ", &arena), "new");
    ck_assert_ptr_null(log_last_line(log_file, 24, "peat: ", &arena));
    write_log("peat: only");
    ck_assert_str_eq(log_last_line(log_file, 0, "peat: ", &arena), "only");
    write_log("\n\n");
    ck_assert_ptr_null(log_last_line(log_file, 0, "", &arena));
}

TEST(first_line_of_a_sanitizer_is_found)
{
    write_log("a\nb\n");
    ck_assert_ptr_null(log_sanitizer_line(log_file, 0, &arena));
    write_log("a\n==1==ERROR: AddressSanitizer: SEGV on x\n  #0\nERROR: again\n");
    ck_assert_str_eq(log_sanitizer_line(log_file, 0, &arena),
                     "==1==ERROR: AddressSanitizer: SEGV on x");
    ck_assert_str_eq(log_sanitizer_line(log_file, 10, &arena), "ERROR: again");
    write_log("m.c:3:5: runtime error: division by zero\n");
    ck_assert_ptr_nonnull(log_sanitizer_line(log_file, 0, &arena));
}

int main(void)
{
    return run_tests((struct tests){"child", open_directory, close_directory, 60});
}
