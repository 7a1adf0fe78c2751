/* SPDX-License-Identifier: MIT */
/*
 * tokens.c: language modelling over files of token ids, as nanoGPT and llm.c write them.
 *
 * nanoGPT: ids of 2 bytes and nothing else. llm.c: a header of 256 integers of 4 bytes (magic,
 * version, number of ids), then ids of 2 bytes (GPT-2) or 4 (Llama 3). All little-endian. NumPy: an
 * array of one axis of any integer dtype, which says its own order of bytes.
 */
#include <peat/plugin.h>

#include "../task_file.h"
#include "../windows.h"

enum { HEADER = 1024, GPT_2 = 20240520, LLAMA_3 = 20240801, VOCAB_MAX = 1 << 24 };

struct config {
    peat_strings path, valid_path;
    int64_t vocab, objective;
    double valid;
};

static const peat_param rows[] = {
    {"path", PEAT_STRINGS, offsetof(struct config, path),
     .doc = "file or files of token ids, read one after another",
     .flags = PEAT_REQUIRED | PEAT_PATH},
    {"valid_path", PEAT_STRINGS, offsetof(struct config, valid_path),
     .doc = "file or files to validate with, instead of the end of path", .flags = PEAT_PATH},
    {"valid", PEAT_REAL, offsetof(struct config, valid), .preset = 0.1, .min = 0, .max = 0.9,
     .doc = "part of the ids, from their end, kept for validation", .flags = PEAT_OPEN_MIN},
    {"vocab", PEAT_INT, offsetof(struct config, vocab), .min = 1, .max = VOCAB_MAX,
     .automatic = "the largest id in the files and 1", .unit = "tokens",
     .doc = "how many ids there are", .flags = PEAT_AUTO},
    {"objective", PEAT_ENUM, offsetof(struct config, objective), .preset = WINDOWS_AUTO,
     .labels = windows_objectives,
     .doc = "predict the next token or masked ones; auto: causal in a decoder, else masked"},
    PEAT_PARAM_END,
};

/* ---- one file ---- */

/* The ids of a file. */
struct ids {
    const char *path;
    const unsigned char *byte; /* [n * width], or NULL  */
    int64_t n, width;
    const int32_t *number; /* [n], where byte is NULL   */
};

