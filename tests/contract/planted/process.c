/* SPDX-License-Identifier: MIT */
/*
 * process.c: a scheme that scales what enters each block. The crimes are what it keeps from call to
 * call, and what it does to the process that it runs in.
 */
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <peat/plugin.h>

#ifdef CRIME_dies_on_load
__attribute__((constructor)) static void begin(void)
{
    abort();
}
#endif

#ifdef CRIME_exports_more
PEAT_EXPORT int helper(int x);
int helper(int x)
{
    return x + 1;
}
#endif

#ifdef CRIME_starts_thread
static void *sleeper(void *arg)
{
    for (;;)
        sleep(1);
    return arg;
}
#endif

struct self {
    double scale;
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    struct self *own = peat_alloc(s, sizeof(*own));
    (void)config;
    if (!own)
        return PEAT_NOMEM;
    own->scale = 1.5;
    *self = own;
#if defined(CRIME_counts_models)
    static int models;
    own->scale = 1 + 1e-3 * ++models;
#elif defined(CRIME_sets_locale)
    setlocale(LC_ALL, "C.UTF-8");
#elif defined(CRIME_sets_directory)
    return chdir("/") == 0 ? PEAT_OK : PEAT_IO;
#elif defined(CRIME_sets_signal)
    signal(SIGUSR1, SIG_IGN);
#elif defined(CRIME_sets_variable)
    setenv("OMP_NUM_THREADS", "7", 1);
#elif defined(CRIME_sets_umask)
    umask(077);
#elif defined(CRIME_keeps_file)
    return open("/dev/null", O_RDONLY) >= 0 ? PEAT_OK : PEAT_IO;
#elif defined(CRIME_starts_thread)
    pthread_t thread;
    return pthread_create(&thread, NULL, sleeper, NULL) == 0 ? PEAT_OK : PEAT_FAILED;
#endif
    return PEAT_OK;
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    double scale = ((const struct self *)c->self)->scale;
#if defined(CRIME_counts_calls)
    static int calls;
    scale = 1 + 1e-3 * ++calls;
#elif defined(CRIME_remembers_batch)
    static int64_t last_T;
    scale = last_T == c->q->T || last_T == 0 ? 1 : 2;
    if (c->layer == 1)
        last_T = c->q->T;
#elif defined(CRIME_writes_tokens)
    ((int32_t *)(uintptr_t)c->q->token)[0] = 41;
#elif defined(CRIME_leaks)
    char *volatile kept = malloc(800);
    if (!kept)
        return peat_fail(c->g, "no memory");
    memset(kept, 0, 800);
    kept = NULL;
#elif defined(CRIME_sets_rounding)
    fesetround(FE_UPWARD);
#elif defined(CRIME_dies_in_hook) /* reads from nowhere */
    scale = *(const volatile double *)(uintptr_t)8;
#elif defined(CRIME_aborts)
    abort();
#elif defined(CRIME_exits) /* as if all were well */
    exit(0);
#elif defined(CRIME_hangs)
    for (;;)
        usleep(1000);
#endif
    return peat_scale(c->g, x, scale);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
#ifdef CRIME_writes_tokens
    .needs = PEAT_NEED_TOKENS,
#endif
    .setup = setup,
    .residual = residual,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "planted", "1.0", "scales what enters a block", "MIT", "")
