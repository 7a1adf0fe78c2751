/* SPDX-License-Identifier: MIT */
/* film.c: position scales and shifts the token embedding. Perez et al. 2018, section 2. */
#include <math.h>

#include <peat/plugin.h>

#include "../widths.h"

enum { W_SCALE, W_SHIFT };

struct config {
    int64_t d_pos;
};

static const peat_param rows[] = {
    {"d_pos", PEAT_INT, offsetof(struct config, d_pos), .min = 1, .max = 1 << 20,
     .automatic = "d_model", .unit = "dimensions", .doc = "width of each positional stream",
     .flags = PEAT_AUTO},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    const struct config *k = config;
    int64_t d_pos = k->d_pos ? k->d_pos : *D;
    int64_t dim[] = {*D, widths_beside(n, width, d_pos)};
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = 1 / sqrt((double)dim[1])};
    (void)stream;
    (void)self;
    width[0] = *D;
    peat_resolved(s, "d_pos", (double)d_pos);
    peat_param_new(s, "scale", 2, dim, (peat_init){.kind = PEAT_INIT_ZERO}, PEAT_ONCE, 0);
    peat_param_new(s, "shift", 2, dim, init, PEAT_ONCE, 0);
    return PEAT_OK;
}

/* y = x (1 + W_s p) + W_b p, where p is the positional streams side by side. */
static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    peat_graph *g = c->g;
    peat_node *p = n == 2 ? x[1] : peat_concat(g, n - 1, x + 1, -1);
    peat_node *scale = peat_matmul(g, p, peat_use(c, W_SCALE), PEAT_TRANS_B);
    peat_node *shift = peat_matmul(g, p, peat_use(c, W_SHIFT), PEAT_TRANS_B);
    peat_probe(c, "scale", scale);
    peat_probe(c, "shift", shift);
    return peat_add(g, peat_mul(g, x[0], peat_affine(g, scale, 1, 1)), shift);
}

static const peat_combine combine = {
    .size = sizeof(combine),
    .min_streams = 2,
    .setup = setup,
    .merge = merge,
    .traits = PEAT_STORABLE,
};

PEAT_DEFINE(PEAT_COMBINE, combine, struct config, rows, "film", "1.0",
            "position scales and shifts the token embedding", "MIT", "arXiv:1709.07871")
