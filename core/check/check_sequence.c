/* SPDX-License-Identifier: MIT */
/* check_sequence.c: the tokens that a place of a sequence may depend on, and attend to. */

#include "property.h"

/* Places of a batch that get other tokens. */
enum others { FUTURE, LATER_ROWS, EARLIER_ROWS, PADDING, FIRST_DOCUMENT, SECOND_DOCUMENT };

static int64_t sequence_place(const struct trial *t, const struct rig_input *x)
{
    return trial_draw(t, "place", x->b.T);
}

/* A second document begins at the trial's place. */
static void pack(const struct trial *t, struct rig_input *x)
{
    for (int64_t i = 0; i < x->b.B * x->b.T; i++)
        x->b.document[i] = i % x->b.T >= sequence_place(t, x);
    x->b.has_document = true;
    rig_renew(x);
}

/* Places [*from, *to) of row b are not padding; returns the side of the others. A class token
 * stands before all, so padding is after. */
static const char *padding(const struct trial *t, const struct rig_input *x, int64_t b,
                           int64_t *from, int64_t *to)
{
    static const char *const sides[] = {"after", "before", "around"};
    int64_t hidden = (sequence_place(t, x) + b) % x->b.T, which = trial_draw(t, "side", 3);
    which = model_has_class_token(&t->rig->config.model) ? 0 : which;
    *from = which == 0 ? 0 : which == 1 ? hidden : hidden / 2;
    *to = *from + x->b.T - hidden;
    return sides[which];
}

void trial_pad(const struct trial *t, struct rig_input *x)
{
    int64_t from, to;
    for (int64_t i = 0; i < x->b.B * x->b.T; i++) {
        padding(t, x, i / x->b.T, &from, &to);
        x->b.pad[i] = i % x->b.T < from || i % x->b.T >= to;
    }
    x->b.has_pad = true;
    rig_renew(x);
}

static bool is_other(const struct trial *t, const struct rig_input *x, enum others others,
                     int64_t i)
{
    return others == FUTURE         ? i % x->b.T >= sequence_place(t, x)
           : others == LATER_ROWS   ? i >= x->b.T
           : others == EARLIER_ROWS ? i < x->b.T * (x->b.B - 1)
           : others == PADDING      ? x->b.pad[i]
                                    : x->b.document[i] == (others == SECOND_DOCUMENT);
}

/* Another token, or another patch. */
static void change(const struct trial *t, struct rig_input *x, int64_t i)
{
    int64_t n = x->b.patch_width;
    uint64_t stream = rng_stream(1, "check", "patch");
    for (int64_t k = i * n; x->b.patch && k < (i + 1) * n; k++)
        x->b.patch[k] = (float)(2 * rng_uniform(stream, (uint64_t)k) - 1);
    if (!x->b.patch)
        x->b.token[i] = rig_token(t->rig, "others", i);
}

/* Changes the tokens of the others, and ids of other rows; logits elsewhere must stay. */
static void others_stay(const struct trial *t, struct rig_input *x, enum others others,
                        const char *what)
{
    bool each = rig_has_places(t->rig);
    int64_t T = x->b.T, places = each ? T : 1;
    const double *before = rig_logits(t->rig, &x->in);
    for (int64_t i = 0; i < x->b.B * T; i++)
        if (is_other(t, x, others, i))
            change(t, x, i);
    for (int64_t b = 0; (others == LATER_ROWS || others == EARLIER_ROWS) && b < x->b.B; b++)
        x->b.sequence[b] += is_other(t, x, others, b * T) ? 1000 : 0;
    const double *after = rig_logits(t->rig, &x->in);
    for (int64_t i = 0; i < x->b.B * places; i++)
        if (!is_other(t, x, others, each ? i : i * T) || (!each && others == PADDING))
            trial_same(t, logits_at(t, before, i), logits_at(t, after, i), 1, i, places, what);
}

/* Runs places [from, to) of row b alone: their logits must equal those in `all`, of all rows. */
static void same_alone(const struct trial *t, const struct rig_input *x, const double *all,
                       int64_t b, int64_t from, int64_t to, const char *what)
{
    if (from >= to)
        return;
    bool whole = !rig_has_places(t->rig);
    struct rig_input part = rig_part(t->rig, x, b, from, to);
    part.b.has_document = false;
    part.b.has_pad = part.b.has_pad && to - from == x->b.T && from == 0;
    rig_renew(&part);
    part.in.rows.T_total = x->b.T;
    trial_same(t, logits_at(t, all, whole ? b : b * x->b.T + from), rig_logits(t->rig, &part.in),
               whole ? 1 : to - from, from, whole ? 1 : x->b.T, what);
}

/* ---- the future ---- */

void future_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    others_stay(t, &x, FUTURE,
                arena_printf(&t->rig->arena, "when tokens change from place %" PRId64 " on",
                             sequence_place(t, &x)));
}

void far_future_holds(const struct trial *t)
{
    t->rig->shim.stride = (double)(4900 / t->cell->config.train.seq_len);
    future_holds(t);
}

/* Chooses the ids that parameters name, since a plugin may wait for such an id, and as many others
 * as the room has. */
