/* SPDX-License-Identifier: MIT */
/*
 * test_runner.c: the parent of a grid, with a shell script instead of cells.
 *
 * The script does what its cell's label starts with, and writes one letter per start into the
 * cell's file "starts".
 */
#include <time.h>

#include "grid/jobs.h"
#include "grid/runner.h"
#include "support/handplan.h"
#include "support/support.h"

static const char script[] =
    "#!/bin/sh\n"
    "for word; do run=$id; id=$word; done\n"
    "dir=$run/cells/$id\n"
    "printf x >> $dir/starts\n"
    "[ -e $dir/meta.json ] || echo '{}' > $dir/meta.json\n"
    "finish() {\n"
    "    printf '{\"format\":1,\"state\":\"%s\",\"hash\":\"%s\",\"metrics\":[{\"name\":\"bpb\"}],'"
    " $1 ${id##*-} > $dir/new\n"
    "    printf '\"measures\":[{\"metric\":\"bpb\",\"split\":\"valid\",\"length\":8,' >> $dir/new\n"
    "    printf '\"value\":1.5}],\"diverged\":%s}' ${2:-null} >> $dir/new\n"
    "    mv $dir/new $dir/result.json\n"
    "}\n"
    /* Until it is asked to end. */
    "linger() { trap 'exit 130' TERM; sleep 300 9>&- & wait; }\n"
    /* The same, but that takes a while; first the parent gets signals. */
    "saves() { trap 'sleep 0.3; mkdir $dir/ckpt; exit 130' TERM\n"
    "    for s; do kill -$s $PPID; done; sleep 300 9>&- & wait; }\n"
    "case $id in\n"
    "good*) finish done;;\n"
    "diverge*) finish diverged '{\"step\":12,\"what\":\"loss\"}';;\n"
    "fail*) echo 'peat: it broke' >&2; echo 'more' ; exit 3;;\n"
    "mute*) exit 4;;\n"
    "crash*) kill -SEGV $$;;\n"
    "oom*) kill -KILL $$;;\n"
    "empty*) exit 0;;\n"
    "late*) finish done; kill -SEGV $$;;\n"
    "full*) echo \"peat: cannot write 'x': No space left on device\"; exit 1;;\n"
    "slow*) linger;;\n"
    "stuck*) trap '' TERM; while :; do sleep 0.02; done;;\n"
    "meet*) touch $dir/../here-$id; for i in $(seq 600); do\n"
    "    [ $(ls -d $dir/../here-* | wc -l) = 2 ] && finish done && exit 0; sleep 0.1; done;;\n"
    "alone*) touch $dir/../here-$id; sleep 0.1; [ $(ls -d $dir/../here-* | wc -l) = 1 ] &&\n"
    "    finish done; rm $dir/../here-$id;;\n"
    "once*) [ -e $dir/ckpt ] && finish done && exit 0; mkdir $dir/ckpt; exit 130;;\n"
    "int*) [ -e $dir/ckpt ] && finish done && exit 0; mkdir $dir/ckpt; kill -INT $PPID; linger;;\n"
    "hup*) [ -e $dir/ckpt ] && finish done && exit 0; saves HUP;;\n"
    "logout*) saves TERM HUP;;\n"
    "twice*) trap '' TERM; kill -INT $PPID; sleep 0.1; kill -INT $PPID\n"
    "    while :; do sleep 0.02; printf x >> $dir/looks; done;;\n"
    "env*) echo $OMP_NUM_THREADS $OPENBLAS_NUM_THREADS $OMP_DYNAMIC $MALLOC_ARENA_MAX; cat\n"
    "    echo \"$1 $2 $3 $4 $5 $6\"; [ $7 = $PPID ] && echo parent; finish done;;\n"
    "held*) [ -e $dir/ckpt ] && finish done && exit 0; mkdir $dir/ckpt; exec 9>> $dir/lock\n"
    "    trap 'exit 130' TERM; flock 9\n"
    "    printf '{\"pid\":%d,\"host\":\"%s\"}' $$ $(uname -n) > $dir/new\n"
    "    mv $dir/new $dir/running.json; linger;;\n"
    "esac\n";

