/* SPDX-License-Identifier: MIT */
/* check_traits.c: runs a plugin to check the traits that it claims. */

#include "plugin/params.h"
#include "property.h"

static const double limit = 1e-9;

/* A scheme with a period, or one that acts at large positions alone, fails at some of these. */
void shift_holds(const struct trial *t)
{
    static const double shifts[] = {7, 1, 61, 1000, 12345, 0, 5.25};
    struct check_outcome ignored = {CHECK_PASSED};
    const double *before = trial_logits(t);
    for (int i = 0; i < 7 && t->o->verdict == CHECK_PASSED; i++) {
        t->rig->shim.by = shifts[i];
        if (i == 5) { /* from here on, positions are multiples of 3/4, which may be refused */
            t->rig->o = &ignored;
            t->rig->shim.stride = 0.75;
            before = trial_logits(t);
        }
        trial_stays(t, before,
                    arena_printf(&t->rig->arena, "when all positions move by %g", shifts[i]));
    }
}

/* |x| of one row of x [B,H,T,C]; `row` is its flat index. */
static double row_norm(const peat_node *x, int64_t row)
{
    int64_t C = x->value.dim[3];
    double sum = 0;
    for (int64_t i = 0; i < C; i++)
        sum += pow(tensor_get(&x->value, row * C + i), 2);
    return sqrt(sum);
}

static void compare_norms(const struct trial *t, const char *what, const peat_node *before,
                          const peat_node *after)
{
    const int64_t *dim = before->value.dim;
    for (int64_t row = 0; row < dim[0] * dim[1] * dim[2]; row++) {
        double a = row_norm(before, row), b = row_norm(after, row);
        if (!(fabs(a - b) <= limit * fmax(1, a)))
            trial_fail(t, "makes a %s at place %" PRId64 " of %.10g one of %.10g", what,
                       row % dim[2], a, b);
    }
}

void norms_hold(const struct trial *t)
{
    struct graph g;
    const struct shim *shim = &t->rig->shim;
    if (!checked_scheme(t->subject)->qkv)
        trial_fail(t, "has no hook qkv");
    else
        rig_loss(t->rig, &g, &t->x->in);
    for (int i = 0; i < shim->n && t->o->verdict == CHECK_PASSED; i++) {
        compare_norms(t, "query", shim->before[i].q, shim->after[i].q);
        compare_norms(t, "key", shim->before[i].k, shim->after[i].k);
    }
}

/* Moves the tokens of a sequence by a number of places, the same for all rows, turned around. */
void permutation_holds(const struct trial *t)
{
    peat_batch *b = &t->x->b;
    int64_t T = b->T, by = trial_draw(t, "by", T);
    if (b->n_stream > 0)
        return;
    b->has_pad = b->has_special = b->has_segment = false;
    struct rig_input turned = rig_part(t->rig, t->x, -1, 0, T);
    for (int64_t i = 0; i < b->B * T; i++)
        turned.b.token[i] = b->token[i / T * T + (by + T - i % T) % T];
    rig_renew(t->x);
    rig_renew(&turned);
    const double *before = trial_logits(t), *after = rig_logits(t->rig, &turned.in);
    for (int64_t i = 0; i < b->B * T; i++) {
        int64_t from = (by + T - i % T) % T;
        trial_same(
            t, logits_at(t, before, i / T * T + from), logits_at(t, after, i), 1, i, T,
            arena_printf(&t->rig->arena, "when its token moves there from place %" PRId64, from));
    }
}

/* In cells that do not turn `across` off. Both models have equal weights. */
void acts_across(const struct trial *t)
{
    struct rig_plan plan = trial_plan(t);
    const struct cell_config *c = &t->cell->config;
    bool across = false;
    for (int i = 0; i < c->n_scheme; i++)
        across = across || (c->scheme[i].plugin->desc == t->subject->plugin->desc &&
                            c->scheme[i].where.across != ACROSS_NOT);
    if (!across)
        return;
    plan.apart = true;
    struct rig *apart = trial_open(t, &plan);
    if (!apart)
        return;
    const double *with = trial_logits(t), *without = rig_logits(apart, &t->x->in);
    if (with && without && memcmp(with, without, rig_logits_bytes(apart, &t->x->in)) == 0)
        trial_fail(t, "where.across changes no logit");
    rig_close(apart);
}

/* ---- refusals ---- */

/* Whether the first cell's model is refused with this word; or, without one, by its pass over eight
 * rows as one, longer than any sequence for which it is made. Where the cell has other parameters
 * than were given, those were refused in every cell. */
static bool refuses(const struct checked *s, char *word, struct check_outcome *o)
{
    struct check_outcome ignored = {CHECK_PASSED};
    const struct check_cells *cells = cells_of(s, o);
    const struct rig_plan plan = {.dtype = PEAT_F64, .shape_only = word != NULL};
    const peat_param *row = s->plugin->desc->param;
    struct check_cell cell;
    const void *given;
    if (!cells->n || !checked_config(s, NULL, &given, NULL))
        return false;
    if (cell_read(s, cells->item->file, 1, word ? &word : (char *[]){"train.batch=8"}, &cell,
                  NULL) != PEAT_OK)
        return true;
    struct rig *r = rig_open(s, &cell, &plan, &ignored);
    bool refused =
        r->status == PEAT_REFUSED || !value_equal(params_value(row, given, s->arena),
                                                  params_value(row, rig_config(r), s->arena));
    if (!refused && r->status == PEAT_OK && !word) {
        struct rig_input x = rig_input(r, PEAT_TRAIN);
        x.b.T *= x.b.B;
        x.b.B = 1;
        rig_renew(&x);
        refused = !rig_logits(r, &x.in);
    }
    rig_close(r);
    return refused;
}

void finite_length(const struct checked *s, struct check_outcome *o)
{
    bool refused = refuses(s, NULL, o);
    for (int T = 1 << 8; T <= 1 << 16 && !refused; T *= 4)
        refused = refuses(s, arena_printf(s->arena, "eval.lengths=[%d]", T), o);
    if (!refused && o->verdict == CHECK_PASSED)
        check_fail(o,
                   "it claims a finite length, but takes sequences of eight times the model's, and "
                   "models for 65536");
}

void needs_causal(const struct checked *s, struct check_outcome *o)
{
    if (!refuses(s, arena_printf(s->arena, "model.arch=encoder"), o) && o->verdict == CHECK_PASSED)
        check_fail(o, "it claims to need a causal model, but an encoder accepts it");
}

void nothing_trained(const struct trial *t)
{
    const struct weights *w = &t->rig->s.model.weights;
    for (int i = 0; i < w->n; i++)
        if (!w->item[i]->frozen && rig_registered(t->rig, w->item[i]))
            trial_fail(t, "registers '%s'", w->item[i]->name);
}

void content_dependent(const struct checked *s, struct check_outcome *o)
{
    enum { SEES = PEAT_NEED_QK | PEAT_NEED_X | PEAT_NEED_W | PEAT_NEED_PROJECT | PEAT_NEED_TOKENS };
    const peat_scheme *h = checked_scheme(s);
    if (!(h->needs & SEES) && !scheme_acts_on(h, ACTS_IN_LAYERS & ~ACTS_ON_TERMS))
        check_fail(o, "it claims to depend on content, but asks for none: no hook sees tokens, "
                      "queries, keys or scores");
}
