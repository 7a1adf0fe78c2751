/* SPDX-License-Identifier: MIT */
/* check_sequence.c: the tokens that a place of a sequence may depend on, and attend to. */

#include "property.h"

/* Places of a batch that get other tokens. */
enum others { FUTURE, LATER_ROWS, EARLIER_ROWS, PADDING, FIRST_DOCUMENT, SECOND_DOCUMENT };

static int64_t sequence_place(const struct trial *t)
{
    return trial_draw(t, "place", t->x->b.T);
}

/* A second document begins at the trial's place. No place is padding: the logits of one, which
 * nobody reads, may be those of the document before it. */
static void pack(const struct trial *t)
{
    t->x->b.has_pad = false;
    for (int64_t i = 0; i < t->x->b.B * t->x->b.T; i++)
        t->x->b.document[i] = i % t->x->b.T >= sequence_place(t);
    t->x->b.has_document = true;
    rig_renew(t->x);
}

/* Places [*from, *to) of row b are not padding; returns the side of the others. A class token
 * stands before all, so padding is after. */
static const char *padding(const struct trial *t, int64_t b, int64_t T, int64_t *from, int64_t *to)
{
    static const char *const sides[] = {"after", "before", "around"};
    int64_t hidden = (trial_draw(t, "place", T) + b) % T, which = trial_draw(t, "side", 3);
    which = model_has_class_token(&t->rig->config.model) ? 0 : which;
    *from = which == 0 ? 0 : which == 1 ? hidden : hidden / 2;
    *to = *from + T - hidden;
    return sides[which];
}

void trial_pad(const struct trial *t, struct rig_input *x)
{
    int64_t from, to, T = x->b.T;
    for (int64_t i = 0; i < x->b.B * T; i++) {
        padding(t, i / T, T, &from, &to);
        x->b.pad[i] = i % T < from || i % T >= to;
    }
    x->b.has_pad = true;
    rig_renew(x);
}

/* Of three trials one has padding, and one two documents in a row. */
static void pad_or_pack(const struct trial *t)
{
    int64_t kind = trial_draw(t, "kind", 3);
    if (kind == 1)
        trial_pad(t, t->x);
    else if (kind == 2)
        pack(t);
}

static bool is_other(const struct trial *t, enum others others, int64_t i)
{
    const peat_batch *b = &t->x->b;
    return others == FUTURE         ? i % b->T >= sequence_place(t)
           : others == LATER_ROWS   ? i >= b->T
           : others == EARLIER_ROWS ? i < b->T * (b->B - 1)
           : others == PADDING      ? b->pad[i]
                                    : b->document[i] == (others == SECOND_DOCUMENT);
}

/* Another token, or another patch. */
static void change(const struct trial *t, int64_t i)
{
    const peat_batch *b = &t->x->b;
    uint64_t stream = rng_stream(1, "check", "patch");
    for (int64_t k = i * b->patch_width; b->patch && k < (i + 1) * b->patch_width; k++)
        b->patch[k] = (float)(2 * rng_uniform(stream, (uint64_t)k) - 1);
    if (!b->patch)
        b->token[i] = rig_token(t->rig, "others", i);
}

/* Changes the tokens of the others, and ids of other rows; logits elsewhere must stay. */
static void others_stay(const struct trial *t, enum others others, const char *what)
{
    const peat_batch *x = &t->x->b;
    bool each = rig_has_places(t->rig);
    int64_t T = x->T, places = each ? T : 1;
    const double *before = trial_logits(t);
    for (int64_t i = 0; i < x->B * T; i++)
        if (is_other(t, others, i))
            change(t, i);
    for (int64_t b = 0; (others == LATER_ROWS || others == EARLIER_ROWS) && b < x->B; b++)
        x->sequence[b] += is_other(t, others, b * T) ? 1000 : 0;
    const double *after = trial_logits(t);
    for (int64_t i = 0; i < x->B * places; i++)
        if (!is_other(t, others, each ? i : i * T) || (!each && others == PADDING))
            trial_same(t, logits_at(t, before, i), logits_at(t, after, i), 1, i, places, what);
}

