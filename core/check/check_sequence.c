/* SPDX-License-Identifier: MIT */
/* check_sequence.c: the tokens that a place of a sequence may depend on, and attend to. */

#include "property.h"

/* Places of a batch that get other tokens. */
enum others { FUTURE, OTHER_ROWS, PADDING, FIRST_DOCUMENT, SECOND_DOCUMENT };

static bool is_other(const struct trial *t, const struct rig_input *x, enum others others,
                     int64_t i)
{
    return others == FUTURE       ? i % x->in.T >= t->c->place
           : others == OTHER_ROWS ? i >= x->in.T
           : others == PADDING    ? x->pad[i]
                                  : x->document[i] == (others == SECOND_DOCUMENT);
}

/* Changes the tokens of the others; logits elsewhere must stay. */
static void others_stay(const struct trial *t, enum others others, const char *what)
{
    struct rig_input x = trial_input(t);
    int64_t n = x.in.B * x.in.T;
    const double *before = rig_logits(t->rig, &x.in);
    for (int64_t i = 0; i < n; i++)
        if (is_other(t, &x, others, i))
            x.token[i] = rig_token(t->rig, "others", i);
    const double *after = rig_logits(t->rig, &x.in);
    for (int64_t i = 0; i < n; i++)
        if (!is_other(t, &x, others, i))
            trial_same(t, logits_at(before, i), logits_at(after, i), 1, i, what);
}

/* Runs places [from, to) of row b alone: their logits must equal those in `all`, of all rows. */
static void same_alone(const struct trial *t, const double *all, int64_t b, int64_t from,
                       int64_t to, const char *what)
{
    int64_t T = t->c->length;
    struct rig_input x = trial_input(t);
    x.in.B = 1;
    x.in.T = to - from;
    x.in.T_total = T;
    x.in.token += b * T + from;
    x.in.sequence += b;
    x.in.pad = NULL;
    x.in.document = NULL;
    if (from < to)
        trial_same(t, logits_at(all, b * T + from), rig_logits(t->rig, &x.in), to - from, from,
                   what);
}

/* ---- the future ---- */

void future_holds(const struct trial *t)
{
    others_stay(
        t, FUTURE,
        arena_printf(&t->rig->arena, "when tokens change from place %" PRId64 " on", t->c->place));
}

/* Chooses the ids that parameters name, since a plugin may wait for such an id, and one id for each
 * row of the case. */
static int choose_ids(const struct trial *t, int32_t id[2 * RIG_V])
{
    int n = 0;
    const peat_param *row = t->subject->plugin->desc->param;
    for (; row && row->key && n < RIG_V; row++) {
        int64_t named = rig_named(t->rig, row);
        if (named >= 0)
            id[n++] = (int32_t)named;
    }
    for (int64_t i = 0; i < t->c->rows; i++)
        id[n++] = (int32_t)((t->c->seed * t->c->rows + i) % RIG_V);
    return n;
}

/* Rows that differ only in the token at `place` must have equal logits before it. */
void future_token_holds(const struct trial *t)
{
    int32_t id[2 * RIG_V];
    int n = choose_ids(t, id);
    int64_t T = t->c->length, place = t->c->place;
    struct rig_input x = rig_input(t->rig, n + 1, T);
    for (int i = 1; i <= n; i++) {
        memcpy(x.token + i * T, x.token, (size_t)T * sizeof(*x.token));
        x.sequence[i] = x.sequence[0];
        x.token[i * T + place] = id[i - 1];
    }
    const double *logits = rig_logits(t->rig, &x.in);
    for (int i = 1; i <= n; i++)
        trial_same(t, logits, logits_at(logits, i * T), place, 0,
                   arena_printf(&t->rig->arena,
                                "when the token at place %" PRId64 " changes from %d to %d", place,
                                (int)x.token[place], (int)id[i - 1]));
}

/* Runs only the first `place` tokens of every row, as decoding does: their logits must stay. */
void prefix_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t), part = trial_input(t);
    int64_t B = x.in.B, T = x.in.T, n = t->c->place;
    if (n == 0)
        return;
    for (int64_t b = 0; b < B; b++)
        memmove(part.token + b * n, part.token + b * T, (size_t)n * sizeof(*part.token));
    part.in.T = n;
    part.in.T_total = T;
    const double *whole = rig_logits(t->rig, &x.in), *first = rig_logits(t->rig, &part.in);
    for (int64_t b = 0; b < B; b++)
        trial_same(t, logits_at(whole, b * T), logits_at(first, b * n), n, 0,
                   arena_printf(&t->rig->arena,
                                "between %" PRId64 " tokens and their first %" PRId64, T, n));
}

/* Row end - 1 of each sequence, from stored rows, must equal that of a pass over all rows. */
static void newest_holds(const struct trial *t, const struct model_input *in, const double *whole,
                         struct stored *stored, int64_t end)
{
    const double *newest = rig_newest(t->rig, stored, end);
    for (int64_t b = 0; b < in->B; b++) {
        int64_t at = b * in->T + end - 1;
        if (!in->pad || !in->pad[at])
            trial_same(t, logits_at(whole, at), logits_at(newest, b), 1, end - 1,
                       "between a pass over all rows and one over the newest");
    }
}

