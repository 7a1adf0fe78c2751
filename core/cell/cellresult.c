/* SPDX-License-Identifier: MIT */
/* cellresult.c: writes a cell's result.json, with hashes of its batches and weights and the drift
 * of its checkpoints, from which a reader can judge it. */
#include "cellresult.h"

#include <sys/resource.h>

#include "cell/cellfiles.h"
#include "train/input_sizes.h"

/* ---- rows that were never trained ---- */

/* True for row `row` of a tensor of any rank that never got a gradient: AdamW's second moment is
 * then exactly 0. */
static bool row_untouched(const struct trainer *t, const struct weight *w, int64_t row)
{
    int64_t width = tensor_count(&w->value) / w->value.dim[0], first = w->offset + row * width;
    for (int64_t i = first; i < first + width; i++) {
        double v = w->value.dtype == PEAT_F32 ? (double)((const float *)t->adamw.v)[i]
                                              : ((const double *)t->adamw.v)[i];
        if (v != 0.0)
            return false;
    }
    return true;
}

static void count_rows(const struct trainer *t, const struct weight *w, struct json found)
{
    if (!w || w->frozen || w->value.rank < 2 || w->value.dim[0] <= t->model->config.T_train)
        return;
    int64_t n = 0;
    for (int64_t row = 0; row < w->value.dim[0]; row++)
        n += row_untouched(t, w, row);
    if (n > 0)
        json_put_int(found, w->name, n);
}

/* Only schemes of a finite length have rows for positions; in others a dead unit could look like an
 * untrained row. */
struct value *untrained_rows(const struct trainer *t, struct arena *a)
{
    const struct positional *p = t->model->positional;
    struct json found = json_map(a);
    for (int i = 0; i < p->n_scheme; i++) {
        const struct part *part = &p->scheme[i].part;
        if (!(p->scheme[i].hooks->traits & PEAT_FINITE_LENGTH))
            continue;
        for (int k = 0; k < part->n_weight; k++) {
            bool per_layer = part->weight[k].scope == PEAT_PER_LAYER;
            for (int64_t l = 0; l < (per_layer ? t->model->dims.L : 1); l++)
                count_rows(t, part->weight[k].layer[l], found);
        }
    }
    return found.v->n ? found.v : NULL;
}

/* ---- hashes and ratios ---- */

/* The hash of the first and the last training batch. Cells with equal hashes saw the same data in
 * the same order, because batches are a function of seed and step. */
static bool batch_hash(struct cell *c, char hex[HASH_HEX], struct error *err)
{
    struct trainer *t = &c->trainer;
    struct strbuf all = STRBUF_NEW;
    const int64_t step[] = {1, t->train->steps};
    bool ok = true;
    for (int i = 0; ok && i < 2; i++) {
        const peat_batch *b = &t->batch.b;
        ok = task_train_batch(t->task, t->seed, step[i], &t->batch, err) == PEAT_OK;
        size_t n = ok ? (size_t)(b->B * b->T) : 0;
        strbuf_add_bytes(&all, b->token, n * sizeof(*b->token));
        strbuf_add_bytes(&all, b->target, n * sizeof(*b->target));
    }
    hash_bytes(all.text, all.n, hex);
    strbuf_release(&all);
    return ok;
}

/* The ratio with trained weights on the last batch; NaN when the input cannot be run. Lack of
 * memory is an error, because with more memory the ratio would exist. */
static bool trained_ratio(struct cell *c, double *ratio, struct error *err)
{
    struct trainer *t = &c->trainer;
    struct input_sizes sizes = {0};
    struct error why = {0};
    *ratio = (double)NAN;
    if (t->diverged.step || !positional_at_input(t->model->positional))
        return true;
    peat_status status = input_sizes(t->model, t->team, &t->batch.b, &t->step_arena, &sizes, &why);
    arena_reset(&t->step_arena);
    if (status == PEAT_OK)
        *ratio = input_ratio(&sizes);
    return status != PEAT_NOMEM || error_fail(err, status, "%s", why.text);
}

/* ---- the file ---- */

static int64_t eval_T(const peat_task_plan *plan, int64_t length)
{
    for (int64_t i = 0; i < plan->n_eval; i++)
        if (plan->eval[i] == length)
            return plan->eval_T[i];
    return 0;
}

static void add_measure(struct json list, const struct cell *c, const struct measure *m)
{
    struct json v = json_add_map(list);
    json_put_text(v, "metric", m->metric);
    json_put_text(v, "split", m->split);
    json_put_int(v, "length", m->length);
    json_put_int(v, "step", m->step);
    json_put_real(v, "value", m->value);
    json_put_bool(v, "untrained",
                  c->untrained &&
                      eval_T(&c->assembly.task.plan, m->length) > c->assembly.model.config.T_train);
    if (m->again)
        json_put_text(v, "again", m->again);
}

static void put_measures(struct json result, const struct cell *c)
{
    struct json list = json_put_list(result, "measures");
    for (int i = 0; i < c->n_measure; i++)
        add_measure(list, c, &c->measure[i]);
    const struct measure loss = {"loss",          "train",      c->config.train.seq_len,
                                 c->trainer.step, c->last_loss, NULL};
    add_measure(list, c, &loss);
}

