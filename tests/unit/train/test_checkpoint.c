/* SPDX-License-Identifier: MIT */
/* test_checkpoint.c: an interrupted run ends with the bits of an uninterrupted one. */
#include "model/safetensors.h"
#include "support/support.h"
#include "support/toy_task.h"
#include "train/checkpoint.h"

/* 20 steps, saves and evaluations every 5. */
static void cell_start(struct toy_cell *cell, bool saves)
{
    toy_cell_init(cell);
    cell->eval.every = 5;
    cell->trainer.checkpoint_every = 5;
    cell->trace.dir = saves ? scratch_dir : NULL;
    toy_cell_build(cell);
}

static struct toy_cell c, other;

static void set_up(void)
{
    scratch_make();
    cell_start(&c, true);
    cell_start(&other, true);
}

static void tear_down(void)
{
    toy_cell_release(&c);
    toy_cell_release(&other);
    scratch_remove();
}

static void run_and_stop(int64_t stop_after)
{
    struct toy_cell cut;
    cell_start(&cut, true);
    cut.trace.stop_after = stop_after;
    ck_assert_int_eq(toy_cell_run(&cut), RUN_INTERRUPTED);
    toy_cell_release(&cut);
}

static bool load(struct toy_cell *cell, FILE *lines)
{
    const struct log log = {lines};
    struct error err = {0};
    bool found;
    ck_assert_msg(checkpoint_load(scratch_dir, &cell->trainer, NULL, &log, &found, &err) == PEAT_OK,
                  "%s", err.text);
    return found;
}

static void flip_bit(const char *name, double place)
{
    char *bytes;
    size_t n;
    ck_assert_int_eq(file_read(scratch_path(name), 0, &bytes, &n, NULL), PEAT_OK);
    bytes[(size_t)(place * (double)(n - 1))] ^= 1;
    ck_assert_int_eq(file_write(scratch_path(name), bytes, n, NULL), PEAT_OK);
    free(bytes);
}

/* Goes on from `from` steps and compares everything with a run that was never cut off. */
static void assert_resumes_from(int64_t from)
{
    struct toy_cell resumed, straight;
    cell_start(&resumed, true);
    cell_start(&straight, false);
    ck_assert_int_eq(load(&resumed, NULL), from > 0);
    ck_assert_int_eq(resumed.trainer.step, from);
    ck_assert_int_eq(toy_cell_run(&resumed), RUN_DONE);
    ck_assert_int_eq(toy_cell_run(&straight), RUN_DONE);
    toy_cell_assert_same(&resumed, &straight);
    ck_assert_double_eq(resumed.trainer.first_loss, straight.trainer.first_loss);
    ck_assert_int_eq(resumed.trainer.adamw.t, straight.trainer.adamw.t);
    int64_t done = from / 5 * 4;
    ck_assert_int_eq(resumed.trace.measures, straight.trace.measures - done);
    ck_assert_mem_eq(resumed.trace.measure, straight.trace.measure + done,
                     (size_t)resumed.trace.measures * sizeof(double));
    toy_cell_release(&resumed);
    toy_cell_release(&straight);
}

TEST(interrupted_run_ends_with_the_same_bits)
{
    run_and_stop(10);
    assert_resumes_from(10);
}

TEST(stop_between_checkpoints_loses_nothing)
{
    run_and_stop(13);
    ck_assert(file_exists(scratch_path("step-00000013")));
    assert_resumes_from(13);
}

static const char *const damaged[] = {"model.safetensors", "optimiser.safetensors", "state.json"};

LOOP_TEST(damaged_generation_falls_back_to_the_one_before, 3)
{
    char name[64];
    run_and_stop(10);
    snprintf(name, sizeof(name), "step-00000010/%s", damaged[_i]);
    flip_bit(name, 0.5);
    assert_resumes_from(5);
}

