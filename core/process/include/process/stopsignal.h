/* SPDX-License-Identifier: MIT */
/*
 * stopsignal.h: asks between steps whether a signal of base/stops.h has come.
 *
 * They are blocked and read from a descriptor, so no handler and no global is needed. After the
 * first one they get their default action back, so a second one ends the process, unless the
 * process is patient.
 */
#pragma once

#include "base/base.h"

struct stop_signal {
    int fd; /* -1: not open */
    bool requested, patient;
    sigset_t before;
};

/* Call before threads are started: they inherit the mask. `patient`: further signals change
 * nothing, for a process whose parent sends SIGKILL to end it at once. Batch systems send SIGTERM
 * to every process of a job, so a cell gets one from them and one from its parent. */
void stop_open(struct stop_signal *s, bool patient);
bool stop_requested(struct stop_signal *s);
/* When patient, drops a signal that came after the last stop_requested: the process ends anyway. */
void stop_close(struct stop_signal *s);