static int choose_ids(const struct trial *t, int32_t *id, int room)
{
    int n = 0;
    int64_t V = t->rig->s.model.config.vocab, first = trial_draw(t, "first id", V);
    const peat_param *row = t->subject->plugin->desc->param;
    for (; row && row->key && n < room; row++) {
        int64_t named = rig_named(t->rig, row);
        if (named >= 0)
            id[n++] = (int32_t)named;
    }
    for (int64_t i = 0; i < V && n < room; i++)
        id[n++] = (int32_t)((first + i) % V);
    return n;
}

/* Rows that differ only in the token at a place must have equal logits before it. */
static void token_holds(const struct trial *t, int64_t place)
{
    enum { PLACES = 2048, IDS = 160 };
    int32_t id[IDS];
    struct rig_input x = trial_input(t);
    int64_t T = x.b.T, row[IDS + 1] = {0};
    int n = choose_ids(t, id, (int)at_most(PLACES / T, IDS));
    BUG_UNLESS(batch_cut(&t->rig->arena, &x.b, n + 1, row, T, &x.b));
    for (int i = 1; i <= n; i++)
        x.b.token[i * T + place] = id[i - 1];
    rig_renew(&x);
    const double *logits = rig_logits(t->rig, &x.in);
    for (int i = 1; i <= n; i++)
        trial_same(t, logits, logits_at(t, logits, i * T), place, 0, T,
                   arena_printf(&t->rig->arena,
                                "when the token at place %" PRId64 " changes from %d to %d", place,
                                (int)x.b.token[place], (int)id[i - 1]));
}

void future_token_holds(const struct trial *t)
{
    int64_t T = trial_input(t).b.T;
    token_holds(t, trial_draw(t, "place", T));
    token_holds(t, T - 1);
}

/* Runs only the first tokens of every row, as decoding does: their logits must stay. */
void prefix_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    int64_t T = x.b.T, n = 1 + trial_draw(t, "place", T);
    struct rig_input part = rig_part(t->rig, &x, -1, 0, n);
    part.in.rows.T_total = T;
    const double *whole = rig_logits(t->rig, &x.in), *first = rig_logits(t->rig, &part.in);
    for (int64_t b = 0; b < x.b.B; b++)
        trial_same(t, logits_at(t, whole, b * T), logits_at(t, first, b * n), n, 0, T,
                   arena_printf(&t->rig->arena,
                                "between %" PRId64 " tokens and their first %" PRId64, T, n));
}

/* Row end - 1 of each sequence, from stored rows, must equal that of a pass over all rows. */
static void newest_holds(const struct trial *t, const struct model_input *in, const double *whole,
                         struct stored *stored, int64_t end)
{
    const double *newest = rig_newest(t->rig, stored, end);
    for (int64_t b = 0; b < in->B; b++) {
        int64_t at = b * in->rows.T + end - 1;
        if (!in->rows.pad || !in->rows.pad[at])
            trial_same(t, logits_at(t, whole, at), logits_at(t, newest, b), 1, end - 1, in->rows.T,
                       "between a pass over all rows and one over the newest");
    }
}

/* Decodes the first rows at once and the others one by one. */
void storable_holds(const struct trial *t)
{
    struct rig *r = t->rig;
    const char *id = NULL, *reason = model_not_storable(&r->s.model, &id);
    struct rig_input x = trial_input(t);
    struct stored stored;
    int64_t kind = trial_draw(t, "kind", 3);
    if (reason && !same_text(id, t->subject->plugin->desc->id))
        check_skip(t->o, "%s", reason);
    else if (reason)
        trial_fail(t, "%s", reason);
    if (reason)
        return;
    if (kind == 1)
        trial_pad(t, &x);
    else if (kind == 2)
        pack(t, &x);
    const double *whole = rig_logits(r, &x.in);
    if (model_store(&r->s.model, &x.in, &r->team, &r->arena, &stored, &r->err) != PEAT_OK)
        check_fail(t->o, "%s", r->err.text);
    for (int64_t end = 1 + sequence_place(t, &x); end <= x.b.T && t->o->verdict == CHECK_PASSED;
         end++)
        newest_holds(t, &x.in, whole, &stored, end);
}

/* ---- other rows ---- */

void row_alone_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    const double *all = rig_logits(t->rig, &x.in);
    for (int64_t b = 0; b < x.b.B; b++)
        same_alone(t, &x, all, b, 0, x.b.T, "between a row in a batch and the row alone");
}

void other_rows_hold(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    others_stay(t, &x, LATER_ROWS, "when other rows change");
    others_stay(t, &x, EARLIER_ROWS, "when other rows change");
}

/* Drops rows from the end. Draws may differ from row to row, so the others keep their places. */
void fewer_rows_hold(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    const double *all = rig_logits(t->rig, &x.in);
    while (--x.in.B > 0 && !x.b.pos)
        trial_same_batch(t, &x.in, all, rig_logits(t->rig, &x.in),
                         "between more and fewer rows in a batch");
}

/* ---- padding and documents ---- */