/* Runs places [from, to) of row b alone: their logits must equal those in `all`, of all rows. */
static void same_alone(const struct trial *t, const double *all, int64_t b, int64_t from,
                       int64_t to, const char *what)
{
    bool whole = !rig_has_places(t->rig);
    int64_t T = t->x->b.T;
    if (from >= to)
        return;
    struct rig_input part = rig_part(t->rig, t->x, b, from, to);
    part.b.has_document = false;
    part.b.has_pad = part.b.has_pad && to - from == T;
    rig_renew(&part);
    part.in.rows.T_total = T;
    trial_same(t, logits_at(t, all, whole ? b : b * T + from), rig_logits(t->rig, &part.in),
               whole ? 1 : to - from, from, whole ? 1 : T, what);
}

/* ---- the future ---- */

void future_holds(const struct trial *t)
{
    others_stay(t, FUTURE,
                arena_printf(&t->rig->arena, "when tokens change from place %" PRId64 " on",
                             sequence_place(t)));
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
        id[n] = (int32_t)rig_named(t->rig, row);
        n += id[n] >= 0;
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
    struct rig_input x = trial_input(t, t->rig);
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
    token_holds(t, sequence_place(t));
    token_holds(t, t->x->b.T - 1);
}

/* Runs only the first tokens of every row, as decoding does: their logits must stay. */
void prefix_holds(const struct trial *t)
{
    int64_t T = t->x->b.T, n = 1 + sequence_place(t);
    struct rig_input part = rig_part(t->rig, t->x, -1, 0, n);
    part.in.rows.T_total = T;
    const double *whole = trial_logits(t), *first = rig_logits(t->rig, &part.in);
    for (int64_t b = 0; b < t->x->b.B; b++)
        trial_same(t, logits_at(t, whole, b * T), logits_at(t, first, b * n), n, 0, T,
                   arena_printf(&t->rig->arena,
                                "between %" PRId64 " tokens and their first %" PRId64, T, n));
}

/* Decodes the first rows at once and the others one by one: the newest row of each sequence, from
 * stored rows, must equal that of a pass over all rows. */
void storable_holds(const struct trial *t)
{
    struct rig *r = t->rig;
    const char *id = NULL, *reason = model_not_storable(&r->s.model, &id);
    const struct model_input *in = &t->x->in;
    struct stored stored;
    if (reason && !same_text(id, t->subject->plugin->desc->id))
        check_say(t->o, CHECK_SKIPPED, "%s", reason);
    else if (reason)
        trial_fail(t, "%s", reason);
    if (reason)
        return;
    pad_or_pack(t);
    const double *whole = trial_logits(t);
    if (model_store(&r->s.model, in, &r->team, &r->arena, &stored, &r->err) != PEAT_OK)
        check_fail(t->o, "%s", r->err.text);
    for (int64_t end = 1 + sequence_place(t); end <= in->rows.T && t->o->verdict == CHECK_PASSED;
         end++) {
        const double *newest = rig_newest(r, &stored, end);
        for (int64_t b = 0, at = end - 1; b < in->B; b++, at += in->rows.T)
            if (!in->rows.pad || !in->rows.pad[at])
                trial_same(t, logits_at(t, whole, at), logits_at(t, newest, b), 1, end - 1,
                           in->rows.T, "between a pass over all rows and one over the newest");
    }
}

/* ---- other rows ---- */

void row_alone_holds(const struct trial *t)
{
    const double *all = trial_logits(t);
    for (int64_t b = 0; b < t->x->b.B; b++)
        same_alone(t, all, b, 0, t->x->b.T, "between a row in a batch and the row alone");
}

void other_rows_hold(const struct trial *t)
{
    others_stay(t, LATER_ROWS, "when other rows change");
    others_stay(t, EARLIER_ROWS, "when other rows change");
}

/* Drops rows from the end. Draws may differ from row to row, so the others keep their places. */
void fewer_rows_hold(const struct trial *t)
{
    const double *all = trial_logits(t);
    while (--t->x->in.B > 0 && !t->x->b.pos)
        trial_stays(t, all, "between more and fewer rows in a batch");
}

/* ---- padding and documents ---- */

