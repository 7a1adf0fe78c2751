/* SPDX-License-Identifier: MIT */
/* gradcheck.c: central differences against one backward pass. */
#include "support/gradcheck.h"

/* --- L = sum of w_i y_i, with w fixed: every output counts, and differently ---------------- */

static uint64_t weight_stream(void)
{
    return rng_stream(1, "gradcheck", "weights");
}

static double weight(uint64_t stream, int64_t i)
{
    return 2.0 * rng_uniform(stream, (uint64_t)i) - 1.0;
}

static void infer_contract(peat_node *n)
{
    n->value = tensor_shape(PEAT_F64, 1, (const int64_t[]){1});
}

static void forward_contract(peat_node *n)
{
    const struct tensor *y = &n->src[0]->value;
    int64_t count = tensor_count(y);
    uint64_t stream = weight_stream();
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += weight(stream, i) * tensor_get(y, i);
    tensor_set(&n->value, 0, sum);
}

/* L = sum w_i y_i:  dy_i += w_i dL */
static void backward_contract(peat_node *n)
{
    struct tensor dy = node_grad(n->src[0]);
    int64_t count = tensor_count(&dy);
    uint64_t stream = weight_stream();
    for (int64_t i = 0; i < count; i++)
        tensor_set(&dy, i, tensor_get(&dy, i) + weight(stream, i) * tensor_get(&n->grad, 0));
}

/* --- runs of the function ----------------------------------------------------------------- */

struct check {
    gradcheck_fn fn;
    void *ctx;
    int n_input;
    struct tensor *input;
    const bool *needs;
    const struct team *team;
    struct arena step;
};

static bool is_checked(const struct check *c, int i)
{
    return !c->needs || c->needs[i];
}

/* L; with grad, dL/dinput into grad[i] as well. */
static peat_status run(struct check *c, struct tensor *grad, double *L, struct error *err)
{
    static const struct op contract = {"contract", infer_contract, forward_contract,
                                       backward_contract, NULL};
    struct graph g;
    arena_reset(&c->step);
    graph_init(&g, &c->step, c->team, PEAT_F64);
    g.no_grad = !grad;
    peat_node **leaf = ARENA_ARRAY(&c->step, c->n_input + 1, peat_node *);
    for (int i = 0; i < c->n_input; i++) {
        const struct tensor *x = &c->input[i];
        leaf[i] = is_checked(c, i) ? graph_leaf(&g, x, grad ? &grad[i] : NULL, NULL)
                                   : graph_constant(&g, x->dtype, x->rank, x->dim, x->data);
    }
    peat_node *y = graph_failed(&g) ? NULL : c->fn(&g, leaf, c->ctx);
    if (!y && !graph_failed(&g))
        return error_set(err, PEAT_FAILED, "the function returned nothing and gave no reason");
    peat_node *loss = graph_op(&g, &contract, 1, &y, 0, NULL, 0);
    if (loss && grad)
        graph_backward(&g, loss);
    if (graph_failed(&g))
        return error_set(err, g.err.status, "%s", g.err.text);
    *L = tensor_get(&loss->value, 0);
    return PEAT_OK;
}

/* Gradients of all inputs, zeroed and then filled by one backward pass. */
static peat_status analytic(struct check *c, struct arena *keep, struct tensor **grad,
                            struct error *err)
{
    *grad = ARENA_ARRAY(keep, c->n_input + 1, struct tensor);
    for (int i = 0; i < c->n_input; i++) {
        (*grad)[i] = tensor_new(keep, PEAT_F64, c->input[i].rank, c->input[i].dim);
        if (!(*grad)[i].data)
            return error_set(err, PEAT_NOMEM, "out of memory");
        memset((*grad)[i].data, 0, tensor_bytes(&(*grad)[i]));
    }
    double L;
    return run(c, *grad, &L, err);
}

static peat_status same_bits(const struct check *c, const struct tensor *a, const struct tensor *b,
                             struct error *err)
{
    for (int i = 0; i < c->n_input; i++)
        if (is_checked(c, i) && memcmp(a[i].data, b[i].data, tensor_bytes(&a[i])) != 0)
            return error_set(err, PEAT_FAILED, "input %d: two backward passes differ in bits",
                             i + 1);
    return PEAT_OK;
}

