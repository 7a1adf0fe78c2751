/* SPDX-License-Identifier: MIT */
/* tokenize.c: the steps from texts to a folder. */
#include "pieces/tokenize.h"

#include "ids_file.h"
#include "piece_table.h"
#include "segments.h"
#include "spm.h"

#define MIB ((double)(1 << 20))

struct work {
    struct tokenize *t;
    struct arena *a;
    struct error *err;
    struct data_files files;
    struct text_file *text; /* [t->n] */
    const char *dir;        /* beside t->dir, until all is there */
    struct piece_table table;
};

static const char *in(const struct work *w, const char *name)
{
    return arena_printf(w->a, "%s/%s", w->dir, name);
}

/* ---- texts ---- */

static peat_status read_texts(struct work *w)
{
    struct tokenize *t = w->t;
    w->text = ARENA_ARRAY(w->a, t->n, struct text_file);
    for (int i = 0; i < t->n; i++) {
        struct text_file *file = &w->text[i];
        file->path = t->file[i];
        peat_status status = data_read(&w->files, file->path, w->a, &file->byte, &file->n, w->err);
        if (status == PEAT_OK)
            status = text_file_check(file, w->err);
        if (status == PEAT_OK)
            status = data_hash(&w->files, file->path, &file->hex, w->err);
        if (status != PEAT_OK)
            return status;
        t->bytes += (int64_t)file->n;
    }
    return PEAT_OK;
}

/* Lines that are written in large parts. */
struct lines {
    int fd;
    struct strbuf held;
};

static peat_status lines_flush(struct lines *l, size_t least, struct error *err)
{
    peat_status status = PEAT_OK;
    if (l->held.n >= least) {
        status = fd_write(l->fd, l->held.text, l->held.n, err);
        strbuf_clear(&l->held);
    }
    return status;
}

static peat_status add_line(struct lines *l, const struct segment *s, struct error *err)
{
    enum { PART = 1 << 20 };
    strbuf_add_bytes(&l->held, (const char *)s->byte, s->n);
    strbuf_add(&l->held, "\n");
    return lines_flush(l, PART, err);
}

/* All segments, or so many bytes of them, evenly over the text. */
static peat_status write_segments(const struct work *w, const char *name, double most)
{
    struct lines l = {.fd = -1, .held = STRBUF_NEW};
    struct segments s = {.file = w->text, .n_file = w->t->n};
    struct segment one;
    double seen = 0, taken = 0, share = most / (double)w->t->bytes;
    peat_status status =
        file_open(in(w, name), O_WRONLY | O_CREAT | O_TRUNC, FILE_OWN, &l.fd, w->err);
    while (status == PEAT_OK && segment_next(&s, &one)) {
        seen += (double)(one.n + one.gap);
        if (taken > seen * share)
            continue;
        taken += (double)(one.n + one.gap);
        status = add_line(&l, &one, w->err);
    }
    if (status == PEAT_OK)
        status = lines_flush(&l, 0, w->err);
    if (l.fd >= 0)
        close(l.fd);
    strbuf_release(&l.held);
    return status;
}

static peat_status write_texts(const struct work *w)
{
    double most = (double)w->t->learn_mib * MIB, all = (double)w->t->bytes;
    w->t->say("learning %" PRId64 " pieces (%s) from %.1f of %.1f MiB", w->t->vocab,
              pieces_model_word[w->t->model], (most < all ? most : all) / MIB, all / MIB);
    peat_status status = write_segments(w, SPM_TEXT, all);
    return status == PEAT_OK ? write_segments(w, SPM_LEARN, most) : status;
}

/* ---- ids ---- */

/* The ids of one line: their bytes are those of the segment. */
static peat_status add_segment(const struct work *w, struct ids_file *out, const struct segment *s,
                               const char **line)
{
    size_t at = 0;
    const char *text = *line;
    peat_status status = PEAT_OK;
    while (status == PEAT_OK && *text && *text != '\n') {
        char *end;
        long id = strtol(text, &end, 10);
        const struct piece *p = id >= 0 && id < w->table.n ? &w->table.item[id] : NULL;
        if (end == text || !p || p->n > s->n - at || memcmp(p->byte, s->byte + at, p->n) != 0)
            break;
        at += p->n;
        status = ids_file_add(out, (int32_t)id, w->err);
        text = end + (*end == ' ');
    }
    *line = text + (*text == '\n');
    if (status != PEAT_OK || (at == s->n && *text == '\n'))
        return status;
    return error_set(w->err, PEAT_CORRUPT,
                     "'%s': the pieces that spm_encode gives are not the text from byte %zu on",
                     w->text[s->file].path, s->at + at);
}

static peat_status add_gap(const struct work *w, struct ids_file *out, const struct segment *s)
{
    peat_status status = PEAT_OK;
    for (size_t i = 0; status == PEAT_OK && i < s->gap; i++)
        status = ids_file_add(out, PIECE_OF_BYTE + s->byte[s->n + i], w->err);
    return status;
}

