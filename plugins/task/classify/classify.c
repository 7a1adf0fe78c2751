/* SPDX-License-Identifier: MIT */
/* classify.c: the label of a text. BOS bytes SEP, asked for at SEP, or as the class of the row. */
#include <stdlib.h>

#include "../framed_bytes.h"
#include "../table_file.h"

enum { BYTE = PEAT_FIRST_SYMBOL, LABEL = BYTE + 256, LABELS_MAX = 1000, FRAME = 2 };

struct config {
    const char *path;
    int64_t text, label;
    bool header;
    double valid;
};

static const peat_param rows[] = {
    {"path", PEAT_STRING, offsetof(struct config, path),
     .doc = "file of comma- or tab-separated values", .flags = PEAT_REQUIRED | PEAT_PATH},
    {"text", PEAT_INT, offsetof(struct config, text), .preset = 1, .min = 1, .max = 1000,
     .doc = "number of the column with the text"},
    {"label", PEAT_INT, offsetof(struct config, label), .preset = 2, .min = 1, .max = 1000,
     .doc = "number of the column with the label"},
    {"header", PEAT_BOOL, offsetof(struct config, header),
     .doc = "the first row names the columns"},
    {"valid", PEAT_REAL, offsetof(struct config, valid), .preset = 0.1, .min = 0, .max = 0.9,
     .doc = "part of the texts held out for validation and test", .flags = PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

struct example {
    struct table_field text;
    int32_t label;
};

struct classify {
    struct example *train, *valid, *test;
    int64_t n_train, n_valid, n_test, longest, T; /* T: of training rows                   */
    int64_t rows, tested;                         /* those of valid and test that are scored */
    int64_t T_of[PEAT_MAX_LENGTHS];
    bool classes; /* a label is the class of its row */
};

/* ---- reading ---- */

static int by_bytes(const void *a, const void *b)
{
    const struct table_field *x = a, *y = b;
    int order = memcmp(x->byte, y->byte, (size_t)(x->n < y->n ? x->n : y->n));
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

/* The different labels in the order of their bytes; *n of them. */
static peat_status list_labels(peat_setup *s, const struct config *k, const struct table *t,
                               struct table_field *label, int64_t *n)
{
    for (int64_t i = 0; i < t->n; i++) {
        const struct table_field *one = &t->row[i][1];
        if (bsearch(one, label, (size_t)*n, sizeof(*label), by_bytes))
            continue;
        if (*n == LABELS_MAX)
            return peat_refuse(s, "'%s' has more than %d different labels in column %" PRId64,
                               t->path, LABELS_MAX, k->label);
        label[(*n)++] = *one;
        qsort(label, (size_t)*n, sizeof(*label), by_bytes);
    }
    if (*n < 2)
        return peat_refuse(s, "'%s' has only one label in column %" PRId64, t->path, k->label);
    return PEAT_OK;
}

/* The share `test` of the texts that are held out is the test part. Equal texts are in one part. */
static void sort_out(const struct config *k, const struct table *t, const struct table_field *label,
                     int64_t n_label, double test, struct classify *c)
{
    for (int64_t i = 0; i < t->n; i++) {
        const struct table_field *found =
            bsearch(&t->row[i][1], label, (size_t)n_label, sizeof(*label), by_bytes);
        struct example e = {t->row[i][0], LABEL + (int32_t)(found - label)};
        double share = table_share(&e.text);
        if (share < k->valid * (1 - test))
            c->valid[c->n_valid++] = e;
        else if (share < k->valid)
            c->test[c->n_test++] = e;
        else
            c->train[c->n_train++] = e;
        c->longest = e.text.n > c->longest ? e.text.n : c->longest;
    }
}

static peat_status read_examples(peat_setup *s, const struct config *k, double test,
                                 struct classify *c, int64_t *n_label)
{
    struct table t = {0};
    struct table_field label[LABELS_MAX];
    peat_status status = table_read(s, k->path, 0, (int64_t[]){k->text, k->label}, k->header, &t);
    if (status == PEAT_OK)
        status = list_labels(s, k, &t, label, n_label);
    if (status != PEAT_OK)
        return status;
    c->train = peat_alloc(s, (size_t)t.n * sizeof(*c->train));
    c->valid = peat_alloc(s, (size_t)t.n * sizeof(*c->valid));
    c->test = peat_alloc(s, (size_t)t.n * sizeof(*c->test));
    if (!c->train || !c->valid || !c->test)
        return PEAT_NOMEM;
    sort_out(k, &t, label, *n_label, test, c);
    if (c->n_train == 0 || c->n_valid == 0)
        return peat_refuse(s,
                           "'%s' has %" PRId64 " texts, of which %" PRId64
                           " validate; give more or change 'valid'",
                           t.path, t.n, c->n_valid);
    if (test > 0 && c->n_test == 0)
        return peat_refuse(s,
                           "'%s' has %" PRId64
                           " texts, of which none is in the test part; give more, or change "
                           "'valid' or eval.test",
                           t.path, t.n);
    return PEAT_OK;
}

/* ---- planning ---- */

static int64_t tokens_of(const struct classify *c, int64_t length)
{
    return c->longest + FRAME < length ? c->longest + FRAME : length;
}

static int64_t rows_wanted(const peat_task_plan *plan, int64_t n)
{
    return plan->eval_tokens > 0 && plan->eval_tokens < n ? plan->eval_tokens : n;
}

static peat_status plan_lengths(peat_setup *s, struct classify *c, peat_task_plan *plan)
{
    const int64_t *length = peat_evaluated(s, plan, &plan->seq_len, 1);
    if (!length)
        return PEAT_REFUSED;
    c->rows = rows_wanted(plan, c->n_valid);
    c->tested = rows_wanted(plan, c->n_test);
    for (int64_t i = 0; i < plan->n_eval; i++) {
        if (length[i] <= FRAME)
            return peat_refuse(s, "eval.lengths has %" PRId64 ", and a text takes at least %d",
                               length[i], FRAME + 1);
        plan->eval[i] = length[i];
        plan->eval_T[i] = c->T_of[i] = tokens_of(c, length[i]);
        plan->eval_sequences[i] = c->rows;
        plan->test_sequences[i] = c->tested;
    }
    return PEAT_OK;
}

static peat_status setup(peat_setup *s, const void *config, peat_task_plan *plan, void **self)
{
    const struct config *k = config;
    int64_t n_label = 0;
    struct classify *c = peat_alloc(s, sizeof(*c));
    if (!c)
        return PEAT_NOMEM;
    *self = c;
    if (k->text == k->label)
        return peat_refuse(s, "text and label are both column %" PRId64, k->text);
    if (plan->seq_len <= FRAME)
        return peat_refuse(s, "train.seq_len must be at least %d, not %" PRId64, FRAME + 1,
                           plan->seq_len);
    peat_status status = read_examples(s, k, plan->test, c, &n_label);
    if (status != PEAT_OK)
        return status;
    c->T = tokens_of(c, plan->seq_len);
    c->classes = PEAT_HAS(plan, head);
    if (c->classes)
        plan->n_class = n_label;
    plan->vocab = LABEL + (c->classes ? 0 : n_label);
    plan->length_unit = "tokens";
    framed_bytes_show(plan, c->train->text.byte, c->train->text.n);
    framed_bytes_show_token(plan, PEAT_SEP);
    return plan_lengths(s, c, plan);
}

/* ---- batches ---- */

/* Row b: the text, cut at its end where it does not fit. */
static void fill_row(const struct classify *c, const struct example *e, peat_batch *batch,
                     int64_t b)
{
    int32_t *token = batch->token + b * batch->T;
    uint8_t *special = batch->special + b * batch->T, *pad = batch->pad + b * batch->T;
    int64_t room = batch->T - FRAME, n = e->text.n < room ? e->text.n : room;
    for (int64_t i = 0; i < n; i++)
        token[1 + i] = BYTE + e->text.byte[i];
    token[0] = PEAT_BOS;
    token[1 + n] = PEAT_SEP;
    special[0] = special[1 + n] = 1;
    if (c->classes)
        batch->label[b] = e->label - LABEL;
    else
        batch->target[b * batch->T + 1 + n] = e->label;
    for (int64_t i = n + FRAME; i < batch->T; i++) {
        token[i] = PEAT_EOS;
        pad[i] = 1;
        batch->has_pad = true;
    }
    batch->has_special = true;
    batch->units++;
}

static peat_status train(const peat_host *h, const void *config, const void *self, uint64_t stream,
                         peat_batch *batch)
{
    const struct classify *c = self;
    (void)config;
    batch->T = c->T;
    for (int64_t b = 0; b < batch->B; b++) {
        int64_t row = peat_below(h, stream, (uint64_t)b, c->n_train);
        fill_row(c, &c->train[row], batch, b);
        batch->sequence[b] = row;
    }
    return PEAT_OK;
}

static void fill_held_out(const struct classify *c, const struct example *e, int64_t n,
                          int64_t which, int64_t index, peat_batch *batch)
{
    int64_t first = index * batch->B, left = n - first;
    batch->B = left < 0 ? 0 : left < batch->B ? left : batch->B;
    batch->T = c->T_of[which];
    for (int64_t b = 0; b < batch->B; b++) {
        fill_row(c, &e[first + b], batch, b);
        batch->sequence[b] = first + b;
    }
}

static peat_status evaluate(const peat_host *h, const void *config, const void *self, int64_t which,
                            int64_t index, peat_batch *batch)
{
    const struct classify *c = self;
    (void)h;
    (void)config;
    fill_held_out(c, c->valid, c->rows, which, index, batch);
    return PEAT_OK;
}

static peat_status test(const peat_host *h, const void *config, const void *self, int64_t which,
                        int64_t index, peat_batch *batch)
{
    const struct classify *c = self;
    (void)h;
    (void)config;
    fill_held_out(c, c->test, c->tested, which, index, batch);
    return PEAT_OK;
}

static const peat_metric metrics[] = {
    {"accuracy", true, "part of the texts whose label had the highest logit", peat_accuracy},
    {"loss", false, "nats per text", peat_answer_loss},
    {NULL, false, NULL, NULL},
};

static const char some_rows[] = "the weather is fine today,good\n\"rain, and no end\",bad\n"
                                "sunshine,good\nhail,bad\na quiet day,good\na storm,bad\n"
                                "blue sky,good\nfog,bad\nspring,good\nmud,bad\n"
                                "summer,good\nice,bad\nwind,bad\nwarm air,good\n";

static const peat_sample samples[] = {{"path", some_rows, sizeof(some_rows) - 1, 4}, {0}};

static const peat_task task = {
    .size = sizeof(task),
    .metric = metrics,
    .setup = setup,
    .train = train,
    .evaluate = evaluate,
    .test = test,
    .token_text = framed_bytes_text,
    .sample = samples,
};

PEAT_DEFINE(PEAT_TASK, task, struct config, rows, "classify", "1.0", "the label of a text", "MIT",
            "")
