/* SPDX-License-Identifier: MIT */
/* share.c: distributes cores and memory among cells. */
#include "grid/share.h"

struct share share_machine(struct share given, int64_t cells, int64_t cell_bytes,
                           const struct machine *m)
{
    struct share s = given;
    if (!s.jobs) {
        s.jobs = at_most(cells, m->cores / at_least(s.threads, 1));
        s.jobs = at_least(at_most(s.jobs, m->free_bytes / at_least(cell_bytes, 1)), 1);
    }
    if (!s.threads)
        s.threads = at_least(m->cores / at_least(at_most(s.jobs, cells), 1), 1);
    return s;
}
