/* SPDX-License-Identifier: MIT */
/* checkstate.h: what of the process a plugin could change behind the engine's back. */
#ifndef CHECK_CHECKSTATE_H
#define CHECK_CHECKSTATE_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strbuf.h"

enum { STATE_SIGNALS = 65, STATE_TEXT = 256 };

struct state {
    uint32_t rounding; /* mode, traps and treatment of denormals */
    char locale[STATE_TEXT];
    char directory[STATE_TEXT];
    mode_t umask;
    void (*handler[STATE_SIGNALS])(int);
    sigset_t blocked;
    int descriptors, threads;
    int openmp; /* different OpenMP runtimes in memory */
    uint64_t environment;
};

void state_read(struct state *s);
/* Says what differs, "the locale is 'C.UTF-8' and was 'C'"; nothing when nothing does. */
void state_compare(const struct state *before, const struct state *after, struct strbuf *out);

/* Bytes that the process holds of the system's allocator, to be asked about later. */
size_t state_memory(void);
/* How many more it holds now; under a leak sanitizer, whether any are lost. */
size_t state_memory_kept(size_t before);

#endif
