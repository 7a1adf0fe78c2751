/* SPDX-License-Identifier: MIT */
/* cmd_export.c: peat export DIR CELL -o FILE. */

#include "cell/activations.h"
#include "cell/assemble.h"
#include "cell/cellmeta.h"
#include "cell/reopen.h"
#include "cell/start.h"
#include "cli/verbs.h"
#include "grid/rundir.h"
#include "grid/stale.h"
#include "model/safetensors.h"
#include "train/checkpoint.h"
#include "train/generation.h"

enum { THREADS_MAX = 1024 };

struct request {
    const char *file, *feed, *tokens, *given;
    bool start, batch, activations;
    int64_t steps; /* 0: --steps not given */
    struct activations passes;
};

struct exporter {
    const struct cli *cli;
    struct arena *arena;
    struct error *err;
    const struct cell_files *cell;
    struct tensor_list list;
    int64_t step; /* step of the weights */
    const struct value *resolved;
    const char *length_unit;
    const struct value *tokens;   /* list of texts; NULL: not known, or the task has none */
    const struct value *training; /* how tensors are trained; NULL: not known */
    const char *answers;          /* "with stored rows"; NULL: not known, or in full */
    struct json passes;           /* how to read activations; v NULL: there are none */
    char weights[HASH_HEX];       /* SHA-256 of the checkpoint's weights; "": initial ones */
    struct assembly s;            /* the model that was built last, and its configuration */
    struct cell_config config;
};

/* ---- building the model again ---- */

/* The first option that needs the plugins and the data. */
static const char *needed_by(const struct exporter *x)
{
    const struct request *q = x->cli->options;
    return q->feed          ? "--feed"
           : q->steps       ? "--steps"
           : q->batch       ? "--batch"
           : q->activations ? "--activations"
           : q->start       ? "--start"
                            : "an export without a result";
}

static bool export_build(struct exporter *x, peat_dtype dtype, bool shape_only)
{
    struct assembly *s = &x->s;
    struct cell_config *config = &x->config;
    const struct cell_files *cell = x->cell;
    const struct recorded_cell recorded = {cell->label, cell->dir, cell->config, cell->meta,
                                           x->cli->trail};
    struct registry *registry = ARENA_NEW(x->arena, struct registry);
    *s = (struct assembly){.trail = x->cli->trail};
    if (cell_reopen(config, &recorded, needed_by(x), registry, x->arena, x->err) != PEAT_OK ||
        assemble(s, config, x->arena, dtype, shape_only, x->err) != PEAT_OK ||
        (!shape_only && start_apply(s, config, x->err) != PEAT_OK))
        return false;
    x->resolved = assembly_resolved(s, x->arena);
    x->length_unit = s->task.plan.length_unit;
    return true;
}

/* The text of each token for a reader, null where it has none. */
static const struct value *token_texts(const struct exporter *x, const struct task *t)
{
    struct json list = json_list(x->arena);
    for (int64_t id = 0; t->hooks->token_text && id < t->plan.vocab; id++)
        json_add_text(list, task_token_text(t, (int32_t)id, x->arena));
    return list.v->n ? list.v : NULL;
}

static bool take_initial_weights(struct exporter *x)
{
    const struct weights *w = &x->s.model.weights;
    if (!export_build(x, PEAT_F32, false))
        return false;
    x->tokens = token_texts(x, &x->s.task);
    x->training = weights_training(w, x->arena);
    x->list.tensor = generation_tensors(w, NULL, x->arena, &x->list.n);
    return true;
}

/* ---- the newest checkpoint ---- */

static bool read_checkpoint(struct exporter *x, const char *dir)
{
    x->step = generation_step(path_name(dir));
    const struct file_path path = path_in(dir, GENERATION_MODEL);
    return safetensors_read(path.text, x->arena, &x->list.tensor, &x->list.n, NULL, x->err) ==
               PEAT_OK &&
           hash_file(path.text, x->weights, x->err) == PEAT_OK;
}

/* A result has the values that plugins chose for parameters; without a result plugins are called
 * again. */
static bool take_newest_weights(struct exporter *x)
{
    const struct file_path all = path_in(x->cell->dir, "ckpt");
    char *newest = checkpoint_latest(all.text);
    bool taken = newest ? read_checkpoint(x, newest)
                        : error_fail(x->err, PEAT_NOTFOUND,
                                     "cell '%s' has no checkpoint in '%s'; --start gives its "
                                     "weights before training",
                                     x->cell->id, all.text);
    free(newest);
    x->resolved = value_get(x->cell->result, "resolved");
    x->length_unit = json_get_text(x->cell->result, "length_unit");
    return taken && (x->resolved || export_build(x, PEAT_F32, true));
}