/* Decodes the first `place` rows at once and the others one by one. */
void storable_holds(const struct trial *t)
{
    const char *id, *reason = model_not_storable(&t->rig->model, &id);
    struct rig_input x = trial_input(t);
    struct rig *r = t->rig;
    struct stored stored;
    const double *whole = reason ? NULL : rig_logits(r, &x.in);
    if (reason)
        trial_fail(t, "%s", reason);
    else if (model_store(&r->model, &x.in, &r->team, &r->arena, &stored, &r->err) != PEAT_OK)
        check_fail(t->o, "%s", r->err.text);
    int64_t end = t->c->place < 1 ? 1 : t->c->place;
    for (; end <= x.in.T && t->o->verdict == CHECK_PASSED; end++)
        newest_holds(t, &x.in, whole, &stored, end);
}

/* ---- other rows ---- */

void row_alone_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    const double *all = rig_logits(t->rig, &x.in);
    for (int64_t b = 0; b < x.in.B; b++)
        same_alone(t, all, b, 0, x.in.T, "between a row in a batch and the row alone");
}

void other_rows_hold(const struct trial *t)
{
    others_stay(t, OTHER_ROWS, "when other rows change");
}

/* Drops rows from the end. Draws may differ from row to row, so the others keep their places. */
void fewer_rows_hold(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    const double *all = rig_logits(t->rig, &x.in);
    while (--x.in.B > 0)
        trial_same(t, all, rig_logits(t->rig, &x.in), x.in.B * x.in.T, 0,
                   "between more and fewer rows in a batch");
}

/* ---- padding and documents ---- */

void unpadded_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    const double *all = rig_logits(t->rig, &x.in);
    for (int64_t b = 0; b < x.in.B; b++) {
        int64_t from, to;
        const char *side;
        case_padding(t->c, b, &from, &to, &side);
        same_alone(t, all, b, from, to,
                   arena_printf(&t->rig->arena,
                                "between a row with padding %s it and the row alone", side));
    }
}

void under_padding_holds(const struct trial *t)
{
    others_stay(t, PADDING, "when the tokens under padding change");
}

void document_alone_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    const double *all = rig_logits(t->rig, &x.in);
    const int64_t split[] = {0, t->c->place, x.in.T};
    for (int64_t i = 0; i < 2 * x.in.B; i++)
        same_alone(t, all, i / 2, split[i % 2], split[i % 2 + 1],
                   "between a document packed with another and the document alone");
}

void other_document_holds(const struct trial *t)
{
    others_stay(t, FIRST_DOCUMENT, "when another document changes");
    others_stay(t, SECOND_DOCUMENT, "when another document changes");
}

enum { MORE = 3 }; /* places of padding that are added to a source */

void source_tokens_hold(const struct trial *t)
{
    struct rig_input x = trial_longer_sources(t, MORE), y = x;
    int32_t *token = ARENA_ARRAY(&t->rig->arena, x.in.B * x.in.S, int32_t);
    for (int64_t i = 0; i < x.in.B * x.in.S; i++)
        token[i] = x.in.source_pad[i] ? rig_token(t->rig, "others", i) : x.in.source[i];
    y.in.source = token;
    const double *logits = rig_logits(t->rig, &x.in);
    trial_same(t, logits, rig_logits(t->rig, &y.in), x.in.B * x.in.T, 0,
               "when the tokens under padding of a source change");
}

/* T_total of a source counts its padding. An encoder may depend on T_total, so both passes have the
 * same. Cross-attention alone may not, since its keys would depend on other rows of the batch. */
void source_padding_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t), longer = trial_longer_sources(t, MORE);
    x.in.S_total = trial_has(t, CASE_ACROSS_ONLY) ? 0 : longer.in.S;
    const double *logits = rig_logits(t->rig, &x.in);
    trial_same(t, logits, rig_logits(t->rig, &longer.in), x.in.B * x.in.T, 0,
               "when a source is padded");
}

/* ---- weights ---- */

/* The first weight that a scheme's own softmax gives to a key that the query may not see. The host
 * masks the weights again, but a scheme that gives them has ignored the mask. */
struct leak {
    const struct model_input *in;
    bool causal, found;
    int64_t query, key;
    double weight;
};

static bool hides(const struct leak *l, int64_t b, int64_t i, int64_t j)
{
    const struct model_input *in = l->in;
    const int32_t *document = in->document ? in->document + b * in->T : NULL;
    return (l->causal && j > i) || (in->pad && in->pad[b * in->T + j]) ||
           (document && document[i] != document[j]);
}

static void look_at(void *ctx, const struct attention_seen *seen)
{
    struct leak *l = ctx;
    int64_t T = l->in->T, H = seen->end - seen->begin;
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
    struct leak look = {.in = &x.in, .causal = t->c->arch == PEAT_DECODER};
    const struct observer observer = {.ctx = &look, .attention = look_at};
    rig_watched(t->rig, &x.in, &observer);
    if (look.found)
        trial_fail(t,
                   "%s.softmax gives the query at place %" PRId64 " a weight of %.3g for the "
                   "key at place %" PRId64 ", which the mask hides%s%s%s",
                   t->subject->plugin->desc->id, look.query, look.weight, look.key,
                   x.in.pad ? " with padding" : "",
                   x.in.document ? " with two documents in a row" : "",
                   trial_has(t, CASE_TRAINING) ? " in training" : "");
}