LOOP_TEST(missing_file_falls_back_to_the_one_before, 3)
{
    char name[64];
    run_and_stop(10);
    snprintf(name, sizeof(name), "step-00000010/%s", damaged[_i]);
    ck_assert_int_eq(remove(scratch_path(name)), 0);
    assert_resumes_from(5);
}

TEST(two_damaged_generations_mean_starting_over)
{
    run_and_stop(10);
    flip_bit("step-00000010/optimiser.safetensors", 1.0);
    flip_bit("step-00000005/model.safetensors", 0.99);
    assert_resumes_from(0);
}

TEST(damage_is_named_in_the_log)
{
    char *text = NULL;
    size_t n = 0;
    FILE *lines = open_memstream(&text, &n);
    run_and_stop(10);
    flip_bit("step-00000010/model.safetensors", 0.9);
    ck_assert(load(&c, lines));
    fclose(lines);
    ck_assert_msg(strstr(text, "step-00000010' is not used: model.safetensors does not have the "
                               "checksum that state.json gives\n"),
                  "%s", text);
    free(text);
}

TEST(no_flipped_bit_in_the_state_goes_unnoticed)
{
    char *bytes;
    size_t n;
    run_and_stop(5);
    ck_assert(load(&other, NULL));
    const char *path = scratch_path("step-00000005/state.json");
    ck_assert_int_eq(file_read(path, 0, &bytes, &n, NULL), PEAT_OK);
    for (size_t i = 0; i < n; i++) {
        bytes[i] ^= 1;
        FILE *file = fopen(path, "w"); /* not file_write: hundreds of fsyncs would take long */
        ck_assert_uint_eq(fwrite(bytes, 1, n, file), n);
        fclose(file);
        bytes[i] ^= 1;
        if (!load(&c, NULL))
            continue;
        ck_assert_int_eq(c.trainer.step, other.trainer.step);
        ck_assert_double_eq(c.trainer.first_loss, other.trainer.first_loss);
        ck_assert_int_eq(c.trainer.adamw.t, other.trainer.adamw.t);
    }
    free(bytes);
}

TEST(two_generations_are_kept_and_one_at_the_end)
{
    run_and_stop(15);
    ck_assert(!file_exists(scratch_path("step-00000005")));
    ck_assert(file_exists(scratch_path("step-00000010/optimiser.safetensors")));
    ck_assert(file_exists(scratch_path("step-00000015/optimiser.safetensors")));
    assert_resumes_from(15);
    char **name;
    int n;
    ck_assert_int_eq(dir_list(scratch_dir, &name, &n, NULL), PEAT_OK);
    ck_assert_int_eq(n, 1);
    ck_assert_str_eq(name[0], "step-00000020");
    names_free(name, n);
    ck_assert(file_exists(scratch_path("step-00000020/model.safetensors")));
    ck_assert(!file_exists(scratch_path("step-00000020/optimiser.safetensors")));
    char *latest = checkpoint_latest(scratch_dir);
    ck_assert_str_eq(latest, scratch_path("step-00000020"));
    free(latest);
}

TEST(finished_run_is_loaded_as_finished)
{
    ck_assert_int_eq(toy_cell_run(&c), RUN_DONE);
    ck_assert(load(&other, NULL));
    toy_cell_assert_same(&c, &other);
    ck_assert_int_eq(toy_cell_run(&other), RUN_DONE);
    ck_assert_int_eq(other.trace.steps, 0);
    ck_assert_int_eq(other.trace.measures, 0);
    ck_assert_double_eq(other.trainer.train_seconds, c.trainer.train_seconds);
    ck_assert_double_eq(other.trainer.median_step_ms, c.trainer.median_step_ms);
}

/* What schemes are told in evaluation, also where a run goes on from a checkpoint. */
TEST(weights_know_the_step_that_changed_them_last)
{
    ck_assert_int_eq(c.model.weights.step, 0);
    ck_assert_int_eq(toy_cell_run(&c), RUN_DONE);
    ck_assert_int_eq(c.model.weights.step, c.train.steps);
    ck_assert(load(&other, NULL));
    ck_assert_int_eq(other.model.weights.step, c.train.steps);
}