/* ---- batches ---- */

/* "1-20" */
static bool read_steps(const char *text, int64_t *first, int64_t *last)
{
    char *end;
    errno = 0;
    *first = *last = strtoll(text, &end, 10);
    if (end != text && *end == '-')
        *last = strtoll(text = end + 1, &end, 10);
    return end != text && !*end && !errno && *first >= 1 && *first <= *last;
}

/* Makes the list for --feed, which has batches and no weights. */
static bool take_batches(struct exporter *x, const char *steps)
{
    const struct cell_config *config = &x->config;
    int64_t first, last;
    if (!read_steps(steps, &first, &last))
        return error_fail(x->err, PEAT_INVALID,
                          "--feed: steps are given as I-J or as one number from 1, not as '%s'",
                          steps);
    if (!export_build(x, PEAT_F32, true))
        return false;
    if (last > config->train.steps)
        return error_fail(x->err, PEAT_INVALID,
                          "--feed: the cell has %" PRId64 " steps, and %" PRId64 " is asked for",
                          config->train.steps, last);
    return batches_add(&x->list, &x->s, config, first, last);
}

/* Builds a model in F64 with the weights in the list, which it sorts: for --batch and --steps. */
static bool build_taken(struct exporter *x)
{
    struct weights *w = &x->s.model.weights;
    const int n = x->list.n;
    struct named_tensor *taken = ARENA_ARRAY(x->arena, n, struct named_tensor);
    bool built = export_build(x, PEAT_F64, false);
    memcpy(taken, x->list.tensor, (size_t)n * sizeof(*taken));
    qsort(taken, (size_t)n, sizeof(*taken), compare_texts);
    x->list.tensor = taken;
    x->list.room = n;
    w->step = x->step;
    return built && generation_fill(w, taken, n, x->cell->id, x->err) == PEAT_OK;
}

/* Replaces the initial weights by those after training, for --steps. */
static bool take_trained(struct exporter *x, int64_t steps)
{
    if (!build_taken(x))
        return false;
    if (steps > x->config.train.steps)
        return error_fail(x->err, PEAT_INVALID, "--steps: the cell has %" PRId64 " steps",
                          x->config.train.steps);
    x->step = steps;
    x->list.tensor = generation_tensors(&x->s.model.weights, NULL, x->arena, &x->list.n);
    x->list.room = 2 * x->list.n;
    return steps_add(&x->list, &x->s, &x->config, steps);
}

/* ---- activations ---- */

static int by_name(const void *x, const void *y)
{
    const struct named_tensor *a = x, *b = y;
    return strcmp(a->name, b->name);
}

/* Reads --given and --tokens. */
static bool read_given(struct exporter *x, const struct request *q, struct activations *to)
{
    struct named_tensor *given = NULL, *all;
    int n = 0;
    *to = q->passes;
    if (q->given && safetensors_read(q->given, x->arena, &given, &n, NULL, x->err) != PEAT_OK)
        return false;
    all = ARENA_ARRAY(x->arena, n + 1, struct named_tensor);
    for (int i = 0; i < n; i++)
        all[i] = given[i];
    if (q->tokens && !activations_tokens(q->tokens, x->arena, &all[n++], x->err))
        return false;
    qsort(all, (size_t)n, sizeof(*all), by_name);
    to->given = all;
    to->n_given = n;
    return true;
}

/* Lists the activations of the model instead of its weights. */
static bool take_activations(struct exporter *x, const struct request *q)
{
    struct activations passes;
    if (!build_taken(x) || !read_given(x, q, &passes))
        return false;
    x->list = (struct tensor_list){.arena = x->arena, .err = x->err};
    x->tokens = token_texts(x, &x->s.task);
    x->passes = json_map(x->arena);
    if (*x->weights)
        json_put_text(x->passes, "changed",
                      stale_reason(x->cell, cell_plugins(&x->config, x->arena), x->arena));
    return activations_add(&x->list, &x->s, &passes, x->passes);
}

static bool take_tensors(struct exporter *x, const struct request *q)
{
    if (q->feed)
        return take_batches(x, q->feed);
    if (!(q->start || q->steps ? take_initial_weights(x) : take_newest_weights(x)))
        return false;
    if (q->steps)
        return take_trained(x, q->steps);
    if (q->activations)
        return take_activations(x, q);
    const char *id;
    if (!q->batch)
        return true;
    if (!build_taken(x) || !first_batch_add(&x->list, &x->s, &x->config))
        return false;
    x->answers = model_not_storable(&x->s.model, &id) ? NULL : "with stored rows";
    return true;
}

/* ---- the file ---- */

