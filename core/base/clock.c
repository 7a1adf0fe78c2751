/* SPDX-License-Identifier: MIT */
/* clock.c: the monotonic clock for durations, the calendar for provenance. */
#include "base/clock.h"

#include <time.h>

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double clock_wall(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
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
