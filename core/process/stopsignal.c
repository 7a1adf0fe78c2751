/* SPDX-License-Identifier: MIT */
/* stopsignal.c: a signalfd over the signals that ask a program to end. */
#include "process/stopsignal.h"

#include <sys/signalfd.h>

void stop_open(struct stop_signal *s, bool patient)
{
    sigset_t set;
    stops_set(&set);
    *s = (struct stop_signal){.fd = -1, .patient = patient};
    sigprocmask(SIG_BLOCK, &set, &s->before);
    s->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static bool take_one(const struct stop_signal *s)
{
    struct signalfd_siginfo info;
    return s->fd >= 0 && read(s->fd, &info, sizeof(info)) == (ssize_t)sizeof(info);
}

bool stop_requested(struct stop_signal *s)
{
    if (!s->requested && take_one(s)) {
        s->requested = true;
        if (!s->patient)
            sigprocmask(SIG_SETMASK, &s->before, NULL);
    }
    return s->requested;
}

void stop_close(struct stop_signal *s)
{
    while (s->patient && take_one(s))
        ;
    if (s->fd >= 0)
        close(s->fd);
    sigprocmask(SIG_SETMASK, &s->before, NULL);
    s->fd = -1;
}
