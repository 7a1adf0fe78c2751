/* SPDX-License-Identifier: MIT */
/* A thread is started. */
#include <pthread.h>
#include <unistd.h>

#include <peat/plugin.h>

static void *sleeper(void *arg)
{
    for (;;)
        sleep(1);
    return arg;
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)s;
    (void)config;
    (void)self;
    pthread_t thread;
    if (pthread_create(&thread, NULL, sleeper, NULL) != 0)
        return PEAT_FAILED;
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .setup = setup,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "starts_thread", "1.0", "a thread is started", "MIT", "")
