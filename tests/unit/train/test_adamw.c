/* SPDX-License-Identifier: MIT */
/* test_adamw.c: the optimiser and the gradient norm against plain double arithmetic. */
#include "support/support.h"
#include "train/trainer.h"

enum { STEPS = 20, WEIGHTS = 4 };

static const struct train_config config = {
    .beta1 = 0.9, .beta2 = 0.98, .eps = 1e-8, .weight_decay = 0.1};

/* A matrix larger than a tile, a vector without decay, a bounded vector, a frozen matrix. */
struct fixture {
    struct arena arena;
    struct weights w;
    struct adamw o;
};

static void fixture_init(struct fixture *x, peat_dtype dtype)
{
    static const char *const name[WEIGHTS] = {"matrix", "vector", "bounded", "frozen"};
    static const int64_t dim[WEIGHTS][2] = {{150, 131}, {37, 1}, {19, 1}, {5, 7}};
    static const int rank[WEIGHTS] = {2, 1, 1, 2};
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = 0.5};
    arena_init(&x->arena, "test", 1 << 16);
    weights_init(&x->w, &x->arena, dtype);
    for (int i = 0; i < WEIGHTS; i++)
        ck_assert_ptr_nonnull(
            weights_add(&x->w, name[i], rank[i], dim[i], init, i == 3 ? PEAT_FROZEN : 0));
    struct weight *bounded = weights_find(&x->w, "bounded");
    bounded->bounded = true;
    bounded->lo = -0.25;
    bounded->hi = 0.5;
    ck_assert_int_eq(weights_build(&x->w, 1, false, NULL), PEAT_OK);
    ck_assert_int_eq(adamw_init(&x->o, &x->w, &x->arena), PEAT_OK);
}

static struct fixture f, other;

static void make_both(peat_dtype dtype)
{
    fixture_init(&f, dtype);
    fixture_init(&other, dtype);
}

static void tear_down(void)
{
    arena_release(&f.arena);
    arena_release(&other.arena);
}

static double gradient_of(int weight, int64_t i, int64_t step)
{
    uint64_t stream = rng_substream(rng_stream(3, "test", "gradient"), (uint64_t)weight);
    return 0.3 * rng_normal(rng_substream(stream, (uint64_t)step), (uint64_t)i);
}

static void fill_gradients(struct fixture *x, int64_t step)
{
    for (int k = 0; k < WEIGHTS; k++) {
        struct tensor *grad = &x->w.item[k]->grad;
        for (int64_t i = 0; grad->data && i < tensor_count(grad); i++)
            tensor_set(grad, i, gradient_of(k, i, step));
    }
}

static double rate_of(int64_t step)
{
    return 1e-2 / (double)step;
}

static double scale_of(int64_t step)
{
    return step % 3 ? 1.0 : 0.4;
}

/* One element through all steps, as the paper writes it. */
static double reference(const struct weight *w, int weight, int64_t i, double p)
{
    double m = 0.0, v = 0.0;
    for (int64_t t = 1; t <= STEPS && !w->frozen; t++) {
        double g = scale_of(t) * gradient_of(weight, i, t);
        m = config.beta1 * m + (1.0 - config.beta1) * g;
        v = config.beta2 * v + (1.0 - config.beta2) * g * g;
        double m_hat = m / (1.0 - pow(config.beta1, (double)t));
        double v_hat = v / (1.0 - pow(config.beta2, (double)t));
        double decay = w->decay ? config.weight_decay : 0.0;
        p -= rate_of(t) * (m_hat / (sqrt(v_hat) + config.eps) + decay * p);
        if (w->bounded)
            p = fmin(fmax(p, w->lo), w->hi);
    }
    return p;
}

static void run_steps(struct fixture *x, const struct team *team)
{
    for (int64_t t = 1; t <= STEPS; t++) {
        fill_gradients(x, t);
        adamw_step(&x->o, &x->w, &config, rate_of(t), scale_of(t), team);
    }
}

static void check_against_reference(peat_dtype dtype, double limit)
{
    make_both(dtype);
    run_steps(&f, NULL);
    ck_assert_int_eq(f.o.t, STEPS);
    for (int k = 0; k < WEIGHTS; k++) {
        const struct weight *w = f.w.item[k];
        for (int64_t i = 0; i < tensor_count(&w->value); i++) {
            double want = reference(w, k, i, tensor_get(&other.w.item[k]->value, i));
            double got = tensor_get(&w->value, i);
            ck_assert_msg(fabs(got - want) <= limit, "%s[%d]: %.17g, not %.17g", w->name, (int)i,
                          got, want);
        }
    }
}

TEST(f64_follows_the_paper)
{
    check_against_reference(PEAT_F64, 1e-14);
}

TEST(f32_follows_the_paper)
{
    check_against_reference(PEAT_F32, 2e-6);
}

TEST(frozen_weights_and_padding_stay)
{
    make_both(PEAT_F32);
    run_steps(&f, NULL);
    const struct weight *w = weights_find(&f.w, "frozen");
    ck_assert_mem_eq(w->value.data, weights_find(&other.w, "frozen")->value.data,
                     tensor_bytes(&w->value));
    for (int k = 0; k < WEIGHTS; k++) {
        int64_t end = k + 1 < WEIGHTS ? f.w.item[k + 1]->offset : f.w.size;
        for (int64_t i = f.w.item[k]->offset + tensor_count(&f.w.item[k]->value); i < end; i++)
            ck_assert(((const float *)f.w.value)[i] == 0.0f);
    }
}

TEST(threads_change_no_bit)
{
    make_both(PEAT_F32);
    run_steps(&f, NULL);
    run_steps(&other, &(struct team){3});
    ck_assert_mem_eq(f.w.value, other.w.value, (size_t)f.w.size * sizeof(float));
    double norm = gradient_norm(&f.w, NULL), again = gradient_norm(&other.w, &(struct team){3});
    ck_assert_mem_eq(&norm, &again, sizeof(norm));
}

TEST(value_that_is_not_a_number_is_not_hidden_by_bounds)
{
    fixture_init(&f, PEAT_F32);
    fill_gradients(&f, 1);
    struct weight *w = weights_find(&f.w, "bounded");
    tensor_set(&w->value, 3, (double)NAN);
    adamw_step(&f.o, &f.w, &config, 1e-3, 1.0, NULL);
    ck_assert(isnan(tensor_get(&w->value, 3)));
}

LOOP_TEST(norm_is_over_all_gradients, 2)
{
    fixture_init(&f, _i == 0 ? PEAT_F32 : PEAT_F64);
    ck_assert_double_eq(gradient_norm(&f.w, NULL), 0.0);
    fill_gradients(&f, 1);
    double sum = 0.0;
    for (int k = 0; k < WEIGHTS; k++) {
        const struct tensor *grad = &f.w.item[k]->grad;
        for (int64_t i = 0; grad->data && i < tensor_count(grad); i++)
            sum += tensor_get(grad, i) * tensor_get(grad, i);
    }
    ck_assert_double_eq_tol(gradient_norm(&f.w, NULL), sqrt(sum), 1e-11);
    tensor_set(&f.w.item[1]->grad, 36, (double)INFINITY);
    ck_assert(isinf(gradient_norm(&f.w, NULL)));
}

int main(void)
{
    return run_tests((struct tests){"adamw", NULL, tear_down});
}