static uint32_t number_at(const unsigned char *b)
{
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static peat_status read_llm_c(peat_setup *s, const struct task_file *file, uint32_t magic,
                              struct ids *ids)
{
    uint32_t version = number_at(file->byte + 4), n = number_at(file->byte + 8);
    uint32_t known = magic == GPT_2 ? 1 : 7;
    ids->width = magic == GPT_2 ? 2 : 4;
    ids->n = n;
    ids->byte = file->byte + HEADER;
    if (version != known)
        return peat_refuse(s, "'%s' is a token file of llm.c of version %u, and only %u is known",
                           file->path, version, known);
    int64_t size = HEADER + ids->n * ids->width;
    if (file->n != size)
        return peat_refuse(s,
                           "'%s' is a token file of llm.c with %u ids, which takes %" PRId64
                           " bytes, but it has %" PRId64,
                           file->path, n, size, file->n);
    return PEAT_OK;
}

static bool is_printable(const struct task_file *file)
{
    int64_t n = file->n < 4096 ? file->n : 4096, i = 0;
    while (i < n && (file->byte[i] == '\t' || file->byte[i] == '\n' || file->byte[i] == '\r' ||
                     (file->byte[i] >= ' ' && file->byte[i] < 127)))
        i++;
    return i == n;
}

static peat_status read_nano_gpt(peat_setup *s, const struct task_file *file, struct ids *ids)
{
    ids->width = 2;
    ids->n = file->n / 2;
    ids->byte = file->byte;
    if (file->n % 2)
        return peat_refuse(s,
                           "'%s' has %" PRId64 " bytes, and ids of 2 bytes need an even number; is "
                           "it truncated?",
                           file->path, file->n);
    if (is_printable(file))
        return peat_refuse(s, "'%s' is text; the task 'text' reads it", file->path);
    return PEAT_OK;
}

static peat_status read_ids(peat_setup *s, const char *path, struct ids *ids)
{
    struct task_file file;
    peat_status status = task_file_read(s, path, &file);
    if (status != PEAT_OK)
        return status;
    ids->path = path;
    if (file.n == 0)
        return peat_refuse(s, "'%s' is empty", path);
    ids->width = sizeof(*ids->number);
    ids->number = s->host->npy_ids(s, path, file.byte, file.n, &ids->n);
    if (ids->n >= 0)
        return ids->number ? PEAT_OK : PEAT_REFUSED;
    status =
        task_file_expect_plain(s, &file, "; ids are read plain, as of nanoGPT, llm.c or NumPy");
    if (status != PEAT_OK)
        return status;
    uint32_t magic = file.n >= HEADER ? number_at(file.byte) : 0;
    if (magic == GPT_2 || magic == LLAMA_3)
        return read_llm_c(s, &file, magic, ids);
    return read_nano_gpt(s, &file, ids);
}

/* ---- all files ---- */

/* Reads the files of a list into ids [n], which must be of one width. */
static peat_status read_list(peat_setup *s, const peat_strings *path, struct ids *ids,
                             const struct ids *first)
{
    for (int64_t i = 0; i < path->n; i++) {
        peat_status status = read_ids(s, path->item[i], &ids[i]);
        if (status != PEAT_OK)
            return status;
        if (!ids[i].byte != !first->byte)
            return peat_refuse(s,
                               "one of '%s' and '%s' is an array of NumPy's: one experiment takes "
                               "files of one kind",
                               first->path, ids[i].path);
        if (ids[i].width != first->width)
            return peat_refuse(s,
                               "'%s' has ids of %" PRId64 " bytes and '%s' of %" PRId64
                               ": one experiment takes files of one kind",
                               ids[i].path, ids[i].width, first->path, first->width);
    }
    return PEAT_OK;
}

/* One file is used as it stands, several are joined. */
static peat_status join(peat_setup *s, const struct ids *ids, int64_t n_file, struct windows *w)
{
    w->width = ids[0].width;
    w->byte = ids[0].byte;
    w->id = ids[0].number;
    for (int64_t i = 0; i < n_file; i++)
        w->n += ids[i].n;
    if (n_file == 1)
        return PEAT_OK;
    unsigned char *all = peat_alloc(s, (size_t)(w->n * w->width) + 1);
    if (!all)
        return PEAT_NOMEM;
    if (w->byte)
        w->byte = all;
    else
        w->id = (const int32_t *)(const void *)all;
    for (int64_t i = 0; i < n_file; i++) {
        size_t bytes = (size_t)(ids[i].n * w->width);
        if (bytes > 0)
            memcpy(all, w->byte ? ids[i].byte : (const void *)ids[i].number, bytes);
        all += bytes;
    }
    return PEAT_OK;
}

static peat_status choose_vocab(peat_setup *s, const struct config *k, struct windows *w)
{
    int64_t largest = 0, at = 0, most = k->vocab ? k->vocab : VOCAB_MAX;
    for (int64_t i = 0; i < w->n; i++) {
        int64_t id = (uint32_t)windows_token(w, i);
        if (id > largest) {
            largest = id;
            at = i;
        }
    }
    w->symbols = k->vocab ? k->vocab : largest + 1;
    if (largest >= most)
        return peat_refuse(s, "id %" PRId64 " at place %" PRId64 " is not below %s %" PRId64,
                           largest, at, k->vocab ? "vocab =" : "the largest vocabulary,", most);
    peat_resolved(s, "vocab", (double)w->symbols);
    return PEAT_OK;
}

static peat_status setup(peat_setup *s, const void *config, peat_task_plan *plan, void **self)
{
    const struct config *k = config;
    int64_t n_file = k->path.n + k->valid_path.n;
    struct windows *w = peat_alloc(s, sizeof(*w));
    struct ids *ids = peat_alloc(s, (size_t)(n_file + 1) * sizeof(*ids));
    if (!w || !ids)
        return PEAT_NOMEM;
    *self = w;
    w->seq_len = plan->seq_len;
    peat_status status = windows_choose_objective(s, k->objective, plan->arch, w);
    if (status == PEAT_OK && k->path.n == 0)
        status = peat_refuse(s, "path names no file");
    if (status == PEAT_OK)
        status = read_list(s, &k->path, ids, ids);
    if (status == PEAT_OK)
        status = read_list(s, &k->valid_path, ids + k->path.n, ids);
    if (status == PEAT_OK)
        status = join(s, ids, n_file, w);
    for (int64_t i = 0; k->valid_path.n > 0 && i < k->path.n; i++)
        w->train += ids[i].n;
    if (status == PEAT_OK)
        status = choose_vocab(s, k, w);
    return status == PEAT_OK ? windows_plan(s, k->valid, w, plan) : status;
}

static const peat_metric metrics[] = {
    {"loss", false, "nats per token predicted", peat_answer_loss},
    {"accuracy", true, "part of the tokens predicted that had the highest logit", peat_accuracy},
    {NULL, false, NULL, NULL},
};

static const unsigned char some_ids[] = {0, 0, 1, 0, 7, 0, 3, 0, 0, 1, 9, 0, 2, 0, 5, 1};

static const peat_sample samples[] = {{"path", some_ids, sizeof(some_ids), 500}, {0}};

static const peat_task task = {
    .size = sizeof(task),
    .metric = metrics,
    .setup = setup,
    .train = windows_train,
    .evaluate = windows_evaluate,
    .sample = samples,
};

PEAT_DEFINE(PEAT_TASK, task, struct config, rows, "tokens", "1.0",
            "language modelling over files of token ids", "MIT", "")