static struct handplan hand;
static struct error err;
static struct runner_options options;
static struct runner_end end;
static const char *program, *said;
static int saved_stderr;

/* What the runner says goes into a file. */
static void open_run(void)
{
    handplan_open(&hand);
    program = arena_printf(&hand.arena, "%s/cell", hand.dir);
    said = arena_printf(&hand.arena, "%s/said", hand.dir);
    ck_assert_int_eq(file_write(program, script, strlen(script), NULL), PEAT_OK);
    ck_assert_int_eq(chmod(program, 0755), 0);
    err = (struct error){0};
    options = (struct runner_options){.jobs = 1, .threads = 1};
    fflush(stderr);
    saved_stderr = dup(STDERR_FILENO);
    ck_assert_ptr_nonnull(freopen(said, "w", stderr));
}

static void close_run(void)
{
    fflush(stderr);
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    handplan_close(&hand);
}

static void add_cells(const char *words)
{
    char copy[256], *rest = copy;
    snprintf(copy, sizeof(copy), "%s", words);
    for (char *word; (word = strtok_r(rest, " ", &rest));)
        handplan_add(&hand, word);
}

static void run_again(void)
{
    peat_status status = runner_run(hand.run, &hand.plan, &options, program, &end, &err);
    ck_assert_msg(status == PEAT_OK, "%s", err.text);
}

static void run(const char *words)
{
    add_cells(words);
    ck_assert_int_eq(rundir_write(hand.run, &hand.plan, &hand.arena, &err), PEAT_OK);
    run_again();
}

static struct cell_files cell(int i)
{
    struct rundir r;
    ck_assert_int_eq(rundir_read(hand.run, &r, &hand.arena, &err), PEAT_OK);
    return r.cell[i];
}

static const char *reason(int i)
{
    const char *text = json_get_text(cell(i).end, "reason");
    return text ? text : "";
}

static int starts(int i)
{
    struct stat st;
    return stat(handplan_path(&hand, i, "starts"), &st) == 0 ? (int)st.st_size : 0;
}

static const char *text_of(const char *path)
{
    char *text = NULL;
    size_t n;
    ck_assert_int_eq(file_read(path, 0, &text, &n, &err), PEAT_OK);
    const char *copy = arena_strdup(&hand.arena, text);
    free(text);
    return copy;
}

static void assert_said(const char *text)
{
    const char *all = text_of(said);
    ck_assert_msg(strstr(all, text) != NULL, "'%s' is not in:\n%s", text, all);
}

static void assert_end(int done, int diverged, int failed, int left, int skipped, int stale)
{
    ck_assert_int_eq(end.done, done);
    ck_assert_int_eq(end.diverged, diverged);
    ck_assert_int_eq(end.failed, failed);
    ck_assert_int_eq(end.left, left);
    ck_assert_int_eq(end.skipped, skipped);
    ck_assert_int_eq(end.stale, stale);
}

/* ---- ends ---- */

TEST(every_end_gets_its_state_and_reason)
{
    static const struct {
        enum cell_state state;
        const char *reason;
    } expected[] = {
        {CELL_DONE, ""},
        {CELL_DIVERGED, ""},
        {CELL_FAILED, "it broke"},
        {CELL_FAILED, "exit status 4"},
        {CELL_CRASHED, "crashed with SIGSEGV"},
        {CELL_OOM, "killed (out of memory?)"},
        {CELL_FAILED, "ended without a result"},
        {CELL_DONE, ""},
        {CELL_PARTIAL, "interrupted"},
    };
    run("good diverge fail mute crash oom empty late once");
    for (int i = 0; i < 9; i++) {
        ck_assert_msg(cell(i).state == expected[i].state, "cell %d", i);
        ck_assert_str_eq(reason(i), expected[i].reason);
        ck_assert_int_eq(starts(i), 1);
    }
    assert_end(2, 1, 5, 1, 0, 0);
    ck_assert(!end.interrupted);
    ck_assert_str_eq(json_get_text(cell(4).end, "signal"), "SIGSEGV");
    ck_assert_int_eq(json_get_int(cell(2).end, "exit", 0), 3);
    assert_said("done  good.s0  validation bpb 1.5000  ");
    assert_said("(1/9)");
    assert_said("diverged  diverge.s0  at step 12: loss");
    assert_said("failed  fail.s0  it broke");
    assert_said("fail.s0-10000002/log.txt");
    assert_said("peat: 9 cells: 2 done, 1 diverged, 5 failed, 1 left");
}

