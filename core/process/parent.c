/* SPDX-License-Identifier: MIT */
/* parent.c: the signal of a parent's death, and a thread that does not rely on it. */
#include "process/parent.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

enum { LOOKS_PER_SECOND = 5 };

bool parent_follow(pid_t parent, int signal)
{
    prctl(PR_SET_PDEATHSIG, signal);
    return getppid() == parent;
}

static void nap(void)
{
    nanosleep(&(struct timespec){0, 1000 * 1000 * 1000 / LOOKS_PER_SECOND}, NULL);
}

/* Progress is written by another thread, without any order of memory. */
__attribute__((no_sanitize("thread"))) static uint64_t read_beats(const struct trail_page *page)
{
    return page ? *(const volatile uint64_t *)&page->beats : 0;
}

/* Checks are counted instead of seconds, so a process that was suspended gets its whole time. */
static void wait_for_standstill(const struct parent_watch *w)
{
    uint64_t beats = read_beats(w->page);
    for (int looks = 0; looks < w->patience * LOOKS_PER_SECOND; looks++) {
        nap();
        uint64_t now = read_beats(w->page);
        if (now != beats)
            looks = 0;
        beats = now;
    }
}

/* The thread owns its argument, since it runs until the process ends. */
static void *watch(void *ctx)
{
    const struct parent_watch *w = ctx;
    while (getppid() == w->parent)
        nap();
    wait_for_standstill(w);
    kill(getpgrp() == getpid() ? 0 : getpid(), SIGKILL);
    return NULL;
}

void parent_watch(struct parent_watch w)
{
    pthread_t thread;
    sigset_t all, before;
    struct parent_watch *own = mem_array(1, sizeof(*own), "watching the parent");
    *own = w;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, watch, own) == 0)
        pthread_detach(thread);
    else
        free(own);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
