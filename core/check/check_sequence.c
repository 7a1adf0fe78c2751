/* SPDX-License-Identifier: MIT */
/* check_sequence.c: what a place of a sequence may depend on. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "checkrig.h"
#include "nn/attention.h"

static const struct rig_plan in_f64 = {.dtype = PEAT_F64};

/* ---- the future ---- */

/* Ids that one pass puts in a place. */
struct ids {
    int n;
    int32_t id[RIG_V];
};

static void add_id(struct ids *ids, int64_t id)
{
    if (id >= 0 && id < RIG_V && ids->n < RIG_V)
        ids->id[ids->n++] = (int32_t)id;
}

/* `n` ids of the vocabulary, others at each turn, and those that the parameters name: a plugin may
 * wait for one of them. */
static struct ids choose_ids(const struct situation *s, int n, int64_t turn)
{
    struct ids ids = {0};
    const peat_param *row = s->subject->plugin->desc->param;
    for (; row && row->key; row++)
        if (row->type == PEAT_INT)
            add_id(&ids, *(const int64_t *)(const void *)((const char *)s->variant->config +
                                                          row->offset));
    for (int i = 0; i < n; i++)
        add_id(&ids, (turn * n + i) % RIG_V);
    return ids;
}

/* Rows that are equal but for the token at `t`, one for each id: equal before it. */
static enum verdict put_at(struct situation *s, struct rig *r, int64_t T, int64_t t,
                           const struct ids *ids)
{
    struct rig_input x = rig_input(r, ids->n + 1, T);
    for (int i = 0; i <= ids->n; i++) {
        memmove(x.token + i * T, x.token, (size_t)T * sizeof(*x.token));
        x.sequence[i] = x.sequence[0];
        if (i > 0)
            x.token[i * T + t] = ids->id[i - 1];
    }
    const double *logit = rig_logits(r, &x.in);
    if (!logit)
        return rig_broken(r, s->why);
    enum verdict verdict = CHECK_PASSED;
    for (int i = 1; i <= ids->n && verdict == CHECK_PASSED; i++) {
        char what[96];
        snprintf(what, sizeof(what), "when the token at place %" PRId64 " changes from %d to %d", t,
                 (int)x.token[t], (int)ids->id[i - 1]);
        verdict = rig_same(r, s->why, logit, logit + i * T * RIG_V, t, 0, what);
    }
    return verdict;
}

static enum verdict put_everywhere(struct situation *s, struct rig *r)
{
    enum { MANY = RIG_V / 2, SOME = 16 };
    static const int64_t far[] = {1, 9, 24, 40, 47};
    enum verdict verdict = CHECK_PASSED;
    for (int64_t t = 1; t < RIG_T && verdict == CHECK_PASSED; t++) {
        const struct ids ids = choose_ids(s, MANY, t);
        verdict = put_at(s, r, RIG_T, t, &ids);
    }
    for (int64_t i = 0; i < 5 && verdict == CHECK_PASSED; i++) {
        const struct ids ids = choose_ids(s, SOME, i);
        verdict = put_at(s, r, RIG_LONG, far[i], &ids);
    }
    return verdict;
}

/* Another token wherever `mark` is set; elsewhere nothing may change. */
static enum verdict others_stay(struct situation *s, struct rig *r, struct rig_input *x,
                                const bool *mark, const char *what)
{
    int64_t n = x->in.B * x->in.T;
    const double *before = rig_logits(r, &x->in);
    if (!before)
        return rig_broken(r, s->why);
    for (int64_t i = 0; i < n; i++)
        if (mark[i])
            x->token[i] = (x->token[i] + 1) % RIG_V;
    const double *after = rig_logits(r, &x->in);
    enum verdict verdict = after ? CHECK_PASSED : rig_broken(r, s->why);
    for (int64_t i = 0; i < n && verdict == CHECK_PASSED; i++)
        if (!mark[i])
            verdict =
                rig_same(r, s->why, before + i * RIG_V, after + i * RIG_V, 1, i % x->in.T, what);
    return verdict;
}