/* Another program's number, with a seal that fits. */
static void put_version(const char *dir, int64_t version)
{
    struct arena a;
    struct value *state;
    arena_init(&a, "test", 1 << 16);
    ck_assert_int_eq(json_read_file(dir, "state.json", &a, &state, NULL), PEAT_OK);
    json_put_int((struct json){&a, state}, "version", version);
    ck_assert_int_eq(json_write_file(dir, "state.json", state, NULL), PEAT_OK);
    arena_release(&a);
}

TEST(newer_checkpoint_is_not_trained_over)
{
    struct error err = {0};
    const struct log log = {NULL};
    bool found;
    run_and_stop(10);
    put_version(scratch_path("step-00000010"), 99);
    ck_assert_int_eq(checkpoint_load(scratch_dir, &c.trainer, NULL, &log, &found, &err),
                     PEAT_MISMATCH);
    ck_assert_ptr_nonnull(
        strstr(err.text, "was written by a newer peat, format 99; this one reads 1"));
    ck_assert_int_eq(c.trainer.step, 0);
}

TEST(weights_alone_are_not_enough_to_go_on)
{
    other.train.steps = 40;
    toy_cell_run(&c);
    ck_assert(!load(&other, NULL));
    ck_assert_int_eq(other.trainer.step, 0);
}

TEST(diverged_run_is_loaded_as_diverged)
{
    c.train.lr = 1e30;
    ck_assert_int_eq(toy_cell_run(&c), RUN_DIVERGED);
    ck_assert(load(&other, NULL));
    ck_assert_int_eq(toy_cell_run(&other), RUN_DIVERGED);
    ck_assert_int_eq(other.trace.steps, 0);
    ck_assert_int_eq(other.trainer.diverged.step, c.trainer.diverged.step);
    ck_assert_str_eq(other.trainer.diverged.what, c.trainer.diverged.what);
}

/* They would stand in the result, where they are damage that no further run could mend. */
TEST(seconds_below_zero_come_back_as_none)
{
    c.trainer.train_seconds = c.trainer.eval_seconds = -1.0;
    ck_assert_int_eq(checkpoint_save(scratch_dir, &c.trainer, NULL, false, NULL), PEAT_OK);
    ck_assert(load(&other, NULL));
    ck_assert_double_eq(other.trainer.train_seconds, 0.0);
    ck_assert_double_eq(other.trainer.eval_seconds, 0.0);
}

TEST(numbers_come_back_exactly)
{
    c.trainer.step = 3;
    c.trainer.first_loss = 0.1 + 0.2;
    c.trainer.above = 17;
    c.trainer.adamw.t = 3;
    c.trainer.train_seconds = 1.0 / 3.0;
    c.trainer.median_step_ms = 1e-300;
    c.trainer.steps_timed = INT64_C(1) << 60;
    ck_assert_int_eq(checkpoint_save(scratch_dir, &c.trainer, NULL, false, NULL), PEAT_OK);
    ck_assert(load(&other, NULL));
    ck_assert_mem_eq(&other.trainer.first_loss, &c.trainer.first_loss, sizeof(double));
    ck_assert_mem_eq(&other.trainer.train_seconds, &c.trainer.train_seconds, sizeof(double));
    ck_assert_mem_eq(&other.trainer.median_step_ms, &c.trainer.median_step_ms, sizeof(double));
    ck_assert_int_eq(other.trainer.above, 17);
    ck_assert_int_eq(other.trainer.adamw.t, 3);
    ck_assert_int_eq(other.trainer.steps_timed, c.trainer.steps_timed);
    c.trainer.first_loss = (double)NAN;
    ck_assert_int_eq(checkpoint_save(scratch_dir, &c.trainer, NULL, false, NULL), PEAT_OK);
    ck_assert(load(&other, NULL));
    ck_assert(isnan(other.trainer.first_loss));
}

