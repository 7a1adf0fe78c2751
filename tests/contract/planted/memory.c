/* SPDX-License-Identifier: MIT */
/*
 * memory.c: a scheme that adds a small number to each element of the residual stream, which it
 * writes to scratch. The crimes are in the memory that it reads and writes, in variables of its
 * own, and in functions of the system that a hook must not call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <peat/plugin.h>

#if defined(CRIME_counts_statically)
static int64_t kept;
#elif defined(CRIME_remembers_config)
static const void *kept;
#elif defined(CRIME_keeps_a_table) /* as it was loaded, it is not zero */
static double kept[] = {-1, 0, 0, 0, 0, 0, 0};
#endif

#ifdef CRIME_loops_when_loaded
__attribute__((constructor)) static void loop(void)
{
    for (volatile int n = 0; n >= 0;)
        n = n < 9 ? n + 1 : 0;
}
#endif

static double number(const peat_call *c, int64_t i)
{
    double x = 0.001 * (double)(i % 7);
    (void)c;
#if defined(CRIME_counts_statically)
    x += ++kept < 0;
#elif defined(CRIME_remembers_config)
    kept = kept ? kept : c->config;
    x += kept == NULL;
#elif defined(CRIME_keeps_a_table)
    for (int k = 0; kept[0] < 0 && k < 7; k++)
        kept[k] = 0.001 * (double)k;
    x = kept[i % 7];
#elif defined(CRIME_reads_clock)
    x += time(NULL) == 0;
#elif defined(CRIME_draws_alone)
    x += rand() < 0;
#elif defined(CRIME_reads_environment)
    x += getenv("PEAT_NO_SUCH_VARIABLE") != NULL;
#elif defined(CRIME_opens_a_file)
    FILE *f = fopen("/dev/null", "r");
    x += f == NULL;
    if (f)
        fclose(f);
#endif
    return x;
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    const peat_shape shape = peat_shape_of(c->g, x);
    int64_t n = shape.dim[1] * shape.dim[2];
    double *value = peat_scratch(c, n);
    for (int64_t i = 0; value && i < n; i++) {
#ifdef CRIME_leaves_odd_places
        if (i / shape.dim[2] % 2)
            continue;
#endif
        value[i] = number(c, i % shape.dim[2]);
    }
#if defined(CRIME_adds_beyond)
    if (value)
        value[n] += 1;
#elif defined(CRIME_multiplies_beyond)
    if (value)
        value[n + 2] *= 0.5;
#elif defined(CRIME_adds_far_beyond)
    if (value)
        value[n + 4000] += 1;
#elif defined(CRIME_reads_far_beyond)
    if (value)
        value[0] += 1e-3 * value[n + 4000];
#elif defined(CRIME_reads_beyond)
    if (value)
        value[0] += 1e-3 * value[n];
#elif defined(CRIME_reads_a_position_beyond)
    if (value)
        value[0] += 1e-3 * c->q->pos[c->q->pos_B * c->q->T];
#endif
    return peat_add(c->g, x, peat_fill(c, 3, (int64_t[]){1, shape.dim[1], shape.dim[2]}, value));
}

static const peat_scheme scheme = {.size = sizeof(scheme), .residual = residual};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "planted", "1.0", "adds small numbers", "MIT", "")