/* The same while training, where other draws are made. */
static enum verdict change_in_training(struct situation *s, struct rig *r)
{
    enum verdict verdict = CHECK_PASSED;
    for (int64_t t = 1; t < RIG_T && verdict == CHECK_PASSED; t++) {
        struct rig_input x = rig_training_input(r, RIG_B, RIG_T);
        bool mark[RIG_B * RIG_T];
        char what[80];
        for (int64_t i = 0; i < RIG_B * RIG_T; i++)
            mark[i] = i % RIG_T >= t;
        snprintf(what, sizeof(what), "in training when tokens change from place %" PRId64 " on", t);
        verdict = others_stay(s, r, &x, mark, what);
    }
    return verdict;
}

static enum verdict causality_of(struct situation *s, struct rig *r)
{
    enum verdict verdict = put_everywhere(s, r);
    return verdict == CHECK_PASSED ? change_in_training(s, r) : verdict;
}

enum verdict check_causality(const struct subject *s, struct strbuf *why)
{
    return rig_each_of(s, PEAT_DECODER, &in_f64, why, causality_of);
}

/* Tokens [0, n) of every row, as decoding gives them. */
static struct rig_input prefix_input(struct rig *r, int64_t n)
{
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    for (int64_t b = 0; b < RIG_B; b++)
        memmove(x.token + b * n, x.token + b * RIG_T, (size_t)n * sizeof(*x.token));
    x.in.T = n;
    x.in.T_total = RIG_T;
    return x;
}

static enum verdict prefix_of(struct situation *s, struct rig *r)
{
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    const double *whole = rig_logits(r, &x.in);
    enum verdict verdict = whole ? CHECK_PASSED : rig_broken(r, s->why);
    for (int64_t n = 1; n < RIG_T && verdict == CHECK_PASSED; n++) {
        struct rig_input y = prefix_input(r, n);
        const double *part = rig_logits(r, &y.in);
        char what[64];
        snprintf(what, sizeof(what), "between %d tokens and their first %" PRId64, RIG_T, n);
        if (!part)
            return rig_broken(r, s->why);
        for (int64_t b = 0; b < RIG_B && verdict == CHECK_PASSED; b++)
            verdict =
                rig_same(r, s->why, whole + b * RIG_T * RIG_V, part + b * n * RIG_V, n, 0, what);
    }
    return verdict;
}

enum verdict check_prefix(const struct subject *s, struct strbuf *why)
{
    return rig_each_of(s, PEAT_DECODER, &in_f64, why, prefix_of);
}

/* ---- stored rows ---- */

/* As they come, with padding in front, and with two documents. */
static enum verdict storable_of(struct situation *s, struct rig *r)
{
    const char *id, *why = model_not_storable(&r->model, &id);
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    if (why)
        return check_failed(s->why, "it claims to be storable, but %s", why);
    enum verdict verdict = rig_same_newest(r, s->why, &x.in, 2);
    for (int64_t i = 0; i < RIG_B * RIG_T; i++) {
        x.pad[i] = i % RIG_T < i / RIG_T;
        x.document[i] = i % RIG_T >= 3;
    }
    struct model_input padded = x.in, packed = x.in;
    padded.pad = x.pad;
    packed.document = x.document;
    if (verdict == CHECK_PASSED)
        verdict = rig_same_newest(r, s->why, &padded, 2);
    return verdict == CHECK_PASSED ? rig_same_newest(r, s->why, &packed, 2) : verdict;
}

enum verdict check_storable(const struct subject *s, struct strbuf *why)
{
    const peat_scheme *scheme = subject_scheme(s);
    const peat_combine *combine = subject_combine(s);
    if (!((scheme ? scheme->traits : combine->traits) & PEAT_STORABLE))
        return check_skipped(why, "not claimed");
    return rig_each_of(s, PEAT_DECODER, &in_f64, why, storable_of);
}

/* ---- rows ---- */

/* Tokens [begin, end) of row b alone, in a sequence planned to be RIG_T long. */
static const double *alone(struct rig *r, int64_t b, int64_t begin, int64_t end)
{
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    x.in.B = 1;
    x.in.T = end - begin;
    x.in.T_total = RIG_T;
    x.in.token = x.token + b * RIG_T + begin;
    x.in.sequence = x.sequence + b;
    return rig_logits(r, &x.in);
}

