/* SPDX-License-Identifier: MIT */
/* check_sequence.c: what a place of a sequence may depend on. */
#include <inttypes.h>
#include <string.h>

#include "property.h"

/* Other tokens wherever `mark` is set; elsewhere nothing may change. */
static enum verdict others_stay(const struct trial *t, struct rig_input *x, const bool *mark,
                                const char *what)
{
    int64_t n = x->in.B * x->in.T;
    const double *before = rig_logits(t->rig, &x->in);
    for (int64_t i = 0; i < n; i++)
        if (mark[i])
            x->token[i] = rig_token(t->rig, "others", i);
    const double *after = before ? rig_logits(t->rig, &x->in) : NULL;
    enum verdict verdict = after ? CHECK_PASSED : trial_broken(t);
    for (int64_t i = 0; i < n && verdict == CHECK_PASSED; i++)
        if (!mark[i])
            verdict = trial_same(t, before + i * RIG_V, after + i * RIG_V, 1, i, what);
    return verdict;
}

static bool *marks(const struct trial *t)
{
    return ARENA_ARRAY(&t->rig->arena, t->c->rows * t->c->length, bool);
}

/* Places [from, to) of row b alone, in a sequence planned to be as long as the case, must give what
 * they give among `all`. */
static enum verdict same_alone(const struct trial *t, const double *all, int64_t b, int64_t from,
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
    if (from == to)
        return CHECK_PASSED;
    return trial_same(t, all ? all + (b * T + from) * RIG_V : NULL,
                      all ? rig_logits(t->rig, &x.in) : NULL, to - from, from, what);
}

/* ---- the future ---- */

enum verdict future_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    bool *mark = marks(t);
    for (int64_t i = 0; i < x.in.B * x.in.T; i++)
        mark[i] = i % x.in.T >= t->c->place;
    return others_stay(
        t, &x, mark,
        arena_printf(&t->rig->arena, "when tokens change from place %" PRId64 " on", t->c->place));
}

/* One id for each row after the first: those that the parameters name, since a plugin may wait for
 * one of them, and as many of the vocabulary as the case has rows, others for each seed. */
static int choose_ids(const struct trial *t, int32_t id[2 * RIG_V])
{
    int n = 0;
    const peat_param *row = t->subject->plugin->desc->param;
    for (; row && row->key && n < RIG_V; row++) {
        int64_t named = -1;
        if (row->type == PEAT_INT)
            memcpy(&named, (const char *)t->rig->config + row->offset, sizeof(named));
        if (named >= 0 && named < RIG_V)
            id[n++] = (int32_t)named;
    }
    for (int64_t i = 0; i < t->c->rows; i++)
        id[n++] = (int32_t)((t->c->seed * t->c->rows + i) % RIG_V);
    return n;
}

/* Rows that are equal but for the token at `place` must be equal before it. */
enum verdict future_token_holds(const struct trial *t)
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
    const double *logit = rig_logits(t->rig, &x.in);
    enum verdict verdict = logit ? CHECK_PASSED : trial_broken(t);
    for (int i = 1; i <= n && verdict == CHECK_PASSED; i++)
        verdict =
            trial_same(t, logit, logit + i * T * RIG_V, place, 0,
                       arena_printf(&t->rig->arena,
                                    "when the token at place %" PRId64 " changes from %d to %d",
                                    place, (int)x.token[place], (int)id[i - 1]));
    return verdict;
}

/* The first `place` tokens of every row, as decoding gives them. */
enum verdict prefix_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t), part = trial_input(t);
    int64_t B = x.in.B, T = x.in.T, n = t->c->place;
    if (n == 0)
        return CHECK_PASSED;
    for (int64_t b = 0; b < B; b++)
        memmove(part.token + b * n, part.token + b * T, (size_t)n * sizeof(*part.token));
    part.in.T = n;
    part.in.T_total = T;
    const char *what =
        arena_printf(&t->rig->arena, "between %" PRId64 " tokens and their first %" PRId64, T, n);
    const double *whole = rig_logits(t->rig, &x.in);
    const double *first = whole ? rig_logits(t->rig, &part.in) : NULL;
    enum verdict verdict = first ? CHECK_PASSED : trial_broken(t);
    for (int64_t b = 0; b < B && verdict == CHECK_PASSED; b++)
        verdict = trial_same(t, whole + b * T * RIG_V, first + b * n * RIG_V, n, 0, what);
    return verdict;
}

