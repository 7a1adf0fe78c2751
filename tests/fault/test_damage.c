/* SPDX-License-Identifier: MIT */
/*
 * test_damage.c: files that were cut short or in which a bit was flipped.
 *
 * Then that checkpoint, the previous one or none is restored bit for bit, and the log names the
 * file. A JSON file is read as it was written or refused. A grid that is rerun with a damaged file
 * ends in the bytes of the uninterrupted run, or names the file and refuses. The long form takes
 * every bit and every length of every file; the short one a sample.
 */
#include "cell/cellmetrics.h"
#include "fault/faultkit.h"
#include "support/support.h"
#include "support/toy_task.h"
#include "train/checkpoint.h"

struct bytes {
    char *text;
    size_t n;
};

static long faults;

static struct bytes read_bytes(const char *path)
{
    struct bytes b = {0};
    struct error err = {0};
    if (file_read(path, 0, &b.text, &b.n, &err) != PEAT_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(EXIT_FAILURE);
    }
    return b;
}

/* In place and without fsync: what is tested is reading. */
static void put_bytes(const char *path, const void *text, size_t n)
{
    FILE *f = fopen(path, "we");
    if (!f || fwrite(text, 1, n, f) != n || fclose(f) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
}

/* ---- how a file is damaged ---- */

/* One fault of a file: bit `at` flipped, or the file ends before byte `at`. */
struct damage {
    bool cut;
    size_t at;
};

static void apply(const struct damage *d, const struct bytes *whole, struct bytes *damaged)
{
    memcpy(damaged->text, whole->text, whole->n);
    damaged->n = d->cut ? d->at : whole->n;
    if (!d->cut)
        damaged->text[d->at / 8] ^= (char)(1 << d->at % 8);
}

static void describe(const struct damage *d, const char *file, char *what, size_t n)
{
    snprintf(what, n, d->cut ? "%s cut at byte %zu" : "%s with bit %zu flipped", file, d->at);
}

/* Calls `check` for a bit of every byte flipped and for every length, or for a sample of about
 * `sample` of each kind. */
static void each_damage(const struct rig *s, const char *file, const struct bytes *whole,
                        size_t sample,
                        void (*check)(void *ctx, const struct bytes *b, const char *what),
                        void *ctx)
{
    struct bytes damaged = {malloc(whole->n + 1), 0};
    unsigned long long state = s->seed + whole->n;
    size_t every = s->is_long || whole->n <= sample ? 1 : whole->n / sample;
    for (int cut = 0; cut < 2; cut++) {
        for (size_t at = draw(&state) % every; at < whole->n;
             at += 1 + draw(&state) % (2 * every - 1)) {
            const struct damage d = {cut, cut ? at : 8 * at + draw(&state) % 8};
            char what[256];
            describe(&d, file, what, sizeof(what));
            apply(&d, whole, &damaged);
            check(ctx, &damaged, what);
            faults++;
        }
    }
    free(damaged.text);
}

/* ---- checkpoints ---- */

struct restoring {
    const struct rig *rig;
    char *dir, *path;
    struct toy_cell cell; /* restored into */
    float *early, *late;  /* weights at the two generations */
    size_t bytes;
};

static void cell_start(struct toy_cell *c, const char *dir, int64_t stop_after)
{
    toy_cell_init(c);
    c->model_config.n_layer = 1;
    c->eval.every = 5;
    c->trainer.checkpoint_every = 5;
    c->trace.dir = dir;
    c->trace.stop_after = stop_after;
    toy_cell_build(c);
}

static void *copy_weights(const struct toy_cell *c, size_t *bytes)
{
    const struct weights *w = &c->model.weights;
    *bytes = 0;
    for (int i = 0; i < w->n; i++)
        *bytes += tensor_bytes(&w->item[i]->value);
    char *copy = malloc(*bytes), *at = copy;
    for (int i = 0; i < w->n; i++) {
        memcpy(at, w->item[i]->value.data, tensor_bytes(&w->item[i]->value));
        at += tensor_bytes(&w->item[i]->value);
    }
    return copy;
}

/* The toy cell with the checkpoint found, and what was logged. */
static bool load(struct restoring *x, struct strbuf *logged)
{
    char *text = NULL;
    size_t n = 0;
    struct error err = {0};
    bool found = false;
    FILE *lines = open_memstream(&text, &n);
    const struct log log = {lines};
    peat_status status = checkpoint_load(x->dir, &x->cell.trainer, NULL, &log, &found, &err);
    fclose(lines);
    expect(status == PEAT_OK, "a damaged checkpoint is an error: %s", err.text);
    strbuf_clear(logged);
    strbuf_add(logged, text);
    free(text);
    return found;
}

static void check_restored(void *ctx, const struct bytes *b, const char *what)
{
    struct restoring *x = ctx;
    struct strbuf logged;
    size_t n;
    strbuf_init(&logged);
    put_bytes(x->path, b->text, b->n);
    x->cell.trainer.step = 0;
    bool found = load(x, &logged);
    int64_t step = x->cell.trainer.step;
    void *now = copy_weights(&x->cell, &n);
    expect(found && (step == 5 || step == 10), "%s: step %lld", what, (long long)step);
    expect(memcmp(now, step == 10 ? x->late : x->early, n) == 0, "%s: other weights", what);
    expect(step == 10 || strstr(logged.text, "step-00000010"), "%s: the log does not say so", what);
    free(now);
    strbuf_release(&logged);
}

/* Both generations: the newest is damaged, the one before it is there. */
static void damage_checkpoints(const struct rig *s)
{
    static const char *const file[] = {"model.safetensors", "optimiser.safetensors", "state.json"};
    struct restoring x = {.rig = s, .dir = rig_path(s, "ckpt")};
    struct toy_cell made;
    cell_start(&made, x.dir, 5);
    toy_cell_run(&made);
    x.early = copy_weights(&made, &x.bytes);
    made.trace.stop_after = 10;
    toy_cell_run(&made);
    x.late = copy_weights(&made, &x.bytes);
    toy_cell_release(&made);
    cell_start(&x.cell, NULL, 0);
    for (size_t i = 0; i < sizeof(file) / sizeof(*file); i++) {
        x.path = rig_path(s, "ckpt/step-00000010/%s", file[i]);
        struct bytes whole = read_bytes(x.path);
        /* Of tensors every byte is alike; their headers and the small file are taken whole. */
        each_damage(s, file[i], &whole, 60, check_restored, &x);
        put_bytes(x.path, whole.text, whole.n);
        free(whole.text);
        free(x.path);
    }
    toy_cell_release(&x.cell);
    free(x.early);
    free(x.late);
    free(x.dir);
}

/* ---- the files of a run directory ---- */

struct reading {
    const char *dir, *name;
    struct arena arena;
    struct value *was;
};

static void check_json(void *ctx, const struct bytes *b, const char *what)
{
    struct reading *x = ctx;
    struct arena_mark mark = arena_mark(&x->arena);
    struct value *now = NULL;
    struct error err = {0};
    char *path = path_join(x->dir, x->name);
    put_bytes(path, b->text, b->n);
    peat_status status = json_read_file(x->dir, x->name, &x->arena, &now, &err);
    bool same = status == PEAT_OK && value_equal(x->was, now);
    /* A flipped bit in the word "check" leaves everything else as it was. */
    for (int i = 0; status == PEAT_OK && !same && i < x->was->n; i++) {
        same = value_equal(x->was->item[i], value_get(now, x->was->key[i]));
        if (!same)
            break;
    }
    expect(status == PEAT_CORRUPT || same, "%s: it is read as something else (%s)", what, err.text);
    expect(status == PEAT_OK || strstr(err.text, x->name), "%s: '%s' does not name it", what,
           err.text);
    free(path);
    arena_rewind(&x->arena, mark);
}

static void damage_json(const struct rig *s, const char *run, const char *name, size_t sample)
{
    char *dir = rig_path(s, "%s", run), *path = path_join(dir, name);
    struct reading x = {.dir = dir, .name = name};
    struct error err = {0};
    arena_init(&x.arena, "damage", 1 << 16);
    struct bytes whole = read_bytes(path);
    if (json_read_file(dir, name, &x.arena, &x.was, &err) != PEAT_OK)
        expect(false, "%s", err.text);
    else
        each_damage(s, name, &whole, sample, check_json, &x);
    put_bytes(path, whole.text, whole.n);
    arena_release(&x.arena);
    free(whole.text);
    free(path);
    free(dir);
}

/* A line that is there is one of those written. */
static void check_lines(void *ctx, const struct bytes *b, const char *what)
{
    const struct bytes *whole = ctx;
    struct arena a;
    arena_init(&a, "lines", 1 << 14);
    for (const char *at = b->text, *end; (end = memchr(at, '\n', b->n - (size_t)(at - b->text)));
         at = end + 1) {
        const struct value *v = metrics_line(&a, at, (size_t)(end - at));
        const char *seal = v ? memmem(at, (size_t)(end - at), ",\"check\":", 9) : NULL;
        size_t n = seal                      ? (size_t)(seal - at)
                   : (size_t)(end - at) > 24 ? (size_t)(end - at) - 20
                                             : 0;
        expect(!v || (n && memmem(whole->text, whole->n, at, n)), "%s: a line reads '%.*s'", what,
               (int)(end - at), at);
        arena_reset(&a);
    }
    arena_release(&a);
}

static void damage_metrics(const struct rig *s, const char *cell)
{
    char *path = rig_path(s, "done/cells/%s/metrics.jsonl", cell);
    struct bytes whole = read_bytes(path);
    each_damage(s, "metrics.jsonl", &whole, 300, check_lines, &whole);
    free(whole.text);
    free(path);
}

/* ---- running again ---- */

static const char experiment[] = "version: 1\n"
                                 "name: micro\n"
                                 "defaults:\n"
                                 "  task: {plugin: text, path: text.txt}\n"
                                 "  model: {d_model: 8, n_layer: 1, n_head: 1, d_ff: 8}\n"
                                 "  train: {steps: 6, batch: 2, seq_len: 8}\n"
                                 "  eval: {every: 2, lengths: [8], tokens: 16}\n"
                                 "seeds: 1\n"
                                 "run: {checkpoint: {every: 2}}\n";

struct again {
    const struct rig *rig;
    const char *from, *file; /* the directory with the whole file; below it */
    char *fingerprint;
};

static void check_again(void *ctx, const struct bytes *b, const char *what)
{
    struct again *x = ctx;
    struct ran r;
    char *from = rig_path(x->rig, "%s", x->from), *to = rig_path(x->rig, "again"), *path;
    dir_remove(to, NULL);
    copy_tree(from, to);
    path = path_join(to, x->file);
    put_bytes(path, b->text, b->n);
    run_peat(x->rig, 0, NULL, "run micro.yaml -o again --rerun-stale --retry-failed", &r);
    const char *base = strrchr(x->file, '/') ? strrchr(x->file, '/') + 1 : x->file;
    if (r.status == 0) {
        char *now = grid_fingerprint(x->rig, "again");
        expect(strcmp(now, x->fingerprint) == 0, "%s: running again ends in other bytes", what);
        free(now);
    } else {
        expect(r.status == 2 && strstr(r.err.text, base), "%s: it ends with %d: %s", what, r.status,
               r.err.text);
    }
    ran_release(&r);
    free(path);
    free(from);
    free(to);
}

static void damage_and_run(const struct rig *s, const char *from, const char *file,
                           const char *fingerprint, size_t sample)
{
    struct again x = {s, from, file, (char *)fingerprint};
    char *path = rig_path(s, "%s/%s", from, file);
    struct rig few = *s;
    few.is_long = false;
    struct bytes whole = read_bytes(path);
    each_damage(&few, file, &whole, s->is_long ? 12 * sample : sample, check_again, &x);
    free(whole.text);
    free(path);
}

static void must_run(const struct rig *s, const char *fault, const char *words, bool killed)
{
    struct ran r;
    run_peat(s, 0, fault, words, &r);
    if (killed ? has_fired(s, 0) : r.status == 0) {
        ran_release(&r);
        return;
    }
    fprintf(stderr, "'peat %s' ends with %d\n%s", words, r.status, r.err.text);
    exit(EXIT_FAILURE);
}

static char *only_cell(const struct rig *s)
{
    char *cells = rig_path(s, "done/cells"), **name = NULL;
    int n = 0;
    dir_list(cells, &name, &n, NULL);
    char *cell = n == 1 ? strdup(name[0]) : NULL;
    names_free(name, n);
    free(cells);
    return cell;
}

/* "done", and "part": killed with a checkpoint at step 4. Returns the cell. */
static char *make_runs(const struct rig *s)
{
    struct strbuf text;
    strbuf_init(&text);
    rig_write_text(s, 200, -1);
    rig_write(s, "micro.yaml", experiment);
    must_run(s, NULL, "run micro.yaml -o done", false);
    char *cell = only_cell(s), *state = NULL;
    for (int n = 1; n < 200 && !state; n++) {
        strbuf_clear(&text);
        strbuf_addf(&text, "rename:kill:%d:once:cell", n);
        char *part = rig_path(s, "part");
        dir_remove(part, NULL);
        free(part);
        struct ran r;
        run_peat(s, 0, text.text, "run micro.yaml -o part", &r);
        ran_release(&r);
        state = rig_path(s, "part/cells/%s/ckpt/step-00000004/state.json", cell);
        if (!file_exists(state)) {
            free(state);
            state = NULL;
        }
    }
    expect(state != NULL, "no killed run with a checkpoint was made");
    free(state);
    strbuf_release(&text);
    return cell;
}

static void in_cell(const struct rig *s, const char *from, const char *cell, const char *file,
                    const char *fingerprint, size_t sample)
{
    struct strbuf path;
    strbuf_init(&path);
    strbuf_addf(&path, "cells/%s/%s", cell, file);
    damage_and_run(s, from, path.text, fingerprint, sample);
    strbuf_release(&path);
}

static struct rig rig;
static char *cell, *whole_run;

/* ---- tests ---- */

TEST(damaged_checkpoint_is_passed_over_and_named)
{
    damage_checkpoints(&rig);
    ck_assert_int_eq(failures(), 0);
}

TEST(damaged_json_is_refused_by_name)
{
    static const char *const file[] = {"config.json", "meta.json", "result.json"};
    struct strbuf dir;
    strbuf_init(&dir);
    strbuf_addf(&dir, "done/cells/%s", cell);
    for (size_t i = 0; i < sizeof(file) / sizeof(*file); i++)
        damage_json(&rig, dir.text, file[i], 300);
    strbuf_clear(&dir);
    strbuf_addf(&dir, "part/cells/%s", cell);
    damage_json(&rig, dir.text, "end.json", 200);
    damage_json(&rig, "done", "plan.json", 300);
    strbuf_release(&dir);
    ck_assert_int_eq(failures(), 0);
}

TEST(damaged_line_of_a_curve_is_none)
{
    damage_metrics(&rig, cell);
    ck_assert_int_eq(failures(), 0);
}

TEST(run_again_after_damage_ends_in_the_same_bytes)
{
    static const char *const part[] = {"metrics.jsonl",
                                       "meta.json",
                                       "config.json",
                                       "end.json",
                                       "ckpt/step-00000004/state.json",
                                       "ckpt/step-00000004/model.safetensors",
                                       "ckpt/step-00000004/optimiser.safetensors",
                                       "log.txt"};
    static const char *const done[] = {"config.json", "meta.json", "result.json"};
    for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
        in_cell(&rig, "part", cell, part[i], whole_run, 3);
    for (size_t i = 0; i < sizeof(done) / sizeof(*done); i++)
        in_cell(&rig, "done", cell, done[i], whole_run, 3);
    damage_and_run(&rig, "part", "plan.json", whole_run, 3);
    damage_and_run(&rig, "part", "experiment.yaml", whole_run, 2);
    ck_assert_int_eq(failures(), 0);
}

int main(int argc, char **argv)
{
    /* Faults are counted in this process. */
    setenv("CK_FORK", "no", 1);
    rig_open(&rig, argc, argv);
    cell = make_runs(&rig);
    whole_run = grid_fingerprint(&rig, "done");
    int bad = run_tests((struct tests){"damage"});
    printf("%ld faults: bits flipped and files cut, %d expectations failed\n", faults, failures());
    expect(faults >= (rig.is_long ? 20000 : 1000), "too few faults");
    free(whole_run);
    free(cell);
    return rig_close(&rig) || bad;
}
