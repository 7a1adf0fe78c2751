/* SPDX-License-Identifier: MIT */
/* gradcase.c: the checks that each row of an operation table passes. */
#include "support/gradcase.h"

#include <check.h>

#include "autograd/recompute.h"
#include "support/products.h"

/* --- inputs -------------------------------------------------------------------------------- */

/* The same numbers for both dtypes: F64 inputs are rounded to what F32 can hold. */
static struct tensor input_new(const struct gradcase *c, int i, peat_dtype t, struct arena *a)
{
    const struct gradcase_input *in = &c->input[i];
    double lo = in->lo, hi = in->hi;
    if (lo == 0.0 && hi == 0.0) {
        lo = -1.0;
        hi = 1.0;
    }
    struct tensor x = tensor_new(a, t, in->rank, in->dim);
    ck_assert_ptr_nonnull(x.data);
    uint64_t stream = rng_substream(rng_stream(7, "gradcase", c->name), (uint64_t)i);
    int64_t n = tensor_count(&x);
    for (int64_t k = 0; k < n; k++)
        tensor_set(&x, k, (double)(float)(lo + (hi - lo) * rng_uniform(stream, (uint64_t)k)));
    return x;
}

/* One graph over fresh inputs, in memory that lives until run_release. */
struct run {
    struct arena arena;
    struct team team;
    struct graph g;
    struct tensor value[GRADCASE_INPUTS], grad[GRADCASE_INPUTS];
    peat_node *y;
};

static void run_init(struct run *r, const struct gradcase *c, peat_dtype t, int threads,
                     bool shape_only, double grad)
{
    arena_init(&r->arena, "gradcase", (size_t)1 << 16);
    r->team = team_of(threads);
    graph_init(&r->g, &r->arena, &r->team, t);
    r->g.shape_only = shape_only;
    peat_node *leaf[GRADCASE_INPUTS];
    for (int i = 0; i < c->n_input; i++) {
        struct tensor *x = &r->value[i], *dx = &r->grad[i];
        *x = input_new(c, i, t, &r->arena);
        *dx = tensor_new(&r->arena, t, x->rank, x->dim);
        tensor_fill(dx, grad);
        if (shape_only && !c->input[i].fixed)
            x->data = NULL;
        leaf[i] = c->input[i].fixed ? graph_constant(&r->g, t, x->rank, x->dim, x->data)
                                    : graph_leaf(&r->g, x, dx, NULL);
    }
    r->y = c->build(&r->g, leaf, c->ctx);
    ck_assert_msg(r->y != NULL, "%s: %s", c->name, r->g.err.text);
}

static void run_release(struct run *r)
{
    arena_release(&r->arena);
}

/* --- checks -------------------------------------------------------------------------------- */

peat_status gradcase_check(const struct gradcase *c, struct error *err)
{
    struct arena a;
    struct tensor input[GRADCASE_INPUTS];
    bool needs[GRADCASE_INPUTS];
    struct gradcheck_result result;
    arena_init(&a, "gradcase", (size_t)1 << 16);
    for (int i = 0; i < c->n_input; i++) {
        input[i] = input_new(c, i, PEAT_F64, &a);
        needs[i] = !c->input[i].fixed;
    }
    const struct gradcheck options = {.max_elements = 64, .team = lone_team()};
    peat_status status =
        gradcheck_run(&options, c->build, c->ctx, c->n_input, input, needs, &result, err);
    arena_release(&a);
    return status;
}

void gradcase_f32(const struct gradcase *c)
{
    struct run f64, f32;
    run_init(&f64, c, PEAT_F64, 1, false, 0.0);
    run_init(&f32, c, PEAT_F32, 1, false, 0.0);
    ck_assert(tensor_same_shape(&f64.y->value, &f32.y->value));
    int64_t n = tensor_count(&f64.y->value);
    double error = 0.0, square = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double want = tensor_get(&f64.y->value, i), got = tensor_get(&f32.y->value, i);
        error += (got - want) * (got - want);
        square += want * want;
    }
    ck_assert_msg(error <= 1e-10 * square, "%s: F32 is off by %g of %g", c->name, error, square);
    run_release(&f32);
    run_release(&f64);
}

