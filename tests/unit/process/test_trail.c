/* SPDX-License-Identifier: MIT */
/* test_trail.c: the trail of a dead process, and changes that a plugin made to a live one. */
#include <fenv.h>
#include <fnmatch.h>
#include <locale.h>
#include <sys/wait.h>
#include <time.h>

#include "process/apart.h"
#include "process/state.h"
#include "process/trail.h"
#include "support/support.h"

static char where[TRAIL_TEXT];

/* ---- the trail ---- */

TEST(page_tells_where_a_process_died)
{
    int fd;
    struct trail_page *page = trail_page_new(&fd);
    ck_assert_ptr_nonnull(page);
    pid_t pid = fork();
    if (pid == 0) {
        struct trail trail = {.page = trail_page_open(fd)};
        trail_step(&trail, 7);
        trail_enter(&trail, "rotary.qkv");
        kill(getpid(), SIGKILL);
    }
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    trail_where(page, where);
    ck_assert_str_eq(where, "rotary.qkv");
    ck_assert_int_eq(page->step, 7);
    ck_assert_int_eq((int64_t)page->beats, 2);
    close(fd);
    trail_page_free(page);
}

TEST(kernel_goes_before_the_hook_it_runs_in)
{
    struct trail_page page = {0};
    struct trail trail = {.page = &page};
    trail_enter(&trail, "mine.bias");
    trail_enter_kernel(&trail, "mine.bias", "swirl", true);
    trail_where(&page, where);
    ck_assert_str_eq(where, "mine.bias, kernel 'swirl' backward");
    trail_leave_kernel(&trail);
    trail_where(&page, where);
    ck_assert_str_eq(where, "mine.bias");
    trail_leave(&trail);
    trail_where(&page, where);
    ck_assert_str_eq(where, "");
}

TEST(plugin_of_a_place_is_found_by_its_whole_name)
{
    struct trail_page page = {0};
    struct trail trail = {.page = &page};
    struct trail_plugin found;
    trail_plugin(&trail, "rotary_scaled", "/a.so", "");
    trail_plugin(&trail, "rotary", "/b.so", "e.yaml:3:5: ");
    ck_assert(trail_find(&page, "rotary.qkv", &found));
    ck_assert_str_eq(found.file, "/b.so");
    ck_assert_str_eq(found.at, "e.yaml:3:5: ");
    ck_assert(!trail_find(&page, "rot.qkv", &found));
    for (int i = 0; i < 100; i++)
        trail_plugin(&trail, "x", "", "");
    ck_assert_int_eq(page.n_plugin, TRAIL_PLUGINS);
}

TEST(page_that_was_overwritten_does_no_harm)
{
    struct trail_page page;
    struct trail_plugin found;
    struct error err = {0};
    memset(&page, 0x41, sizeof(page));
    trail_where(&page, where);
    ck_assert_int_eq((int)strlen(where), TRAIL_TEXT - 1);
    ck_assert(!trail_find(&page, "rotary.qkv", &found));
    ck_assert(trail_said(&page, &err));
    ck_assert_int_lt((int)strlen(err.text), (int)sizeof(err.text));
}

/* ---- the guard ---- */

static void to_root(void)
{
    ck_assert_int_eq(chdir("/"), 0);
}

static void to_utf8(void)
{
    setlocale(LC_ALL, "C.UTF-8");
}

static void round_up(void)
{
    fesetround(FE_UPWARD);
}

static void ignore_sigterm(void)
{
    signal(SIGTERM, SIG_IGN);
}

