/* SPDX-License-Identifier: MIT */
/* concat_project.c: streams side by side, brought back to the model's width by a trained matrix. */
#include <math.h>

#include <peat/plugin.h>

#include "../widths.h"

enum { WEIGHT, BIAS };

struct config {
    int64_t d_pos;
    bool bias;
};

static const peat_param rows[] = {
    {"d_pos", PEAT_INT, offsetof(struct config, d_pos), .min = 1, .max = 1 << 20,
     .automatic = "d_model", .unit = "dimensions", .doc = "width of each positional stream",
     .flags = PEAT_AUTO},
    {"bias", PEAT_BOOL, offsetof(struct config, bias), .preset = true,
     .doc = "add a trained vector after the matrix"},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    const struct config *k = config;
    int64_t d_pos = k->d_pos ? k->d_pos : *D;
    int64_t total = *D + widths_beside(n, width, d_pos);
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = 1 / sqrt((double)total)};
    (void)stream;
    (void)self;
    width[0] = *D;
    peat_resolved(s, "d_pos", (double)d_pos);
    peat_param_new(s, "weight", 2, (int64_t[]){*D, total}, init, PEAT_ONCE, 0);
    if (k->bias)
        peat_param_new(s, "bias", 1, D, (peat_init){.kind = PEAT_INIT_ZERO}, PEAT_ONCE, 0);
    return PEAT_OK;
}

/* y = W [x_0; p_1; p_2; ...] + b */
static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    const struct config *k = c->config;
    peat_node *y = peat_concat(c->g, n, x, -1);
    y = peat_matmul(c->g, y, peat_use(c, WEIGHT), PEAT_TRANS_B);
    return k->bias ? peat_add(c->g, y, peat_use(c, BIAS)) : y;
}

static const peat_combine combine = {
    .size = sizeof(combine),
    .min_streams = 2,
    .setup = setup,
    .merge = merge,
    .traits = PEAT_STORABLE,
};

PEAT_DEFINE(PEAT_COMBINE, combine, struct config, rows, "concat_project", "1.0",
            "tokens and position side by side through a matrix", "MIT", "arXiv:2601.05807")
PEAT_ALSO_CALLED("concat, concatenate")
