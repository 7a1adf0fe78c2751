/* SPDX-License-Identifier: MIT */
/* cost.c: what a cell will cost, from its real set-up without memory for weights. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cell/assemble.h"
#include "planning.h"
#include "tensor/gemm.h"
#include "train/input_sizes.h"

struct twin {
    char hash[HASH_HEX];
    int64_t params;
};

static bool is_placed(const struct planning *p, const char *text)
{
    size_t n = strlen(p->e->path);
    return strncmp(text, "command line:", 13) == 0 ||
           (strncmp(text, p->e->path, n) == 0 && text[n] == ':');
}

/* What the model itself refuses comes without a place: it is the scheme that asked for it. */
static peat_status placed(struct planning *p, const struct cell_config *c, peat_status status)
{
    const struct plugin_use *at = c->n_scheme > 0 ? &c->scheme[0] : &c->task;
    if (status != PEAT_OK && p->err && !is_placed(p, p->err->text)) {
        place_error(p->err, at->at, "%s", p->err->text);
        p->err->status = status;
    }
    return status;
}

/* Rows and ids for a look at the input: the ids of the vocabulary, one after another. */
static bool sample_input(const struct assembly *s, const struct cell_config *c, struct arena *a,
                         struct batch *batch)
{
    int64_t T = s->task.plan.seq_len, rows = 4096 / T < 1 ? 1 : 4096 / T;
    rows = rows < c->train.batch ? rows : c->train.batch;
    if (batch_init(batch, a, rows, T) != PEAT_OK)
        return false;
    batch->b.B = rows;
    batch->b.T = T;
    memset(batch->b.segment, 0, (size_t)(rows * T) * sizeof(*batch->b.segment));
    batch->b.has_segment = s->task.plan.n_segment > 0;
    for (int64_t i = 0; i < rows * T; i++)
        batch->b.token[i] = (int32_t)(i % s->task.plan.vocab);
    for (int64_t i = 0; i < rows; i++)
        batch->b.sequence[i] = i;
    return true;
}

/* Tokens to positions at the input before training, in 4 digits: the same whatever library
 * multiplies. NaN where none meet, and where the scheme cannot do with such ids. */
static double first_ratio(struct planning *p, struct assembly *s, const struct cell_config *c)
{
    struct batch batch;
    struct input_sizes sizes = {0};
    struct error ignored = {0};
    struct team team = {.threads = 1};
    char digits[32];
    if (!positional_at_input(&s->positional) ||
        gemm_start(&team, p->e->run.gemm, &ignored) != PEAT_OK ||
        !sample_input(s, c, &p->scratch, &batch) ||
        model_fill_input(&s->model, &ignored) != PEAT_OK ||
        input_sizes(&s->model, &team, &batch.b, &p->scratch, &sizes, &ignored) != PEAT_OK)
        return (double)NAN;
    snprintf(digits, sizeof(digits), "%.4g", input_ratio(&sizes));
    return strtod(digits, NULL);
}

/* `injection` and `ratio` may be NULL. */
static peat_status measure(struct planning *p, const struct cell_config *c, struct model_cost *cost,
                           struct strbuf *injection, double *ratio)
{
    arena_reset(&p->scratch);
    struct assembly *s = ARENA_NEW(&p->scratch, struct assembly);
    s->trail = p->registry->trail;
    peat_status status = assemble(s, c, &p->scratch, PEAT_F32, true, p->err);
    if (status == PEAT_OK)
        status = model_plan(&s->model, c->train.batch, c->train.seq_len, cost, p->err);
    if (status != PEAT_OK)
        return placed(p, c, status);
    if (ratio)
        *ratio = first_ratio(p, s, c);
    if (injection)
        positional_describe(&s->positional, c->model.n_layer, c->model.n_head, injection);
    return PEAT_OK;
}

static void rest_hash(const struct cell_config *c, struct arena *a, char hash[HASH_HEX])
{
    json_hash(value_with_path(a, c->identity, "position", NOWHERE, value_null(a, NOWHERE)), hash);
}

/* Numbers trained in the same cell without schemes and combine. */
static peat_status twin_params(struct planning *p, const struct cell_config *c, int64_t *params)
{
    char hash[HASH_HEX];
    rest_hash(c, p->a, hash);
    for (int i = 0; i < p->n_twin; i++) {
        if (strcmp(p->twin[i].hash, hash) == 0) {
            *params = p->twin[i].params;
            return PEAT_OK;
        }
    }
    struct cell_config bare = *c;
    struct model_cost cost = {0};
    bare.n_scheme = 0;
    bare.has_combine = false;
    peat_status status = measure(p, &bare, &cost, NULL, NULL);
    if (status != PEAT_OK)
        return status;
    struct twin *twin = ARENA_APPEND(p->a, p->twin, p->n_twin, p->twin_room);
    memcpy(twin->hash, hash, HASH_HEX);
    twin->params = *params = cost.trainable;
    return PEAT_OK;
}

peat_status cost_measure(struct planning *p, struct plan_cell *cell)
{
    const struct cell_config *c = &cell->config;
    struct model_cost cost = {0};
    struct strbuf injection;
    int64_t without = 0;
    trail_cell(p->registry->trail, cell->label);
    strbuf_init(&injection);
    peat_status status = measure(p, c, &cost, &injection, &cell->input_ratio);
    if (status == PEAT_OK)
        status = twin_params(p, c, &without);
    double tokens = (double)c->train.batch * (double)c->train.seq_len;
    cell->params = cost.trainable;
    cell->params_positional = cost.trainable - without;
    cell->flops_per_token = 3 * (double)cost.forward_flops / tokens;
    cell->activation_bytes = cost.activation_bytes;
    cell->attention_path = cost.composed ? "composed" : "fused";
    while (injection.n > 0 && injection.text[injection.n - 1] == '\n')
        injection.text[--injection.n] = '\0';
    cell->injection = arena_strdup(p->a, injection.text);
    strbuf_release(&injection);
    return status;
}