/* `in` holds rows in places [from[b], to[b]); each must give what it gives alone. */
static enum verdict rows_alone(struct situation *s, struct rig *r, const struct model_input *in,
                               const int64_t *from, const int64_t *to, const char *what)
{
    const double *all = rig_logits(r, in);
    enum verdict verdict = all ? CHECK_PASSED : rig_broken(r, s->why);
    for (int64_t b = 0; b < RIG_B && verdict == CHECK_PASSED; b++) {
        const double *one = alone(r, b, from[b], to[b]);
        verdict = one ? rig_same(r, s->why, all + (b * RIG_T + from[b]) * RIG_V, one,
                                 to[b] - from[b], from[b], what)
                      : rig_broken(r, s->why);
    }
    return verdict;
}

/* Draws may differ from row to row, so the rows that stay keep their places. */
static enum verdict fewer_rows(struct situation *s, struct rig *r)
{
    struct rig_input x = rig_training_input(r, RIG_B, RIG_T);
    const double *all = rig_logits(r, &x.in), *part = NULL;
    enum verdict verdict = all ? CHECK_PASSED : rig_broken(r, s->why);
    for (x.in.B = RIG_B - 1; x.in.B > 0 && verdict == CHECK_PASSED; x.in.B--) {
        part = rig_logits(r, &x.in);
        verdict = part ? CHECK_PASSED : rig_broken(r, s->why);
        for (int64_t b = 0; b < x.in.B && verdict == CHECK_PASSED; b++)
            verdict = rig_same(r, s->why, all + b * RIG_T * RIG_V, part + b * RIG_T * RIG_V, RIG_T,
                               0, "in training between more and fewer rows in a batch");
    }
    return verdict;
}

static enum verdict other_rows(struct situation *s, struct rig *r)
{
    struct rig_input x = rig_training_input(r, RIG_B, RIG_T);
    bool mark[RIG_B * RIG_T];
    for (int64_t i = 0; i < RIG_B * RIG_T; i++)
        mark[i] = i >= RIG_T;
    return others_stay(s, r, &x, mark, "in training when other rows change");
}

static enum verdict batch_of(struct situation *s, struct rig *r)
{
    static const int64_t from[RIG_B] = {0}, to[RIG_B] = {RIG_T, RIG_T, RIG_T};
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    enum verdict verdict =
        rows_alone(s, r, &x.in, from, to, "between a row in a batch and the row alone");
    if (verdict == CHECK_PASSED)
        verdict = other_rows(s, r);
    return verdict == CHECK_PASSED ? fewer_rows(s, r) : verdict;
}

enum verdict check_batch(const struct subject *s, struct strbuf *why)
{
    enum verdict verdict = rig_each(s, &in_f64, why, batch_of);
    const struct rig_plan moved = {.dtype = PEAT_F64, .moved = true};
    return verdict == CHECK_PASSED ? rig_each(s, &moved, why, batch_of) : verdict;
}

static enum verdict pad_rows(struct situation *s, struct rig *r, const int64_t *from,
                             const int64_t *to, const char *what)
{
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    for (int64_t b = 0; b < RIG_B; b++)
        for (int64_t t = 0; t < RIG_T; t++)
            x.pad[b * RIG_T + t] = t < from[b] || t >= to[b];
    x.in.pad = x.pad;
    return rows_alone(s, r, &x.in, from, to, what);
}

/* Padding on both sides, while training. */
static enum verdict under_padding(struct situation *s, struct rig *r, const int64_t *from,
                                  const int64_t *to)
{
    struct rig_input x = rig_training_input(r, RIG_B, RIG_T);
    bool mark[RIG_B * RIG_T];
    for (int64_t i = 0; i < RIG_B * RIG_T; i++) {
        int64_t b = i / RIG_T, t = i % RIG_T;
        mark[i] = t < from[b] / 2 || t >= to[b];
        x.pad[i] = mark[i];
    }
    x.in.pad = x.pad;
    return others_stay(s, r, &x, mark, "in training when the tokens under padding change");
}

