/* SPDX-License-Identifier: MIT */
/* planseconds.c: times a product, and estimates the time of a grid from it. */
#include "cli/planparts.h"

#include "process/apart.h"
#include "process/machine.h"
#include "tensor/gemm.h"

/* The share of a product's FLOPs per second that a training step reaches. */
static const double reached = 0.9;
/* Processor seconds before a cell trains, and at its end (tests/bench/startup.py). */
static const double cell_start = 0.06;

enum { ROWS = 512, WIDTH = 128, OUT = 512 };

/* FLOPs per second of products of a block's size on one thread, measured over 5 ms of processor
 * time, so that other work on the machine does not change it. */
static double product_speed(const struct team *team, bool rounds, struct arena *a)
{
    float *x = ARENA_ARRAY(a, ROWS * WIDTH, float), *w = ARENA_ARRAY(a, OUT * WIDTH, float);
    float *y = ARENA_ARRAY(a, ROWS * OUT, float);
    for (int i = 0; i < ROWS * WIDTH; i++)
        x[i] = 0.5f;
    for (int i = 0; i < OUT * WIDTH; i++)
        w[i] = 0.5f;
    struct gemm p = {.dtype = PEAT_F32,
                     .trans_b = true,
                     .rounds = rounds,
                     .m = ROWS,
                     .n = OUT,
                     .k = WIDTH,
                     .alpha = 1,
                     .a = x,
                     .b = w,
                     .c = y,
                     .lda = WIDTH,
                     .ldb = WIDTH,
                     .ldc = OUT};
    gemm_one(team, &p);
    double start = clock_cpu(), now = start, done = 0;
    for (; now < start + 5e-3; now = clock_cpu()) {
        gemm_one(team, &p);
        done += 2.0 * ROWS * WIDTH * OUT;
    }
    return done / (now - start);
}

/* ---- in a child process, so that this process loads no library of matrix products ---- */

struct product {
    const char *gemm; /* the provider's name */
    bool rounds;
};

static peat_status time_product(void *ctx, struct trail *trail, struct strbuf *out,
                                struct error *err)
{
    const struct product *p = ctx;
    struct team team = {.threads = 1};
    struct arena a;
    (void)trail;
    if (gemm_start(&team, p->gemm, err) != PEAT_OK)
        return err->status;
    arena_init(&a, "a product", 1 << 20);
    if (!p->rounds || gemm_start_bf16(&team, err) == PEAT_OK)
        strbuf_addf(out, "%.17g", product_speed(&team, p->rounds, &a));
    arena_release(&a);
    gemm_stop(&team);
    return err->status;
}

/* Seconds for a FLOP; NaN: no provider has such products. */
static double flop_seconds(const struct run_settings *run, bool rounds)
{
    struct product p = {run->gemm, rounds};
    struct strbuf speed = STRBUF_NEW;
    struct error ignored = {0};
    bool timed = apart_run(time_product, &p, apart_seconds(), APART_SILENT, &speed, NULL,
                           &ignored) == PEAT_OK;
    double seconds = timed ? 1 / (reached * strtod(speed.text, NULL)) : (double)NAN;
    strbuf_release(&speed);
    return seconds;
}

/* ---- a plan ---- */

struct plan_time plan_estimate(const struct plan *p, const bool *is_run, const int64_t *from,
                               struct arena *a)
{
    double rounded = 0, others = 0;
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        const struct plan_cell *c = &p->cell[i];
        double products = plan_products(c, from[i]), all = plan_work(c, from[i]);
        if (!is_run[i])
            continue;
        n++;
        rounded += plan_rounds(c) ? products : 0;
        others += plan_rounds(c) ? all - products : all;
    }
    double seconds = n * cell_start + others * flop_seconds(&p->experiment->run, false);
    if (rounded > 0)
        seconds += rounded * flop_seconds(&p->experiment->run, true);
    return (struct plan_time){
        seconds, arena_printf(a, "the speed of %s",
                              rounded > 0 ? "fp32 and bf16 products" : "an fp32 product")};
}

double plan_bf16_speed(const struct run_settings *run)
{
    return flop_seconds(run, false) / flop_seconds(run, true);
}

double plan_wall_seconds(const struct run_settings *run, double seconds)
{
    struct machine m;
    machine_look(&m, "");
    double threads = (double)(run->jobs * run->threads); /* 0: auto */
    return seconds / (threads > 0 ? fmin(threads, m.cores) : m.cores);
}
