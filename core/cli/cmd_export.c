/* SPDX-License-Identifier: MIT */
/* cmd_export.c: peat export DIR CELL -o FILE. */
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/verbs.h"
#include "grid/rundir.h"
#include "model/safetensors.h"
#include "train/checkpoint.h"

struct request {
    const char *file;
};

struct exporter {
    const char *dir, *cell, *file;
    struct arena *arena;
    struct error err;
};

static const struct value *metadata_of(struct arena *a, const struct cell_files *cell)
{
    const struct value *resolved = value_get(cell->result, "resolved");
    const struct {
        const char *key, *text;
    } entry[] = {
        {"peat_config", cell->config ? json_to_text(cell->config, JSON_CANONICAL, a) : NULL},
        {"peat_resolved", resolved ? json_to_text(resolved, JSON_CANONICAL, a) : NULL},
        {"peat_cell", cell->id},
        {"peat_state", cell_state_name(cell->state)},
        {"peat_hash", json_get_text(cell->config, "hash")},
        {"length_unit", json_get_text(cell->result, "length_unit")},
    };
    struct json map = json_map(a);
    for (size_t i = 0; i < sizeof(entry) / sizeof(*entry); i++)
        if (entry[i].text)
            json_put_text(map, entry[i].key, entry[i].text);
    return map.v;
}

static peat_status copy_weights(struct exporter *x, const struct cell_files *cell,
                                const char *checkpoint)
{
    struct named_tensor *tensor;
    int n;
    char *path = path_join(checkpoint, "model.safetensors");
    peat_status status = safetensors_read(path, x->arena, &tensor, &n, NULL, &x->err);
    free(path);
    if (status != PEAT_OK)
        return status;
    return safetensors_write(x->file, tensor, n, metadata_of(x->arena, cell), &x->err);
}

static peat_status export_cell(struct exporter *x)
{
    struct rundir run;
    int index;
    struct error damaged = {0};
    peat_status status = rundir_read(x->dir, &run, x->arena, &damaged);
    if (status != PEAT_OK)
        return error_set(&x->err, status, "%s", damaged.text);
    status = rundir_find(&run, x->cell, &index, &x->err);
    if (status != PEAT_OK)
        return status;
    const struct cell_files *cell = &run.cell[index];
    char *checkpoints = path_join(cell->dir, "ckpt");
    char *newest = checkpoint_latest(checkpoints);
    if (newest)
        status = copy_weights(x, cell, newest);
    else
        status = error_set(&x->err, PEAT_NOTFOUND, "cell '%s' has no checkpoint in '%s'", cell->id,
                           checkpoints);
    free(newest);
    free(checkpoints);
    return status;
}

static int export_weights(const struct cli *cli)
{
    const struct request *q = cli->options;
    struct exporter x = {
        .dir = cli->operand[0], .cell = cli->operand[1], .file = q->file, .arena = cli->arena};
    if (!q->file)
        return cli_mistake(cmd_export.name, "where to? give -o FILE");
    return export_cell(&x) == PEAT_OK ? CLI_DONE : cli_refuse(&x.err);
}

static const struct cli_option options[] = {
    CLI_TEXT('o', "output", "FILE", file, "the file to write"),
};

const struct cli_command cmd_export = {
    .name = "peat export",
    .summary = "a cell's weights as a safetensors file",
    .about = "Writes the weights of a cell's newest checkpoint as one safetensors file, which\n"
             "PyTorch and Hugging Face read. Its metadata holds the cell's configuration\n"
             "(peat_config, as JSON) and what plugins chose for automatic parameters\n"
             "(peat_resolved). CELL is an index, a label or the start of a hash.",
    .example = "peat export runs/sum-vs-concat rotary.sum.s0 -o model.safetensors",
    CLI_OPERANDS("DIR CELL", 2, 2, "a run directory and a cell are needed"),
    CLI_ROWS(options),
    .run = export_weights,
};
