/* SPDX-License-Identifier: MIT */
/* state.h: the state of a process that a plugin could change. */
#ifndef PROCESS_STATE_H
#define PROCESS_STATE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strbuf.h"

enum { STATE_SIGNALS = 65 };

struct state {
    uint32_t rounding; /* mode, traps and treatment of denormals */
    char locale[256], directory[4096];
    void (*handler[STATE_SIGNALS])(int);
    sigset_t blocked;
    /* Read by state_read alone. */
    mode_t umask;
    int descriptors, threads;
    int openmp; /* different OpenMP runtimes in memory */
    uint64_t environment;
};

/* The fields that a few system calls give, with the handlers of n signals; the others stay. */
void state_read_part(struct state *s, int n, const int *signals);
void state_read(struct state *s);
/* Says what differs, "the locale is 'C.UTF-8' and was 'C'"; nothing when nothing does. */
void state_compare(const struct state *before, const struct state *after, struct strbuf *out);
bool state_same_signal(const struct state *before, const struct state *after, int signal);
/* Sets rounding as it was. */
void state_restore_rounding(const struct state *s);

/* Bytes that the process holds of the system's allocator, to be asked about later. */
size_t state_memory(void);
/* How many more it holds now; under a leak sanitizer, whether any are lost. */
size_t state_memory_kept(size_t before);

#endif
