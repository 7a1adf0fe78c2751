/* SPDX-License-Identifier: MIT */
/* test_rundir.c: run directories: made once, read from any state of their files. */
#include <sys/file.h>

#include "grid/jobs.h"
#include "grid/rundir.h"
#include "support/handplan.h"
#include "support/support.h"
#include "train/train_config.h"

static struct handplan hand;
static struct error err;

static void open_plan(void)
{
    err = (struct error){0};
    handplan_open(&hand);
    handplan_add(&hand, "none");
    handplan_add(&hand, "rotary");
    handplan_add(&hand, "learned");
}

static void close_plan(void)
{
    handplan_close(&hand);
}

static void write_run(void)
{
    ck_assert_int_eq(rundir_write(hand.run, &hand.plan, &hand.arena, &err), PEAT_OK);
}

static struct rundir read_run(void)
{
    struct rundir r;
    ck_assert_int_eq(rundir_read(hand.run, &r, &hand.arena, &err), PEAT_OK);
    return r;
}

static const char *in_run(const char *name)
{
    return arena_printf(&hand.arena, "%s/%s", hand.run, name);
}

static ino_t identity(const char *path)
{
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    return st.st_ino;
}

/* A result of cell i, whose hash is the given one. */
static void put_result(int i, const char *state, const char *hash)
{
    handplan_put(
        &hand, i, "result.json",
        arena_printf(&hand.arena,
                     "{\"format\": 1, \"state\": \"%s\", \"hash\": \"%s\", \"measures\": []}",
                     state, hash));
}

#define RESULT(format, measures)                                                                   \
    "{\"format\": " format                                                                         \
    ", \"state\": \"done\", \"hash\": \"10000000\", \"measures\": " measures "}"
#define MEASURE(length, value)                                                                     \
    "[{\"metric\": \"bpb\", \"split\": \"valid\", \"length\": " length ", \"value\": " value "}]"

static void put_done(int i, const char *state)
{
    put_result(i, state, hand.cell[i].config.hash);
}

/* ---- writing ---- */

TEST(new_directory_has_plan_file_and_cells)
{
    write_run();
    ck_assert(file_exists(in_run("plan.json")));
    ck_assert(file_exists(in_run("experiment.yaml")));
    struct rundir r = read_run();
    ck_assert_int_eq(r.n, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(r.cell[i].id, hand.cell[i].id);
        ck_assert_str_eq(r.cell[i].label, hand.cell[i].label);
        ck_assert_int_eq(r.cell[i].state, CELL_TODO);
        ck_assert(r.cell[i].planned);
        ck_assert_ptr_nonnull(r.cell[i].config);
        ck_assert_ptr_null(r.cell[i].result);
        ck_assert_ptr_null(r.cell[i].end);
    }
}

TEST(writing_again_touches_only_what_changed)
{
    write_run();
    ino_t plan = identity(in_run("plan.json")), file = identity(in_run("experiment.yaml"));
    ino_t first = identity(handplan_path(&hand, 0, "config.json"));
    ino_t second = identity(handplan_path(&hand, 1, "config.json"));
    hand.cell[1].q[Q_PARAMS] = 12;
    /* The old inode stays in use while it is open, so a new file cannot get its number. */
    int keep = open(handplan_path(&hand, 1, "config.json"), O_RDONLY);
    write_run();
    ck_assert_uint_eq(identity(in_run("experiment.yaml")), file);
    ck_assert_uint_eq(identity(handplan_path(&hand, 0, "config.json")), first);
    ck_assert_uint_ne(identity(handplan_path(&hand, 1, "config.json")), second);
    close(keep);
    plan = identity(in_run("plan.json"));
    write_run();
    ck_assert_uint_eq(identity(in_run("plan.json")), plan);
}

TEST(cells_of_other_plans_stay_behind_the_planned_ones)
{
    write_run();
    put_done(2, "done");
    hand.plan.n = 2;
    write_run();
    struct rundir r = read_run();
    ck_assert_int_eq(r.n, 3);
    ck_assert(r.cell[1].planned);
    ck_assert(!r.cell[2].planned);
    ck_assert_str_eq(r.cell[2].label, "learned.s0");
    ck_assert_int_eq(r.cell[2].state, CELL_DONE);
}

TEST(directory_of_another_experiment_is_refused)
{
    write_run();
    hand.experiment.name = "other";
    ck_assert_int_eq(rundir_check(hand.run, &hand.plan, &hand.arena, &err), PEAT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "belongs to experiment 'hand', not to 'other'"));
    ck_assert_int_eq(rundir_write(hand.run, &hand.plan, &hand.arena, &err), PEAT_INVALID);
}