TEST(program_that_can_not_be_started_is_a_failure)
{
    program = "/nonexistent/peat";
    run("good");
    assert_end(0, 0, 1, 0, 0, 0);
    ck_assert_str_eq(reason(0), "cannot start '/nonexistent/peat': No such file or directory");
}

TEST(full_disk_stops_the_grid_and_is_gone_on_from)
{
    run("full good");
    assert_end(0, 0, 1, 1, 0, 0);
    ck_assert_int_eq(cell(0).state, CELL_PARTIAL);
    ck_assert_int_eq(starts(1), 0);
    assert_said("the disk is full");
    run_again();
    ck_assert_int_eq(starts(0), 2);
}

TEST(cells_have_their_environment_and_arguments)
{
    setenv("OMP_NUM_THREADS", "77", 1);
    options.threads = 3;
    hand.experiment.run.checkpoint_every = 50;
    run("env");
    const char *log = text_of(handplan_path(&hand, 0, "log.txt"));
    ck_assert_str_eq(log, arena_printf(&hand.arena, "3 1 false 2\ncell -t 3 --checkpoint-every 50 "
                                                    "--with-parent\nparent\n"));
}

/* ---- order and choice ---- */

TEST(cells_run_at_once_as_asked)
{
    options.jobs = 2;
    run("meet1 meet2");
    assert_end(2, 0, 0, 0, 0, 0);
}

TEST(one_job_at_a_time_runs_one)
{
    run("alone1 alone2");
    assert_end(2, 0, 0, 0, 0, 0);
}

TEST(second_run_does_only_what_is_left)
{
    run("good fail once diverge");
    run_again();
    assert_end(1, 0, 1, 0, 2, 0);
    ck_assert_int_eq(starts(0), 1);
    ck_assert_int_eq(starts(1), 1);
    ck_assert_int_eq(starts(2), 2);
    ck_assert_int_eq(starts(3), 1);
    ck_assert_ptr_null(cell(2).end);
    assert_said("1 failed; --retry-failed tries it again");
    options.retry_failed = true;
    run_again();
    assert_end(0, 0, 1, 0, 3, 0);
    ck_assert_int_eq(starts(1), 2);
}

TEST(finished_cell_without_an_evaluation_is_started_again)
{
    run("good1 good2 diverge");
    struct value *lengths = value_get_path(hand.cell[0].config.resolved, "eval.lengths");
    value_append(&hand.arena, lengths, value_int(&hand.arena, lengths->at, 16));
    ck_assert_int_eq(rundir_write(hand.run, &hand.plan, &hand.arena, &err), PEAT_OK);
    run_again();
    assert_end(1, 0, 0, 0, 2, 0);
    ck_assert_int_eq(starts(0), 2);
    ck_assert_int_eq(starts(1), 1);
}

TEST(glob_and_shard_choose_cells)
{
    options.only = "good*";
    options.shard_index = 2;
    options.shard_count = 2;
    run("good1 fail good2 good3 good4");
    assert_end(2, 0, 0, 0, 0, 0);
    ck_assert_int_eq(starts(0) + starts(1) + starts(3), 0);
    ck_assert_int_eq(starts(2) + starts(4), 2);
}

TEST(glob_that_nothing_fits_is_refused)
{
    add_cells("good");
    options.only = "bad*";
    ck_assert_int_eq(runner_check(&hand.plan, &options, &err), PEAT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "no cell matches 'bad*'"));
}

TEST(first_failure_stops_the_others_when_asked)
{
    options.jobs = 2;
    options.stop_on_failure = true;
    run("slow fail good");
    assert_end(0, 0, 1, 2, 0, 0);
    ck_assert_int_eq(cell(0).state, CELL_PARTIAL);
    ck_assert_int_eq(starts(2), 0);
}

TEST(quiet_tells_failures_alone)
{
    options.quiet = true;
    run("good");
    ck_assert_str_eq(text_of(said), "");
}

/* ---- time ---- */

