/* SPDX-License-Identifier: MIT */
/* share.c: cores and memory shared out among cells. */
#include "grid/share.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t at_least_one(int64_t n)
{
    return n > 1 ? n : 1;
}

struct share share_machine(struct share given, int64_t cells, int64_t cell_bytes,
                           const struct machine *m)
{
    struct share s = given;
    if (!s.jobs) {
        s.jobs = least(cells, m->cores / at_least_one(s.threads));
        s.jobs = at_least_one(least(s.jobs, m->free_bytes / at_least_one(cell_bytes)));
    }
    if (!s.threads)
        s.threads = at_least_one(m->cores / at_least_one(least(s.jobs, cells)));
    return s;
}