TEST(file_of_the_user_is_not_written_over)
{
    ck_assert_int_eq(dir_make(hand.run, &err), PEAT_OK);
    ck_assert_int_eq(file_write(in_run("experiment.yaml"), "mine", 4, &err), PEAT_OK);
    ck_assert_int_eq(rundir_check(hand.run, &hand.plan, &hand.arena, &err), PEAT_INVALID);
    ck_assert_int_eq(rundir_write(hand.run, &hand.plan, &hand.arena, &err), PEAT_INVALID);
    ck_assert(!file_exists(in_run("plan.json")));
}

TEST(check_accepts_what_does_not_exist_and_makes_nothing)
{
    ck_assert_int_eq(rundir_check(hand.run, &hand.plan, &hand.arena, &err), PEAT_OK);
    ck_assert(!file_exists(hand.run));
}

/* ---- the lock ---- */

TEST(lock_is_held_once_and_names_its_holder)
{
    char host[256] = "", expected[512];
    int fd = -1, other = -1;
    gethostname(host, sizeof(host) - 1);
    ck_assert_int_eq(rundir_lock(hand.run, &fd, &hand.arena, &err), PEAT_OK);
    ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    ck_assert_int_eq(rundir_lock(hand.run, &other, &hand.arena, &err), PEAT_INVALID);
    snprintf(expected, sizeof(expected),
             "%s is being run by process %ld on host %s; wait for it or stop it", hand.run,
             (long)getpid(), host);
    ck_assert_str_eq(err.text, expected);
    ck_assert(lock_is_held(hand.run));
    close(fd);
    ck_assert(!lock_is_held(hand.run));
    ck_assert_int_eq(rundir_lock(hand.run, &fd, &hand.arena, &err), PEAT_OK);
    close(fd);
}

TEST(lock_in_an_unusable_place_is_refused_with_the_reason)
{
    int fd = -1;
    ck_assert_int_ne(rundir_lock(hand.file, &fd, &hand.arena, &err), PEAT_OK);
    ck_assert_ptr_nonnull(strstr(err.text, "Not a directory"));
}

/* ---- states ---- */

TEST(state_follows_from_the_files)
{
    static const struct {
        const char *file, *text;
        enum cell_state state;
    } row[] = {
        {"log.txt", "x", CELL_PARTIAL},
        {"metrics.jsonl", "", CELL_PARTIAL},
        {"running.json", "{}", CELL_PARTIAL},
        {"end.json", "{\"state\": \"failed\"}", CELL_FAILED},
        {"end.json", "{\"state\": \"crashed\"}", CELL_CRASHED},
        {"end.json", "{\"state\": \"timeout\"}", CELL_TIMEOUT},
        {"end.json", "{\"state\": \"oom\"}", CELL_OOM},
        {"end.json", "{\"state\": \"interrupted\"}", CELL_PARTIAL},
        {"end.json", "{\"state\": \"done\"}", CELL_PARTIAL},
        {"lock", "", CELL_TODO},
    };
    write_run();
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        handplan_put(&hand, 0, row[i].file, row[i].text);
        const struct cell_files c = read_run().cell[0];
        ck_assert_msg(c.state == row[i].state && !c.damage, "row %zu", i);
        unlink(handplan_path(&hand, 0, row[i].file));
    }
}

TEST(result_outranks_everything_but_a_living_process)
{
    write_run();
    handplan_put(&hand, 0, "end.json", "{\"state\": \"failed\"}");
    put_done(0, "done");
    put_done(1, "diverged");
    struct rundir r = read_run();
    ck_assert_int_eq(r.cell[0].state, CELL_DONE);
    ck_assert_int_eq(r.cell[1].state, CELL_DIVERGED);
    handplan_put(&hand, 1, "stale.json", "{}");
    ck_assert_int_eq(read_run().cell[1].state, CELL_STALE);
    handplan_put(&hand, 0, "lock", "");
    handplan_put(&hand, 0, "running.json", "{}");
    int fd = open(handplan_path(&hand, 0, "lock"), O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(flock(fd, LOCK_EX), 0);
    ck_assert_int_eq(read_run().cell[0].state, CELL_RUNNING);
    close(fd);
    ck_assert_int_eq(read_run().cell[0].state, CELL_DONE);
}

TEST(damaged_results_are_told_and_count_as_damaged)
{
    static const struct {
        const char *text, *why;
    } row[] = {
        {"", "result.json"},
        {"{\"state\": \"done\"", "result.json"},
        {"[]", "it is not a map"},
        {"{\"state\": \"done\", \"hash\": \"10000000\", \"measures\": []}", "it has no format"},
        {RESULT("0", "[]"), "its format is not a whole number from 1"},
        {RESULT("\"1\"", "[]"), "its format is not a whole number from 1"},
        {RESULT("2", "[]"), "result.json is not sealed with the files beside it"},
        {"{\"format\": 1, \"state\": \"done\", \"hash\": \"10000000\"}", "its measures is missing"},
        {"{\"format\": 1, \"state\": \"odd\", \"hash\": \"10000000\", \"measures\": []}",
         "it has no end state"},
        {"{\"format\": 1, \"state\": \"done\", \"hash\": \"20000000\", \"measures\": []}",
         "it belongs to another cell"},
        {RESULT("1", "[1]"), "its measures[0] is of another kind"},
        {RESULT("1", MEASURE("-1", "1.5")), "its measures[0].length is below 0"},
        {RESULT("1", MEASURE("1.5", "1.5")), "its measures[0].length is of another kind"},
        {RESULT("1", MEASURE("8", "\"x\"")), "its measures[0].value is of another kind"},
    };
    write_run();
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        handplan_put(&hand, 0, "result.json", row[i].text);
        struct rundir r = read_run();
        ck_assert_msg(r.cell[0].state == CELL_DAMAGED, "row %zu", i);
        ck_assert_msg(strstr(r.cell[0].damage, row[i].why), "'%s' does not say '%s'",
                      r.cell[0].damage, row[i].why);
    }
}

