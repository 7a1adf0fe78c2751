/* SPDX-License-Identifier: MIT */
/* significance.c: p values as they are shown. */
#include "report/significance.h"

#include <math.h>

#include "report/numbers.h"

void significance_p(struct strbuf *out, enum paired_test test, double p, int n, int m)
{
    if (isnan(p) || paired_can_show(test, n, m))
        number_p(out, p);
    else
        strbuf_addf(out, "needs %d seeds", paired_pairs_needed(test, 2, m, STATS_LEVEL));
}

const char *significance_text(struct arena *a, enum paired_test test, double p, int n, int m)
{
    struct strbuf out;
    strbuf_init(&out);
    significance_p(&out, test, p, n, m);
    return strbuf_keep(&out, a);
}

bool results_too_few_seeds(const struct results *r, int length)
{
    for (int i = 0; i < r->n_row; i++) {
        const struct summary *s = &r->row[i].at[length];
        if (!isnan(s->p) && !paired_can_show(r->test, s->pairs.n, r->comparisons[length]))
            return true;
    }
    return false;
}
