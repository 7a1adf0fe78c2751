/* SPDX-License-Identifier: MIT */
/* cellresult.c: what a cell came to, with everything needed to trust or to doubt it. */
#include "cellresult.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "base/jsonfile.h"

static void set_copy(struct arena *a, struct value *map, const char *key, const struct value *from)
{
    member_set(a, map, key, value_get(from, key));
}

/* ---- rows that were never trained ---- */

/* Row `row` of a tensor of any rank: AdamW's second moment is exactly 0 where no gradient came. */
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

static void count_rows(const struct trainer *t, const struct weight *w, struct arena *a,
                       struct value **found)
{
    if (!w || w->frozen || w->value.rank < 2 || w->value.dim[0] <= t->model->config.T_train)
        return;
    int64_t n = 0;
    for (int64_t row = 0; row < w->value.dim[0]; row++)
        n += row_untouched(t, w, row);
    if (n == 0)
        return;
    if (!*found)
        *found = value_map(a, NOWHERE);
    member_set_integer(a, *found, w->name, n);
}

/* Only schemes of a finite length have rows for positions; others may have units that died. */
struct value *untrained_rows(const struct trainer *t, struct arena *a)
{
    const struct positional *p = t->model->positional;
    struct value *found = NULL;
    for (int i = 0; i < p->n_scheme; i++) {
        const struct part *part = &p->scheme[i].part;
        if (!(p->scheme[i].hooks->traits & PEAT_FINITE_LENGTH))
            continue;
        for (int k = 0; k < part->n_weight; k++) {
            bool per_layer = part->weight[k].scope == PEAT_PER_LAYER;
            for (int64_t l = 0; l < (per_layer ? t->model->dims.L : 1); l++)
                count_rows(t, part->weight[k].layer[l], a, &found);
        }
    }
    return found;
}

/* ---- hashes and ratios ---- */

/* Of the first and the last training batch: two cells with equal hashes saw the same data in the
 * same order, since batches are a function of seed and step. */
static peat_status batch_hash(const struct cell_outcome *o, char hex[HASH_HEX], struct error *err)
{
    struct trainer *t = o->trainer;
    struct strbuf all;
    strbuf_init(&all);
    const int64_t step[] = {1, t->train->steps};
    peat_status status = PEAT_OK;
    for (int i = 0; i < 2 && status == PEAT_OK; i++) {
        status = task_train_batch(t->task, t->seed, step[i], &t->batch, err);
        const peat_batch *b = &t->batch.b;
        if (status != PEAT_OK)
            break;
        strbuf_add_bytes(&all, b->token, (size_t)(b->B * b->T) * sizeof(*b->token));
        strbuf_add_bytes(&all, b->target, (size_t)(b->B * b->T) * sizeof(*b->target));
    }
    hash_bytes(all.text, all.n, hex);
    strbuf_release(&all);
    return status;
}

static double standard_deviation(const struct tensor *t)
{
    int64_t n = tensor_count(t);
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double x = tensor_get(t, i);
        sum += x;
        squares += x * x;
    }
    double mean = sum / (double)n;
    return sqrt(squares / (double)n - mean * mean);
}

/* std(tokens) / std(positions) at the model's input, on the last batch made; NaN without a
 * position stream. */
static double input_ratio(const struct cell_outcome *o)
{
    struct trainer *t = o->trainer;
    const peat_batch *b = &t->batch.b;
    struct graph g;
    struct pass pass = {0};
    struct model_input in = {.B = b->B,
                             .T = b->T,
                             .token = b->token,
                             .segment = b->has_segment ? b->segment : NULL,
                             .pad = b->has_pad ? b->pad : NULL,
                             .sequence = b->sequence,
                             .phase = PEAT_EVAL,
                             .last_only = true};
    graph_init(&g, &t->step_arena, t->team, t->model->weights.dtype);
    g.no_grad = true;
    double ratio = (double)NAN;
    if (model_forward(t->model, &g, &in, &pass) && pass.position_input)
        ratio = standard_deviation(&pass.input->value) /
                standard_deviation(&pass.position_input->value);
    arena_reset(&t->step_arena);
    return ratio;
}

/* ---- the file ---- */

static int64_t eval_T(const peat_task_plan *plan, int64_t length)
{
    for (int64_t i = 0; i < plan->n_eval; i++)
        if (plan->eval[i] == length)
            return plan->eval_T[i];
    return 0;
}

static struct value *measure_value(const struct cell_outcome *o, const struct measure *m,
                                   struct arena *a)
{
    struct value *v = value_map(a, NOWHERE);
    member_set_text(a, v, "metric", m->metric);
    member_set_text(a, v, "split", m->split);
    member_set_integer(a, v, "length", m->length);
    member_set_integer(a, v, "step", m->step);
    member_set_real(a, v, "value", m->value);
    bool untrained = o->untrained &&
                     eval_T(&o->assembly->task.plan, m->length) > o->assembly->model.config.T_train;
    member_set(a, v, "untrained", value_bool(a, NOWHERE, untrained));
    return v;
}