TEST(newer_formats_are_refused_by_number)
{
    static const struct {
        const char *file, *text, *reads;
    } row[] = {
        {"result.json", RESULT("99", "[]"), "1 to 2"},
        {"config.json", "{\"format\": 99, \"hash\": \"10000000\"}", "1"},
        {"end.json", "{\"format\": 99, \"state\": \"failed\"}", "1"},
        {"meta.json", "{\"format\": 99}", "1"},
        {"stale.json", "{\"format\": 99}", "1"},
    };
    struct rundir r;
    write_run();
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        err = (struct error){0};
        if (strcmp(row[i].file, "stale.json") == 0)
            put_done(0, "done");
        handplan_put(&hand, 0, row[i].file, row[i].text);
        ck_assert_msg(rundir_read(hand.run, &r, &hand.arena, &err) == PEAT_MISMATCH, "%s: %s",
                      row[i].file, err.text);
        const char *says = arena_printf(
            &hand.arena, "%s' was written by a newer peat, format 99; this one reads %s",
            row[i].file, row[i].reads);
        ck_assert_msg(strstr(err.text, says), "%s", err.text);
        unlink(handplan_path(&hand, 0, row[i].file));
        write_run();
    }
    static const char plan[] = "{\"format\": 99, \"cells\": []}";
    err = (struct error){0};
    ck_assert_int_eq(file_write(in_run("plan.json"), plan, strlen(plan), &err), PEAT_OK);
    ck_assert_int_eq(rundir_read(hand.run, &r, &hand.arena, &err), PEAT_MISMATCH);
    ck_assert_ptr_nonnull(strstr(err.text, "plan.json' was written by a newer peat, format 99"));
    ck_assert_int_eq(rundir_write(hand.run, &hand.plan, &hand.arena, &err), PEAT_MISMATCH);
}

TEST(what_is_no_run_directory_is_refused)
{
    struct rundir r;
    ck_assert_int_eq(rundir_read(hand.run, &r, &hand.arena, &err), PEAT_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(err.text, "is not a run directory"));
    write_run();
    static const char bad[] = "{\"cells\": [{\"id\": \"../x\"}]}";
    ck_assert_int_eq(file_write(in_run("plan.json"), bad, strlen(bad), &err), PEAT_OK);
    ck_assert_int_eq(rundir_read(hand.run, &r, &hand.arena, &err), PEAT_CORRUPT);
}

/* ---- finding ---- */

static void assert_found(const char *cell, int expected)
{
    struct rundir r = read_run();
    int index = -1;
    ck_assert_msg(rundir_find(&r, cell, &index, &err) == PEAT_OK, "%s", err.text);
    ck_assert_int_eq(index, expected);
}

TEST(cell_is_found_by_index_id_label_and_hash)
{
    write_run();
    assert_found("2", 2);
    assert_found("rotary.s0", 1);
    assert_found(hand.cell[2].id, 2);
    assert_found("10000001", 1);
}

TEST(unknown_and_ambiguous_cells_are_refused)
{
    write_run();
    struct rundir r = read_run();
    int index;
    ck_assert_int_eq(rundir_find(&r, "rotari.s0", &index, &err), PEAT_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(err.text, "did you mean 'rotary.s0'?"));
    ck_assert_int_eq(rundir_find(&r, "100000", &index, &err), PEAT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "more than one cell"));
    ck_assert_int_eq(rundir_find(&r, "", &index, &err), PEAT_NOTFOUND);
    ck_assert_int_eq(rundir_find(&r, "9", &index, &err), PEAT_NOTFOUND);
}

