/* SPDX-License-Identifier: MIT */
/* cellrun.c: one cell from its config.json to its result.json. */
#include "cellresult.h"

#include <sys/file.h>
#include <time.h>

#include "cell/cellfiles.h"
#include "cell/cellmeta.h"
#include "cell/start.h"
#include "cell/trunk.h"
#include "identity.h"
#include "tensor/gemm.h"
#include "train/checkpoint.h"

enum { LOG_EVERY = 10 };

/* ---- opening ---- */

/* Tries for some seconds, because another process that checks whether this cell runs holds the lock
 * for an instant, which is longer where the machine is busy. */
static bool try_lock(int fd)
{
    const struct timespec pause = {0, 20 * 1000 * 1000};
    for (int i = 0; i < 250; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

static peat_status lock_cell(const char *dir, int *fd, struct error *err)
{
    peat_status status = file_open(path_in(dir, "lock").text, O_RDWR | O_CREAT, FILE_OWN, fd, err);
    if (status == PEAT_OK && !try_lock(*fd))
        status = error_set(err, PEAT_INVALID, "another process is running the cell in '%s'", dir);
    return status;
}

static peat_status refuse_hash(const struct cell *c, struct error *err)
{
    /* Only a file edited by hand lacks its seal: an edited file with a seal would be damaged. */
    if (json_lacks_seal(c->dir, config_record.name))
        return error_set(err, PEAT_FAILED,
                         "'%s/config.json' was changed by hand and differs from the plan; `peat "
                         "run` writes it again",
                         c->dir);
    return error_set(err, PEAT_FAILED,
                     "the data or a plugin has changed since the cell was planned; run "
                     "`peat run` again to plan it anew");
}

/* Refuses a cell that was planned with another arithmetic: this program would train it to other
 * bits than those that the cell's hash names. */
static peat_status check_arithmetic(const struct cell *c, struct error *err)
{
    if (c->config.arithmetic == CELL_ARITHMETIC || c->options->allow_drift)
        return PEAT_OK;
    return error_set(
        err, PEAT_FAILED,
        "the cell was planned with arithmetic %" PRId64 ", and this peat computes with "
        "arithmetic %d: `peat run` plans it anew; --allow-drift trains it all the same",
        c->config.arithmetic, CELL_ARITHMETIC);
}

static bool read_config(struct cell *c, struct error *err)
{
    if (record_read(c->dir, &config_record, c->arena, &c->config_json, err) != PEAT_OK ||
        registry_init(&c->registry, c->arena, c->options->trail, err) != PEAT_OK)
        return false;
    if (cell_config_restore(&c->config, c->config_json, &c->registry, c->arena, err) != PEAT_OK)
        return false;
    c->trunk = value_get(c->config_json, "trunk");
    return json_text_is(c->config_json, "hash", c->config.hash)
               ? check_arithmetic(c, err) == PEAT_OK
               : refuse_hash(c, err) == PEAT_OK;
}

/* The result is removed first, because the files that it is sealed with are about to change. */
static peat_status write_meta(struct cell *c, struct error *err)
{
    peat_status status = file_remove(c->dir, "result.json", err);
    return status == PEAT_OK ? json_write_file(c->dir, "meta.json", c->meta, err) : status;
}

/* A cell is started once: when the first of its steps was taken, in this folder, in the one that
 * its checkpoint was copied from, or by a cell of its trunk. */
static void started_by(struct cell *c, const struct value *earlier)
{
    const char *then = json_get_text(earlier, "started_utc");
    if (then && strcmp(then, json_get_text(c->meta, "started_utc")) < 0)
        json_put_text((struct json){c->arena, c->meta}, "started_utc",
                      arena_strdup(c->arena, then));
}

/* The meta.json of this start, with the time of the first one. */
static bool make_meta(struct cell *c, struct error *err)
{
    struct value *last = NULL;
    record_read(c->dir, &meta_record, c->arena, &last, NULL);
    bool ok = cell_meta(&c->config, &c->team, c->arena, &c->meta, err);
    if (ok)
        started_by(c, last);
    if (ok && value_get(last, "tests"))
        json_put((struct json){c->arena, c->meta}, "tests", value_get(last, "tests"));
    return ok;
}

/* ---- changes that plugins leave behind ---- */

static void look_after(void *ctx, const char *hook)
{
    struct cell *c = ctx;
    guard_look(&c->guard, hook);
}

/* Until the first step is done the process is checked after each plugin function; later only after
 * each step. */
static void watch_closely(struct cell *c, bool closely)
{
    struct trail *t = c->options->trail;
    t->left = closely ? look_after : NULL;
    t->ctx = c;
}

static void name_plugins(struct cell *c)
{
    const struct plugin_use *use;
    size_t room = sizeof(c->plugins);
    for (int i = 0, n = 0; n < (int)room && (use = cell_plugin(&c->config, i)); i++)
        n += snprintf(c->plugins + n, room - (size_t)n, "%s%s", i ? ", " : "one of the plugins ",
                      use->plugin->desc->id);
}

static peat_status look(struct cell *c, struct error *err)
{
    guard_look(&c->guard, c->plugins);
    return guard_verdict(&c->guard, err);
}

/* ---- events of the trainer ---- */

static peat_status on_check(void *ctx, struct error *err)
{
    struct cell *c = ctx;
    watch_closely(c, false);
    peat_status status = look(c, err);
    return status == PEAT_OK ? data_check(c->config.files, err) : status;
}

static void on_step(void *ctx, int64_t step, double loss, double lr, double grad_norm)
{
    struct cell *c = ctx;
    c->last_loss = loss;
    if (step != 1 && step % LOG_EVERY != 0 && step != c->config.train.steps &&
        !c->trainer.diverged.step)
        return;
    metrics_step(&c->metrics, step, c->config.train.seq_len, loss, lr, grad_norm);
    tensorboard_add(c->tensorboard, step, "train/loss", loss);
    tensorboard_add(c->tensorboard, step, "train/lr", lr);
}

static void keep_measure(struct cell *c, const struct measure *m)
{
    if (c->n_measure > 0 && c->measure[0].step != m->step)
        c->n_measure = 0;
    *ARENA_APPEND(c->arena, c->measure, c->n_measure, c->room) = *m;
}

/* Keeps the values of the last evaluation before an interruption: they become the result's if the
 * run diverges before its next evaluation. */
static bool keep_line(void *ctx, int line, const struct value *v)
{
    (void)line;
    struct cell *c = ctx;
    struct measure m;
    fields_get(v, line_record.field, &m);
    if (!m.metric || !m.split || strcmp(m.split, "train") == 0)
        return true;
    m.metric = arena_strdup(c->arena, m.metric);
    m.split = arena_strdup(c->arena, m.split);
    keep_measure(c, &m);
    return true;
}

/* ---- the test part, which is opened once ---- */

static struct measure *first_of(const struct cell *c, const char *metric, int64_t length)
{
    for (int i = 0; i < c->n_first; i++)
        if (c->first[i].length == length && strcmp(c->first[i].metric, metric) == 0)
            return &c->first[i];
    return NULL;
}

/* Keeps a value of the test part, the first one of its metric and length. */
static bool keep_first(void *ctx, int line, const struct value *v)
{
    (void)line;
    struct cell *c = ctx;
    struct measure m;
    fields_get(v, line_record.field, &m);
    if (!v || !m.metric || !same_text(m.split, "test") || first_of(c, m.metric, m.length))
        return true;
    m.metric = arena_strdup(c->arena, m.metric);
    m.split = "test";
    m.again = m.again ? arena_strdup(c->arena, m.again) : NULL;
    *ARENA_APPEND(c->arena, c->first, c->n_first, c->first_room) = m;
    return true;
}

static bool is_evaluated(const struct cell *c, int64_t length)
{
    const peat_task_plan *plan = &c->assembly.task.plan;
    for (int64_t i = 0; i < plan->n_eval; i++)
        if (plan->eval[i] == length)
            return true;
    return false;
}

/* Reads what earlier evaluations of these final weights measured on the test part. Values at
 * lengths that are not evaluated now are kept in meta.json. */
static void read_first(struct cell *c)
{
    char weights[HASH_HEX];
    struct value *last = NULL;
    const struct value *v, *tests = value_get(c->meta, "tests");
    weights_hash(&c->trainer.model->weights, NULL, weights);
    bool same = json_text_is(tests, "weights", weights);
    for (int i = 0; same && (v = json_get_item(tests, "values", i)); i++)
        keep_first(c, 0, v);
    metrics_each(c->dir, "\"test\"", keep_first, c, NULL);
    record_read(c->dir, &result_record, c->arena, &last, NULL);
    c->last_stretches = value_get(last, "test_stretches");
    struct json kept = json_map(c->arena), list = json_put_list(kept, "values");
    json_put_text(kept, "weights", weights);
    for (int i = 0; i < c->n_first; i++)
        if (!is_evaluated(c, c->first[i].length))
            fields_put(json_add_map(list), line_record.field, MEASURE_FIELDS, &c->first[i]);
    if (list.v->n)
        json_put((struct json){c->arena, c->meta}, "tests", kept.v);
}

/* The first value stands, whatever a later evaluation finds; a later one that finds another is
 * counted by its eval.tokens. */
static struct measure opened_once(const struct cell *c, const struct measure *m)
{
    const struct measure *first = first_of(c, m->metric, m->length);
    if (strcmp(m->split, "test") != 0 || !first)
        return *m;
    struct measure kept = *first;
    const struct value *asked = value_get_path(c->config_json, "eval.tokens");
    const char *tokens = json_text_is(value_get(c->config_json, "eval"), "tokens", "all")
                             ? "all"
                             : json_to_text(asked, JSON_LINE, c->arena);
    const char *listed = kept.again, *one;
    bool same = kept.value == m->value || (isnan(kept.value) && isnan(m->value));
    while (!same && (one = list_next(c->arena, &listed, ',')))
        same = strcmp(one, tokens) == 0;
    if (!same)
        kept.again = list_add(c->arena, kept.again, ",", tokens);
    return kept;
}

static void on_measure(void *ctx, const struct measure *measured)
{
    struct cell *c = ctx;
    const struct measure kept = opened_once(c, measured), *m = &kept;
    keep_measure(c, m);
    metrics_measure(&c->metrics, m);
    char tag[128];
    snprintf(tag, sizeof(tag), "%s/%s@%lld", m->split, m->metric, (long long)m->length);
    tensorboard_add(c->tensorboard, m->step, tag, m->value);
}

/* Keeps the stretches, unless result.json keeps an earlier value of the same length. */
static void on_stretches(void *ctx, const struct test_stretches *s)
{
    struct cell *c = ctx;
    for (int i = 0; i < c->n_measure; i++)
        if (c->measure[i].again && c->measure[i].length == s->length)
            return;
    *ARENA_APPEND(c->arena, c->tested, c->n_tested, c->tested_room) = *s;
}

static bool on_stop(void *ctx)
{
    struct cell *c = ctx;
    return stop_requested(&c->stop);
}

static void put_trained_by(struct json map, const struct value *from)
{
    const char *by = json_get_text(from, "trained_by");
    if (by)
        json_put_text(map, "trained_by", by);
    if (value_get(from, "formulas"))
        json_put(map, "formulas", value_get(from, "formulas"));
}

/* The identity of the present state with the seal of its curve; NULL: an error. hash: of the cell,
 * or of its trunk. */
static const struct value *identity(const struct cell *c, const char *hash, bool final,
                                    struct error *err)
{
    struct value *curve;
    if (metrics_seal(&c->metrics, c->dir, c->trainer.step, final, c->arena, &curve, err) != PEAT_OK)
        return NULL;
    struct json v = identity_of(c->meta, hash, c->arena);
    json_put_real(v, "last_loss", c->last_loss);
    json_put(v, "metrics", curve);
    if (c->drift)
        json_put(v, "drift", c->drift);
    if (c->untrained)
        json_put(v, "untrained", c->untrained);
    json_put(v, "started_utc", value_get(c->meta, "started_utc"));
    put_trained_by(v, c->meta);
    return v.v;
}

/* Copies weights and moments from the process of PyTorch, if it trains, before they are written. */
static bool cellrun_fetch(struct cell *c, struct error *err)
{
    const struct train_engine *e = c->trainer.engine;
    return !e || e->fetch(e->ctx, &c->trainer, err);
}

static peat_status on_save(void *ctx, bool final, struct error *err)
{
    struct cell *c = ctx;
    if (!cellrun_fetch(c, err))
        return err->status;
    if (final)
        c->untrained = untrained_rows(&c->trainer, c->arena);
    const struct value *own = identity(c, c->config.hash, final, err);
    return own ? checkpoint_save(path_in(c->dir, "ckpt").text, &c->trainer, own, final, err)
               : err->status;
}

/* cells/<id> is the cell's directory */
static const char *run_dir(const struct cell *c)
{
    return arena_printf(c->arena, "%s/../..", c->dir);
}

static const char *curve_file(const struct cell *c)
{
    return arena_printf(c->arena, "%s/%s", c->dir, line_record.name);
}

static bool keeps(void *ctx, int64_t step)
{
    struct cell *c = ctx;
    const char *id = json_get_text(c->config_json, "id");
    return c->trunk && id && trunk_keeps(c->trunk, id, step);
}

/* Keeps the state for the cells that share the steps so far. */
static peat_status on_passed(void *ctx, struct error *err)
{
    struct cell *c = ctx;
    const char *id = json_get_text(c->config_json, "id");
    if (!keeps(c, c->trainer.step))
        return PEAT_OK;
    const struct value *shared =
        cellrun_fetch(c, err) ? identity(c, c->config.trunk, false, err) : NULL;
    return shared ? checkpoint_leave(trunk_dir(run_dir(c), c->config.trunk, c->arena), &c->trainer,
                                     shared, curve_file(c), id, err)
                  : err->status;
}

/* Copies the stored tree, which does not outlive the callback. */
static struct value *copy_counts(struct arena *a, const struct value *counts)
{
    if (!counts)
        return NULL;
    struct json copy = json_map(a);
    for (int i = 0; i < counts->n; i++)
        json_put_int(copy, counts->key[i], counts->item[i]->integer);
    return copy.v;
}

/* What a checkpoint is compared with: the hash of the cell, or of its trunk. */
struct expected {
    struct cell *c;
    const char *hash;
};

static peat_status accept_state(void *ctx, const struct value *stored, const char *kept,
                                struct error *why)
{
    const struct expected *e = ctx;
    struct cell *c = e->c;
    bool may_drift;
    const struct value *now = identity_of(c->meta, e->hash, c->arena).v;
    const char *difference = identity_difference(stored, now, &may_drift, c->arena);
    if (difference && !(may_drift && c->options->allow_drift))
        return error_set(why, PEAT_REFUSED, "%s%s", difference,
                         may_drift ? "; --allow-drift goes on with it" : "");
    const struct value *curve = value_get(stored, "metrics");
    if (!metrics_are_whole(kept ? kept : c->dir, curve))
        return error_set(why, PEAT_CORRUPT,
                         "metrics.jsonl has changed since the checkpoint was saved");
    c->curve = json_get_int(curve, "bytes", 0);
    c->drift = identity_drift(stored, now, c->arena);
    c->untrained = copy_counts(c->arena, value_get(stored, "untrained"));
    c->last_loss = json_get_number(stored, "last_loss");
    put_trained_by((struct json){c->arena, c->meta}, stored);
    started_by(c, stored);
    return PEAT_OK;
}

/* ---- running ---- */

static bool shared_weight(const char *name)
{
    return strncmp(name, "block.", 6) == 0 || strncmp(name, "norm", 4) == 0 ||
           strncmp(name, "head", 4) == 0;
}

static bool cellrun_set_up(struct cell *c, struct error *err)
{
    const struct cell_config *k = &c->config;
    name_plugins(c);
    c->assembly.trail = c->options->trail;
    if (assemble(&c->assembly, k, c->arena, PEAT_F32, false, err) != PEAT_OK ||
        look(c, err) != PEAT_OK)
        return false;
    /* Hashes the initial weights before some start from files, so that cells that differ only in
     * their starts can be paired. */
    weights_hash(&c->assembly.model.weights, shared_weight, c->init_hash);
    weights_shape_hash(&c->assembly.model.weights, shared_weight, c->init_shapes);
    if (start_apply(&c->assembly, k, err) != PEAT_OK)
        return false;
    c->trainer = (struct trainer){
        .model = &c->assembly.model,
        .task = &c->assembly.task,
        .train = &k->train,
        .eval = &k->eval,
        .checkpoint_every = c->options->checkpoint_every,
        .seed = (uint64_t)k->seed,
        .team = &c->team,
        .model_arena = c->arena,
        .events = {.ctx = c,
                   .step = on_step,
                   .measure = on_measure,
                   .stretches = on_stretches,
                   .check = on_check,
                   .stop = on_stop,
                   .keeps = keeps,
                   .passed = on_passed,
                   .save = on_save},
    };
    return trainer_init(&c->trainer, err) == PEAT_OK;
}

/* Continues from the steps that another cell of the trunk has trained, if they are more than the
 * cell's own. */
static bool branch(struct cell *c, bool *found, struct error *err)
{
    *found = false;
    if (!c->trunk || !c->config.trunk[0] || trainer_has_ended(&c->trainer))
        return true;
    const struct checkpoint_gate gate = {accept_state, &(struct expected){c, c->config.trunk},
                                         curve_file(c)};
    const struct cell before = *c;
    peat_status status =
        checkpoint_branch(trunk_dir(run_dir(c), c->config.trunk, c->arena), trunk_end(&c->config),
                          &c->trainer, &gate, &c->log, found, err);
    if (*found) {
        log_line(&c->log, "continues from step %lld of its trunk", (long long)c->trainer.step);
    } else {
        c->curve = before.curve;
        c->drift = before.drift;
        c->untrained = before.untrained;
        c->last_loss = before.last_loss;
    }
    return status == PEAT_OK;
}

static bool restore(struct cell *c, struct error *err)
{
    bool found = false, branched = false;
    const struct file_path dir = path_in(c->dir, "ckpt");
    const struct checkpoint_gate gate = {accept_state, &(struct expected){c, c->config.hash},
                                         curve_file(c)};
    peat_status status = checkpoint_load(dir.text, &c->trainer, &gate, &c->log, &found, err);
    const char *kept = checkpoint_kept(dir.text, c->arena);
    if (kept)
        trail_notice(c->options->trail, kept);
    if (status == PEAT_OK && found)
        log_line(&c->log, "continues from step %lld", (long long)c->trainer.step);
    if (!found) {
        c->drift = NULL;
        c->curve = 0;
    }
    bool ok = status == PEAT_OK && branch(c, &branched, err);
    if (found || branched)
        identity_drifted_at(c->drift, c->trainer.step, &c->log, c->arena);
    return ok;
}

/* ---- another engine ---- */

static bool start_engine(struct cell *c, struct error *err)
{
    const struct cellrun_options *o = c->options;
    if (o->engine == ENGINE_PEAT)
        return true;
    const struct engine_place place = {(enum run_engine)o->engine, (enum device)o->device};
    c->engine =
        engine_open(&c->config, c->config_json, &c->assembly, place, o->threads, c->arena, err);
    guard_start(&c->guard); /* records the process as expected */
    return c->engine;
}

/* by, formulas: NULL for PEAT's own engine, whose records do not name it. */
static bool is_by(const struct value *meta, const char *by, const struct value *formulas)
{
    const char *was = json_get_text(meta, "trained_by");
    const struct value *used = value_get(meta, "formulas");
    return (was ? same_text(was, by) : !by) && (!used || !formulas || value_equal(used, formulas));
}

/* A cell that has begun goes on with the engine that began it, and names it; a finished one may be
 * evaluated by any. */
static bool take_engine(struct cell *c, struct error *err)
{
    struct json meta = {c->arena, c->meta};
    const char *was = json_get_text(c->meta, "trained_by"),
               *now = c->engine ? engine_by(c->engine) : NULL;
    const struct value *formulas = c->engine ? engine_formulas(c->engine) : NULL;
    bool begun = c->trainer.step > 0 && !trainer_has_ended(&c->trainer);
    if (begun && !is_by(c->meta, now, formulas) && !(was && now && c->options->allow_drift))
        return error_fail(err, PEAT_REFUSED,
                          "its first %" PRId64 " steps are by %s%s, and this run is by %s: "
                          "run.engine and run.device say who goes on%s",
                          c->trainer.step, was ? was : "peat",
                          same_text(was, now) ? " with other formulas" : "", now ? now : "peat",
                          was && now ? "; --allow-drift goes on all the same" : "");
    if (now && !trainer_has_ended(&c->trainer)) {
        json_put_text(meta, "trained_by", now);
        json_put(meta, "formulas", formulas);
    }
    return !c->engine || engine_load(c->engine, &c->trainer, err);
}

/* Trains the remaining steps. A finished run whose result was not written, or whose evaluation
 * lengths have changed, is evaluated again from its final weights. */
static bool train(struct cell *c, enum run_end *end, struct error *err)
{
    bool finished = trainer_has_ended(&c->trainer) && !c->trainer.diverged.step;
    bool ok = (finished || write_meta(c, err) == PEAT_OK) &&
              metrics_open(&c->metrics, c->dir, c->curve, finished, err) == PEAT_OK &&
              (finished || metrics_each(c->dir, NULL, keep_line, c, err) == PEAT_OK) &&
              (!c->options->tensorboard ||
               tensorboard_open(&c->tensorboard, c->dir, c->arena, err) == PEAT_OK) &&
              look(c, err) == PEAT_OK;
    if (!ok)
        return false;
    if (finished)
        read_first(c);
    guard_start(&c->guard); /* records the files just opened as expected */
    c->trained = !finished;
    ok = trainer_run(&c->trainer, end, err) == PEAT_OK &&
         (*end != RUN_DONE || !finished ||
          (trainer_evaluate(&c->trainer, err) == PEAT_OK &&
           trainer_test(&c->trainer, err) == PEAT_OK)) &&
         metrics_sync(&c->metrics, err) == PEAT_OK;
    tensorboard_close(c->tensorboard);
    return ok;
}

static bool take_training(struct cell *c, enum run_end *end, struct error *err)
{
    struct foreign_training f;
    struct json meta = {c->arena, c->meta};
    if (!foreign_training_read(c->options->trained, c->config.hash, &c->trainer, c->arena, &f, err))
        return false;
    json_put_text(meta, "trained_by", f.by);
    if (f.formulas)
        json_put(meta, "formulas", f.formulas);
    c->last_loss = f.last_loss;
    *end = c->trainer.diverged.step ? RUN_DIVERGED : RUN_DONE;
    if (write_meta(c, err) != PEAT_OK ||
        metrics_open(&c->metrics, c->dir, 0, false, err) != PEAT_OK)
        return false;
    guard_start(&c->guard); /* records the file just opened as expected */
    foreign_training_curve(&f, &c->trainer, &c->metrics);
    return (*end == RUN_DIVERGED || (trainer_evaluate(&c->trainer, err) == PEAT_OK &&
                                     trainer_test(&c->trainer, err) == PEAT_OK)) &&
           look(c, err) == PEAT_OK && on_save(c, true, err) == PEAT_OK;
}

static bool has_measured(void *ctx)
{
    const double enough = 0.25;
    struct cell *c = ctx;
    bool few = c->trainer.step < c->measured_until;
    return stop_requested(&c->stop) || !(few || clock_cpu() - c->measured_from < enough);
}

/* The processor seconds of a step, measured over the next steps: at least n of them, and a quarter
 * of a second; -1: an error. */
static double step_seconds(struct cell *c, int64_t n, struct error *err)
{
    enum run_end end;
    int64_t first = c->trainer.step;
    c->measured_from = clock_cpu();
    c->measured_until = first + n;
    if (trainer_run(&c->trainer, &end, err) != PEAT_OK)
        return -1;
    return (clock_cpu() - c->measured_from) / (double)(c->trainer.step - first);
}

static double call_seconds(struct trainer *t, peat_status (*call)(struct trainer *, struct error *),
                           struct error *err)
{
    double start = clock_cpu();
    return call(t, err) == PEAT_OK ? clock_cpu() - start : -1;
}

/* Measures steps (after some that warm caches and arenas), an evaluation and the test. */
static bool measure_times(struct cell *c, struct error *err)
{
    struct trainer *t = &c->trainer;
    struct eval_config at_end = *t->eval;
    struct train_config longer = *t->train;
    longer.steps = INT64_MAX;
    at_end.every = 0;
    t->eval = &at_end;
    t->train = &longer;
    t->events = (struct train_events){.ctx = c, .stop = has_measured};
    struct json v = json_map(c->arena);
    double start = clock_cpu(), step = step_seconds(c, c->options->measure, err), evaluation = 0,
           test = 0;
    bool ok = step >= 0 && (step = step_seconds(c, c->options->measure, err)) >= 0 &&
              (evaluation = call_seconds(t, trainer_evaluate, err)) >= 0 &&
              (test = call_seconds(t, trainer_test, err)) >= 0;
    json_put_real(v, "start_s", start);
    json_put_real(v, "step_s", step);
    json_put_real(v, "evaluation_s", evaluation);
    json_put_real(v, "test_s", test);
    t->eval = &c->config.eval;
    t->train = &c->config.train;
    return ok && json_write_file(c->dir, MEASURED_FILE, v.v, err) == PEAT_OK;
}

/* Steps with other data than those of the cell's hash are lost: nothing goes on from them. */
static bool check_data(struct cell *c, struct error *err)
{
    if (data_check_bytes(c->config.files, err) == PEAT_OK)
        return true;
    if (c->trained)
        dir_remove(path_in(c->dir, "ckpt").text, NULL);
    return false;
}

static bool finish(struct cell *c, struct error *err)
{
    struct value *result;
    bool ok = write_meta(c, err) == PEAT_OK &&
              metrics_publish(&c->metrics, c->dir, err) == PEAT_OK &&
              cell_result(c, &result, err) && check_data(c, err) &&
              json_write_file(c->dir, "result.json", result, err) == PEAT_OK;
    if (ok && c->trunk)
        trunk_release(run_dir(c), c->trunk, c->arena);
    return ok;
}

static bool run(struct cell *c, enum cellrun_end *end, struct error *err)
{
    enum run_end ran = RUN_DONE;
    bool ok = read_config(c, err) &&
              (c->config.train.precision != PRECISION_BF16 || c->options->engine != ENGINE_PEAT ||
               gemm_start_bf16(&c->team, err) == PEAT_OK) &&
              json_write_file(c->dir, "running.json", process_named(c->arena).v, err) == PEAT_OK &&
              make_meta(c, err) &&
              (dir_has(c->dir, "result.json") || write_meta(c, err) == PEAT_OK) &&
              cellrun_set_up(c, err);
    if (c->options->measure) {
        *end = CELLRUN_DONE;
        return ok && measure_times(c, err);
    }
    ok = ok && (c->options->trained ? take_training(c, &ran, err)
                                    : start_engine(c, err) && restore(c, err) &&
                                          take_engine(c, err) && train(c, &ran, err));
    *end = ran == RUN_DONE       ? CELLRUN_DONE
           : ran == RUN_DIVERGED ? CELLRUN_DIVERGED
                                 : CELLRUN_INTERRUPTED;
    return ok && (ran == RUN_INTERRUPTED || finish(c, err));
}

/* Makes the kernel end this process and not its parent when memory runs out. Raising one's own
 * score needs no rights; a failure does not matter. */
static void offer_to_oom_killer(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!write(fd, "500", 3);
        close(fd);
    }
}

peat_status cell_run(const char *dir, const struct cellrun_options *options, enum cellrun_end *end,
                     struct error *err)
{
    struct arena arena;
    struct error why = {0};
    int lock = -1;
    struct team team = {options->threads, NULL};
    if (options->has_parent)
        offer_to_oom_killer();
    parallel_start();
    peat_status status = gemm_start(&team, options->gemm, err);
    if (status == PEAT_OK)
        status = lock_cell(dir, &lock, err);
    if (status != PEAT_OK) {
        if (lock >= 0)
            close(lock);
        gemm_stop(&team);
        return status;
    }
    dir_tidy(dir);
    arena_init(&arena, "cell", 1 << 20);
    struct cell *c = ARENA_NEW(&arena, struct cell);
    *c = (struct cell){.dir = dir,
                       .options = options,
                       .arena = &arena,
                       .team = team,
                       .log = {stderr},
                       .metrics = {.fd = -1}};
    strbuf_init(&c->metrics.held);
    stop_open(&c->stop, options->has_parent);
    guard_start(&c->guard);
    watch_closely(c, true);
    if (!run(c, end, &why))
        status = error_set(err, why.status, "%s", why.text);
    file_remove(dir, "running.json", NULL);
    metrics_close(&c->metrics);
    engine_close(c->engine);
    trainer_release(&c->trainer);
    gemm_stop(&c->team);
    stop_close(&c->stop);
    arena_release(&arena);
    close(lock);
    return status;
}
