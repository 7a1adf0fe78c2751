/* SPDX-License-Identifier: MIT */
/*
 * text.c: language modelling over bytes or characters of files.
 *
 * Decoders predict the next token; encoders fill places in (Devlin et al. 2019, section 3.1). The
 * end of the text is kept for validation, and the same of its tokens are targets at every length.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <peat/plugin.h>

enum { BYTES, CHARACTERS };
enum { AUTO, CAUSAL, MASKED };
enum { BATCH_TOKENS = 4096, CODE_POINTS = 0x110000 };

/* Key of the masks in evaluation, the same for every cell and seed. */
#define EVAL_STREAM UINT64_C(0x544558545f4d4c4d)

struct config {
    peat_strings path;
    int64_t unit, objective;
    double valid;
};

static const char *const units[] = {"bytes", "characters", NULL};
static const char *const objectives[] = {"auto", "causal", "masked", NULL};

static const peat_param rows[] = {
    {"path", PEAT_STRINGS, offsetof(struct config, path),
     .doc = "text file or files, read one after another", .flags = PEAT_REQUIRED | PEAT_PATH},
    {"unit", PEAT_ENUM, offsetof(struct config, unit), .preset = BYTES, .labels = units,
     .doc = "what a token is: a byte, or a character of UTF-8"},
    {"valid", PEAT_REAL, offsetof(struct config, valid), .preset = 0.1, .min = 0, .max = 0.9,
     .doc = "part of the text, from its end, kept for validation", .flags = PEAT_OPEN_MIN},
    {"objective", PEAT_ENUM, offsetof(struct config, objective), .preset = AUTO,
     .labels = objectives,
     .doc = "predict the next token or masked ones; auto: causal in a decoder, else masked"},
    PEAT_PARAM_END,
};

struct text {
    int64_t n;                 /* tokens in the text                     */
    const unsigned char *byte; /* [n] with unit: bytes, else NULL        */
    int32_t *id;               /* [n] with unit: characters, else NULL   */
    unsigned char *size;       /* [symbols] bytes of a token; NULL: 1    */
    int64_t symbols;           /* the vocabulary without MASK            */
    bool masked;
    int64_t seq_len;
    int64_t train;   /* tokens [0, train) train, the rest validates */
    int64_t targets; /* tokens of the validation text in windows    */
    int64_t length[PEAT_MAX_LENGTHS];
};

static int32_t token_at(const struct text *t, int64_t i)
{
    return t->byte ? t->byte[i] : t->id[i];
}