TEST(one_cell_is_read_alone)
{
    struct cell_files c;
    write_run();
    put_done(1, "done");
    ck_assert_int_eq(rundir_read_cell(hand.run, hand.cell[1].id, &c, &hand.arena, &err), PEAT_OK);
    ck_assert_int_eq(c.state, CELL_DONE);
    ck_assert_str_eq(c.label, "rotary.s0");
    ck_assert_int_eq(rundir_read_cell(hand.run, "../cells", &c, &hand.arena, &err), PEAT_NOTFOUND);
}

/* ---- what results and logs tell ---- */

static struct value *json(const char *text)
{
    struct value *v = json_parse(&hand.arena, text, strlen(text), "text", &err);
    ck_assert_ptr_nonnull(v);
    return v;
}

TEST(missing_evaluation_lengths_are_noticed)
{
    struct value *result =
        json("{\"state\": \"done\", \"measures\": [{\"split\": \"valid\", \"length\": 8},"
             " {\"split\": \"train\", \"length\": 16}]}");
    ck_assert(!cell_lacks_evaluation(json("{\"eval\": {\"lengths\": [8]}}"), result));
    ck_assert(!cell_lacks_evaluation(json("{\"eval\": {\"lengths\": \"auto\"}}"), result));
    ck_assert(cell_lacks_evaluation(json("{\"eval\": {\"lengths\": [8, 16]}}"), result));
    ck_assert(!cell_lacks_evaluation(json("{\"eval\": {\"lengths\": [16]}}"),
                                     json("{\"state\": \"diverged\", \"measures\": []}")));
}

TEST(tail_of_metrics_is_the_last_whole_line)
{
    write_run();
    struct rundir r = read_run();
    ck_assert_int_eq(metrics_tail(r.cell[0].dir).step, 0);
    handplan_put(&hand, 0, "metrics.jsonl",
                 "{\"step\":10,\"metric\":\"loss\",\"value\":2.5}\n"
                 "{\"step\":20,\"metric\":\"bpb\",\"value\":1.25}\n{\"step\":3");
    struct metrics_tail tail = metrics_tail(r.cell[0].dir);
    ck_assert_int_eq(tail.step, 20);
    ck_assert_str_eq(tail.text, "bpb 1.2500");
    ck_assert(!tail.evaluated);
    handplan_put(&hand, 0, "metrics.jsonl",
                 "{\"step\":10,\"metric\":\"loss\",\"split\":\"valid\",\"value\":2.5}\n");
    ck_assert(metrics_tail(r.cell[0].dir).evaluated);
    handplan_put(&hand, 0, "metrics.jsonl", "garbage\n");
    ck_assert_int_eq(metrics_tail(r.cell[0].dir).step, 0);
}

TEST(a_cell_whose_evaluation_is_left_is_far_from_done)
{
    const struct job job = {.steps = 20, .training = 0.1, .eval_every = 10};
    ck_assert_double_eq(job_done(&job, &(struct metrics_tail){.step = 0}), 0);
    ck_assert_double_eq_tol(job_done(&job, &(struct metrics_tail){.step = 10}), 0.05, 1e-12);
    ck_assert_double_eq_tol(job_done(&job, &(struct metrics_tail){10, true, ""}), 0.275, 1e-12);
    ck_assert_double_eq_tol(job_done(&job, &(struct metrics_tail){.step = 11}), 0.505, 1e-12);
    ck_assert_double_eq_tol(job_done(&job, &(struct metrics_tail){.step = 20}), 0.55, 1e-12);
    const struct job old = {.steps = 0, .begun = 0.5, .training = 1};
    ck_assert_double_eq(job_done(&old, &(struct metrics_tail){.step = 7}), 0.5);
}

TEST(evaluations_are_counted_with_the_last)
{
    ck_assert_int_eq(evaluations_until(19, 20, 0), 0);
    ck_assert_int_eq(evaluations_until(20, 20, 0), 1);
    ck_assert_int_eq(evaluations_until(20, 20, 10), 2);
    ck_assert_int_eq(evaluations_until(20, 20, 8), 3);
}

TEST(durations_are_short)
{
    char text[32];
    duration_text(0.04, text);
    ck_assert_str_eq(text, "0.0 s");
    duration_text(12.34, text);
    ck_assert_str_eq(text, "12.3 s");
    duration_text(245, text);
    ck_assert_str_eq(text, "4m05s");
    duration_text(7800, text);
    ck_assert_str_eq(text, "2h10m");
}

int main(void)
{
    return run_tests((struct tests){"rundir", open_plan, close_plan});
}