/* Gradients of sum_i w_i y_i with w_i = 1 + i mod 7, by seeding y itself through a product. */
static void seed_backward(struct run *r)
{
    struct graph *g = &r->g;
    peat_node *y = peat_reshape(&g->base, r->y, 1, (const int64_t[]){-1});
    int64_t n = peat_shape_of(&g->base, y).dim[0];
    peat_node *w = graph_constant(g, g->dtype, 1, &n, NULL);
    ck_assert_ptr_nonnull(w);
    for (int64_t i = 0; i < n; i++)
        tensor_set(&w->value, i, (double)(1 + i % 7));
    peat_node *loss = peat_sum(&g->base, peat_mul(&g->base, y, w), 0);
    graph_backward(g, loss);
    ck_assert_msg(!graph_failed(g), "%s", g->err.text);
}

/* Gradients on top of 1 are 1 more than those on top of 0. */
static void check_adds(const struct gradcase *c)
{
    struct run zero, one;
    run_init(&zero, c, PEAT_F64, 1, false, 0.0);
    run_init(&one, c, PEAT_F64, 1, false, 1.0);
    seed_backward(&zero);
    seed_backward(&one);
    for (int i = 0; i < c->n_input; i++) {
        int64_t n = tensor_count(&zero.grad[i]);
        for (int64_t k = 0; k < n; k++) {
            double more = tensor_get(&one.grad[i], k) - tensor_get(&zero.grad[i], k);
            ck_assert_msg(fabs(more - 1.0) < 1e-9, "%s: gradient of input %d is not added to",
                          c->name, i + 1);
        }
    }
    run_release(&one);
    run_release(&zero);
}

static void same_bits(const struct gradcase *c, const struct tensor *a, const struct tensor *b,
                      const char *what, int threads)
{
    int64_t n = tensor_count(a);
    if (tensor_contiguous(a) && memcmp(a->data, b->data, tensor_bytes(a)) == 0)
        return;
    for (int64_t i = 0; i < n; i++) {
        double x = tensor_get(a, i), y = tensor_get(b, i);
        ck_assert_msg(memcmp(&x, &y, sizeof(x)) == 0,
                      "%s: %s element %lld differs at %d threads: %.9g, %.9g", c->name, what,
                      (long long)i, threads, x, y);
    }
}

/* With NaN in every value that the operations say no backward reads, the gradients are the same. */
static void check_unread(const struct gradcase *c)
{
    struct run whole, rest;
    run_init(&whole, c, PEAT_F32, 1, false, 0.0);
    run_init(&rest, c, PEAT_F32, 1, false, 0.0);
    recompute_mark(&rest.g, 0, rest.g.n_node);
    for (int i = 0; i < rest.g.n_node; i++) {
        peat_node *n = rest.g.node[i];
        if (!n->read && !n->view_of && n->value.dtype == PEAT_F32)
            tensor_fill(&n->value, NAN);
    }
    seed_backward(&whole);
    seed_backward(&rest);
    for (int i = 0; i < c->n_input; i++)
        same_bits(c, &whole.grad[i], &rest.grad[i], "gradient without what is not read:", 1);
    run_release(&rest);
    run_release(&whole);
}

void gradcase_run(const struct gradcase *c)
{
    struct error err = {0};
    ck_assert_msg(gradcase_check(c, &err) == PEAT_OK, "%s: %s", c->name, err.text);
    check_adds(c);
    check_unread(c);
}

void gradcase_threads(const struct gradcase *c)
{
    struct run one, many;
    run_init(&one, c, PEAT_F32, 1, false, 0.0);
    seed_backward(&one);
    for (int threads = 2; threads <= 4; threads *= 2) {
        run_init(&many, c, PEAT_F32, threads, false, 0.0);
        seed_backward(&many);
        same_bits(c, &one.y->value, &many.y->value, "result", threads);
        for (int i = 0; i < c->n_input; i++)
            same_bits(c, &one.grad[i], &many.grad[i], "gradient", threads);
        run_release(&many);
    }
    run_release(&one);
}

void gradcase_shape(const struct gradcase *c)
{
    struct run real, plan;
    run_init(&real, c, PEAT_F32, 1, false, 0.0);
    run_init(&plan, c, PEAT_F32, 1, true, 0.0);
    ck_assert_msg(tensor_same_shape(&real.y->value, &plan.y->value), "%s", c->name);
    ck_assert_msg(real.g.value_bytes == plan.g.value_bytes && real.g.flops == plan.g.flops,
                  "%s: the plan counts other bytes or operations", c->name);
    run_release(&plan);
    run_release(&real);
}