static const struct value *stretches_at(const struct value *list, int64_t length)
{
    for (int i = 0; list && i < list->n; i++)
        if (json_get_int(list->item[i], "length", -1) == length)
            return list->item[i];
    return NULL;
}

/* The losses in stretches of the test text that belong to the values in result.json. */
static void put_stretches(struct json result, const struct cell *c)
{
    struct json list = json_put_list(result, "test_stretches");
    for (int i = 0; i < c->n_tested; i++) {
        const struct test_stretches *s = &c->tested[i];
        struct json m = json_add_map(list);
        json_put_int(m, "length", s->length);
        struct json nll = json_put_list(m, "nll"), targets = json_put_list(m, "targets");
        for (int k = 0; k < s->n; k++) {
            json_add(nll, isfinite(s->nll[k]) ? value_real(list.a, NOWHERE, s->nll[k])
                                              : value_null(list.a, NOWHERE));
            json_add_int(targets, s->targets[k]);
        }
    }
    for (int i = 0; i < c->n_measure; i++)
        if (c->measure[i].again && !stretches_at(list.v, c->measure[i].length) &&
            stretches_at(c->last_stretches, c->measure[i].length))
            json_add(list, stretches_at(c->last_stretches, c->measure[i].length));
}

static void put_metrics(struct json result, const struct cell *c)
{
    struct json list = json_put_list(result, "metrics");
    for (const peat_metric *m = c->assembly.task.hooks->metric; m->name; m++) {
        struct json v = json_add_map(list);
        json_put_text(v, "name", m->name);
        json_put_text(v, "goal", m->goal_max ? "max" : "min");
    }
}

static void put_texts(struct json r, const struct cell *c)
{
    static const char *const planned[] = {"attention_path", "injection"};
    for (size_t i = 0; i < sizeof(planned) / sizeof(*planned); i++)
        json_put(r, planned[i], value_get(c->config_json, planned[i]));
    if (c->assembly.started)
        json_put_text(r, "started", c->assembly.started);
}

/* Repeats the plan's count of parameters and FLOPs: q begins with the configuration's numbers. */
static void put_quantities(struct json r, const struct cell *c, double ratio)
{
    const struct trainer *t = &c->trainer;
    double q[QUANTITIES], tokens = (double)(t->train->batch * t->train->seq_len);
    bool timed = t->median_step_ms > 0.0;
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    quantities_read(c->config_json, IN_CONFIG, q);
    q[Q_INPUT_RATIO] = ratio;
    q[Q_TOKENS_PER_S] = timed ? tokens / (t->median_step_ms * 1e-3) : (double)NAN;
    q[Q_FLOPS_PER_S] = q[Q_TOKENS_PER_S] * q[Q_FLOPS_PER_TOKEN];
    q[Q_STEP_MS_MEDIAN] = timed ? t->median_step_ms : (double)NAN;
    q[Q_PEAK_RSS_KIB] = (double)use.ru_maxrss;
    q[Q_WALL_S] = t->train_seconds;
    q[Q_EVAL_S] = t->eval_seconds;
    if (value_get(c->meta, "trained_by")) { /* memory and time of another process are not known */
        q[Q_PEAK_RSS_KIB] = q[Q_CPU_S] = (double)NAN;
        quantities_put(r, IN_RESULT, q);
        return;
    }
    q[Q_CPU_S] = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                 1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    quantities_put(r, IN_RESULT, q);
}

bool cell_result(struct cell *c, struct value **result, struct error *err)
{
    const struct trainer *t = &c->trainer;
    struct json r = json_map(c->arena);
    char batches[HASH_HEX], weights[HASH_HEX];
    double ratio;
    if (!batch_hash(c, batches, err) || !trained_ratio(c, &ratio, err))
        return false;
    weights_hash(&t->model->weights, NULL, weights);
    json_put_int(r, "format", result_record.format);
    json_put(r, "id", value_get(c->config_json, "id"));
    json_put_text(r, "hash", c->config.hash);
    json_put_text(r, "state", t->diverged.step ? "diverged" : "done");
    if (t->diverged.step) {
        struct json d = json_put_map(r, "diverged");
        json_put_int(d, "step", t->diverged.step);
        json_put_text(d, "what", t->diverged.what);
    } else {
        json_put(r, "diverged", NULL);
    }
    json_put_int(r, "steps", t->step);
    if (t->train->patience)
        json_put_bool(r, "stopped", t->patience.stopped);
    put_measures(r, c);
    json_put(r, "eval_tokens", value_get_path(c->config_json, "eval.tokens"));
    if (c->n_tested || c->last_stretches)
        put_stretches(r, c);
    put_metrics(r, c);
    json_put_text(r, "length_unit", c->assembly.task.plan.length_unit);
    put_quantities(r, c, ratio);
    put_texts(r, c);
    json_put(r, "resolved", assembly_resolved(&c->assembly, c->arena));
    json_put(r, "untrained", c->untrained);
    if (c->drift)
        json_put(r, "drift", c->drift);
    json_put_text(r, "batch_hash", batches);
    json_put_text(r, "init_hash", c->init_hash);
    json_put_text(r, "init_shapes", c->init_shapes);
    json_put_text(r, "weights_hash", weights);
    *result = r.v;
    return cell_files_seal(c->dir, t->step, c->meta, r, err);
}
