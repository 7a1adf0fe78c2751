/* SPDX-License-Identifier: MIT */
/* text.c: language modelling over bytes or characters of files. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <peat/plugin.h>

#include "../task_file.h"
#include "../windows.h"

enum { BYTES, CHARACTERS };
enum { CODE_POINTS = 0x110000 };

struct config {
    peat_strings path;
    int64_t unit, objective;
    double valid;
};

static const char *const units[] = {"bytes", "characters", NULL};

static const peat_param rows[] = {
    {"path", PEAT_STRINGS, offsetof(struct config, path),
     .doc = "text file or files, read one after another", .flags = PEAT_REQUIRED | PEAT_PATH},
    {"unit", PEAT_ENUM, offsetof(struct config, unit), .preset = BYTES, .labels = units,
     .doc = "what a token is: a byte, or a character of UTF-8"},
    {"valid", PEAT_REAL, offsetof(struct config, valid), .preset = 0.1, .min = 0, .max = 0.9,
     .doc = "part of the text, from its end, held out for validation and test",
     .flags = PEAT_OPEN_MIN},
    {"objective", PEAT_ENUM, offsetof(struct config, objective), .preset = WINDOWS_AUTO,
     .labels = windows_objectives,
     .doc = "predict the next token or masked ones; auto: causal in a decoder, else masked"},
    PEAT_PARAM_END,
};

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

/* One file is used as it stands, several are joined. */
static peat_status use_bytes(peat_setup *s, struct windows *w, const struct task_file *file,
                             int64_t n_file)
{
    w->symbols = 256;
    w->width = 1;
    for (int64_t i = 0; i < n_file; i++)
        w->n += file[i].n;
    w->byte = file[0].byte;
    if (n_file == 1)
        return PEAT_OK;
    unsigned char *all = peat_alloc(s, (size_t)w->n + 1);
    if (!all)
        return PEAT_NOMEM;
    w->byte = all;
    for (int64_t i = 0; i < n_file; i++) {
        memcpy(all, file[i].byte, (size_t)file[i].n);
        all += file[i].n;
    }
    return PEAT_OK;
}

/* Marks the code points that occur in `id_of` and counts the characters. */
static peat_status survey(peat_setup *s, struct windows *w, const struct task_file *file,
                          int32_t *id_of)
{
    int32_t code;
    for (int64_t at = 0, size; at < file->n; at += size, w->n++) {
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
static peat_status number_symbols(peat_setup *s, struct windows *w, int32_t *id_of)
{
    for (int32_t code = 0; code < CODE_POINTS; code++)
        w->symbols += id_of[code] != 0;
    int32_t *code_of = peat_alloc(s, ((size_t)w->symbols + 1) * sizeof(*code_of)), n = 0;
    if (!code_of)
        return PEAT_NOMEM;
    for (int32_t code = 0; code < CODE_POINTS; code++)
        if (id_of[code]) {
            code_of[n] = code;
            id_of[code] = n++;
        }
    w->code = code_of;
    return PEAT_OK;
}

/* The numbers of all characters, and how many bytes each kind has. */
static peat_status encode_text(peat_setup *s, struct windows *w, const struct task_file *file,
                               int64_t n_file, const int32_t *id_of)
{
    unsigned char *bytes = peat_alloc(s, (size_t)w->symbols + 1);
    int32_t *id = peat_alloc(s, ((size_t)w->n + 1) * sizeof(*id)), code = 0;
    w->id = id;
    w->size = bytes;
    if (!bytes || !id)
        return PEAT_NOMEM;
    for (int64_t i = 0; i < n_file; i++)
        for (int64_t at = 0, size; at < file[i].n; at += size) {
            size = decode(file[i].byte + at, file[i].n - at, &code);
            *id = id_of[code];
            bytes[*id++] = (unsigned char)size;
        }
    return PEAT_OK;
}

static peat_status use_characters(peat_setup *s, struct windows *w, const struct task_file *file,
                                  int64_t n_file)
{
    int32_t *id_of = calloc(CODE_POINTS, sizeof(*id_of));
    peat_status status = id_of ? PEAT_OK : PEAT_NOMEM;
    for (int64_t i = 0; status == PEAT_OK && i < n_file; i++)
        status = survey(s, w, &file[i], id_of);
    if (status == PEAT_OK)
        status = number_symbols(s, w, id_of);
    if (status == PEAT_OK)
        status = encode_text(s, w, file, n_file, id_of);
    free(id_of);
    return status;
}

static peat_status setup(peat_setup *s, const void *config, peat_task_plan *plan, void **self)
{
    const struct config *k = config;
    struct windows *w = peat_alloc(s, sizeof(*w));
    if (!w)
        return PEAT_NOMEM;
    *self = w;
    w->seq_len = plan->seq_len;
    peat_status status = windows_choose_objective(s, k->objective, plan->arch, w);
    if (status != PEAT_OK)
        return status;
    const struct task_file *file = task_files_read(s, &k->path, task_file_read_text);
    if (!file)
        return PEAT_IO;
    status =
        k->unit == BYTES ? use_bytes(s, w, file, k->path.n) : use_characters(s, w, file, k->path.n);
    return status == PEAT_OK ? windows_plan(s, k->valid, w, plan) : status;
}

/* A byte that is not a character by itself has no text. */
static int64_t token_text(const void *config, const void *self, int32_t id, char *text,
                          int64_t room)
{
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    const struct windows *w = self;
    char *at = text;
    (void)config;
    if (id < 0 || id >= w->symbols || room < 5 || (!w->code && id >= 0x80))
        return 0;
    int32_t code = w->code ? w->code[id] : id;
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    *at++ = (char)(lead[more] | code >> 6 * more);
    while (more-- > 0)
        *at++ = (char)(0x80 | (code >> 6 * more & 0x3f));
    *at = '\0';
    return at - text;
}

static double bits_per_byte(const peat_sums *s)
{
    return s->nll / (log(2) * (double)s->units);
}

static const peat_metric metrics[] = {
    {"bpb", false, "bits per byte of the text predicted", bits_per_byte},
    {"loss", false, "nats per token predicted", peat_answer_loss},
    {"accuracy", true, "part of the tokens predicted that had the highest logit", peat_accuracy},
    {NULL, false, NULL, NULL},
};

static const peat_task task = {
    .size = sizeof(task),
    .metric = metrics,
    .setup = setup,
    .train = windows_train,
    .evaluate = windows_evaluate,
    .test = windows_test,
    .token_text = token_text,
};

PEAT_DEFINE(PEAT_TASK, task, struct config, rows, "text", "1.0",
            "language modelling over bytes or characters of files", "MIT", "")
