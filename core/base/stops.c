/* SPDX-License-Identifier: MIT */
/* stops.c: sets masks and handlers of the signals that ask a program to end. */

#include "base/base.h"

static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
enum { STOPS = sizeof(stops) / sizeof(*stops) };

static bool is_ignored(int signal)
{
    struct sigaction now;
    return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void stops_set(sigset_t *set)
{
    sigemptyset(set);
    for (int i = 0; i < STOPS; i++)
        if (!is_ignored(stops[i]))
            sigaddset(set, stops[i]);
}

static void end_here(int signal)
{
    (void)signal;
    _exit(STOPS_CODE);
}

static void handle(void (*handler)(int))
{
    for (int i = 0; i < STOPS; i++)
        if (!is_ignored(stops[i]))
            sigaction(stops[i], &(struct sigaction){.sa_handler = handler}, NULL);
}

void stops_end_process(void)
{
    handle(end_here);
}

void stops_kill_process(void)
{
    sigset_t set;
    stops_set(&set);
    handle(SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void stops_hold(struct stops_held *h)
{
    sigset_t set;
    stops_set(&set);
    sigprocmask(SIG_BLOCK, &set, &h->before);
}

void stops_let(const struct stops_held *h)
{
    sigprocmask(SIG_SETMASK, &h->before, NULL);
}

bool stops_waiting(void)
{
    sigset_t set, waiting;
    stops_set(&set);
    sigpending(&waiting);
    for (int i = 0; i < STOPS; i++)
        if (sigismember(&set, stops[i]) && sigismember(&waiting, stops[i]))
            return true;
    return false;
}