void unpadded_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    trial_pad(t, &x);
    const double *all = rig_logits(t->rig, &x.in);
    for (int64_t b = 0; b < x.b.B; b++) {
        int64_t from, to;
        const char *side = padding(t, &x, b, &from, &to);
        same_alone(t, &x, all, b, from, to,
                   arena_printf(&t->rig->arena,
                                "between a row with padding %s it and the row alone", side));
    }
}

void under_padding_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    trial_pad(t, &x);
    others_stay(t, &x, PADDING, "when the tokens under padding change");
}

void document_alone_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    pack(t, &x);
    const double *all = rig_logits(t->rig, &x.in);
    const int64_t split[] = {0, sequence_place(t, &x), x.b.T};
    for (int64_t i = 0; i < 2 * x.b.B; i++)
        same_alone(t, &x, all, i / 2, split[i % 2], split[i % 2 + 1],
                   "between a document packed with another and the document alone");
}

void other_document_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    pack(t, &x);
    others_stay(t, &x, FIRST_DOCUMENT, "when another document changes");
    others_stay(t, &x, SECOND_DOCUMENT, "when another document changes");
}

/* The last places of each source become padding; returns their number. */
static int64_t pad_sources(struct rig_input *x)
{
    int64_t n = at_most(3, x->b.S - 1);
    for (int64_t i = 0; i < x->b.B * x->b.S; i++)
        x->b.source_pad[i] = i % x->b.S >= x->b.S - n;
    return n;
}

void source_tokens_hold(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    pad_sources(&x);
    const double *logits = rig_logits(t->rig, &x.in);
    for (int64_t i = 0; i < x.b.B * x.b.S; i++)
        if (x.b.source_pad[i])
            x.b.source[i] = rig_token(t->rig, "others", i);
    trial_same_batch(t, &x.in, logits, rig_logits(t->rig, &x.in),
                     "when the tokens under padding of a source change");
}

static bool acts_only_across(const struct rig *r)
{
    for (int i = 0; i < r->s.positional.n_scheme; i++)
        if (r->s.positional.scheme[i].where.across != ACROSS_ONLY)
            return false;
    return true;
}

/* T_total of a source counts its padding. An encoder may depend on T_total, so both passes have the
 * same. Cross-attention alone may not, since its keys would depend on other rows of the batch. */
void source_padding_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    int64_t S = x.b.S, n = S - pad_sources(&x);
    const double *logits = rig_logits(t->rig, &x.in);
    for (int64_t i = 0; i < x.b.B * n; i++) {
        x.b.source[i] = x.b.source[i / n * S + i % n];
        x.b.source_pad[i] = 0;
        x.b.source_special[i] = x.b.source_special[i / n * S + i % n];
    }
    x.in.source.T = n;
    x.in.source.T_total = acts_only_across(t->rig) ? 0 : S;
    trial_same_batch(t, &x.in, logits, rig_logits(t->rig, &x.in), "when a source is padded");
}

/* ---- weights ---- */

/* The first weight that a scheme's own softmax gives to a key that the query may not see. The host
 * masks the weights again, but a scheme that gives them has ignored the mask. */
struct leak {
    const struct model_input *in;
    const struct model_config *model;
    bool found;
    int64_t query, key;
    double weight;
};

static bool hides(const struct leak *l, int64_t b, int64_t i, int64_t j)
{
    const struct model_input *in = l->in;
    const int32_t *document = in->rows.document ? in->rows.document + b * in->rows.T : NULL;
    int64_t window = l->model->window;
    return (l->model->arch != PEAT_ENCODER && j > i) ||
           (in->rows.pad && in->rows.pad[b * in->rows.T + j]) ||
           (document && document[i] != document[j]) ||
           (window > 0 && (i - j >= window || j - i >= window));
}

static void look_at(void *ctx, const struct attention_seen *seen)
{
    struct leak *l = ctx;
    int64_t T = l->in->rows.T, H = seen->end - seen->begin;
    if (*seen->pass->prefix)
        return;
    for (int64_t n = 0; seen->replaced && !l->found && n < l->in->B * H * T * T; n++) {
        int64_t b = n / (H * T * T), i = n / T % T, j = n % T;
        double weight = tensor_get(&seen->replaced->value, n);
        if (hides(l, b, i, j) && weight != 0) {
            l->found = true;
            l->query = i;
            l->key = j;
            l->weight = weight;
        }
    }
}

void masked_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    int64_t kind = trial_draw(t, "kind", 3);
    if (kind == 1)
        trial_pad(t, &x);
    else if (kind == 2)
        pack(t, &x);
    struct leak look = {.in = &x.in, .model = &t->rig->config.model};
    const struct observer observer = {.ctx = &look, .attention = look_at};
    rig_observed(t->rig, &x.in, &observer);
    if (look.found)
        trial_fail(t,
                   "%s.softmax gives the query at place %" PRId64 " a weight of %.3g for the "
                   "key at place %" PRId64 ", which the mask hides%s%s%s",
                   t->subject->plugin->desc->id, look.query, look.weight, look.key,
                   x.in.rows.pad ? " with padding" : "",
                   x.in.rows.document ? " with two documents in a row" : "",
                   t->phase == PEAT_TRAIN ? " in training" : "");
}
