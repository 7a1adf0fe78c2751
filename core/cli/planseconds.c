/* SPDX-License-Identifier: MIT */
/* planseconds.c: times training steps of the sizes of a grid's models, and estimates its time. */
#include "cli/planparts.h"

#include "cli/bench.h"
#include "process/apart.h"
#include "process/machine.h"
#include "tensor/gemm.h"

/* Processor seconds before a cell trains, and at its end (tests/bench/startup.py). */
static const double cell_start = 0.06;
/* Steps are timed for so many processor seconds, after one that warms the caches; three of them,
 * unless they are long. */
static const double enough = 0.02, too_long = 0.2;
enum { STEPS = 3 };

/* A step of a larger model costs as much for each FLOP as a step of these sizes, which takes less
 * time and memory. */
enum { WIDEST = 512, MOST_LAYERS = 2, MOST_TOKENS = 1024 };

/* Steps of some sizes and what they cost: seconds for one FLOP of plan_work. */
struct steps {
    int n, room;
    struct bench_sizes *sizes;
    double *cost; /* NaN: not known */
};

/* The sizes of a decoder whose steps cost about as much for each FLOP as the cell's. */
static struct bench_sizes sizes_of(const struct plan_cell *c, const char *gemm, bool bf16)
{
    const struct model_config *m = &c->config.model;
    const struct train_config *t = &c->config.train;
    struct bench_sizes s = BENCH_SIZES;
    s.d = at_most(m->d_model, WIDEST);
    s.heads = s.d % m->n_head == 0 ? m->n_head : 1;
    s.layers = at_most(m->n_layer, MOST_LAYERS);
    s.T = at_most(t->seq_len, MOST_TOKENS);
    s.B = at_most(t->batch, (MOST_TOKENS + s.T - 1) / s.T);
    s.gemm = gemm;
    s.bf16 = bf16;
    return s;
}

static int add_sizes(struct steps *x, struct bench_sizes s, struct arena *a)
{
    for (int i = 0; i < x->n; i++) {
        const struct bench_sizes *o = &x->sizes[i];
        if (o->d == s.d && o->heads == s.heads && o->layers == s.layers && o->T == s.T &&
            o->B == s.B && o->bf16 == s.bf16)
            return i;
    }
    *ARENA_APPEND(a, x->sizes, x->n, x->room) = s;
    return x->n - 1;
}

/* ---- in a child process, so that this process loads no library of matrix products ---- */

static bool time_size(const struct bench_sizes *s, double *cost, struct error *err)
{
    struct team team = {.threads = 1};
    struct arena a, scratch;
    struct bench_step b;
    struct model_cost work;
    arena_init(&a, "a step", 1 << 20);
    arena_init(&scratch, "a step", 1 << 20);
    bool ok = bench_step_open(&b, s, &team, &a, err) &&
              model_plan(&b.of.model, s->B, s->T, false, &work, err) == PEAT_OK &&
              bench_step_run(&b, 1, &scratch, err);
    int64_t n = 0;
    double start = clock_cpu(), spent = 0;
    for (; ok && spent < (n < STEPS ? too_long : enough); spent = clock_cpu() - start)
        ok = bench_step_run(&b, ++n + 1, &scratch, err);
    if (ok)
        *cost = spent / ((double)n * plan_step_work(&work));
    arena_release(&scratch);
    arena_release(&a);
    gemm_stop(&team);
    return ok;
}

static peat_status time_sizes(void *ctx, struct trail *trail, struct strbuf *out, struct error *err)
{
    const struct steps *x = ctx;
    double cost;
    (void)trail;
    for (int i = 0; i < x->n; i++) {
        if (!time_size(&x->sizes[i], &cost, err))
            return err->status;
        strbuf_addf(out, "%.17g\n", cost);
    }
    return PEAT_OK;
}

static void time_steps(struct steps *x, struct arena *a)
{
    struct strbuf costs = STRBUF_NEW;
    struct error ignored = {0};
    x->cost = ARENA_ARRAY(a, x->n + 1, double);
    bool timed =
        apart_run(time_sizes, x, apart_seconds(), APART_SILENT, &costs, NULL, &ignored) == PEAT_OK;
    char *next = costs.text;
    for (int i = 0; i < x->n; i++)
        x->cost[i] = timed ? strtod(next, &next) : (double)NAN;
    strbuf_release(&costs);
}

/* ---- a plan ---- */

struct plan_time plan_estimate(const struct plan *p, const bool *is_run, const int64_t *from,
                               struct arena *a)
{
    const char *gemm = p->experiment->run.gemm;
    struct steps x = {0};
    int *size = ARENA_ARRAY(a, p->n + 1, int);
    double seconds = 0;
    for (int i = 0; i < p->n; i++)
        if (is_run[i])
            size[i] = add_sizes(&x, sizes_of(&p->cell[i], gemm, plan_rounds(&p->cell[i])), a);
    time_steps(&x, a);
    for (int i = 0; i < p->n; i++)
        if (is_run[i])
            seconds += cell_start + plan_work(&p->cell[i], from[i]) * x.cost[size[i]];
    return (struct plan_time){
        seconds, arena_printf(a, "steps of %s", x.n == 1 ? "this size" : "these sizes")};
}

double plan_bf16_ratio(const struct plan *p, struct arena *a)
{
    struct steps x = {0};
    int i = 0;
    while (i < p->n && !plan_rounds(&p->cell[i]))
        i++;
    if (i == p->n)
        return (double)NAN;
    for (int bf16 = 0; bf16 < 2; bf16++)
        add_sizes(&x, sizes_of(&p->cell[i], p->experiment->run.gemm, bf16), a);
    time_steps(&x, a);
    return x.cost[1] / x.cost[0];
}

double plan_wall_seconds(const struct run_settings *run, double seconds)
{
    struct machine m;
    machine_look(&m, "");
    double threads = (double)(run->jobs * run->threads); /* 0: auto */
    return seconds / (threads > 0 ? fmin(threads, m.cores) : m.cores);
}
