/* SPDX-License-Identifier: MIT */
/* stopsignal.c: a signalfd over SIGINT and SIGTERM. */
#include "process/stopsignal.h"

#include <sys/signalfd.h>
#include <unistd.h>

static sigset_t stop_set(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

void stop_open(struct stop_signal *s, bool patient)
{
    sigset_t set = stop_set();
    *s = (struct stop_signal){.fd = -1, .patient = patient};
    sigprocmask(SIG_BLOCK, &set, &s->before);
    s->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

bool stop_requested(struct stop_signal *s)
{
    struct signalfd_siginfo info;
    if (!s->requested && s->fd >= 0 && read(s->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        s->requested = true;
        if (!s->patient)
            sigprocmask(SIG_SETMASK, &s->before, NULL);
    }
    return s->requested;
}

void stop_close(struct stop_signal *s)
{
    if (s->fd >= 0)
        close(s->fd);
    sigprocmask(SIG_SETMASK, &s->before, NULL);
    s->fd = -1;
}
