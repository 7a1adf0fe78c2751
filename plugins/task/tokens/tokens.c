/* SPDX-License-Identifier: MIT */
/*
 * tokens.c: language modelling over files of token ids, as nanoGPT and llm.c write them.
 *
 * nanoGPT: ids of 2 bytes and nothing else. llm.c: a header of 256 integers of 4 bytes (magic,
 * version, number of ids), then ids of 2 bytes (GPT-2) or 4 (Llama 3). All little-endian. NumPy: an
 * array of one axis of any integer dtype, which says its own order of bytes. A folder that `peat
 * tokenize` made: such an array, and the text and bytes of every piece.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <peat/plugin.h>

#include "../task_file.h"
#include "../windows.h"

enum { HEADER = 1024, GPT_2 = 20240520, LLAMA_3 = 20240801, VOCAB_MAX = 1 << 24 };

struct config {
    peat_strings path, valid_path, test_path;
    int64_t vocab, objective;
    double valid;
};

static const peat_param rows[] = {
    {"path", PEAT_STRINGS, offsetof(struct config, path),
     .doc = "file or files of token ids, or a folder of `peat tokenize`",
     .flags = PEAT_REQUIRED | PEAT_PATH},
    {"valid_path", PEAT_STRINGS, offsetof(struct config, valid_path),
     .doc = "file or files to validate with, instead of the end of path", .flags = PEAT_PATH},
    {"test_path", PEAT_STRINGS, offsetof(struct config, test_path),
     .doc = "file or files to test with, instead of a share of the held-out ids",
     .flags = PEAT_PATH | PEAT_LATER},
    {"valid", PEAT_REAL, offsetof(struct config, valid), .preset = 0.1, .min = 0, .max = 0.9,
     .doc = "part of the ids, from their end, held out for validation and test",
     .flags = PEAT_OPEN_MIN},
    {"vocab", PEAT_INT, offsetof(struct config, vocab), .min = 1, .max = VOCAB_MAX,
     .automatic = "the largest id in the files, plus 1", .unit = "tokens",
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

/* NumPy's little-endian ids of 2 or 4 bytes are used where they stand. */
static bool find_plain_npy(const struct task_file *file, struct ids *ids)
{
    char header[128];
    int width = 0, end = 0;
    int64_t n = 0, start = 10;
    if (file->n < start + (int64_t)sizeof(header) || memcmp(file->byte, "\x93NUMPY\1", 7) != 0)
        return false;
    start += file->byte[8] | file->byte[9] << 8;
    memcpy(header, file->byte + 10, sizeof(header));
    header[sizeof(header) - 1] = '\0';
    sscanf(header, "{'descr': '<u%d', 'fortran_order': False, 'shape': (%" SCNd64 ",), }%n", &width,
           &n, &end);
    if (end == 0 || (width != 2 && width != 4) || n < 0 || n > (file->n - start) / width ||
        start + n * width != file->n)
        return false;
    ids->byte = file->byte + start;
    ids->n = n;
    ids->width = width;
    return true;
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
    if (find_plain_npy(&file, ids))
        return PEAT_OK;
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

/* ---- pieces of words ---- */

/* The windows come first: functions of windows.h are given this struct as theirs. */
struct tokens {
    struct windows w;
    struct task_file table;  /* pieces.tsv; byte NULL: the ids are of no table */
    int64_t n_piece, n_text; /* n_text: bytes of the texts that the table's head names; 0: none */
    const char *
        *text; /* [n_piece] where a piece's text begins in the table; it ends at a newline */
    unsigned char *size; /* [n_piece] its bytes */
};

static char *in_folder(peat_setup *s, const char *folder, const char *name)
{
    size_t n = strlen(folder) + strlen(name) + 2;
    char *path = peat_alloc(s, n);
    if (path)
        snprintf(path, n, "%s/%s", folder, name);
    return path;
}

/* "\x0A" is the byte 10. */
static int64_t unescape(const char *at, char *text, int64_t room)
{
    int64_t n = 0;
    for (; *at && *at != '\n' && n + 1 < room; n++) {
        unsigned byte;
        bool escaped = at[0] == '\\' && sscanf(at, "\\x%2x", &byte) == 1;
        text[n] = escaped ? (char)byte : *at;
        at += escaped ? 4 : 1;
    }
    text[n] = '\0';
    return n;
}

/* The line of piece `id` from `at` on: "id, tab, bytes, tab, text", whose text has so many bytes.
 * NULL: it is not that. */
static const char *read_piece(struct tokens *t, int64_t id, const char *at)
{
    char *end, text[UINT8_MAX + 2];
    if (strtoll(at, &end, 10) != id || *end != '\t')
        return NULL;
    long long bytes = strtoll(end + 1, &end, 10);
    if (bytes < 0 || bytes > UINT8_MAX || *end != '\t' ||
        unescape(end + 1, text, sizeof(text)) != bytes)
        return NULL;
    t->size[id] = (unsigned char)bytes;
    t->text[id] = end + 1;
    at = strchr(end, '\n');
    return at ? at + 1 : NULL;
}

static peat_status read_table(peat_setup *s, struct tokens *t)
{
    const char *begin = (const char *)t->table.byte, *end = begin + t->table.n, *at = begin;
    int64_t lines = 0, promised = 0;
    long long bytes;
    for (; at < end && *at == '#'; at += strcspn(at, "\n") + 1) {
        sscanf(at, "# %" SCNd64 " pieces: ", &promised);
        t->n_text += sscanf(at, "# of a text of %lld bytes, ", &bytes) == 1 ? bytes : 0;
    }
    for (const char *p = at; p < end && (p = strchr(p, '\n')); p++)
        lines++;
    t->text = peat_alloc(s, (size_t)(lines + 1) * sizeof(*t->text));
    t->size = peat_alloc(s, (size_t)lines + 1);
    if (!t->text || !t->size)
        return PEAT_NOMEM;
    for (; at && at < end; t->n_piece++)
        at = read_piece(t, t->n_piece, at);
    if (at != end || lines == 0)
        return peat_refuse(s, "'%s' is not a table of pieces as `peat tokenize` writes it",
                           t->table.path);
    if (promised && promised != t->n_piece)
        return peat_refuse(s, "'%s' has %" PRId64 " pieces, and its head says %" PRId64,
                           t->table.path, t->n_piece, promised);
    return PEAT_OK;
}

/* The table of a folder; that of a further one must be the same. */
static peat_status use_table(peat_setup *s, struct tokens *t, const char *folder)
{
    struct task_file table;
    char *path = in_folder(s, folder, "pieces.tsv");
    peat_status status = path ? task_file_read(s, path, &table) : PEAT_NOMEM;
    if (status != PEAT_OK)
        return status;
    if (!t->table.byte) {
        t->table = table;
        return read_table(s, t);
    }
    if (table.n == t->table.n && memcmp(table.byte, t->table.byte, (size_t)table.n) == 0)
        return PEAT_OK;
    return peat_refuse(s,
                       "'%s' has other pieces than '%s': tokenize both in one call of `peat "
                       "tokenize`",
                       path, t->table.path);
}

/* All paths of a list are folders, or none is. */
static peat_status use_folders(peat_setup *s, struct tokens *t, const peat_strings *path,
                               peat_strings *file)
{
    const char **item = peat_alloc(s, (size_t)(path->n + 1) * sizeof(*item));
    peat_status status = item ? PEAT_OK : PEAT_NOMEM;
    for (int64_t i = 0; status == PEAT_OK && i < path->n; i++) {
        bool folder = s->host->is_folder(s, path->item[i]);
        item[i] = path->item[i];
        if (folder)
            item[i] = in_folder(s, path->item[i], "ids.npy");
        if (folder ? i > 0 && !t->table.byte : t->table.byte != NULL)
            status = peat_refuse(
                s, "'%s' is %s: one experiment takes files of one kind", path->item[i],
                folder ? "a folder and others are files" : "a file and others are folders");
        else if (folder)
            status = item[i] ? use_table(s, t, path->item[i]) : PEAT_NOMEM;
    }
    *file = (peat_strings){path->n, item};
    return status;
}

/* A byte that is not a character by itself has no text. */
static int64_t token_text(const void *config, const void *self, int32_t id, char *text,
                          int64_t room)
{
    const struct tokens *t = self;
    (void)config;
    if (id < 0 || id >= t->n_piece || room < 2)
        return 0;
    int64_t n = unescape(t->text[id], text, room);
    return n == 1 && (text[0] & 0x80 || text[0] == 0) ? 0 : n;
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

static peat_status choose_vocab(peat_setup *s, const struct config *k, const struct tokens *t,
                                struct windows *w)
{
    int64_t largest = 0, at = 0, most = k->vocab ? k->vocab : VOCAB_MAX;
    if (t->n_piece && k->vocab && k->vocab != t->n_piece)
        return peat_refuse(s, "vocab = %" PRId64 ", and '%s' has %" PRId64 " pieces", k->vocab,
                           t->table.path, t->n_piece);
    most = t->n_piece ? t->n_piece : most;
    for (int64_t i = 0; i < w->n; i++) {
        int64_t id = (uint32_t)windows_token(w, i);
        if (id > largest) {
            largest = id;
            at = i;
        }
    }
    w->symbols = t->n_piece ? t->n_piece : k->vocab ? k->vocab : largest + 1;
    w->size = t->size;
    if (largest >= most)
        return peat_refuse(s, "id %" PRId64 " at place %" PRId64 " is not below %s %" PRId64,
                           largest, at,
                           t->n_piece ? "the number of pieces,"
                           : k->vocab ? "vocab ="
                                      : "the largest vocabulary,",
                           most);
    peat_resolved(s, "vocab", (double)w->symbols);
    return PEAT_OK;
}

/* The ids of a folder are pieces of so many bytes as the texts in the head of its table. */
static peat_status check_texts(peat_setup *s, const struct tokens *t, const struct ids *ids)
{
    const struct windows all = {.width = ids->width, .byte = ids->byte, .id = ids->number};
    int64_t bytes = 0;
    for (int64_t i = 0; t->n_text && i < ids->n; i++) {
        int64_t id = (uint32_t)windows_token(&all, i);
        bytes += id < t->n_piece ? t->size[id] : 0;
    }
    if (bytes == t->n_text)
        return PEAT_OK;
    return peat_refuse(s,
                       "'%s' is pieces of %" PRId64 " bytes, and the texts in the head of '%s' "
                       "have %" PRId64,
                       ids->path, bytes, t->table.path, t->n_text);
}

/* The ids of path, valid_path and test_path, one after another. */
static peat_status read_parts(peat_setup *s, const struct config *k, struct tokens *t)
{
    const peat_strings *const part[] = {&k->path, &k->valid_path, &k->test_path};
    int64_t n_file = k->path.n + k->valid_path.n + k->test_path.n, n = 0, count = 0;
    struct ids *ids = peat_alloc(s, (size_t)(n_file + 1) * sizeof(*ids));
    peat_status status = ids ? PEAT_OK : PEAT_NOMEM;
    for (int i = 0; status == PEAT_OK && i < 3; i++) {
        peat_strings file;
        status = use_folders(s, t, part[i], &file);
        if (status == PEAT_OK)
            status = read_list(s, &file, ids + n, ids);
        for (int64_t last = n + part[i]->n; status == PEAT_OK && n < last; n++) {
            count += ids[n].n;
            status = check_texts(s, t, &ids[n]);
        }
        if (i == 0 && k->valid_path.n > 0)
            t->w.train = count;
        if (i == 1 && k->test_path.n > 0)
            t->w.test = count;
    }
    return status == PEAT_OK ? join(s, ids, n_file, &t->w) : status;
}

static peat_status setup(peat_setup *s, const void *config, peat_task_plan *plan, void **self)
{
    const struct config *k = config;
    struct tokens *t = peat_alloc(s, sizeof(*t));
    if (!t)
        return PEAT_NOMEM;
    struct windows *w = &t->w;
    *self = t;
    w->seq_len = plan->seq_len;
    peat_status status = windows_choose_objective(s, k->objective, plan->arch, w);
    if (status == PEAT_OK && k->path.n == 0)
        status = peat_refuse(s, "path names no file");
    if (status == PEAT_OK && k->test_path.n > 0 && plan->test == 0)
        status = peat_refuse(s, "test_path needs eval.test above 0: the cell has no test part");
    if (status == PEAT_OK)
        status = read_parts(s, k, t);
    if (status == PEAT_OK)
        status = choose_vocab(s, k, t, w);
    return status == PEAT_OK ? windows_plan(s, k->valid, w, plan) : status;
}

/* Not known, and so not a number, where no table says the bytes of the targets. */
static double bits_per_byte(const peat_sums *s)
{
    return s->units ? s->nll / (log(2) * (double)s->units) : (double)NAN;
}

static const peat_metric metrics[] = {
    {"loss", false, "nats per token predicted", peat_answer_loss},
    {"accuracy", true, "part of the tokens predicted that had the highest logit", peat_accuracy},
    {"bpb", false, "bits per byte of the text predicted, of a folder of `peat tokenize`",
     bits_per_byte},
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
    .test = windows_test,
    .sample = samples,
    .token_text = token_text,
};

PEAT_DEFINE(PEAT_TASK, task, struct config, rows, "tokens", "1.0",
            "language modelling over files of token ids", "MIT", "")
