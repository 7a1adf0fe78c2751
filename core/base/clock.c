/* SPDX-License-Identifier: MIT */
/* clock.c: the monotonic clock for durations, the calendar for provenance. */

#include "base/base.h"
#include <time.h>

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double clock_seconds(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double clock_since(double start)
{
    double seconds = clock_seconds() - start;
    return seconds > 0.0 ? seconds : 0.0;
}

double clock_wall(void)
{
    return seconds_of(CLOCK_REALTIME);
}

double clock_cpu(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

void clock_utc(char *text, size_t n)
{
    struct timespec now;
    struct tm date;
    clock_gettime(CLOCK_REALTIME, &now);
    if (!gmtime_r(&now.tv_sec, &date) || !strftime(text, n, "%Y-%m-%dT%H:%M:%SZ", &date)) {
        if (n)
            text[0] = '\0';
    }
}
