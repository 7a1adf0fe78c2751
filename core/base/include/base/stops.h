/* SPDX-License-Identifier: MIT */
/*
 * stops.h: the signals that ask a program to end, and work that they must not cut in two.
 *
 * They are SIGINT, SIGTERM and SIGHUP, without those that this process was started to ignore, as
 * nohup and shells with jobs in the background do.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* The exit status of a program that one of them has ended. */
enum { STOPS_CODE = 130 };

void stops_set(sigset_t *set);

/* From here on they end the process with STOPS_CODE at once, wherever it is. */
void stops_end_process(void);
/* They kill again, as in a fresh process; none waits any more. For a process that was forked. */
void stops_kill_process(void);

/* Around work that has files or processes to put away: a stop waits until stops_let. For this
 * thread: others must not be running, or have been started while stops were held. Nests. */
struct stops_held {
    sigset_t before;
};
void stops_hold(struct stops_held *h);
void stops_let(const struct stops_held *h);
/* One has come and is held back: what waits for something need not wait any longer. */
bool stops_waiting(void);