/* --- the comparison ------------------------------------------------------------------------ */

/* (L(x+h) - L(x-h)) / 2h for one element; the element is restored. */
static peat_status difference(struct check *c, double *x, double h, double *slope,
                              struct error *err)
{
    double kept = *x, up = 0.0, down = 0.0;
    *x = kept + h;
    double above = *x;
    peat_status status = run(c, NULL, &up, err);
    *x = kept - h;
    double below = *x;
    if (status == PEAT_OK)
        status = run(c, NULL, &down, err);
    *x = kept;
    /* The step that was really taken, after rounding. */
    *slope = (up - down) / (above - below);
    return status;
}

static void note(struct gradcheck_result *r, int input, int64_t index, double a, double n)
{
    double error = fabs(a - n) / fmax(1.0, fmax(fabs(a), fabs(n)));
    r->checked++;
    if (isnan(error))
        error = INFINITY;
    if (r->checked > 1 && error <= r->worst)
        return;
    r->worst = error;
    r->input = input;
    r->index = index;
    r->analytic = a;
    r->numeric = n;
}

static peat_status compare(struct check *c, const struct gradcheck *o, const struct tensor *grad,
                           struct gradcheck_result *r, struct error *err)
{
    double h = o->h > 0.0 ? o->h : 1e-5;
    for (int i = 0; i < c->n_input; i++) {
        int64_t count = tensor_count(&c->input[i]), probes = count;
        if (!is_checked(c, i))
            continue;
        if (o->max_elements > 0 && probes > o->max_elements)
            probes = o->max_elements;
        for (int64_t k = 0; k < probes; k++) {
            int64_t index = probes == count ? k : k * (count / probes);
            double numeric;
            peat_status status =
                difference(c, (double *)c->input[i].data + index, h, &numeric, err);
            if (status != PEAT_OK)
                return status;
            note(r, i, index, tensor_get(&grad[i], index), numeric);
        }
    }
    double limit = o->limit > 0.0 ? o->limit : 1e-7;
    if (r->worst <= limit)
        return PEAT_OK;
    return error_set(err, PEAT_FAILED,
                     "input %d, element %" PRId64
                     ": gradient %.10g, central difference %.10g, relative error %.2g above %.2g",
                     r->input + 1, r->index, r->analytic, r->numeric, r->worst, limit);
}

static peat_status check_inputs(const struct check *c, struct error *err)
{
    for (int i = 0; i < c->n_input; i++)
        if (c->input[i].dtype != PEAT_F64 || !tensor_contiguous(&c->input[i]))
            return error_set(err, PEAT_INVALID, "input %d must be contiguous F64", i + 1);
    return PEAT_OK;
}

peat_status gradcheck_run(const struct gradcheck *options, gradcheck_fn fn, void *ctx, int n_input,
                          struct tensor *input, const bool *needs, struct gradcheck_result *result,
                          struct error *err)
{
    static const struct gradcheck defaults = {0};
    const struct gradcheck *o = options ? options : &defaults;
    struct gradcheck_result own;
    struct gradcheck_result *r = result ? result : &own;
    struct check c = {fn, ctx, n_input, input, needs, o->team, {0}};
    struct arena keep;
    struct tensor *first = NULL, *second = NULL;
    *r = (struct gradcheck_result){0};
    arena_init(&c.step, "gradcheck step", (size_t)1 << 16);
    arena_init(&keep, "gradcheck", (size_t)1 << 16);
    peat_status status = check_inputs(&c, err);
    if (status == PEAT_OK)
        status = analytic(&c, &keep, &first, err);
    if (status == PEAT_OK)
        status = analytic(&c, &keep, &second, err);
    if (status == PEAT_OK)
        status = same_bits(&c, first, second, err);
    if (status == PEAT_OK)
        status = compare(&c, o, first, r, err);
    arena_release(&keep);
    arena_release(&c.step);
    return status;
}
