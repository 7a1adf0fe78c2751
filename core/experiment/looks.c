/* SPDX-License-Identifier: MIT */
/* looks.c: seeds that are added until the claims are decided. */
#include "experiment/claim.h"
#include "plugin/params.h"
#include "reading.h"

/* each is one of spending_words */
const char *const claim_spendings[] = {"obrien-fleming", "pocock", NULL};

struct words {
    int64_t from, at_most, every, until, spending;
};
#define WORD(type, field, ...) PARAM_ROW(type, struct words, field, #field, __VA_ARGS__)

static const char *const until_labels[] = {"claims", NULL};

static const peat_param rows[] = {
    WORD(PEAT_INT, from, "seeds of the first look", WITHIN(2, EXPERIMENT_MAX_CELLS),
         .flags = PEAT_REQUIRED),
    WORD(PEAT_INT, at_most, "seeds of the last look, those for choosing included",
         WITHIN(2, EXPERIMENT_MAX_CELLS), .flags = PEAT_REQUIRED),
    WORD(PEAT_ENUM, until, "the condition that ends the looks", .labels = until_labels,
         .flags = PEAT_REQUIRED),
    WORD(PEAT_INT, every, "seeds between looks; 0: as many as `from`",
         WITHIN(0, EXPERIMENT_MAX_CELLS)),
    WORD(PEAT_ENUM, spending, "how alpha is spent over the looks", .labels = claim_spendings),
    PEAT_PARAM_END,
};

bool looks_read(struct reading *r, const struct value *v)
{
    struct words w = {.from = 0};
    if (params_fill(rows, &w, v, "seeds", NULL, r->a, r->err) != PEAT_OK)
        return false;
    if (w.at_most <= w.from)
        return mistake(r->err, value_get(v, "at_most")->at,
                       "'at_most' is %" PRId64 ", and must be more than 'from', which is %" PRId64,
                       w.at_most, w.from);
    r->e->seed = ARENA_ARRAY(r->a, w.at_most, int64_t);
    for (int64_t i = 0; i < w.at_most; i++)
        r->e->seed[i] = i;
    r->e->n_seed = (int)w.at_most;
    r->e->looks = (struct looks){
        .from = (int)w.from, .every = (int)(w.every ? w.every : w.from), .spending = w.spending};
    return true;
}

/* The number of reported seeds (not kept for choosing) at the last look. */
static int last_look(const struct reading *r)
{
    return r->e->n_seed - r->e->report.best_over.n_seed;
}

static bool check_looks(struct reading *r, const struct value *seeds)
{
    const struct looks *l = &r->e->looks;
    const struct value *every = value_get(seeds, "every");
    int last = last_look(r), added = last - l->from, most = EXPERIMENT_MAX_LOOKS - 1;
    if (!r->e->claims)
        return mistake(r->err, value_get(seeds, "until")->at,
                       "seeds until claims: the experiment has no claims");
    if (added <= 0)
        return mistake(r->err, value_get(seeds, "at_most")->at,
                       "best_over keeps %d of %d seeds for choosing, and the first look has %d: "
                       "'at_most' must be at least %d for a second look",
                       r->e->n_seed - last, r->e->n_seed, l->from, r->e->n_seed - added + 1);
    int n = 1 + (added + l->every - 1) / l->every;
    return n <= EXPERIMENT_MAX_LOOKS ||
           mistake(r->err, every ? every->at : value_key_place(seeds, "from"),
                   "%d looks from %d to %d seeds by %d are more than %d: 'every' must be at least "
                   "%d",
                   n, l->from, last, l->every, EXPERIMENT_MAX_LOOKS, (added + most - 1) / most);
}

bool looks_count(struct reading *r)
{
    struct looks *l = &r->e->looks;
    if (l->from == 0)
        return true;
    if (!check_looks(r, value_get(r->root, "seeds")))
        return false;
    for (int at = l->from; at < last_look(r); at += l->every)
        l->count[l->n++] = at;
    l->count[l->n++] = last_look(r);
    return true;
}

static double weight_of(const struct value *claim)
{
    double weight = json_get_number(claim, "weight");
    return isnan(weight) ? 1.0 : weight;
}

/* alpha is divided beforehand by the weights, since Holm's correction needs every p at once. */
void looks_put(struct reading *r, struct value *claims)
{
    const struct looks *l = &r->e->looks;
    double all = 0.0;
    for (int i = 0; i < claims->n; i++)
        all += weight_of(claims->item[i]);
    for (int i = 0; l->n && i < claims->n; i++) {
        struct json m = {r->a, claims->item[i]}, looks = json_put_list(m, "looks");
        for (int k = 0; k < l->n; k++)
            json_add_int(looks, l->count[k]);
        json_put_text(m, "spending", claim_spendings[l->spending]);
        json_put_number(m, "share", weight_of(claims->item[i]) / all);
    }
}