static peat_status write_ids(const struct work *w)
{
    struct ids_file *out = ARENA_NEW(w->a, struct ids_file);
    struct segments s = {.file = w->text, .n_file = w->t->n};
    struct segment one;
    struct mapped_file map;
    peat_status status = mapped_file_open(&map, in(w, SPM_IDS), w->err);
    if (status == PEAT_OK)
        status = ids_file_open(out, in(w, DATA_FOLDER_IDS), w->table.n, w->err);
    if (status != PEAT_OK)
        return status;
    const char *line = (const char *)map.byte;
    while (status == PEAT_OK && segment_next(&s, &one)) {
        status = add_segment(w, out, &one, &line);
        if (status == PEAT_OK)
            status = add_gap(w, out, &one);
    }
    w->t->ids = out->n;
    return ids_file_close(out, status, w->err);
}

/* ---- the folder ---- */

static peat_status write_pieces(struct work *w)
{
    struct strbuf out = STRBUF_NEW;
    peat_status status = piece_table_read(&w->table, in(w, SPM_PIECES), w->a, w->err);
    strbuf_addf(&out, "# %d pieces: %s, sentencepiece %s\n", w->table.n,
                pieces_model_word[w->t->model], spm_version(w->a));
    for (int i = 0; i < w->t->n; i++)
        strbuf_addf(&out, "# of a text of %zu bytes, SHA-256 %s\n", w->text[i].n, w->text[i].hex);
    strbuf_add(&out, "# id, bytes, text; \\xHH is a byte\n");
    piece_table_write(&w->table, &out);
    if (status == PEAT_OK)
        status = file_write_own(in(w, DATA_FOLDER_PIECES), out.text, out.n, w->err);
    strbuf_release(&out);
    return status;
}

static peat_status remove_helpers(const struct work *w)
{
    static const char *const helper[] = {SPM_TEXT, SPM_LEARN, SPM_PIECES, SPM_IDS, SPM_SAID};
    peat_status status = PEAT_OK;
    for (size_t i = 0; status == PEAT_OK && i < sizeof(helper) / sizeof(*helper); i++)
        status = file_remove(w->dir, helper[i], w->err);
    return status;
}

/* The model is written again to have it synced. */
static peat_status publish(const struct work *w)
{
    char *model;
    size_t n;
    peat_status status = remove_helpers(w);
    if (status == PEAT_OK)
        status = file_read(in(w, SPM_MODEL), 0, &model, &n, w->err);
    if (status != PEAT_OK)
        return status;
    status = file_write_own(in(w, SPM_MODEL), model, n, w->err);
    free(model);
    if (status == PEAT_OK && rename(w->dir, w->t->dir) != 0)
        status = error_set(w->err, PEAT_IO, "cannot rename '%s' to '%s': %s", w->dir, w->t->dir,
                           strerror(errno));
    return status == PEAT_OK ? dir_sync_parent(w->t->dir, w->err) : status;
}

static peat_status make(struct work *w)
{
    peat_status status = dir_make(w->dir, w->err);
    if (status == PEAT_OK)
        status = write_texts(w);
    if (status == PEAT_OK)
        status = spm_learn(w->t, w->dir, w->a, w->err);
    if (status == PEAT_OK)
        status = write_pieces(w);
    if (status == PEAT_OK)
        status = spm_encode(w->t, w->dir, w->a, w->err);
    if (status == PEAT_OK)
        status = write_ids(w);
    if (status == PEAT_OK)
        status = data_check(&w->files, w->err);
    return status == PEAT_OK ? publish(w) : status;
}

/* Without the slashes at its end, which a name beside it cannot have. */
static const char *folder_name(const char *dir, struct arena *a)
{
    char *name = arena_strdup(a, dir);
    for (size_t n = strlen(name); n > 1 && name[n - 1] == '/'; n--)
        name[n - 1] = '\0';
    return name;
}

peat_status tokenize(struct tokenize *t, struct arena *a, struct error *err)
{
    struct work w = {.t = t, .a = a, .err = err};
    struct stops_held held;
    w.files = (struct data_files){.a = a, .keep_most = SIZE_MAX};
    t->dir = folder_name(t->dir, a);
    w.dir = arena_printf(a, "%s.tmp-%ld", t->dir, (long)getpid());
    t->bytes = t->ids = 0;
    if (file_exists(t->dir))
        return error_set(err, PEAT_INVALID, "'%s' is there already: name a folder that is not",
                         t->dir);
    peat_status status = read_texts(&w);
    if (status != PEAT_OK)
        return status;
    stops_hold(&held);
    status = make(&w);
    if (status != PEAT_OK)
        dir_remove(w.dir, NULL);
    stops_let(&held);
    return status;
}