/* The core that is wanted, and what was asked for it. */
struct wanted {
    const char *core;
    int asked;
};

static peat_status accept_core(void *ctx, const struct value *identity, const char *kept,
                               struct error *why)
{
    struct wanted *w = ctx;
    (void)kept;
    w->asked++;
    if (json_text_is(identity, "core", w->core))
        return PEAT_OK;
    return error_set(why, PEAT_REFUSED, "it was made on '%s'", json_get_text(identity, "core"));
}

static void write_curve(const char *text)
{
    ck_assert_int_eq(file_write(scratch_path("curve"), text, strlen(text), NULL), PEAT_OK);
}

static void assert_curve(const char *text)
{
    char *bytes;
    size_t n;
    ck_assert_int_eq(file_read(scratch_path("curve"), 0, &bytes, &n, NULL), PEAT_OK);
    ck_assert_str_eq(bytes, text);
    free(bytes);
}

static void save_on(const char *core, int64_t step, bool final)
{
    struct json identity = json_map(&c.arena);
    json_put_text(identity, "core", core);
    c.trainer.step = step;
    ck_assert_int_eq(checkpoint_save(scratch_dir, &c.trainer, identity.v, final, NULL), PEAT_OK);
}

/* The step that a run on this core goes on from, 0: from the start. */
static int64_t step_on(const char *core, FILE *lines, int *asked)
{
    struct wanted w = {core, 0};
    char curve[128];
    snprintf(curve, sizeof(curve), "%s", scratch_path("curve"));
    const struct checkpoint_gate gate = {accept_core, &w, curve};
    const struct log log = {lines};
    bool found;
    c.trainer.step = 0;
    ck_assert_int_eq(checkpoint_load(scratch_dir, &c.trainer, &gate, &log, &found, NULL), PEAT_OK);
    ck_assert_int_eq(found, c.trainer.step > 0);
    if (asked)
        *asked = w.asked;
    return c.trainer.step;
}

TEST(identity_decides_whether_a_generation_is_used)
{
    char *text = NULL;
    size_t n = 0;
    int asked;
    write_curve("1");
    save_on("Haswell", 4, false);
    save_on("Zen", 9, false);
    FILE *lines = open_memstream(&text, &n);
    ck_assert_int_eq(step_on("Haswell", lines, &asked), 4);
    fclose(lines);
    ck_assert_int_eq(asked, 2);
    ck_assert_ptr_nonnull(strstr(text, "step-00000009' is not used: it was made on 'Zen'\n"));
    free(text);
}

/* Each with the curve that it had, whoever runs in between. */
TEST(generation_of_another_is_kept_until_the_run_is_done)
{
    static const char said[] =
        "started again from step 0, as the checkpoint of step 9 is not used: it was made on 'Zen'";
    write_curve("on Zen");
    save_on("Zen", 4, false);
    save_on("Zen", 9, false);
    ck_assert_ptr_null(checkpoint_kept(scratch_dir, &c.arena));
    ck_assert_int_eq(step_on("Haswell", NULL, NULL), 0);
    ck_assert_str_eq(checkpoint_kept(scratch_dir, &c.arena), said);
    char *latest = checkpoint_latest(scratch_dir);
    ck_assert_ptr_null(latest);
    write_curve("on Haswell");
    save_on("Haswell", 3, false);
    save_on("Haswell", 12, false);
    ck_assert_int_eq(step_on("Haswell", NULL, NULL), 12);
    ck_assert_str_eq(checkpoint_kept(scratch_dir, &c.arena), said);
    ck_assert_int_eq(step_on("Zen", NULL, NULL), 9);
    assert_curve("on Zen");
    ck_assert_str_eq(checkpoint_kept(scratch_dir, &c.arena),
                     "started again from step 9, as the checkpoint of step 12 is not used: it was "
                     "made on 'Haswell'");
    ck_assert_int_eq(step_on("Haswell", NULL, NULL), 12);
    assert_curve("on Haswell");
    save_on("Haswell", 20, true);
    ck_assert_ptr_null(checkpoint_kept(scratch_dir, &c.arena));
    char **name;
    int n;
    ck_assert_int_eq(dir_list(scratch_dir, &name, &n, NULL), PEAT_OK);
    ck_assert_int_eq(n, 2); /* the last one, and the curve */
    names_free(name, n);
}