static const struct value *metadata_of(const struct exporter *x)
{
    const struct cell_files *cell = x->cell;
    struct arena *a = x->arena;
    const struct {
        const char *key, *text;
    } entry[] = {
        {"peat_config", cell->config ? json_to_text(cell->config, JSON_CANONICAL, a) : NULL},
        {"peat_resolved", json_to_text(x->resolved, JSON_CANONICAL, a)},
        {"peat_cell", cell->id},
        {"peat_state", cell_state_name(cell->state)},
        {"peat_step", arena_printf(a, "%" PRId64, x->step)},
        {"peat_hash", json_get_text(cell->config, "hash")},
        {"length_unit", x->length_unit},
        {"peat_tokens", x->tokens ? json_to_text(x->tokens, JSON_CANONICAL, a) : NULL},
        {"peat_weights", *x->weights ? x->weights : NULL},
        {"peat_answers", x->answers},
        {"peat_engine", x->passes.v ? engine_version() : NULL},
        {"peat_activations", x->passes.v ? json_to_text(x->passes.v, JSON_CANONICAL, a) : NULL},
        {"peat_training", x->training ? json_to_text(x->training, JSON_CANONICAL, a) : NULL},
    };
    struct json map = json_map(a);
    for (size_t i = 0; i < sizeof(entry) / sizeof(*entry); i++)
        if (entry[i].text)
            json_put_text(map, entry[i].key, entry[i].text);
    return map.v;
}

static int export_weights(const struct cli *cli)
{
    const struct request *q = cli->options;
    struct exporter *x = ARENA_NEW(cli->arena, struct exporter);
    const struct cli_clash clash[] = {
        {"feed", q->start || q->batch || q->steps,
         "--feed writes only batches: leave --start, --batch and --steps out"},
        {"steps", q->start || q->batch,
         "--steps writes other weights: leave --start and --batch out"},
        {"activations", q->feed || q->steps || q->batch,
         "--activations are of the weights as they are: leave --feed, --steps and --batch out"},
        {"rows tokens given only step threads", !q->activations,
         "--rows, --tokens, --given, --only, --step and --threads are for "
         "--activations"},
        {"rows", q->tokens || q->given,
         "--tokens and --given have rows of their own: leave --rows out"},
        {NULL, !q->file, "name the file to write: -o FILE"},
    };
    if (CLI_CLASHES(cli, clash))
        return CLI_USAGE;
    *x = (struct exporter){.cli = cli,
                           .arena = cli->arena,
                           .err = cli->err,
                           .cell = cli_find_cell(cli),
                           .list = {.arena = cli->arena, .err = cli->err}};
    if (x->cell && take_tensors(x, q))
        safetensors_write(q->file, x->list.tensor, x->list.n, metadata_of(x), cli->err);
    return CLI_DONE;
}

static const struct cli_option options[] = {
    CLI_TEXT('o', "output", "FILE", file, "the file to write"),
    CLI_FLAG(0, "start", start, "the weights before training, of any cell"),
    CLI_FLAG(0, "batch", batch, "also the first batch, its logits and its gradients, in F64"),
    CLI_WHOLE(0, "steps", "N", 1, INT64_MAX, steps,
              "instead, the weights after N steps in F64, and the losses of these steps"),
    CLI_FLAG(0, "activations", activations,
             "instead, what forward passes compute, in F64: streams, q, k, v, logits, weights"),
    CLI_WHOLE(0, "rows", "N", 1, INT64_MAX, passes.rows,
              "activations: of the first N windows (default: of 4 passes, up to 64 windows each)"),
    CLI_WHOLE('t', "threads", "N", 1, THREADS_MAX, passes.threads,
              "activations: threads (default: 1)"),
    CLI_WHOLE(0, "step", "N", 0, INT64_MAX, passes.step,
              "activations: as step N of training computes, with its draws"),
    CLI_TEXT(0, "tokens", "FILE", tokens,
             "activations: of token ids [rows, places], as numpy.save writes them"),
    CLI_TEXT(0, "given", "FILE", given,
             "activations: tensors that replace those that a pass computes"),
    CLI_TEXT(0, "only", "NAME,...", passes.only,
             "activations: only these, as loss,'block.*.stream'"),
    CLI_TEXT(0, "feed", "I-J", feed, "instead of weights, the batches of these training steps"),
};

const struct cli_command cmd_export = {
    .name = "peat export",
    .summary = "a cell's weights as a safetensors file",
    CLI_OPERANDS("DIR CELL", 2, 2, "a run directory and a cell are needed"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.passes = {.step = -1, .threads = 1}),
    .run = export_weights,
    .apart = true,
};
