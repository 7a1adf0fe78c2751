/* SPDX-License-Identifier: MIT */
/* planseconds.c: timing a product, and what follows for a grid. */
#include "cli/planparts.h"

#include <math.h>

#include "base/clock.h"
#include "process/machine.h"
#include "tensor/gemm.h"

/* The share of a product's FLOPs per second that a training step reaches. */
static const double reached = 0.9;

enum { ROWS = 512, WIDTH = 128, OUT = 512 };

/* FLOPs per second of products of a block's size on one thread, in 5 ms of processor time: other
 * work on the machine makes it no slower. */
static double product_speed(const struct team *team, struct arena *a)
{
    float *x = ARENA_ARRAY(a, ROWS * WIDTH, float), *w = ARENA_ARRAY(a, OUT * WIDTH, float);
    float *y = ARENA_ARRAY(a, ROWS * OUT, float);
    for (int i = 0; i < ROWS * WIDTH; i++)
        x[i] = 0.5f;
    for (int i = 0; i < OUT * WIDTH; i++)
        w[i] = 0.5f;
    struct gemm p = {.dtype = PEAT_F32,
                     .trans_b = true,
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

double plan_seconds(const struct run_settings *run, double work)
{
    struct team team = {.threads = 1};
    struct error ignored = {0};
    struct arena a;
    if (gemm_start(&team, run->gemm, &ignored) != PEAT_OK)
        return (double)NAN;
    arena_init(&a, "a product", 1 << 20);
    double speed = reached * product_speed(&team, &a);
    arena_release(&a);
    struct machine m;
    machine_look(&m, "");
    double threads = (double)(run->jobs * run->threads); /* 0: auto */
    return work / (speed * (threads > 0 ? fmin(threads, m.cores) : m.cores));
}
