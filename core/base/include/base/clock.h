/* SPDX-License-Identifier: MIT */
/* clock.h: durations by the monotonic clock, dates by the wall clock. */
#pragma once

#include <stddef.h>

/* Seconds since a fixed point of this machine's uptime. */
double clock_seconds(void);
/* Seconds since clock_seconds() returned `start`. Never below 0, even after a move to another host
 * with an earlier clock. */
double clock_since(double start);
/* Seconds since 1970, for files that contain a date. */
double clock_wall(void);
/* Processor seconds that this process has used, summed over its threads. */
double clock_cpu(void);
/* "2026-01-31T12:00:00Z" */
void clock_utc(char *text, size_t n);
