/* SPDX-License-Identifier: MIT */
/*
 * pairs.c: say the target of a source, as in translation. BOS source SEP target EOS, bytes; or with
 * model.arch: seq2seq source SEP on one side, BOS target EOS on the other.
 */
#include <stdlib.h>

#include "../framed_bytes.h"
#include "../table_file.h"

enum { BYTE = PEAT_FIRST_SYMBOL, VOCAB = BYTE + 256, FRAME = 3 };

struct config {
    const char *path;
    double valid;
};

static const peat_param rows[] = {
    {"path", PEAT_STRING, offsetof(struct config, path),
     .doc = "file with a source, a tab and a target on each line",
     .flags = PEAT_REQUIRED | PEAT_PATH},
    {"valid", PEAT_REAL, offsetof(struct config, valid), .preset = 0.1, .min = 0, .max = 0.9,
     .doc = "part of the sources held out for validation and test", .flags = PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

struct pair {
    struct table_field source, target;
    double share; /* from a hash of the source, 0 .. 1: below `valid` the pair is held out */
};

struct pairs {
    bool apart; /* source and target are two sequences */
    struct pair *train;
    int64_t n_train, T, S; /* T, S: of training rows, and of sources apart */
    int64_t length[PEAT_MAX_LENGTHS];
    struct held_out {
        struct pair *pair; /* [n], by the length of the target */
        int64_t n, S;      /* S: of the longest source         */
    } valid[PEAT_MAX_LENGTHS], test[PEAT_MAX_LENGTHS];
};

static int64_t longer(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Tokens of the whole row, or of the longer of two sides: source SEP, and BOS target EOS. */
static int64_t tokens_of(const struct pairs *p, const struct pair *one)
{
    return p->apart ? longer(one->source.n + 1, one->target.n + 2)
                    : one->source.n + one->target.n + FRAME;
}

/* Tokens that the model is fed: all but the last target; apart, those of the decoder. */
static int64_t fed_of(const struct pairs *p, const struct pair *one)
{
    return p->apart ? one->target.n + 1 : tokens_of(p, one) - 1;
}

/* Sources that are alike have one share, and stand in the file's order. */
static int by_share(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    int order = (x->share > y->share) - (x->share < y->share);
    return order ? order : (x->source.byte > y->source.byte) - (x->source.byte < y->source.byte);
}

static int by_target(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    int order = (x->target.n > y->target.n) - (x->target.n < y->target.n);
    return order ? order : by_share(a, b);
}

/* ---- planning ---- */

/* The largest of the other lengths that is smaller; 0: none. */
static int64_t length_below(const peat_task_plan *plan, const int64_t *length, int64_t i)
{
    int64_t below = 0;
    for (int64_t j = 0; j < plan->n_eval; j++)
        if (length[j] < length[i] && length[j] > below)
            below = length[j];
    return below;
}

/* The pairs of one held-out part, [n] in the order of their share. */
struct held_out_pairs {
    const char *name;
    const struct pair *pair;
    int64_t n;
};

/* Those of more tokens than `below` and at most `length`, into `h`. */
static peat_status choose_pairs(peat_setup *s, const struct pairs *p, const peat_task_plan *plan,
                                const struct held_out_pairs *part, int64_t below, int64_t length,
                                struct held_out *h)
{
    int64_t tokens = 0;
    h->pair = peat_alloc(s, (PEAT_QUESTIONS_MAX + 1) * sizeof(*h->pair));
    if (!h->pair)
        return PEAT_NOMEM;
    for (int64_t k = 0; k < part->n && h->n < PEAT_QUESTIONS_MAX; k++) {
        const struct pair *one = &part->pair[k];
        bool enough = plan->eval_tokens > 0 && tokens >= plan->eval_tokens;
        if (tokens_of(p, one) <= below || tokens_of(p, one) > length || enough)
            continue;
        h->pair[h->n++] = *one;
        h->S = longer(h->S, one->source.n + 1);
        tokens += one->target.n + 1;
    }
    if (h->n == 0)
        return peat_refuse(s,
                           "no %s pair has from %" PRId64 " to %" PRId64
                           " tokens; change eval.lengths, raise valid or give more pairs",
                           part->name, below + 1, length);
    qsort(h->pair, (size_t)h->n, sizeof(*h->pair), by_target);
    return PEAT_OK;
}

static void plan_part(const struct pairs *p, const struct held_out *h, int64_t i,
                      peat_task_plan *plan)
{
    const struct pair *longest = &h->pair[h->n - 1];
    plan->eval_T[i] = longer(plan->eval_T[i], p->apart ? fed_of(p, longest) : p->length[i] - 1);
    plan->eval_answer[i] = longer(plan->eval_answer[i], longest->target.n + 1);
    plan->eval_prompt[i] = plan->eval_T[i] - plan->eval_answer[i] + 1;
    if (p->apart)
        plan->source_T = longer(plan->source_T, h->S);
}

/* Length number i: rows of more tokens than the length below, at most this many. */
static peat_status plan_length(peat_setup *s, struct pairs *p, peat_task_plan *plan,
                               const struct held_out_pairs part[2], const int64_t *length,
                               int64_t i)
{
    int64_t below = length_below(plan, length, i);
    struct held_out *valid = &p->valid[i], *test = &p->test[i];
    p->length[i] = plan->eval[i] = length[i];
    peat_status status = choose_pairs(s, p, plan, &part[0], below, length[i], valid);
    if (status == PEAT_OK && plan->test > 0)
        status = choose_pairs(s, p, plan, &part[1], below, length[i], test);
    if (status != PEAT_OK)
        return status;
    plan_part(p, valid, i, plan);
    if (plan->test > 0)
        plan_part(p, test, i, plan);
    plan->eval_sequences[i] = valid->n;
    plan->test_sequences[i] = test->n;
    return PEAT_OK;
}

static peat_status plan_lengths(peat_setup *s, struct pairs *p, peat_task_plan *plan,
                                const struct held_out_pairs part[2])
{
    const int64_t *length = peat_evaluated(s, plan, &plan->seq_len, 1);
    if (!length)
        return PEAT_REFUSED;
    peat_status status = PEAT_OK;
    for (int64_t i = 0; status == PEAT_OK && i < plan->n_eval; i++)
        status = plan_length(s, p, plan, part, length, i);
    return status;
}

/* Pairs by their share: [0, n_valid) are held out, and those of the rest that fit seq_len train. */
static peat_status split(peat_setup *s, const struct config *k, struct pairs *p,
                         const struct table *t, int64_t seq_len, int64_t *n_valid)
{
    p->train = peat_alloc(s, (size_t)t->n * sizeof(*p->train));
    if (!p->train)
        return PEAT_NOMEM;
    for (int64_t i = 0; i < t->n; i++)
        p->train[i] = (struct pair){t->row[i][0], t->row[i][1], table_share(&t->row[i][0])};
    qsort(p->train, (size_t)t->n, sizeof(*p->train), by_share);
    while (*n_valid < t->n && p->train[*n_valid].share < k->valid)
        ++*n_valid;
    for (int64_t i = *n_valid; i < t->n; i++)
        if (tokens_of(p, &p->train[i]) <= seq_len) {
            p->train[*n_valid + p->n_train++] = p->train[i];
            p->T = longer(p->T, fed_of(p, &p->train[i]));
            p->S = longer(p->S, p->train[i].source.n + 1);
        }
    if (p->n_train == 0)
        return peat_refuse(s,
                           "'%s' has %" PRId64 " pairs, and none of those that train fits "
                           "train.seq_len = %" PRId64,
                           t->path, t->n, seq_len);
    return PEAT_OK;
}

static peat_status setup(peat_setup *s, const void *config, peat_task_plan *plan, void **self)
{
    const struct config *k = config;
    struct table t = {0};
    int64_t n_valid = 0;
    struct pairs *p = peat_alloc(s, sizeof(*p));
    if (!p)
        return PEAT_NOMEM;
    *self = p;
    if (plan->arch == PEAT_ENCODER)
        return peat_refuse(s, "the target is generated token by token, which needs "
                              "model.arch: decoder or seq2seq");
    p->apart = plan->arch == PEAT_SEQ2SEQ;
    peat_status status = table_read(s, k->path, '\t', (int64_t[]){1, 2}, false, &t);
    if (status == PEAT_OK)
        status = split(s, k, p, &t, plan->seq_len, &n_valid);
    if (status != PEAT_OK)
        return status;
    int64_t n_held_out = n_valid;
    struct pair *held_out = p->train;
    while (n_valid > 0 && held_out[n_valid - 1].share >= k->valid * (1 - plan->test))
        n_valid--;
    p->train += n_held_out;
    plan->vocab = VOCAB;
    plan->length_unit = "tokens";
    framed_bytes_show(plan, p->train->source.byte, p->train->source.n);
    framed_bytes_show_token(plan, PEAT_SEP);
    framed_bytes_show(plan, p->train->target.byte, p->train->target.n);
    framed_bytes_show_token(plan, PEAT_EOS);
    if (p->apart)
        plan->source_T = p->S;
    const struct held_out_pairs part[2] = {{"validation", held_out, n_valid},
                                           {"test", held_out + n_valid, n_held_out - n_valid}};
    return plan_lengths(s, p, plan, part);
}

/* ---- batches ---- */

/* Row b with `front` places of padding before it. */
static void fill_row(const struct pair *p, int64_t front, peat_batch *batch, int64_t b)
{
    int64_t row = b * batch->T, sep = row + front + 1 + p->source.n,
            fed = p->source.n + p->target.n + FRAME - 1;
    int32_t *token = batch->token, *target = batch->target;
    for (int64_t i = 0; i < batch->T; i++) {
        bool inside = i >= front && i < front + fed;
        token[row + i] = PEAT_EOS;
        batch->pad[row + i] = !inside;
        batch->has_pad = batch->has_pad || !inside;
    }
    token[row + front] = PEAT_BOS;
    for (int64_t i = 0; i < p->source.n; i++)
        token[row + front + 1 + i] = BYTE + p->source.byte[i];
    token[sep] = PEAT_SEP;
    for (int64_t i = 0; i < p->target.n; i++)
        target[sep + i] = token[sep + 1 + i] = BYTE + p->target.byte[i];
    target[sep + p->target.n] = PEAT_EOS;
    batch->special[row + front] = batch->special[sep] = 1;
    batch->has_special = true;
    batch->units += p->target.n + 1;
}

/* Row b of two sides, each with padding behind it. */
static void fill_sides(const struct pair *p, peat_batch *batch, int64_t b)
{
    int32_t *token = batch->token + b * batch->T, *target = batch->target + b * batch->T;
    int32_t *source = batch->source + b * batch->S;
    for (int64_t i = 0; i < batch->S; i++) {
        source[i] = i < p->source.n ? BYTE + p->source.byte[i] : PEAT_SEP;
        batch->source_pad[b * batch->S + i] = i > p->source.n;
    }
    batch->source_special[b * batch->S + p->source.n] = 1;
    for (int64_t i = 0; i < batch->T; i++) {
        token[i] = i == 0 ? PEAT_BOS : i <= p->target.n ? BYTE + p->target.byte[i - 1] : PEAT_EOS;
        if (i <= p->target.n)
            target[i] = i < p->target.n ? BYTE + p->target.byte[i] : PEAT_EOS;
        batch->pad[b * batch->T + i] = i > p->target.n;
        batch->has_pad = batch->has_pad || i > p->target.n;
    }
    batch->special[b * batch->T] = 1;
    batch->has_special = true;
    batch->units += p->target.n + 1;
}

static peat_status train(const peat_host *h, const void *config, const void *self, uint64_t stream,
                         peat_batch *batch)
{
    const struct pairs *p = self;
    (void)config;
    batch->T = p->T;
    if (p->apart)
        batch->S = p->S;
    for (int64_t b = 0; b < batch->B; b++) {
        int64_t row = peat_below(h, stream, (uint64_t)b, p->n_train);
        if (p->apart)
            fill_sides(&p->train[row], batch, b);
        else
            fill_row(&p->train[row], 0, batch, b);
        batch->sequence[b] = row;
    }
    return PEAT_OK;
}

/* How many pairs from `first` on have targets of one length, at most `room`. */
static int64_t count_alike(const struct held_out *h, int64_t first, int64_t room)
{
    int64_t n = 0;
    while (first + n < h->n && n < room && h->pair[first + n].target.n == h->pair[first].target.n)
        n++;
    return n;
}

/* Targets of one length in a batch; padding in front lets them begin at one place. */
static void fill_held_out(const struct pairs *p, const struct held_out *h, int64_t which,
                          int64_t index, peat_batch *batch)
{
    int64_t room = batch->B, first = 0;
    batch->B = count_alike(h, 0, room);
    for (int64_t i = 0; i < index && batch->B > 0; i++) {
        first += batch->B;
        batch->B = count_alike(h, first, room);
    }
    if (batch->B == 0)
        return;
    const struct pair *pair = h->pair + first;
    batch->T = p->apart ? fed_of(p, pair) : p->length[which] - 1;
    if (p->apart)
        batch->S = h->S;
    batch->answer = pair->target.n + 1;
    batch->prompt = batch->T - pair->target.n;
    for (int64_t b = 0; b < batch->B; b++) {
        if (p->apart)
            fill_sides(&pair[b], batch, b);
        else
            fill_row(&pair[b], p->length[which] - tokens_of(p, &pair[b]), batch, b);
        batch->sequence[b] = (int64_t)((uint64_t)which << 32 | (uint64_t)(first + b));
    }
}

static peat_status evaluate(const peat_host *h, const void *config, const void *self, int64_t which,
                            int64_t index, peat_batch *batch)
{
    const struct pairs *p = self;
    (void)h;
    (void)config;
    fill_held_out(p, &p->valid[which], which, index, batch);
    return PEAT_OK;
}

static peat_status test(const peat_host *h, const void *config, const void *self, int64_t which,
                        int64_t index, peat_batch *batch)
{
    const struct pairs *p = self;
    (void)h;
    (void)config;
    fill_held_out(p, &p->test[which], which, index, batch);
    return PEAT_OK;
}

static const char some_pairs[] = "one\teins\ntwo\tzwei\nthree\tdrei\nfour\tvier\nfive\tfünf\n"
                                 "six\tsechs\nseven\tsieben\neight\tacht\nnine\tneun\nten\tzehn\n"
                                 "eleven\telf\ntwelve\tzwölf\ndog\tHund\ncat\tKatze\nbird\tVogel\n"
                                 "house\tHaus\ntree\tBaum\nriver\tFluss\nred\trot\ngreen\tgrün\n"
                                 "blue\tblau\nnew\tneu\nold\talt\nday\tTag\nnight\tNacht\n"
                                 "hand\tHand\nfoot\tFuß\nbread\tBrot\nwater\tWasser\n"
                                 "fire\tFeuer\nwind\tWind\nsnow\tSchnee\nstone\tStein\n"
                                 "book\tBuch\nword\tWort\ngood\tgut\nlong\tlang\n"
                                 "short\tkurz\nwarm\twarm\ncold\tkalt\nking\tKönig\n";

static const peat_sample samples[] = {{"path", some_pairs, sizeof(some_pairs) - 1, 1}, {0}};

static const peat_task task = {
    .size = sizeof(task),
    .metric = peat_sequence_metrics,
    .setup = setup,
    .train = train,
    .evaluate = evaluate,
    .test = test,
    .token_text = framed_bytes_text,
    .sample = samples,
};

PEAT_DEFINE(PEAT_TASK, task, struct config, rows, "pairs", "1.0",
            "say the target of a source, as in translation", "MIT", "")