TEST(leftovers_and_strangers_do_no_harm)
{
    ck_assert(!load(&c, NULL));
    ck_assert_int_eq(dir_make(scratch_path("step-00000099.tmp/deep"), NULL), PEAT_OK);
    ck_assert_int_eq(dir_make(scratch_path("step-00000098.old.tmp"), NULL), PEAT_OK);
    ck_assert_int_eq(dir_make(scratch_path("step-7"), NULL), PEAT_OK);
    ck_assert_int_eq(file_write(scratch_path("notes"), "mine", 4, NULL), PEAT_OK);
    ck_assert(!load(&c, NULL));
    ck_assert_ptr_null(checkpoint_latest(scratch_dir));
    ck_assert_int_eq(toy_cell_run(&c), RUN_DONE);
    ck_assert(!file_exists(scratch_path("step-00000099.tmp")));
    ck_assert(!file_exists(scratch_path("step-00000098.old.tmp")));
    ck_assert(file_exists(scratch_path("step-7")));
    ck_assert(file_exists(scratch_path("notes")));
}

TEST(generations_of_a_given_up_future_are_removed)
{
    run_and_stop(10);
    flip_bit("step-00000010/state.json", 0.3);
    ck_assert(load(&c, NULL));
    c.trace.stop_after = 7;
    ck_assert_int_eq(toy_cell_run(&c), RUN_INTERRUPTED);
    ck_assert(file_exists(scratch_path("step-00000005")));
    ck_assert(file_exists(scratch_path("step-00000007")));
    ck_assert(!file_exists(scratch_path("step-00000010")));
    assert_resumes_from(7);
}

TEST(directory_that_is_absent_holds_nothing)
{
    bool found = true;
    ck_assert_int_eq(checkpoint_load(scratch_path("absent"), &c.trainer, NULL, NULL, &found, NULL),
                     PEAT_OK);
    ck_assert(!found);
    ck_assert_ptr_null(checkpoint_latest(scratch_path("absent")));
}

TEST(weights_of_another_model_are_refused_and_change_nothing)
{
    struct toy_cell small, wide, untouched;
    char *text = NULL;
    size_t n = 0;
    FILE *lines = open_memstream(&text, &n);
    toy_cell_init(&small);
    toy_cell_init(&wide);
    toy_cell_init(&untouched);
    wide.model_config.d_model = untouched.model_config.d_model = 24;
    toy_cell_build(&small);
    toy_cell_build(&wide);
    toy_cell_build(&untouched);
    ck_assert_int_eq(checkpoint_save(scratch_dir, &small.trainer, NULL, false, NULL), PEAT_OK);
    ck_assert(!load(&wide, lines));
    fclose(lines);
    ck_assert_msg(strstr(text, "the model has F32 ["), "%s", text);
    free(text);
    toy_cell_assert_same(&wide, &untouched);
    memset(small.model.weights.value, 0, (size_t)small.model.weights.size * sizeof(float));
    ck_assert(load(&small, NULL));
    ck_assert_double_ne(tensor_get(&small.model.token->value, 0), 0.0);
    toy_cell_release(&small);
    toy_cell_release(&wide);
    toy_cell_release(&untouched);
}

int main(void)
{
    return run_tests((struct tests){"checkpoint", set_up, tear_down, .seconds = 60});
}
