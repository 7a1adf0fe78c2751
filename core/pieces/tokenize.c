/* SPDX-License-Identifier: MIT */
/* tokenize.c: texts are checked here; tokenize.py does the rest, in a folder beside the new one. */
#include "pieces/tokenize.h"

#include "process/child.h"

extern const char tokenize_program[]; /* tokenize.py */

const char *const pieces_model_word[] = {"unigram", "bpe"};

static peat_status check_text(const char *path, const unsigned char *byte, size_t size,
                              struct error *err)
{
    const char *kind = file_kind(byte, size);
    uint32_t code;
    if (size == 0)
        return error_set(err, PEAT_INVALID, "'%s' is empty", path);
    if (kind)
        return error_set(err, PEAT_INVALID, "'%s' is %s", path, kind);
    for (size_t at = 0, n; at < size; at += n) {
        n = utf8_read(byte + at, size - at, &code);
        if (n == 0)
            return error_set(err, PEAT_INVALID,
                             "'%s' is not UTF-8 at byte %zu; `iconv -t UTF-8` converts a text",
                             path, at);
        if (code == 0)
            return error_set(err, PEAT_INVALID, "'%s' is not text: byte %zu is 0", path, at);
    }
    return PEAT_OK;
}

static peat_status check_texts(struct tokenize *t, struct arena *a, struct error *err)
{
    struct data_files files = {.a = a, .keep_most = SIZE_MAX};
    peat_status status = PEAT_OK;
    for (int i = 0; status == PEAT_OK && i < t->n; i++) {
        const unsigned char *byte;
        size_t n = 0;
        status = data_read(&files, t->file[i], a, &byte, &n, err);
        if (status == PEAT_OK)
            status = check_text(t->file[i], byte, n, err);
        t->bytes += (int64_t)n;
    }
    return status;
}

/* The program says on stderr why it fails; a stop ends it with its group. */
static peat_status run_program(const struct tokenize *t, const char *dir, struct arena *a,
                               struct error *err)
{
    enum { FIRST = 8 }; /* the first text */
    char **argv = ARENA_ARRAY(a, FIRST + t->n + 1, char *);
    const char *const word[FIRST] = {"python3",
                                     "-I",
                                     "-c",
                                     tokenize_program,
                                     dir,
                                     arena_printf(a, "%" PRId64, t->vocab),
                                     pieces_model_word[t->model],
                                     arena_printf(a, "%" PRId64, t->learn_mib)};
    for (int i = 0; i < FIRST + t->n; i++)
        argv[i] = (char *)(uintptr_t)(i < FIRST ? word[i] : t->file[i - FIRST]);
    struct child c = {.argv = argv, .own_group = true, .grace = 1};
    peat_status status = child_start(&c, err);
    if (status == PEAT_NOTFOUND)
        return error_set(err, status, "pieces of words need python3, which is not installed");
    if (status != PEAT_OK)
        return status;
    child_wait(&c);
    if (c.signal && !stops_waiting())
        return error_set(err, PEAT_FAILED, "python3 was ended by signal %d", c.signal);
    return c.code == 0 ? PEAT_OK : c.code == 2 ? PEAT_INVALID : PEAT_FAILED;
}

static peat_status publish(struct tokenize *t, const char *made, struct error *err)
{
    enum { HEADER = 128, NARROW = 1 << 16 };
    struct stat ids;
    if (stat(path_in(made, DATA_FOLDER_IDS).text, &ids) != 0 || rename(made, t->dir) != 0)
        return error_set(err, PEAT_IO, "cannot rename '%s' to '%s': %s", made, t->dir,
                         strerror(errno));
    t->ids = (ids.st_size - HEADER) / (t->vocab <= NARROW ? 2 : 4);
    return dir_sync_parent(t->dir, err);
}

peat_status tokenize(struct tokenize *t, struct arena *a, struct error *err)
{
    struct stops_held held;
    t->dir = path_bare(t->dir, a);
    const char *made = arena_printf(a, "%s.tmp-%ld", t->dir, (long)getpid());
    t->bytes = t->ids = 0;
    if (file_exists(t->dir))
        return error_set(err, PEAT_INVALID, "'%s' exists already: name a new folder", t->dir);
    peat_status status = check_texts(t, a, err);
    if (status != PEAT_OK)
        return status;
    stops_hold(&held);
    status = dir_make(made, err);
    if (status == PEAT_OK)
        status = run_program(t, made, a, err);
    if (status == PEAT_OK)
        status = publish(t, made, err);
    if (status != PEAT_OK)
        dir_remove(made, NULL);
    stops_let(&held);
    return status;
}
