/* SPDX-License-Identifier: MIT */
/* planlooks.c: the cost of an experiment whose seeds are added until its claims are decided. */
#include "cli/planparts.h"
#include "cli/runlooks.h"

void plan_say_looks(const struct plan *p, const struct plan_runs *runs, struct arena *a)
{
    const struct looks *looks = &p->experiment->looks;
    const char *counts = NULL;
    double first = 0.0, all = 0.0;
    int n = 0;
    if (looks->n == 0)
        return;
    for (int k = 0; k < looks->n; k++)
        counts = arena_item(a, counts, "%d", looks->count[k]);
    for (int i = 0; i < p->n; i++) {
        bool now = runs->is_run[i] && look_place(p->experiment, p->cell[i].seed) < looks->count[0];
        n += now;
        first += now ? plan_work(&p->cell[i], 0) : 0.0;
        all += runs->is_run[i] ? plan_work(&p->cell[i], 0) : 0.0;
    }
    cli_print("looks: claims are judged at %s seeds, and rows whose claims are decided stop there: "
              "from %d to %d cells, from %.0f to 100 %% of this work\n",
              counts, n, runs->n, 100.0 * first / all);
}
