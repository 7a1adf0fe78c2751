/* SPDX-License-Identifier: MIT */
/*
 * stops.h: the signals that ask a program to end, and work that they must not interrupt.
 *
 * They are SIGINT, SIGTERM and SIGHUP, without those that this process was started to ignore, as
 * nohup and shells with jobs in the background do.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* The exit status of a program that a stop has ended. */
enum { STOPS_CODE = 130 };

void stops_set(sigset_t *set);

/* From here on a stop ends the process with STOPS_CODE at once. */
void stops_end_process(void);
/* Restores the signals' default action, as in a fresh process, and drops a waiting stop. For a
 * process that was forked. */
void stops_kill_process(void);

/* For work that must remove files or end processes: a stop waits until stops_let. Affects this
 * thread, so there must be no other threads, or only ones started while stops were held. Nests. */
struct stops_held {
    sigset_t before;
};
void stops_hold(struct stops_held *h);
void stops_let(const struct stops_held *h);
/* True where a stop has come and is held back, so that waiting for other things may end. */
bool stops_waiting(void);
