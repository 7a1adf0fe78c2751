/* SPDX-License-Identifier: MIT */
/* cmd_export.c: peat export DIR CELL -o FILE. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "cell/assemble.h"
#include "cell/reopen.h"
#include "cell/start.h"
#include "cli/verbs.h"
#include "grid/rundir.h"
#include "model/safetensors.h"
#include "train/checkpoint.h"
#include "train/generation.h"

struct request {
    const char *file;
    bool start;
};

struct exporter {
    const struct cli *cli;
    struct arena *arena;
    const struct cell_files *cell;
    struct named_tensor *tensor;
    int n;
    int64_t step; /* of the weights */
    const struct value *resolved;
    const char *length_unit;
    const struct value *tokens; /* list of texts; NULL: not known, or the task has none */
};

/* ---- the model built again ---- */

static peat_status build(struct exporter *x, bool shape_only, struct assembly *s)
{
    const struct cell_files *cell = x->cell;
    const struct recorded_cell recorded = {cell->label, cell->dir, cell->config, cell->meta};
    struct registry *registry = ARENA_NEW(x->arena, struct registry);
    struct cell_config *config = ARENA_NEW(x->arena, struct cell_config);
    *s = (struct assembly){.trail = x->cli->trail};
    struct error *err = x->cli->err;
    if (cell_reopen(config, &recorded, shape_only ? "an export without a result" : "--start",
                    registry, x->arena, err) != PEAT_OK ||
        assemble(s, config, x->arena, PEAT_F32, shape_only, err) != PEAT_OK ||
        (!shape_only && start_apply(s, config, err) != PEAT_OK))
        return err->status;
    x->resolved = assembly_resolved(s, x->arena);
    x->length_unit = s->task.plan.length_unit;
    return PEAT_OK;
}

/* What each token is to a reader, null where it has no text. */
static const struct value *token_texts(const struct exporter *x, const struct task *t)
{
    struct json list = json_list(x->arena);
    for (int64_t id = 0; t->hooks->token_text && id < t->plan.vocab; id++)
        json_add_text(list, task_token_text(t, (int32_t)id, x->arena));
    return list.v->n ? list.v : NULL;
}

static peat_status take_initial_weights(struct exporter *x)
{
    struct assembly *s = ARENA_NEW(x->arena, struct assembly);
    peat_status status = build(x, false, s);
    if (status != PEAT_OK)
        return status;
    const struct weights *w = &s->model.weights;
    x->tokens = token_texts(x, &s->task);
    x->n = w->n;
    x->tensor = ARENA_ARRAY(x->arena, w->n, struct named_tensor);
    for (int i = 0; i < w->n; i++)
        x->tensor[i] = (struct named_tensor){w->item[i]->name, w->item[i]->value};
    return PEAT_OK;
}

/* ---- the newest checkpoint ---- */

static peat_status read_checkpoint(struct exporter *x, const char *dir)
{
    char *path = path_join(dir, GENERATION_MODEL);
    x->step = generation_step(path_name(dir));
    peat_status status = safetensors_read(path, x->arena, &x->tensor, &x->n, NULL, x->cli->err);
    free(path);
    return status;
}

/* A result holds the parameters that plugins chose; before there is one, plugins are asked
 * again. */
static peat_status take_newest_weights(struct exporter *x)
{
    char *all = path_join(x->cell->dir, "ckpt"), *newest = checkpoint_latest(all);
    peat_status status = newest ? read_checkpoint(x, newest)
                                : error_set(x->cli->err, PEAT_NOTFOUND,
                                            "cell '%s' has no checkpoint in '%s'; --start gives "
                                            "its weights before training",
                                            x->cell->id, all);
    free(newest);
    free(all);
    x->resolved = value_get(x->cell->result, "resolved");
    x->length_unit = json_get_text(x->cell->result, "length_unit");
    if (status == PEAT_OK && !x->resolved)
        status = build(x, true, ARENA_NEW(x->arena, struct assembly));
    return status;
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
    struct exporter x = {.cli = cli, .arena = cli->arena};
    if (!q->file)
        return cli_mistake(cmd_export.name, "where to? give -o FILE");
    x.cell = cli_find_cell(cli);
    if (x.cell && (q->start ? take_initial_weights(&x) : take_newest_weights(&x)) == PEAT_OK)
        safetensors_write(q->file, x.tensor, x.n, metadata_of(&x), cli->err);
    return CLI_DONE;
}

static const struct cli_option options[] = {
    CLI_TEXT('o', "output", "FILE", file, "the file to write"),
    CLI_FLAG(0, "start", start, "the weights before training, of any cell"),
};

const struct cli_command cmd_export = {
    .name = "peat export",
    .summary = "a cell's weights as a safetensors file",
    .about = "Writes the weights of a cell's newest checkpoint as one safetensors file, which\n"
             "PyTorch and Hugging Face read. Its metadata holds the cell's configuration\n"
             "(peat_config, as JSON) and what plugins chose for automatic parameters\n"
             "(peat_resolved). CELL is an index, a label or the start of a hash. --start writes\n"
             "the weights before the first step, which needs the cell's plugins and data.",
    .example = "peat export runs/sum-vs-concat rotary.sum.s0 -o model.safetensors",
    CLI_OPERANDS("DIR CELL", 2, 2, "a run directory and a cell are needed"),
    CLI_ROWS(options),
    .run = export_weights,
    .apart = true,
};