static int64_t bytes_of(const struct text *t, int32_t id)
{
    return t->size ? t->size[id] : 1;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- reading ---- */

/* Length of the UTF-8 sequence at s, 0 when it is not one; overlong forms, surrogates and what lies
 * beyond U+10FFFF are not. */
static int64_t decode(const unsigned char *s, int64_t n, int32_t *code)
{
    static const int32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    int64_t size = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (size == 0 || size > n || s[0] > 0xf7)
        return 0;
    *code = size == 1 ? s[0] : s[0] & (0x7f >> size);
    for (int64_t i = 1; i < size; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (s[i] & 0x3f);
    }
    bool surrogate = *code >= 0xd800 && *code < 0xe000;
    return *code < smallest[size] || *code >= CODE_POINTS || surrogate ? 0 : size;
}

struct file {
    const char *path;
    const unsigned char *byte;
    int64_t n;
};

static struct file *read_files(peat_setup *s, const peat_strings *path)
{
    if (path->n == 0) {
        peat_refuse(s, "path names no file");
        return NULL;
    }
    struct file *file = peat_alloc(s, (size_t)path->n * sizeof(*file));
    for (int64_t i = 0; file && i < path->n; i++) {
        file[i].path = path->item[i];
        file[i].byte = s->host->read_file(s, path->item[i], &file[i].n);
        if (!file[i].byte)
            return NULL;
    }
    return file;
}

/* One file is used as it stands, several are joined. */
static peat_status use_bytes(peat_setup *s, struct text *t, const struct file *file, int64_t n_file)
{
    t->symbols = 256;
    for (int64_t i = 0; i < n_file; i++)
        t->n += file[i].n;
    t->byte = file[0].byte;
    if (n_file == 1)
        return PEAT_OK;
    unsigned char *all = peat_alloc(s, (size_t)t->n + 1);
    if (!all)
        return PEAT_NOMEM;
    t->byte = all;
    for (int64_t i = 0; i < n_file; i++) {
        memcpy(all, file[i].byte, (size_t)file[i].n);
        all += file[i].n;
    }
    return PEAT_OK;
}

/* Marks the code points that occur in `id_of` and counts the characters. */
static peat_status survey(peat_setup *s, struct text *t, const struct file *file, int32_t *id_of)
{
    int32_t code;
    for (int64_t at = 0, size; at < file->n; at += size, t->n++) {
        size = decode(file->byte + at, file->n - at, &code);
        if (size == 0)
            return peat_refuse(s,
                               "'%s' is not UTF-8 at byte %" PRId64 "; unit: bytes takes any file",
                               file->path, at);
        id_of[code] = 1;
    }
    return PEAT_OK;
}

/* Numbers the code points that occur, in their order. */
static peat_status number_symbols(peat_setup *s, struct text *t, int32_t *id_of)
{
    for (int32_t code = 0; code < CODE_POINTS; code++)
        if (id_of[code])
            id_of[code] = (int32_t)t->symbols++;
    t->size = peat_alloc(s, (size_t)t->symbols + 1);
    t->id = peat_alloc(s, ((size_t)t->n + 1) * sizeof(*t->id));
    return t->size && t->id ? PEAT_OK : PEAT_NOMEM;
}

static peat_status use_characters(peat_setup *s, struct text *t, const struct file *file,
                                  int64_t n_file)
{
    int32_t *id_of = calloc(CODE_POINTS, sizeof(*id_of));
    peat_status status = id_of ? PEAT_OK : PEAT_NOMEM;
    for (int64_t i = 0; status == PEAT_OK && i < n_file; i++)
        status = survey(s, t, &file[i], id_of);
    if (status == PEAT_OK)
        status = number_symbols(s, t, id_of);
    int32_t *id = t->id, code;
    for (int64_t i = 0; status == PEAT_OK && i < n_file; i++)
        for (int64_t at = 0, size; at < file[i].n; at += size) {
            size = decode(file[i].byte + at, file[i].n - at, &code);
            *id = id_of[code];
            t->size[*id++] = (unsigned char)size;
        }
    free(id_of);
    return status;
}

/* ---- planning ---- */

static peat_status choose_objective(peat_setup *s, const struct config *k, peat_arch arch,
                                    struct text *t)
{
    t->masked = k->objective == AUTO ? arch == PEAT_ENCODER : k->objective == MASKED;
    if (t->masked && arch != PEAT_ENCODER)
        return peat_refuse(s, "objective: masked needs model.arch: encoder; a decoder does not see "
                              "what follows the mask");
    if (!t->masked && arch != PEAT_DECODER)
        return peat_refuse(s, "objective: causal needs model.arch: decoder; an encoder sees the "
                              "token it has to predict");
    return PEAT_OK;
}

/* Tokens of validation text that windows can have as targets: a causal window's first token is
 * none. */
static int64_t room_for_targets(const struct text *t)
{
    int64_t n = t->n - t->train;
    return t->masked ? n : n - 1;
}

static peat_status split(peat_setup *s, const struct config *k, struct text *t)
{
    t->train = t->n - (int64_t)(k->valid * (double)t->n);
    if (t->train < t->seq_len + 1)
        return peat_refuse(s,
                           "the training text has %" PRId64 " tokens, and train.seq_len = %" PRId64
                           " needs at least %" PRId64,
                           t->train, t->seq_len, t->seq_len + 1);
    return PEAT_OK;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

static peat_status too_short(peat_setup *s, const struct text *t, int64_t need, const char *what)
{
    return peat_refuse(s,
                       "the validation text has %" PRId64 " tokens, and %s needs %" PRId64
                       "; give more text, raise valid or change eval.lengths",
                       t->n - t->train, what, t->masked ? need : need + 1);
}

/* `block` is the shortest stretch that windows of every length tile; t->targets is the largest
 * multiple of it that is there and, beyond the first, wanted. */
static peat_status tile(peat_setup *s, struct text *t, const peat_task_plan *plan)
{
    int64_t room = room_for_targets(t), longest = 0, block = 1;
    for (int64_t i = 0; i < plan->n_eval; i++)
        longest = t->length[i] > longest ? t->length[i] : longest;
    if (longest > room)
        return too_short(s, t, longest, "one window of the longest length");
    for (int64_t i = 0; i < plan->n_eval; i++) {
        block *= t->length[i] / common_divisor(block, t->length[i]);
        if (block > room)
            return too_short(s, t, block, "a stretch that windows of every length tile");
    }
    int64_t wanted = plan->eval_tokens ? least(plan->eval_tokens, room) : room;
    t->targets = wanted < block ? block : wanted / block * block;
    return PEAT_OK;
}

static peat_status plan_lengths(peat_setup *s, struct text *t, peat_task_plan *plan)
{
    int64_t preset[] = {t->seq_len, 2 * t->seq_len};
    const int64_t *length = plan->n_lengths ? plan->length : preset;
    plan->n_eval = plan->n_lengths ? plan->n_lengths : room_for_targets(t) < preset[1] ? 1 : 2;
    if (plan->n_eval > PEAT_MAX_LENGTHS)
        return peat_refuse(s, "%" PRId64 " eval.lengths are given, and %d are the most",
                           plan->n_eval, PEAT_MAX_LENGTHS);
    for (int64_t i = 0; i < plan->n_eval; i++) {
        if (length[i] < 1)
            return peat_refuse(s, "eval.lengths has %" PRId64 ", and a window has at least 1 token",
                               length[i]);
        t->length[i] = plan->eval[i] = plan->eval_T[i] = length[i];
    }
    return tile(s, t, plan);
}

static peat_status setup(peat_setup *s, const void *config, peat_task_plan *plan, void **self)
{
    const struct config *k = config;
    struct text *t = peat_alloc(s, sizeof(*t));
    if (!t)
        return PEAT_NOMEM;
    *self = t;
    t->seq_len = plan->seq_len;
    peat_status status = choose_objective(s, k, plan->arch, t);
    if (status != PEAT_OK)
        return status;
    const struct file *file = read_files(s, &k->path);
    if (!file)
        return PEAT_IO;
    status =
        k->unit == BYTES ? use_bytes(s, t, file, k->path.n) : use_characters(s, t, file, k->path.n);
    if (status == PEAT_OK)
        status = split(s, k, t);
    if (status != PEAT_OK)
        return status;
    plan->vocab = t->symbols + (t->masked ? 1 : 0);
    plan->length_unit = "tokens";
    return plan_lengths(s, t, plan);
}

/* ---- batches ---- */

static void set_target(const struct text *t, peat_batch *batch, int64_t at, int32_t id)
{
    batch->target[at] = id;
    batch->units += bytes_of(t, id);
}

/* Row b of a causal batch: the window from token `start` on, each place asked for the next. */
static void causal_row(const struct text *t, peat_batch *batch, int64_t b, int64_t start)
{
    for (int64_t i = 0; i < batch->T; i++) {
        batch->token[b * batch->T + i] = token_at(t, start + i);
        set_target(t, batch, b * batch->T + i, token_at(t, start + i + 1));
    }
}

/* One place of a masked batch, decided by two draws: 15 % are targets, and of these 80 % show MASK,
 * 10 % a random token, 10 % themselves. */
static void masked_place(const struct text *t, const uint64_t draw[2], peat_batch *batch,
                         int64_t at, int32_t id)
{
    double u = (double)(draw[0] >> 11) * 0x1p-53 / 0.15;
    batch->token[at] = id;
    if (u >= 1)
        return;
    set_target(t, batch, at, id);
    if (u < 0.8)
        batch->token[at] = (int32_t)t->symbols;
    else if (u < 0.9)
        batch->token[at] = (int32_t)((draw[1] >> 1) % (uint64_t)t->symbols);
}

/* Row b of a masked batch: the window from token `start` on; place i uses draws first + 2i and
 * first + 2i + 1. */
static void masked_row(const struct text *t, const peat_host *h, uint64_t stream, uint64_t first,
                       peat_batch *batch, int64_t b, int64_t start)
{
    for (int64_t i = 0; i < batch->T; i++) {
        uint64_t at = first + 2 * (uint64_t)i;
        uint64_t draw[] = {h->draw(stream, at), h->draw(stream, at + 1)};
        masked_place(t, draw, batch, b * batch->T + i, token_at(t, start + i));
    }
}

/* A batch without a single target has no loss: then the last place of the first row is one. */
static void at_least_one(const struct text *t, peat_batch *batch)
{
    if (batch->units > 0)
        return;
    set_target(t, batch, batch->T - 1, batch->token[batch->T - 1]);
    batch->token[batch->T - 1] = (int32_t)t->symbols;
}

/* Row b draws from index b 2^32 on: where its window starts, then its masks. */
static peat_status train(const peat_host *h, const void *config, const void *self, uint64_t stream,
                         peat_batch *batch)
{
    const struct text *t = self;
    int64_t starts = t->train - t->seq_len + (t->masked ? 1 : 0);
    (void)config;
    batch->T = t->seq_len;
    for (int64_t b = 0; b < batch->B; b++) {
        uint64_t first = (uint64_t)b << 32;
        int64_t start = peat_below(h, stream, first, starts);
        batch->sequence[b] = start;
        if (t->masked)
            masked_row(t, h, stream, first + 1, batch, b, start);
        else
            causal_row(t, batch, b, start);
    }
    if (t->masked)
        at_least_one(t, batch);
    return PEAT_OK;
}

/* Windows of one length in order; masks are keyed by the place in the validation text, so that
 * every length has the same targets. */
static peat_status evaluate(const peat_host *h, const void *config, const void *self, int64_t which,
                            int64_t index, peat_batch *batch)
{
    const struct text *t = self;
    int64_t T = t->length[which], n = t->targets / T;
    int64_t room = least(batch->B, T < BATCH_TOKENS ? BATCH_TOKENS / T : 1);
    int64_t first = index * room;
    (void)config;
    batch->T = T;
    batch->B = first < n ? least(room, n - first) : 0;
    for (int64_t b = 0; b < batch->B; b++) {
        int64_t place = (first + b) * T;
        batch->sequence[b] = (int64_t)((uint64_t)T << 32 | (uint64_t)(first + b));
        if (t->masked)
            masked_row(t, h, EVAL_STREAM, 2 * (uint64_t)place, batch, b, t->train + place);
        else
            causal_row(t, batch, b, t->train + place);
    }
    return PEAT_OK;
}

/* ---- metrics ---- */

static double bits_per_byte(const peat_sums *s)
{
    return s->nll / (log(2) * (double)s->units);
}

static double loss(const peat_sums *s)
{
    return s->nll / (double)s->targets;
}

static double accuracy(const peat_sums *s)
{
    return (double)s->correct / (double)s->targets;
}

static const peat_metric metrics[] = {
    {"bpb", false, "bits per byte of the text predicted", bits_per_byte},
    {"loss", false, "nats per token predicted", loss},
    {"accuracy", true, "part of the tokens predicted that had the highest logit", accuracy},
    {NULL, false, NULL, NULL},
};

static const peat_task task = {
    .size = sizeof(task),
    .metric = metrics,
    .setup = setup,
    .train = train,
    .evaluate = evaluate,
};

PEAT_DEFINE(PEAT_TASK, task, struct config, rows, "text", "1.0",
            "language modelling over bytes or characters of files", "MIT", "")
