/* SPDX-License-Identifier: MIT */
/* modelcheck.c: tiny models for tests. */
#include "support/modelcheck.h"

#include <check.h>

#include "autograd/ops.h"
#include "support/products.h"
#include "support/toy_positional.h"

void modelcheck_init(struct modelcheck *m, peat_arch arch)
{
    *m = (struct modelcheck){.team = team_of(1)};
    arena_init(&m->arena, "model", 1 << 16);
    arena_init(&m->step, "step", 1 << 16);
    toy_positional_init(&m->positional, false);
    m->config = (struct model_config){
        .arch = arch,
        .d_model = 8,
        .n_layer = 2,
        .n_head = 2,
        .d_ff = 12,
        .norm_eps = NORM_EPS,
        .bias = true,
        .vocab = 7,
        .T_train = 5,
        .T_max = 5,
    };
    uint64_t stream = rng_stream(1, "test", "tokens");
    for (int i = 0; i < 64; i++) {
        m->token[i] = (int32_t)(rng_bits(stream, (uint64_t)i) % 7);
        m->target[i] = (int32_t)(rng_bits(stream, (uint64_t)(100 + i)) % 7);
    }
    for (int i = 0; i < 8; i++)
        m->sequence[i] = i;
    m->input = (struct model_input){.B = 2,
                                    .rows = {.T = 5, .token = m->token, .sequence = m->sequence},
                                    .phase = PEAT_TRAIN,
                                    .step = 1};
}

struct scheme_part *modelcheck_scheme(struct modelcheck *m, const char *id,
                                      const peat_scheme *hooks)
{
    int i = m->positional.n_scheme++;
    struct scheme_part *s = &m->positional.scheme[i];
    *s = (struct scheme_part){
        .part = {.id = id, .prefix = arena_printf(&m->arena, "position.%d.%s", i, id)},
        .hooks = hooks};
    return s;
}

peat_status modelcheck_try(struct modelcheck *m)
{
    return model_build(&m->model, &m->config, &m->positional, &m->arena, PEAT_F64, 3, false,
                       &m->err);
}

void modelcheck_build(struct modelcheck *m)
{
    peat_status status = modelcheck_try(m);
    ck_assert_msg(status == PEAT_OK, "%s", m->err.text);
}

/* *classes: the class logits of a model with two heads, or NULL. */
static peat_node *forward(struct modelcheck *m, struct graph *g, peat_node **classes)
{
    struct pass pass = {0};
    graph_init(g, &m->step, &m->team, PEAT_F64);
    peat_node *logits = model_forward(&m->model, g, &m->input, &pass);
    *classes = pass.classes;
    ck_assert_msg(logits != NULL, "%s", g->err.text);
    return logits;
}

double modelcheck_loss(struct modelcheck *m, bool backward)
{
    struct graph g;
    peat_node *classes, *logits = forward(m, &g, &classes);
    peat_node *loss = model_loss(&g, logits, m->target, classes, m->label);
    ck_assert_msg(loss != NULL, "%s", g.err.text);
    double value = tensor_get(&loss->value, 0);
    if (backward) {
        weights_zero_grad(&m->model.weights);
        graph_backward(&g, loss);
    }
    arena_reset(&m->step);
    return value;
}

void modelcheck_logits(struct modelcheck *m, double *out)
{
    struct graph g;
    peat_node *classes, *logits = forward(m, &g, &classes);
    for (int64_t i = 0; i < tensor_count(&logits->value); i++)
        out[i] = tensor_get(&logits->value, i);
    arena_reset(&m->step);
}

static double numeric_gradient(struct modelcheck *m, struct weight *w, int64_t i)
{
    const double h = 1e-5;
    double x = tensor_get(&w->value, i);
    tensor_set(&w->value, i, x + h);
    double up = modelcheck_loss(m, false);
    tensor_set(&w->value, i, x - h);
    double down = modelcheck_loss(m, false);
    tensor_set(&w->value, i, x);
    return (up - down) / (2 * h);
}

double modelcheck_gradients(struct modelcheck *m, double limit)
{
    enum { PER_WEIGHT = 12 };
    double worst = 0.0;
    modelcheck_loss(m, true);
    for (int k = 0; k < m->model.weights.n; k++) {
        struct weight *w = m->model.weights.item[k];
        if (w->frozen)
            continue;
        int64_t n = tensor_count(&w->value), step = n / PER_WEIGHT > 0 ? n / PER_WEIGHT : 1;
        for (int64_t i = 0; i < n; i += step) {
            double a = tensor_get(&w->grad, i), b = numeric_gradient(m, w, i);
            double error = fabs(a - b) / fmax(1.0, fmax(fabs(a), fabs(b)));
            worst = fmax(worst, error);
            if (limit > 0)
                ck_assert_msg(error < limit, "%s[%lld]: analytic %.12g, numeric %.12g", w->name,
                              (long long)i, a, b);
        }
    }
    return worst;
}

void modelcheck_release(struct modelcheck *m)
{
    arena_release(&m->step);
    arena_release(&m->arena);
}
