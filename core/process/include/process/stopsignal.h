/* SPDX-License-Identifier: MIT */
/*
 * stopsignal.h: the signals of base/stops.h as a question that can be asked between steps.
 *
 * They are blocked and read from a descriptor, so no handler and no global is needed. After
 * the first one they get their default action back, unless told otherwise: a second one ends the
 * process.
 */
#pragma once

#include "base/base.h"

struct stop_signal {
    int fd; /* -1: none */
    bool requested, patient;
    sigset_t before;
};

/* Call before threads are started: they inherit the mask. `patient`: further signals are the same
 * question, for a process whose parent sends SIGKILL when it means that. Batch systems send SIGTERM
 * to every process of a job, so that a cell gets it from them and from its parent. */
void stop_open(struct stop_signal *s, bool patient);
bool stop_requested(struct stop_signal *s);
/* Patient: one that comes after the last question is answered by the end itself. */
void stop_close(struct stop_signal *s);