static enum verdict padding_of(struct situation *s, struct rig *r)
{
    static const int64_t zero[RIG_B] = {0, 0, 0}, some[RIG_B] = {0, 1, 3};
    static const int64_t less[RIG_B] = {6, 4, 3}, full[RIG_B] = {RIG_T, RIG_T, RIG_T};
    enum verdict verdict =
        pad_rows(s, r, zero, less, "between a row with padding after it and the row alone");
    if (verdict == CHECK_PASSED)
        verdict =
            pad_rows(s, r, some, full, "between a row with padding before it and the row alone");
    return verdict == CHECK_PASSED ? under_padding(s, r, some, less) : verdict;
}

/* A hook that draws positions for a whole row cannot know which of them will be looked at. */
static bool draws_positions(const struct subject *s)
{
    const peat_scheme *scheme = subject_scheme(s);
    return scheme && scheme->positions;
}

enum verdict check_padding(const struct subject *s, struct strbuf *why)
{
    if (draws_positions(s))
        return check_skipped(why, "it changes the positions of whole rows");
    return rig_each(s, &in_f64, why, padding_of);
}

static enum verdict other_document(struct situation *s, struct rig *r, const int32_t *document,
                                   int side)
{
    struct rig_input x = rig_training_input(r, RIG_B, RIG_T);
    bool mark[RIG_B * RIG_T];
    x.in.document = document;
    for (int64_t i = 0; i < RIG_B * RIG_T; i++)
        mark[i] = document[i] == side;
    return others_stay(s, r, &x, mark, "in training when another document changes");
}

/* Places [0, 2) of each row are one document, the rest another. */
static enum verdict packing_of(struct situation *s, struct rig *r)
{
    enum { SPLIT = 2 };
    static const int64_t zero[RIG_B] = {0, 0, 0}, split[RIG_B] = {SPLIT, SPLIT, SPLIT};
    static const int64_t full[RIG_B] = {RIG_T, RIG_T, RIG_T};
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    for (int64_t i = 0; i < RIG_B * RIG_T; i++)
        x.document[i] = i % RIG_T >= SPLIT;
    x.in.document = x.document;
    const char *what = "between a document packed with another and the document alone";
    enum verdict verdict = rows_alone(s, r, &x.in, zero, split, what);
    if (verdict == CHECK_PASSED)
        verdict = rows_alone(s, r, &x.in, split, full, what);
    for (int side = 0; side < 2 && verdict == CHECK_PASSED; side++)
        verdict = other_document(s, r, x.document, side);
    return verdict;
}

enum verdict check_packing(const struct subject *s, struct strbuf *why)
{
    if (draws_positions(s))
        return check_skipped(why, "it changes the positions of whole rows");
    return rig_each(s, &in_f64, why, packing_of);
}

/* ---- attention paths ---- */

static enum verdict paths_of(struct situation *s, struct rig *fused)
{
    struct rig *composed = ARENA_NEW(s->subject->arena, struct rig);
    struct rig_plan plan = s->plan;
    plan.path = PATH_COMPOSED;
    enum verdict verdict = CHECK_PASSED;
    peat_status status = rig_open(composed, s->subject, s->variant, &plan);
    struct rig_input x = rig_input(fused, RIG_B, RIG_T);
    const double *a = rig_logits(fused, &x.in), *b = NULL;
    if (status == PEAT_OK)
        b = rig_logits(composed, &x.in);
    if (!a)
        verdict = rig_broken(fused, s->why);
    else if (!b)
        verdict = rig_broken(composed, s->why);
    else
        verdict =
            rig_same(fused, s->why, a, b, RIG_B * RIG_T, 0, "between fused and composed attention");
    rig_close(composed);
    return verdict;
}

enum verdict check_paths(const struct subject *s, struct strbuf *why)
{
    const char *composed = scheme_needs_composed(subject_scheme(s));
    const struct rig_plan plan = {.dtype = PEAT_F64, .path = PATH_FUSED};
    if (composed)
        return check_skipped(why, "it works on %s, which has the composed path alone", composed);
    return rig_each(s, &plan, why, paths_of);
}
