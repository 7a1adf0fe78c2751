/* SPDX-License-Identifier: MIT */
/*
 * blocks.c: x of each place times the cosine of a trained rate times its position, by an operation
 * of its own. A unit is a block of four places of all rows. The crimes show in sizes or on threads
 * that a first test of the operation does not have.
 */
#include <math.h>

#include <peat/plugin.h>

enum { X, P }; /* operands: x [B,T,D], p [1|B,T,1] */
enum { PLACES = 4 };

struct arg {
    double *work; /* [PLACES] */
};

static bool infer(const peat_op_call *c, peat_shape *out)
{
    *out = c->src[X].shape;
    return c->n_src == 2;
}

static int64_t units(const peat_op_call *c)
{
    return (c->src[X].shape.dim[1] + PLACES - 1) / PLACES;
}

static int64_t flops(const peat_op_call *c)
{
    int64_t n = peat_count(&c->src[X]);
#ifdef CRIME_flops_below_0 /* less what another form of it would take */
    return 3 * n - 200000;
#else
    return 3 * n;
#endif
}

static double soft(double p, peat_dtype dtype)
{
    (void)dtype;
#ifdef CRIME_overflows_in_f32
    if (dtype == PEAT_F32)
        return (double)logf(1 + expf((float)p));
#endif
    return fmax(p, 0) + log1p(exp(-fabs(p)));
}

/* y = x cos(log(1 + e^p)) */
static void forward(const peat_op_call *c, int64_t begin, int64_t end)
{
    const peat_view *x = &c->src[X], *p = &c->src[P];
    int64_t B = x->shape.dim[0], T = x->shape.dim[1], D = x->shape.dim[2], n = D;
    int64_t stride = p->shape.dim[0] > 1 ? T : 0;
    double own[PLACES], *work = own;
#if defined(CRIME_shares_workspace)
    work = ((const struct arg *)c->arg)->work;
#elif defined(CRIME_pairs_of_channels)
    n = D - D % 2;
#endif
    for (int64_t u = begin * B; u < end * B; u++) {
        int64_t b = u % B, first = u / B * PLACES;
        for (int64_t t = first; t < first + PLACES && t < T; t++)
            work[t - first] = cos(soft(peat_load(p, b * stride + t), c->out->dtype));
        for (int64_t i = 0; i < PLACES * D && first + i / D < T; i++) {
            int64_t at = (b * T + first) * D + i;
            if (i % D >= n)
                continue;
            peat_store(c->out, at, peat_load(x, at) * work[i / D]);
#ifdef CRIME_in_place_when_long
            if (T > 100)
                peat_store(x, at, peat_load(c->out, at));
#endif
        }
    }
}

/* dx = cos(s) dy, dp = -sum over d of x dy sin(s) / (1 + e^-p), s = log(1 + e^p) */
static void backward(const peat_op_call *c, int64_t begin, int64_t end)
{
    const peat_view *x = &c->src[X], *p = &c->src[P];
    int64_t B = x->shape.dim[0], T = x->shape.dim[1], D = x->shape.dim[2];
    int64_t last = end * PLACES < T ? end * PLACES : T, stride = p->shape.dim[0] > 1 ? T : 0;
#ifdef CRIME_tail_when_long /* the places behind the last whole block */
    last = T > 64 && last == T ? T - T % PLACES : last;
#endif
    for (int64_t b = 0; b < B; b++)
        for (int64_t t = begin * PLACES; t < last; t++) {
            double z = peat_load(p, b * stride + t), s = soft(z, c->out->dtype), sum = 0;
            for (int64_t d = 0; d < D; d++) {
                int64_t i = (b * T + t) * D + d;
                peat_accumulate(&c->src_grad[X], i, cos(s) * peat_load(c->out_grad, i));
                sum -= peat_load(x, i) * peat_load(c->out_grad, i);
            }
#ifdef CRIME_gradient_of_row_0
            stride = 0;
#endif
            peat_accumulate(&c->src_grad[P], b * stride + t, sum * sin(s) / (1 + exp(-z)));
        }
}

static const peat_op op = {.size = sizeof(op),
                           .name = "turned",
                           .infer = infer,
                           .units = units,
                           .forward = forward,
                           .backward = backward,
                           .flops = flops};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const peat_init init = {.kind = PEAT_INIT_CONSTANT, .a = 0.1};
    (void)config, (void)self;
    peat_param_new(s, "rate", 1, (int64_t[]){1}, init, PEAT_ONCE, 0);
    return PEAT_OK;
}

/* The positions, slower behind the 150th: [pos_B, T, 1] */
static peat_node *places(const peat_call *c)
{
    int64_t n = c->q->pos_B * c->q->T;
    double *p = peat_scratch(c, n);
    for (int64_t i = 0; p && i < n; i++) {
        double pos = c->q->pos[i];
        if (pos < 150)
            p[i] = pos;
#ifdef CRIME_forgets_the_far
        else if (pos < 300)
#else
        else
#endif
            p[i] = 150 + log1p(pos - 150);
    }
    return peat_fill(c, 3, (int64_t[]){c->q->pos_B, c->q->T, 1}, p);
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    const struct arg arg = {peat_scratch(c, PLACES)};
    peat_node *src[] = {x, peat_mul(c->g, places(c), peat_use(c, 0))};
    return arg.work ? peat_add(c->g, x, peat_custom(c->g, &op, 2, src, &arg, sizeof(arg))) : NULL;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme), .traits = PEAT_STORABLE, .setup = setup, .residual = residual};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "planted", "1.0", "has an operation of its own", "MIT", "")
