/* SPDX-License-Identifier: MIT */
/*
 * results.c: a scheme around an operation with two results and scratch memory. A unit is a row x of
 * [B, T, D]: the first result is x less its mean, the second the mean [B, T, 1]. At the start of
 * each block x becomes x + w (first tanh(second)), w [D].
 */
#include <peat/plugin.h>

static bool infer(const peat_op_call *c, peat_shape *out)
{
    out[0] = out[1] = c->src[0].shape;
    out[1].dim[2] = 1;
    return c->n_src == 1;
}

static int64_t units(const peat_op_call *c)
{
    return c->src[0].shape.dim[0] * c->src[0].shape.dim[1];
}

/* A row. */
static int64_t scratch(const peat_op_call *c)
{
    return c->src[0].shape.dim[2];
}

static void forward(const peat_op_call *c, int64_t begin, int64_t end)
{
    int64_t D = c->src[0].shape.dim[2];
    double *x = c->scratch;
    for (int64_t u = begin; u < end; u++) {
        double mean = 0;
#ifdef CRIME_scratch_carries /* from one row to the next */
        mean += 1e-3 * (x[0] == x[0] ? x[0] : 1);
#endif
        peat_load_row(&c->src[0], u * D, D, x);
        for (int64_t d = 0; d < D; d++)
            mean += x[d] / (double)D;
#if defined(CRIME_scratch_one_too_many)
        x[D] = mean;
#elif defined(CRIME_scratch_far_beyond)
        for (int64_t d = D; d < 3 * D; d++)
            x[d] = mean;
#endif
        for (int64_t d = 0; d < D; d++)
            peat_store(&c->out[0], u * D + d, x[d] - mean);
#if defined(CRIME_second_unwritten)
        if (u + 1 == units(c))
            continue;
#elif defined(CRIME_second_written_once) /* by the first unit, for all */
        for (int64_t all = 0; u == 0 && all < units(c); all++)
            peat_store(&c->out[1], all, mean);
        continue;
#elif defined(CRIME_first_too_long)      /* into what follows it */
        if (u + 1 == units(c))
            peat_store(&c->out[0], (u + 1) * D, 0);
#endif
        peat_store(&c->out[1], u, mean);
    }
}

/* dx += dy - mean(dy) + dm / D */
static void backward(const peat_op_call *c, int64_t begin, int64_t end)
{
    int64_t D = c->src[0].shape.dim[2];
    for (int64_t u = begin; u < end; u++) {
        double mean = 0, of_mean = peat_load(&c->out_grad[1], u);
        for (int64_t d = 0; d < D; d++)
            mean += peat_load(&c->out_grad[0], u * D + d) / (double)D;
#if defined(CRIME_second_gradient_forgotten)
        of_mean = 0;
#elif defined(CRIME_gradients_swapped) /* that of a row's first element for that of its mean */
        of_mean = peat_load(&c->out_grad[0], u * D);
#elif defined(CRIME_gradient_without_mean)
        mean = 0;
#elif defined(CRIME_gradient_scratch) /* what forward left there is another row's by now */
        mean += 1e-3 * c->scratch[0];
#endif
        for (int64_t d = 0; d < D; d++)
            peat_accumulate(&c->src_grad[0], u * D + d,
                            peat_load(&c->out_grad[0], u * D + d) - mean + of_mean / (double)D);
    }
}

enum { OPERANDS = 1 };

static const peat_op op = {.size = sizeof(op),
                           .name = "crime",
                           .infer = infer,
                           .units = units,
                           .forward = forward,
                           .backward = backward,
                           .n_out = 2,
                           .scratch = scratch};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const peat_init init = {.kind = PEAT_INIT_NORMAL, .a = 1, .b = 0.5};
    (void)config, (void)self;
    peat_param_new(s, "w", 1, &s->dims.D, init, PEAT_ONCE, 0);
    return PEAT_OK;
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    peat_node *y[2];
#ifdef CRIME_one_asked_for /* of two */
    return peat_custom(c->g, &op, 1, &x, NULL, 0);
#endif
    peat_custom_all(c->g, &op, 1, &x, NULL, 0, y);
    y[0] = peat_mul(c->g, y[0], peat_tanh(c->g, y[1]));
    return peat_add(c->g, x, peat_mul(c->g, peat_use(c, 0), y[0]));
}

static const peat_scheme scheme = {.size = sizeof(scheme), .setup = setup, .residual = residual};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "planted", "1.0", "an operation with two results", "MIT", "")
