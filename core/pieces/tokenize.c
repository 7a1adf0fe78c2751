/* SPDX-License-Identifier: MIT */
/* tokenize.c: the steps from texts to a folder. */
#include "pieces/tokenize.h"

#include "pieces.h"

#define MIB ((double)(1 << 20))

struct work {
    struct tokenize *t;
    struct arena *a;
    struct error *err; /* never NULL; steps return whether they succeeded */
    struct data_files files;
    struct text_file *text; /* [t->n] */
    const char *dir;        /* temporary folder beside t->dir, until everything is there */
    struct piece_table table;
};

static const char *in(const struct work *w, const char *name)
{
    return arena_printf(w->a, "%s/%s", w->dir, name);
}

/* ---- texts ---- */

static bool read_texts(struct work *w)
{
    struct tokenize *t = w->t;
    bool ok = true;
    w->text = ARENA_ARRAY(w->a, t->n, struct text_file);
    for (int i = 0; ok && i < t->n; i++) {
        struct text_file *file = &w->text[i];
        file->path = t->file[i];
        ok = data_read(&w->files, file->path, w->a, &file->byte, &file->n, w->err) == PEAT_OK &&
             text_file_check(file, w->err) == PEAT_OK &&
             data_hash(&w->files, file->path, &file->hex, w->err) == PEAT_OK;
        t->bytes += (int64_t)file->n;
    }
    return ok;
}

/* Lines that are written in large blocks. */
struct lines {
    int fd;
    struct strbuf held;
};

static bool lines_flush(struct lines *l, size_t least, struct error *err)
{
    if (l->held.n < least)
        return true;
    bool ok = fd_write(l->fd, l->held.text, l->held.n, err) == PEAT_OK;
    strbuf_clear(&l->held);
    return ok;
}

static bool add_line(struct lines *l, const struct segment *s, struct error *err)
{
    enum { PART = 1 << 20 };
    strbuf_add_bytes(&l->held, (const char *)s->byte, s->n);
    strbuf_add(&l->held, "\n");
    return lines_flush(l, PART, err);
}

/* Writes all segments, or so many bytes of them, spread evenly over the text. */
static bool write_segments(const struct work *w, const char *name, double most)
{
    struct lines l = {.fd = -1, .held = STRBUF_NEW};
    struct segments s = {.file = w->text, .n_file = w->t->n};
    struct segment one;
    double seen = 0, taken = 0, share = most / (double)w->t->bytes;
    bool ok =
        file_open(in(w, name), O_WRONLY | O_CREAT | O_TRUNC, FILE_OWN, &l.fd, w->err) == PEAT_OK;
    while (ok && segment_next(&s, &one)) {
        seen += (double)(one.n + one.gap);
        if (taken > seen * share)
            continue;
        taken += (double)(one.n + one.gap);
        ok = add_line(&l, &one, w->err);
    }
    ok = ok && lines_flush(&l, 0, w->err);
    if (l.fd >= 0)
        close(l.fd);
    strbuf_release(&l.held);
    return ok;
}

static bool write_texts(const struct work *w)
{
    double most = (double)w->t->learn_mib * MIB, all = (double)w->t->bytes;
    w->t->say("learning %" PRId64 " pieces (%s) from %.1f of %.1f MiB", w->t->vocab,
              pieces_model_word[w->t->model], (most < all ? most : all) / MIB, all / MIB);
    return write_segments(w, SPM_TEXT, all) && write_segments(w, SPM_LEARN, most);
}

/* ---- ids ---- */

/* Reads the ids of one line and checks that their bytes are those of the segment. */
static bool add_segment(const struct work *w, struct ids_file *out, const struct segment *s,
                        const char **line)
{
    size_t at = 0;
    const char *text = *line;
    bool ok = true;
    while (ok && *text && *text != '\n') {
        char *end;
        long id = strtol(text, &end, 10);
        const struct piece *p = id >= 0 && id < w->table.n ? &w->table.item[id] : NULL;
        if (end == text || !p || p->n > s->n - at || memcmp(p->byte, s->byte + at, p->n) != 0)
            break;
        at += p->n;
        ok = ids_file_add(out, (int32_t)id, w->err) == PEAT_OK;
        text = end + (*end == ' ');
    }
    *line = text + (*text == '\n');
    if (!ok || (at == s->n && *text == '\n'))
        return ok;
    return error_set(w->err, PEAT_CORRUPT,
                     "'%s': the pieces that spm_encode gives are not the text from byte %zu on",
                     w->text[s->file].path, s->at + at) == PEAT_OK;
}