/* Rows that are decoded one after another, behind the first `place` at once, equal those of one
 * pass. */
enum verdict storable_holds(const struct trial *t)
{
    const char *id, *reason = model_not_storable(&t->rig->model, &id);
    struct rig_input x = trial_input(t);
    struct rig *r = t->rig;
    struct stored stored;
    int64_t T = x.in.T;
    if (reason)
        return trial_failed(t, "%s", reason);
    const double *whole = rig_logits(r, &x.in);
    if (!whole || model_store(&r->model, &x.in, &r->team, &r->arena, &stored, &r->err) != PEAT_OK)
        return trial_broken(t);
    enum verdict verdict = CHECK_PASSED;
    for (int64_t end = t->c->place < 1 ? 1 : t->c->place; end <= T && verdict == CHECK_PASSED;
         end++) {
        const double *newest = rig_newest(r, &stored, end);
        for (int64_t b = 0; b < x.in.B && verdict == CHECK_PASSED; b++) {
            int64_t at = b * T + end - 1;
            if (!newest || !x.in.pad || !x.in.pad[at])
                verdict =
                    trial_same(t, whole + at * RIG_V, newest ? newest + b * RIG_V : NULL, 1,
                               end - 1, "between a pass over all rows and one over the newest");
        }
    }
    return verdict;
}

/* ---- other rows ---- */

enum verdict row_alone_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    const double *all = rig_logits(t->rig, &x.in);
    enum verdict verdict = CHECK_PASSED;
    for (int64_t b = 0; b < x.in.B && verdict == CHECK_PASSED; b++)
        verdict = same_alone(t, all, b, 0, x.in.T, "between a row in a batch and the row alone");
    return verdict;
}

enum verdict other_rows_hold(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    bool *mark = marks(t);
    for (int64_t i = 0; i < x.in.B * x.in.T; i++)
        mark[i] = i >= x.in.T;
    return others_stay(t, &x, mark, "when other rows change");
}

/* Draws may differ from row to row, so the rows that stay keep their places. */
enum verdict fewer_rows_hold(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    const double *all = rig_logits(t->rig, &x.in);
    enum verdict verdict = CHECK_PASSED;
    while (--x.in.B > 0 && verdict == CHECK_PASSED)
        verdict = trial_same(t, all, all ? rig_logits(t->rig, &x.in) : NULL, x.in.B * x.in.T, 0,
                             "between more and fewer rows in a batch");
    return verdict;
}

/* ---- padding and documents ---- */

enum verdict unpadded_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    const double *all = rig_logits(t->rig, &x.in);
    enum verdict verdict = CHECK_PASSED;
    for (int64_t b = 0; b < x.in.B && verdict == CHECK_PASSED; b++) {
        int64_t from, to;
        const char *side;
        case_padding(t->c, b, &from, &to, &side);
        verdict =
            same_alone(t, all, b, from, to,
                       arena_printf(&t->rig->arena,
                                    "between a row with padding %s it and the row alone", side));
    }
    return verdict;
}

enum verdict under_padding_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    bool *mark = marks(t);
    for (int64_t i = 0; i < x.in.B * x.in.T; i++)
        mark[i] = x.pad[i];
    return others_stay(t, &x, mark, "when the tokens under padding change");
}

enum verdict document_alone_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    const double *all = rig_logits(t->rig, &x.in);
    int64_t split[] = {0, t->c->place, x.in.T};
    enum verdict verdict = CHECK_PASSED;
    for (int64_t i = 0; i < 2 * x.in.B && verdict == CHECK_PASSED; i++)
        verdict = same_alone(t, all, i / 2, split[i % 2], split[i % 2 + 1],
                             "between a document packed with another and the document alone");
    return verdict;
}

enum verdict other_document_holds(const struct trial *t)
{
    enum verdict verdict = CHECK_PASSED;
    for (int side = 0; side < 2 && verdict == CHECK_PASSED; side++) {
        struct rig_input x = trial_input(t);
        bool *mark = marks(t);
        for (int64_t i = 0; i < x.in.B * x.in.T; i++)
            mark[i] = x.document[i] == side;
        verdict = others_stay(t, &x, mark, "when another document changes");
    }
    return verdict;
}
