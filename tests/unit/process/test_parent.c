/* SPDX-License-Identifier: MIT */
/* test_parent.c: processes that end with the one that started them, and what may outlast a stop. */
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "process/child.h"
#include "process/parent.h"
#include "support/support.h"

/* What processes tell each other. */
struct shared {
    pid_t child, grandchild;
    bool ready, came;
    struct trail_page page;
};
static struct shared *shared;

static void open_shared(void)
{
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
    for (int signal = SIGHUP; signal <= SIGTERM; signal++)
        if (signal != SIGKILL)
            sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

static void nap(void)
{
    nanosleep(&(struct timespec){0, 10 * 1000 * 1000}, NULL);
}

static void wait_for(const volatile bool *fact)
{
    while (!*fact)
        nap();
}

/* A process that was left is waited for by init, or by nobody: then it is a zombie. */
static bool is_gone(pid_t pid)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return true;
    ssize_t n = read(fd, text, sizeof(text) - 1);
    close(fd);
    const char *state = n > 0 ? strrchr(text, ')') : NULL;
    return !state || state[2] == 'Z' || state[2] == 'X';
}

/* The worst that a plugin can do: only SIGKILL ends it. */
_Noreturn static void endure(void)
{
    for (int signal = 1; signal < 32; signal++)
        sigaction(signal, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    shared->ready = true;
    for (;;)
        continue;
}

/* A child with a child, under a parent that is killed. */
static void kill_parent_of(void (*child)(pid_t parent))
{
    pid_t parent = fork();
    if (parent == 0) {
        pid_t self = getpid();
        if (fork() == 0) {
            shared->child = getpid();
            child(self);
        }
        for (;;)
            pause();
    }
    wait_for(&shared->ready);
    kill(parent, SIGKILL);
    ck_assert_int_eq(waitpid(parent, NULL, 0), parent);
}

static void await_end(pid_t pid)
{
    while (!is_gone(pid))
        nap();
}

/* ---- the parent's death ---- */

static void watched(pid_t parent)
{
    setpgid(0, 0);
    ck_assert(parent_follow(parent, SIGTERM));
    parent_watch((struct parent_watch){parent, 0.2, &shared->page});
    shared->grandchild = fork();
    if (shared->grandchild == 0)
        for (;;)
            pause();
    endure();
}

TEST(process_that_endures_all_signals_ends_with_its_parent_and_with_what_it_started)
{
    kill_parent_of(watched);
    await_end(shared->child);
    await_end(shared->grandchild);
}

static void saving(pid_t parent)
{
    parent_watch((struct parent_watch){parent, 0.5, &shared->page});
    shared->ready = true;
    for (int i = 0; i < 150; i++, nap())
        shared->page.beats++;
    shared->came = true;
    _exit(0);
}

TEST(process_that_gets_on_may_end_by_itself)
{
    kill_parent_of(saving);
    await_end(shared->child);
    ck_assert(shared->came);
}

TEST(process_whose_parent_has_gone_before_is_told)
{
    ck_assert(parent_follow(getppid(), 0));
    ck_assert(!parent_follow(getpid(), 0));
}

/* ---- stops ---- */

static int end_of(void (*body)(int signal), int signal)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        body(signal);
        _exit(7);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void be_told(int signal)
{
    stops_end_process();
    raise(signal);
}

static void be_told_while_held(int signal)
{
    struct stops_held outer, inner;
    stops_end_process();
    stops_hold(&outer);
    stops_hold(&inner);
    if (stops_waiting())
        _exit(1);
    raise(signal);
    stops_let(&inner);
    shared->came = stops_waiting();
    stops_let(&outer);
}

static void ignore_it(int number)
{
    struct stops_held held;
    signal(number, SIG_IGN);
    stops_end_process();
    raise(number);
    stops_hold(&held);
    raise(number);
    if (stops_waiting())
        _exit(1);
    stops_let(&held);
}

static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
enum { STOPS = sizeof(stops) / sizeof(*stops) };

LOOP_TEST(stop_ends_the_process_with_130, STOPS)
{
    ck_assert_int_eq(end_of(be_told, stops[_i]), STOPS_CODE);
}

LOOP_TEST(stop_waits_until_the_outermost_work_is_done, STOPS)
{
    ck_assert_int_eq(end_of(be_told_while_held, stops[_i]), STOPS_CODE);
    ck_assert(shared->came);
}

LOOP_TEST(stop_that_was_ignored_at_the_start_stays_so, STOPS)
{
    ck_assert_int_eq(end_of(ignore_it, stops[_i]), 7);
}

static void run_a_sleeper(int number)
{
    char sh[] = "sh", c[] = "-c", command[] = "kill -$0 $PPID; exec sleep 1000", name[16];
    snprintf(name, sizeof(name), "%d", number);
    char *argv[] = {sh, c, command, name, NULL};
    struct child sleeper = {.argv = argv};
    struct strbuf out = STRBUF_NEW;
    struct error err = {0};
    stops_end_process();
    child_run(&sleeper, &out, NULL, &err);
}

LOOP_TEST(stop_ends_the_program_that_is_waited_for_and_then_this_one, STOPS)
{
    ck_assert_int_eq(end_of(run_a_sleeper, stops[_i]), STOPS_CODE);
}

int main(void)
{
    return run_tests((struct tests){"parent", open_shared, NULL, .seconds = 60});
}