static bool add_gap(const struct work *w, struct ids_file *out, const struct segment *s)
{
    bool ok = true;
    for (size_t i = 0; ok && i < s->gap; i++)
        ok = ids_file_add(out, PIECE_OF_BYTE + s->byte[s->n + i], w->err) == PEAT_OK;
    return ok;
}

static bool write_ids(const struct work *w)
{
    struct ids_file *out = ARENA_NEW(w->a, struct ids_file);
    struct segments s = {.file = w->text, .n_file = w->t->n};
    struct segment one;
    struct mapped_file map;
    if (mapped_file_open(&map, in(w, SPM_IDS), w->err) != PEAT_OK ||
        ids_file_open(out, in(w, DATA_FOLDER_IDS), w->table.n, w->err) != PEAT_OK)
        return false;
    const char *line = (const char *)map.byte;
    bool ok = true;
    while (ok && segment_next(&s, &one))
        ok = add_segment(w, out, &one, &line) && add_gap(w, out, &one);
    w->t->ids = out->n;
    return ids_file_close(out, ok ? PEAT_OK : w->err->status, w->err) == PEAT_OK;
}

/* ---- the folder ---- */

static bool write_pieces(struct work *w)
{
    struct strbuf out = STRBUF_NEW;
    bool ok = piece_table_read(&w->table, in(w, SPM_PIECES), w->a, w->err) == PEAT_OK;
    strbuf_addf(&out, "# %d pieces: %s, sentencepiece %s\n", w->table.n,
                pieces_model_word[w->t->model], spm_version(w->a));
    for (int i = 0; i < w->t->n; i++)
        strbuf_addf(&out, "# of a text of %zu bytes, SHA-256 %s\n", w->text[i].n, w->text[i].hex);
    strbuf_add(&out, "# id, bytes, text; \\xHH is a byte\n");
    piece_table_write(&w->table, &out);
    ok = ok && file_write_own(in(w, DATA_FOLDER_PIECES), out.text, out.n, w->err) == PEAT_OK;
    strbuf_release(&out);
    return ok;
}

static bool remove_helpers(const struct work *w)
{
    static const char *const helper[] = {SPM_TEXT, SPM_LEARN, SPM_PIECES, SPM_IDS, SPM_SAID};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof(helper) / sizeof(*helper); i++)
        ok = file_remove(w->dir, helper[i], w->err) == PEAT_OK;
    return ok;
}

/* The model is written again to have it synced. */
static bool publish(const struct work *w)
{
    char *model = NULL;
    size_t n;
    bool ok = remove_helpers(w) && file_read(in(w, SPM_MODEL), 0, &model, &n, w->err) == PEAT_OK &&
              file_write_own(in(w, SPM_MODEL), model, n, w->err) == PEAT_OK;
    free(model);
    if (ok && rename(w->dir, w->t->dir) != 0)
        return error_set(w->err, PEAT_IO, "cannot rename '%s' to '%s': %s", w->dir, w->t->dir,
                         strerror(errno)) == PEAT_OK;
    return ok && dir_sync_parent(w->t->dir, w->err) == PEAT_OK;
}

static bool make(struct work *w)
{
    return dir_make(w->dir, w->err) == PEAT_OK && write_texts(w) &&
           spm_learn(w->t, w->dir, w->a, w->err) == PEAT_OK && write_pieces(w) &&
           spm_encode(w->t, w->dir, w->a, w->err) == PEAT_OK && write_ids(w) &&
           data_check(&w->files, w->err) == PEAT_OK && publish(w);
}

/* The path without slashes at its end, so that a name beside it can be made. */
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
        return error_set(err, PEAT_INVALID, "'%s' exists already: name a new folder", t->dir);
    if (!read_texts(&w))
        return err->status;
    stops_hold(&held);
    bool made = make(&w);
    if (!made)
        dir_remove(w.dir, NULL);
    stops_let(&held);
    return made ? PEAT_OK : err->status;
}
