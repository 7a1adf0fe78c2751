/* SPDX-License-Identifier: MIT */
/*
 * kernel.c: a scheme around an operation of its own. At the start of each block x becomes x + y,
 * y = w (x + b) with w and b [D]. A unit is a column. The crimes are in what forward writes and in
 * the gradients that backward adds.
 */
#include <peat/plugin.h>

static bool infer(const peat_op_call *c, peat_shape *out)
{
    *out = c->src[0].shape;
    return true;
}

static int64_t units(const peat_op_call *c)
{
    return c->src[0].shape.dim[2];
}

static int64_t count_rows(const peat_op_call *c)
{
    return c->src[0].shape.dim[0] * c->src[0].shape.dim[1];
}

/* What buffers and threads must not see. They are looked at in F32. */
static void commit_in_forward(const peat_op_call *c, int64_t begin, int64_t end)
{
    float *y = c->out->data;
    int64_t D = units(c), n = count_rows(c);
    (void)y, (void)D, (void)n, (void)begin, (void)end;
#if defined(CRIME_writes_operand)
    ((float *)c->src[0].data)[begin] += 1;
#elif defined(CRIME_writes_beyond)
    if (end == D)
        y[n * D] = 0;
#elif defined(CRIME_wrong_in_f32)
    for (int64_t i = begin; i < end; i++)
        y[i] *= 1.05f;
#elif defined(CRIME_writes_tensor) /* normalises it in place */
    ((float *)c->src[1].data)[begin] = 1;
#elif defined(CRIME_sees_thread)   /* by the stack that it runs on */
    float local = 0;
    for (int64_t d = begin; d < end; d++)
        y[d] *= (float)((uintptr_t)&local >> 16 & 0xffff) * 1e-6f;
#endif
}

static void forward(const peat_op_call *c, int64_t begin, int64_t end)
{
    int64_t D = units(c), n = count_rows(c);
#if defined(CRIME_writes_all_units)
    begin = 0, end = D;
#elif defined(CRIME_writes_next_unit)
    end = end < D ? end + 1 : D;
#elif defined(CRIME_leaves_a_unit)
    end = end == D ? D - 1 : end;
#endif
    for (int64_t d = begin; d < end; d++)
        for (int64_t i = 0; i < n; i++)
            if (c->out->dtype == PEAT_F64) {
                const double *x = c->src[0].data, *w = c->src[1].data, *b = c->src[2].data;
                ((double *)c->out->data)[i * D + d] = w[d] * (x[i * D + d] + b[d]);
            } else {
                const float *x = c->src[0].data, *w = c->src[1].data, *b = c->src[2].data;
                ((float *)c->out->data)[i * D + d] = w[d] * (x[i * D + d] + b[d]);
            }
    if (c->out->dtype == PEAT_F32)
        commit_in_forward(c, begin, end);
}

static void backward(const peat_op_call *c, int64_t begin, int64_t end)
{
    const peat_view *x = &c->src[0], *w = &c->src[1], *b = &c->src[2];
    int64_t D = units(c), n = count_rows(c);
#ifdef CRIME_grad_all_units
    begin = 0, end = D;
#endif
    for (int64_t d = begin; d < end; d++)
        for (int64_t i = 0; i < n; i++) {
            int64_t at = i * D + d, w_at = d;
            double gy = peat_load(c->out_grad, at), y = peat_load(c->out, at);
            double add_x = gy * peat_load(w, d), add_b = add_x;
            double add_w = gy * (peat_load(x, at) + peat_load(b, d));
            (void)y;
#if defined(CRIME_grad_sign)
            add_x = -add_x;
#elif defined(CRIME_grad_scale) /* one percent too large */
            add_w *= 1.01;
#elif defined(CRIME_grad_missing_term)
            add_w = gy * peat_load(x, at);
#elif defined(CRIME_grad_one_index)
            add_w *= d == 5 ? 2 : 1;
#elif defined(CRIME_grad_zero)
            add_x = add_w = add_b = 0;
#elif defined(CRIME_grad_transposed)   /* elements in reverse order */
            w_at = D - 1 - d;
#elif defined(CRIME_grad_assigns)      /* over what others have added */
            if (c->src_grad[0].data)
                peat_store(&c->src_grad[0], at, 0);
#elif defined(CRIME_grad_broadcast)    /* a broadcast tensor gets that of the last row alone */
            add_w = i == n - 1 ? add_w : 0;
#elif defined(CRIME_grad_wrong_tensor) /* two tensors get each other's */
            add_b = add_w;
            add_w = gy * peat_load(w, d);
#elif defined(CRIME_grad_off_by_one)   /* the first row is left out */
            if (i == 0)
                continue;
#elif defined(CRIME_grad_of_result)    /* the result for the operand */
            add_w = gy * y;
#elif defined(CRIME_grad_far)          /* the rows from the 64th on are left out */
            add_w = i < 64 ? add_w : 0;
#elif defined(CRIME_grad_by_place)     /* the places from the 16th on are left out */
            add_w = i % x->shape.dim[1] < 16 ? add_w : 0;
#elif defined(CRIME_grad_in_f32)
            add_w *= c->out->dtype == PEAT_F32 ? 2 : 1;
#elif defined(CRIME_grad_operand_only) /* tensors get none */
            add_w = add_b = 0;
#endif
            peat_accumulate(&c->src_grad[0], at, add_x);
            peat_accumulate(&c->src_grad[1], w_at, add_w);
            peat_accumulate(&c->src_grad[2], d, add_b);
        }
}

enum { OPERANDS = 3 };

static const peat_op op = {.size = sizeof(op),
                           .name = "crime",
                           .infer = infer,
                           .units = units,
                           .forward = forward,
                           .backward = backward};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const peat_init init = {.kind = PEAT_INIT_NORMAL, .a = 1, .b = 0.5};
    (void)config, (void)self;
    peat_param_new(s, "w", 1, &s->dims.D, init, PEAT_ONCE, 0);
    peat_param_new(s, "b", 1, &s->dims.D, init, PEAT_ONCE, 0);
#ifdef CRIME_never_used
    peat_param_new(s, "idle", 1, &s->dims.D, init, PEAT_ONCE, 0);
#endif
    return PEAT_OK;
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    peat_node *src[] = {x, peat_use(c, 0), peat_use(c, 1)};
#if defined(CRIME_never_trained)
    src[1] = peat_affine(c->g, src[1], 0, 0.5);
#elif defined(CRIME_writes_beyond) /* a result with room behind it: one column, added to all */
    src[0] = peat_slice(c->g, x, -1, 0, 1);
#endif
    return peat_add(c->g, x, peat_custom(c->g, &op, 3, src, NULL, 0));
}

static const peat_scheme scheme = {.size = sizeof(scheme), .setup = setup, .residual = residual};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "planted", "1.0", "has an operation of its own", "MIT", "")