static struct value *measures(const struct cell_outcome *o, struct arena *a)
{
    struct value *list = value_list(a, NOWHERE);
    for (int i = 0; i < o->n_measure; i++)
        value_append(a, list, measure_value(o, &o->measure[i], a));
    const struct measure loss = {"loss", "train", o->config->train.seq_len, o->trainer->step,
                                 o->last_loss};
    value_append(a, list, measure_value(o, &loss, a));
    return list;
}

static struct value *metrics(const struct cell_outcome *o, struct arena *a)
{
    struct value *list = value_list(a, NOWHERE);
    for (const peat_metric *m = o->assembly->task.hooks->metric; m->name; m++) {
        struct value *v = value_map(a, NOWHERE);
        member_set_text(a, v, "name", m->name);
        member_set_text(a, v, "goal", m->goal_max ? "max" : "min");
        value_append(a, list, v);
    }
    return list;
}

/* What plugins chose for their automatic parameters: {"learned.max_len": 128}. */
static struct value *resolved(const struct cell_outcome *o, struct arena *a)
{
    const struct positional *p = &o->assembly->positional;
    struct value *all = value_map(a, NOWHERE);
    for (int i = -2; i < p->n_scheme; i++) {
        const struct part *part = i == -2   ? &o->assembly->task.part
                                  : i == -1 ? &p->combine_part
                                            : &p->scheme[i].part;
        for (int k = 0; part->resolved && k < part->resolved->n; k++)
            value_set(a, all, arena_printf(a, "%s.%s", part->id, part->resolved->key[k]), NOWHERE,
                      part->resolved->item[k]);
    }
    return all;
}

static void add_costs(const struct cell_outcome *o, struct arena *a, struct value *r)
{
    const struct trainer *t = o->trainer;
    static const char *const planned[] = {"params", "params_positional", "flops_per_token",
                                          "attention_path", "injection"};
    for (size_t i = 0; i < sizeof(planned) / sizeof(*planned); i++)
        set_copy(a, r, planned[i], o->config_json);
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    double tokens = (double)(t->train->batch * t->train->seq_len);
    bool timed = t->median_step_ms > 0.0;
    member_set_real(a, r, "tokens_per_s",
                    timed ? tokens / (t->median_step_ms * 1e-3) : (double)NAN);
    member_set_real(a, r, "step_ms_median", timed ? t->median_step_ms : (double)NAN);
    member_set_integer(a, r, "peak_rss_kib", use.ru_maxrss);
    member_set_real(a, r, "wall_s", t->train_seconds);
    member_set_real(a, r, "cpu_s",
                    (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                        1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec));
}

peat_status cell_result(const struct cell_outcome *o, struct arena *a, struct value **result,
                        struct error *err)
{
    const struct trainer *t = o->trainer;
    struct value *r = *result = value_map(a, NOWHERE);
    char batches[HASH_HEX], weights[HASH_HEX];
    peat_status status = batch_hash(o, batches, err);
    if (status != PEAT_OK)
        return status;
    weights_hash(&t->model->weights, NULL, weights);
    member_set_integer(a, r, "format", 1);
    set_copy(a, r, "id", o->config_json);
    member_set_text(a, r, "hash", o->config->hash);
    member_set_text(a, r, "state", t->diverged.step ? "diverged" : "done");
    if (t->diverged.step) {
        struct value *d = value_map(a, NOWHERE);
        member_set_integer(a, d, "step", t->diverged.step);
        member_set_text(a, d, "what", t->diverged.what);
        member_set(a, r, "diverged", d);
    } else {
        member_set(a, r, "diverged", value_null(a, NOWHERE));
    }
    member_set_integer(a, r, "steps", t->step);
    member_set(a, r, "measures", measures(o, a));
    member_set(a, r, "metrics", metrics(o, a));
    member_set_text(a, r, "length_unit", o->assembly->task.plan.length_unit);
    add_costs(o, a, r);
    member_set(a, r, "resolved", resolved(o, a));
    member_set(a, r, "untrained",
               o->untrained ? (struct value *)(uintptr_t)o->untrained : value_null(a, NOWHERE));
    member_set_real(a, r, "input_ratio", t->diverged.step ? (double)NAN : input_ratio(o));
    member_set_text(a, r, "batch_hash", batches);
    member_set_text(a, r, "init_hash", o->init_hash);
    member_set_text(a, r, "init_shapes", o->init_shapes);
    member_set_text(a, r, "weights_hash", weights);
    return PEAT_OK;
}
