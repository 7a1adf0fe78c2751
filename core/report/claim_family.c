/* SPDX-License-Identifier: MIT */
/* claim_family.c: claims of several runs as one family, and the rows that claims share. */

#include "report/claim_verdict.h"

/* ---- one family ---- */

static peat_status judge_run(struct claim_history *h, char *dir, const struct results_options *o,
                             struct arena *a, struct error *err)
{
    struct results *r = ARENA_NEW(a, struct results);
    peat_status status = results_read(r, 1, &dir, o, a, err);
    if (status == PEAT_OK)
        status = claims_history(h, r, a, err);
    if (status != PEAT_OK)
        return status;
    if (!h->now.version)
        return error_set(err, PEAT_INVALID, "option '--family': '%s' has no claims", dir);
    for (int i = 0; i < h->now.n; i++)
        if (h->now.item[i].claim.n_look)
            return error_set(err, PEAT_INVALID,
                             "option '--family': the claims of '%s' have looks, over which their "
                             "alpha was shared out beforehand",
                             dir);
    return PEAT_OK;
}

peat_status claims_of_runs(struct claim_history *h, int n, char *const *dir,
                           const struct results_options *o, struct arena *a, struct error *err)
{
    struct claim_history *of = ARENA_ARRAY(a, n, struct claim_history);
    struct claim_verdict *item;
    *h = (struct claim_history){.n_run = n, .of = of, .run = dir};
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            if (file_is_same(dir[i], dir[k]))
                return error_set(err, PEAT_INVALID,
                                 "option '--family': '%s' and '%s' are one directory, whose claims "
                                 "count once",
                                 dir[k], dir[i]);
        peat_status status = judge_run(&of[i], dir[i], o, a, err);
        if (status != PEAT_OK)
            return status;
        h->now.n += of[i].now.n;
    }
    h->now.item = item = ARENA_ARRAY(a, h->now.n, struct claim_verdict);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < of[i].now.n; k++, item++) {
            *item = of[i].now.item[k];
            item->run = dir[i];
        }
    claims_settle(&h->now, a);
    return PEAT_OK;
}

/* ---- shared rows ---- */

/* A row of the claims, and the number of claims that compare it. */
struct used {
    const struct result_row *row;
    const struct claim_verdict *v; /* the first of these claims */
    int claims, last;              /* last: the claim that was counted last */
};

struct uses {
    struct arena *a;
    int n, room;
    struct used *item;
};

/* If the rows share one cell, they are the same configuration, seed included. */
static bool have_common_cell(const struct result_row *x, const struct result_row *y)
{
    if (x == y)
        return true;
    for (int i = 0; i < x->n_cell; i++)
        for (int j = 0; j < y->n_cell; j++) {
            const char *hash = json_get_text(x->cell[i]->planned, "hash");
            if (hash && json_text_is(y->cell[j]->planned, "hash", hash))
                return true;
        }
    return false;
}

static void use(struct uses *u, const struct claim_verdict *v, int claim, int row)
{
    const struct result_row *x = &v->effects.r->row[row];
    int i = 0;
    while (i < u->n && !have_common_cell(u->item[i].row, x))
        i++;
    if (i == u->n)
        *ARENA_APPEND(u->a, u->item, u->n, u->room) = (struct used){x, v, 0, -1};
    struct used *at = &u->item[i];
    at->claims += at->last != claim;
    at->last = claim;
}

const char *claims_shared(const struct claim_verdicts *v, struct arena *a)
{
    struct uses u = {.a = a};
    const char *text = NULL;
    for (int i = 0; i < v->n; i++) {
        const struct contrast_pairs *pairs = &v->item[i].effects.pairs;
        for (int k = 0; k < pairs->n; k++) {
            use(&u, &v->item[i], i, pairs->pair[k].a);
            use(&u, &v->item[i], i, pairs->pair[k].b);
        }
    }
    for (int i = 0; i < u.n; i++) {
        const struct used *at = &u.item[i];
        if (at->claims > 1)
            text = arena_item(a, text, "%s%s%s (%d)", at->v->run ? at->v->run : "",
                              at->v->run ? " " : "",
                              results_row_label(at->v->effects.r, at->row, a), at->claims);
    }
    return text;
}