static void block_sigint(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static void close_input(void)
{
    close(STDIN_FILENO);
}

static void replace_input(void)
{
    int fd = open("/dev/zero", O_RDONLY);
    dup2(fd, STDIN_FILENO);
    close(fd);
}

static void leave_child(void)
{
    if (fork() == 0)
        _exit(0);
}

static void nothing(void)
{
}

static const struct {
    void (*change)(void);
    const char *what;
} changes[] = {
    {nothing, ""},
    {to_root, "changed the current directory from '*' to '/'"},
    {to_utf8, "changed the locale from 'C' to 'C.UTF-8'"},
    {round_up, "changed how numbers are rounded, or the treatment of denormals"},
    {ignore_sigterm, "changed what SIGTERM does"},
    {block_sigint, "changed what SIGINT does"},
    {close_input, "closed file descriptor 0"},
    {replace_input, "closed file descriptor 0"},
    {leave_child, "left a child process"},
};

/* In the child of apart_run, whose own guard would say the same: it is not called. */
static peat_status change(void *ctx, struct trail *trail, struct strbuf *out, struct error *err)
{
    struct guard guard = {0};
    (void)trail;
    (void)err;
    guard_start(&guard);
    changes[*(const int *)ctx].change();
    guard_look(&guard, "x.y");
    guard_look(&guard, "later");
    strbuf_addf(out, "%s|%s", guard.where, guard.what);
    return PEAT_OK;
}

LOOP_TEST(guard_names_each_change_and_who_made_it, sizeof(changes) / sizeof(*changes))
{
    struct strbuf out = STRBUF_NEW;
    struct error err = {0};
    char expected[128];
    ck_assert_msg(apart_run(change, &_i, 20, APART_ASIDE, &out, NULL, &err) == PEAT_OK, "%s",
                  err.text);
    const char *what = changes[_i].what;
    snprintf(expected, sizeof(expected), "%s|%s", *what ? "x.y" : "", what);
    ck_assert_msg(fnmatch(expected, out.text, 0) == 0, "%s, not %s", out.text, expected);
    strbuf_release(&out);
}

/* ---- work apart ---- */

static peat_status refuse(void *ctx, struct trail *trail, struct strbuf *out, struct error *err)
{
    (void)ctx, (void)trail;
    strbuf_add(out, "half");
    return error_set(err, PEAT_REFUSED, "no");
}

static peat_status hang_in_the_engine(void *ctx, struct trail *trail, struct strbuf *out,
                                      struct error *err)
{
    const struct timespec pause = {0, 400 * 1000 * 1000};
    (void)ctx, (void)trail, (void)err;
    nanosleep(&pause, NULL);
    strbuf_fill(out, 'x', 1 << 20);
    return PEAT_OK;
}

static peat_status die_apart(void *ctx, struct trail *trail, struct strbuf *out, struct error *err)
{
    (void)ctx, (void)out, (void)err;
    trail_plugin(trail, "mine", "/mine.so", "e.yaml:1:2: ");
    trail_enter(trail, "mine.setup");
    kill(getpid(), SIGKILL);
    return PEAT_OK;
}

TEST(error_of_the_work_comes_back_and_nothing_else)
{
    struct strbuf out = STRBUF_NEW;
    struct error err = {0};
    ck_assert_int_eq(apart_run(refuse, NULL, 1, APART_ASIDE, &out, NULL, &err), PEAT_REFUSED);
    ck_assert_str_eq(err.text, "no");
    ck_assert_str_eq(out.text, "");
    strbuf_release(&out);
}

/* As in a lock that was taken before the fork. */
static peat_status wait_for_ever(void *ctx, struct trail *trail, struct strbuf *out,
                                 struct error *err)
{
    (void)ctx, (void)out, (void)err;
    trail_cell(trail, "rotary.s0");
    pause();
    return PEAT_OK;
}

TEST(child_that_stands_still_outside_of_plugins_is_ended_and_named)
{
    struct strbuf out = STRBUF_NEW;
    struct error err = {0};
    ck_assert_int_eq(apart_run(wait_for_ever, NULL, 0.1, APART_ASIDE, &out, NULL, &err),
                     PEAT_FAILED);
    ck_assert_ptr_nonnull(strstr(
        err.text,
        "the process that runs plugins made no progress outside of plugins for 0.4 s, sleeping"));
    ck_assert_ptr_nonnull(strstr(err.text, ", for cell rotary.s0"));
    strbuf_release(&out);
}

TEST(limit_of_a_plugin_is_not_the_engines_and_all_bytes_come)
{
    struct strbuf out = STRBUF_NEW;
    struct error err = {0};
    ck_assert_int_eq(apart_run(hang_in_the_engine, NULL, 0.3, APART_ASIDE, &out, NULL, &err),
                     PEAT_OK);
    ck_assert_uint_eq(out.n, 1 << 20);
    strbuf_release(&out);
}

TEST(child_that_prints_may_wait_for_its_reader)
{
    struct strbuf out = STRBUF_NEW;
    struct error err = {0};
    ck_assert_int_eq(apart_run(hang_in_the_engine, NULL, 0.05, APART_PRINTS, &out, NULL, &err),
                     PEAT_OK);
    strbuf_release(&out);
}

TEST(death_of_the_child_names_the_plugin)
{
    struct strbuf out = STRBUF_NEW;
    struct error err = {0};
    struct trail_plugin died;
    ck_assert_int_eq(apart_run(die_apart, NULL, 1, APART_ASIDE, &out, &died, &err), PEAT_FAILED);
    ck_assert_str_eq(err.text, "e.yaml:1:2: 'mine' (/mine.so) was ended by SIGKILL in its setup");
    ck_assert_str_eq(died.file, "/mine.so");
    strbuf_release(&out);
}

int main(void)
{
    return run_tests((struct tests){"trail"});
}