void unpadded_holds(const struct trial *t)
{
    trial_pad(t, t->x);
    const double *all = trial_logits(t);
    for (int64_t b = 0, from, to; b < t->x->b.B; b++) {
        const char *side = padding(t, b, t->x->b.T, &from, &to);
        same_alone(t, all, b, from, to,
                   arena_printf(&t->rig->arena,
                                "between a row with padding %s it and the row alone", side));
    }
}

void under_padding_holds(const struct trial *t)
{
    trial_pad(t, t->x);
    others_stay(t, PADDING, "when the tokens under padding change");
}

void document_alone_holds(const struct trial *t)
{
    pack(t);
    const double *all = trial_logits(t);
    const int64_t split[] = {0, sequence_place(t), t->x->b.T};
    for (int64_t i = 0; i < 2 * t->x->b.B; i++)
        same_alone(t, all, i / 2, split[i % 2], split[i % 2 + 1],
                   "between a document packed with another and the document alone");
}

void other_document_holds(const struct trial *t)
{
    pack(t);
    others_stay(t, FIRST_DOCUMENT, "when another document changes");
    others_stay(t, SECOND_DOCUMENT, "when another document changes");
}

/* The last places of each source become padding; returns their number. */
static int64_t pad_sources(const struct trial *t)
{
    const peat_batch *b = &t->x->b;
    int64_t n = at_most(3, b->S - 1);
    for (int64_t i = 0; i < b->B * b->S; i++)
        b->source_pad[i] = i % b->S >= b->S - n;
    return n;
}

void source_tokens_hold(const struct trial *t)
{
    pad_sources(t);
    const double *logits = trial_logits(t);
    for (int64_t i = 0; i < t->x->b.B * t->x->b.S; i++)
        if (t->x->b.source_pad[i])
            t->x->b.source[i] = rig_token(t->rig, "others", i);
    trial_stays(t, logits, "when the tokens under padding of a source change");
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
    const peat_batch *b = &t->x->b;
    int64_t S = b->S, n = S - pad_sources(t);
    const double *logits = trial_logits(t);
    for (int64_t i = 0; i < b->B * n; i++) {
        b->source[i] = b->source[i / n * S + i % n];
        b->source_pad[i] = 0;
        b->source_special[i] = b->source_special[i / n * S + i % n];
    }
    t->x->in.source.T = n;
    t->x->in.source.T_total = acts_only_across(t->rig) ? 0 : S;
    trial_stays(t, logits, "when a source is padded");
}

/* ---- weights ---- */

static bool hides(const struct model_input *in, const struct model_config *m, int64_t b, int64_t i,
                  int64_t j)
{
    const int32_t *document = in->rows.document ? in->rows.document + b * in->rows.T : NULL;
    return (m->arch != PEAT_ENCODER && j > i) ||
           (in->rows.pad && in->rows.pad[b * in->rows.T + j]) ||
           (document && document[i] != document[j]) ||
           (m->window > 0 && (i - j >= m->window || j - i >= m->window));
}

/* The host masks the weights of a scheme's own softmax again, but a scheme that gives one to a key
 * that the query may not see has ignored the mask. */
static void look_at(void *ctx, const struct attention_seen *seen)
{
    const struct trial *t = ctx;
    const struct model_input *in = &t->x->in;
    int64_t T = in->rows.T, H = seen->end - seen->begin;
    if (*seen->pass->prefix)
        return;
    for (int64_t n = 0; seen->replaced && n < in->B * H * T * T; n++) {
        int64_t i = n / T % T, j = n % T;
        double weight = tensor_get(&seen->replaced->value, n);
        if (weight != 0 && hides(in, &t->rig->config.model, n / (H * T * T), i, j))
            trial_fail(t,
                       "%s.softmax gives the query at place %" PRId64 " a weight of %.3g for the "
                       "key at place %" PRId64 ", which the mask hides%s%s%s",
                       t->subject->plugin->desc->id, i, weight, j,
                       in->rows.pad ? " with padding" : "",
                       in->rows.document ? " with two documents in a row" : "",
                       t->phase == PEAT_TRAIN ? " in training" : "");
    }
}

void masked_holds(const struct trial *t)
{
    const struct observer observer = {.ctx = (void *)(uintptr_t)t, .attention = look_at};
    pad_or_pack(t);
    rig_observed(t->rig, &t->x->in, &observer);
}