TEST(cell_over_its_time_is_stopped)
{
    options.timeout = 0.2;
    run("slow good");
    assert_end(1, 0, 1, 0, 0, 0);
    ck_assert_int_eq(cell(0).state, CELL_TIMEOUT);
    ck_assert_str_eq(reason(0), "took longer than 0.2 s (run.timeout)");
}

TEST(cell_that_stands_still_is_stopped)
{
    options.no_progress = 0.3;
    options.timeout = 100;
    run("slow good");
    assert_end(1, 0, 1, 0, 0, 0);
    ck_assert_int_eq(cell(0).state, CELL_TIMEOUT);
    ck_assert_str_eq(reason(0), "no progress for 0.3 s (run.no_progress)");
}

TEST(cell_that_ignores_its_time_is_killed)
{
    struct progress progress;
    add_cells("stuck");
    ck_assert_int_eq(rundir_write(hand.run, &hand.plan, &hand.arena, &err), PEAT_OK);
    progress_open(&progress, stderr, false);
    struct job job = {.id = hand.cell[0].id, .label = "stuck", .dir = cell(0).dir};
    struct jobs jobs = {
        .dir = hand.run,
        .program = program,
        .n = 1,
        .job = &job,
        .at_once = 1,
        .threads = 1,
        .timeout = 0.2,
        .grace = 0.2,
        .progress = &progress,
        .arena = &hand.arena,
    };
    jobs_run(&jobs);
    ck_assert_int_eq(jobs.failed, 1);
    ck_assert_int_eq(cell(0).state, CELL_TIMEOUT);
    ck_assert_str_eq(json_get_text(cell(0).end, "signal"), "SIGKILL");
}

/* ---- signals ---- */

TEST(interruption_lets_cells_save_and_the_next_run_goes_on)
{
    options.jobs = 2;
    run("slow int good");
    ck_assert(end.interrupted);
    assert_end(0, 0, 0, 3, 0, 0);
    ck_assert_int_eq(cell(0).state, CELL_PARTIAL);
    ck_assert_int_eq(cell(1).state, CELL_PARTIAL);
    ck_assert_int_eq(cell(2).state, CELL_TODO);
    options.only = "[!s]*";
    run_again();
    ck_assert(!end.interrupted);
    assert_end(2, 0, 0, 0, 0, 0);
}

TEST(second_interruption_kills)
{
    run("twice good");
    ck_assert(end.interrupted);
    assert_end(0, 0, 0, 2, 0, 0);
    ck_assert_int_eq(cell(0).state, CELL_PARTIAL);
    /* It was not left its 10 seconds, which are 500 looks. */
    struct stat st = {.st_size = 0};
    stat(handplan_path(&hand, 0, "looks"), &st);
    ck_assert_int_lt(st.st_size, 250);
}

TEST(hangup_is_an_interruption)
{
    signal(SIGHUP, SIG_DFL);
    run("hup good");
    ck_assert(end.interrupted);
    assert_end(0, 0, 0, 2, 0, 0);
    ck_assert_int_eq(cell(0).state, CELL_PARTIAL);
    run_again();
    assert_end(2, 0, 0, 0, 0, 0);
}

/* As when a session ends: both to all of its processes. */
TEST(hangup_after_an_interruption_kills_nothing)
{
    signal(SIGHUP, SIG_DFL);
    run("logout");
    ck_assert(end.interrupted);
    ck_assert(file_exists(handplan_path(&hand, 0, "ckpt")));
}

TEST(hangup_that_was_ignored_stays_so)
{
    signal(SIGHUP, SIG_IGN);
    options.timeout = 0.5;
    run("hup");
    signal(SIGHUP, SIG_DFL);
    ck_assert(!end.interrupted);
    ck_assert_int_eq(cell(0).state, CELL_TIMEOUT);
}

TEST(signals_are_as_before_after_a_run)
{
    sigset_t before, after;
    sigprocmask(SIG_SETMASK, NULL, &before);
    run("good");
    sigprocmask(SIG_SETMASK, NULL, &after);
    for (int signal = 1; signal < 32; signal++)
        ck_assert_int_eq(sigismember(&before, signal), sigismember(&after, signal));
}

/* ---- cells that others left ---- */

/* Starts the program for cell i as a parent would have, and waits until it runs. */
static struct child start_alone(int i, const char *extra)
{
    char *argv[] = {(char *)program,         "cell", (char *)extra, "1", hand.run,
                    (char *)hand.cell[i].id, NULL};
    const struct timespec pause = {0, 10 * 1000 * 1000};
    struct child c = {.argv = argv, .log = handplan_path(&hand, i, "log.txt"), .own_group = true};
    ck_assert_int_eq(child_start(&c, &err), PEAT_OK);
    for (int n = 0; n < 6000 && cell(i).state != CELL_RUNNING; n++)
        nanosleep(&pause, NULL);
    ck_assert_int_eq(cell(i).state, CELL_RUNNING);
    return c;
}

TEST(cell_of_a_dead_parent_is_ended_and_gone_on_with)
{
    add_cells("held");
    ck_assert_int_eq(rundir_write(hand.run, &hand.plan, &hand.arena, &err), PEAT_OK);
    struct child held = start_alone(0, "--with-parent");
    run_again();
    assert_end(1, 0, 0, 0, 0, 0);
    ck_assert_int_eq(starts(0), 2);
    child_wait(&held);
    ck_assert_int_ge(held.code, 0);
    assert_said("although its parent has gone");
}

TEST(cell_that_somebody_runs_alone_is_left_to_them)
{
    add_cells("held good");
    ck_assert_int_eq(rundir_write(hand.run, &hand.plan, &hand.arena, &err), PEAT_OK);
    struct child held = start_alone(0, "-t");
    run_again();
    assert_end(1, 0, 0, 1, 0, 0);
    ck_assert_int_eq(starts(0), 1);
    ck_assert_int_eq(cell(0).state, CELL_RUNNING);
    assert_said("is being run by process");
    child_end(&held);
    child_wait(&held);
}

/* The plan names this file of the plugin, and the cell was made with another: it is stale. */
static void plan_plugin(const char *sha256)
{
    struct json list = json_list(&hand.arena), one = json_add_map(list);
    json_put_text(one, "kind", "scheme");
    json_put_text(one, "id", "rotary");
    json_put_text(one, "sha256", sha256);
    hand.cell[0].plugins = list.v;
}

static void change_plugin(void)
{
    plan_plugin("aa");
    handplan_put(&hand, 0, "meta.json",
                 "{\"plugins\": [{\"kind\": \"scheme\", \"id\": \"rotary\", \"sha256\": \"bb\"}]}");
}

TEST(stale_cells_are_left_until_asked_for)
{
    run("good1 good2");
    change_plugin();
    handplan_put(&hand, 0, "metrics.jsonl", "{\"step\":100}\n");
    run_again();
    assert_end(0, 0, 0, 0, 1, 1);
    ck_assert_int_eq(cell(0).state, CELL_STALE);
    assert_said("good1.s0 is stale: scheme 'rotary' has changed");
    options.rerun_stale = true;
    run_again();
    assert_end(1, 0, 0, 0, 1, 0);
    ck_assert_int_eq(starts(0), 2);
    ck_assert(!file_exists(handplan_path(&hand, 0, "metrics.jsonl")));
    ck_assert_int_eq(cell(0).state, CELL_DONE);
}

/* Another version computes the same: what it adds in another order has another hash. */
TEST(another_version_of_the_engine_makes_no_cell_stale)
{
    run("good1 good2");
    handplan_put(&hand, 0, "meta.json", "{\"engine\": \"0.0.0\", \"plugins\": []}");
    run_again();
    assert_end(0, 0, 0, 0, 2, 0);
    ck_assert_int_eq(cell(0).state, CELL_DONE);
}

TEST(changed_plugin_makes_its_cells_stale_and_the_old_one_fresh_again)
{
    run("good");
    change_plugin();
    run_again();
    assert_end(0, 0, 0, 0, 0, 1);
    assert_said("scheme 'rotary' has changed");
    plan_plugin("bb");
    run_again();
    assert_end(0, 0, 0, 0, 1, 0);
    ck_assert_int_eq(cell(0).state, CELL_DONE);
}

int main(void)
{
    return run_tests((struct tests){"runner", open_run, close_run, .seconds = 180});
}
