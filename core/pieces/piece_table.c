/* SPDX-License-Identifier: MIT */
/* piece_table.c: reads spm_train's list of pieces and writes PEAT's. */
#include "pieces.h"

static const char space_sign[] = "\xe2\x96\x81"; /* U+2581 */

static void add_piece(struct piece_table *t, const char *text, size_t n, struct arena *a)
{
    struct strbuf bytes = STRBUF_NEW;
    int id = t->n++;
    if (id >= PIECE_OF_BYTE && id < PIECES_FIXED)
        strbuf_addf(&bytes, "%c", id - PIECE_OF_BYTE);
    while (id >= PIECES_FIXED && n > 0) {
        bool space = n >= 3 && memcmp(text, space_sign, 3) == 0;
        size_t taken = space ? 3 : 1;
        strbuf_add_bytes(&bytes, space ? " " : text, 1);
        text += taken;
        n -= taken;
    }
    t->item[id].n = id == PIECE_OF_BYTE ? 1 : bytes.n;
    t->item[id].byte = strbuf_keep(&bytes, a);
}

/* The first pieces have fixed names: "<unk>", "<0x00>", ... */
static bool has_its_place(int id, const char *line, size_t n)
{
    char name[16] = "<unk>";
    if (id >= PIECES_FIXED)
        return n > 0;
    if (id >= PIECE_OF_BYTE)
        snprintf(name, sizeof(name), "<0x%02X>", (unsigned)(id - PIECE_OF_BYTE));
    return n == strlen(name) && memcmp(line, name, n) == 0;
}

static peat_status read_lines(struct piece_table *t, const char *path, const char *text,
                              struct arena *a, struct error *err)
{
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        size_t n = strcspn(line, "\t\n");
        if (!has_its_place(t->n, line, n))
            return error_set(err, PEAT_CORRUPT, "'%s': line %d is not the piece expected there",
                             path, t->n + 1);
        add_piece(t, line, n, a);
    }
    return t->n > PIECES_FIXED ? PEAT_OK : error_set(err, PEAT_CORRUPT, "'%s' has no pieces", path);
}

static int count_lines(const char *text)
{
    int n = 0;
    for (; (text = strchr(text, '\n')); text++)
        n++;
    return n;
}

peat_status piece_table_read(struct piece_table *t, const char *path, struct arena *a,
                             struct error *err)
{
    char *text;
    size_t n;
    peat_status status = file_read(path, 0, &text, &n, err);
    if (status != PEAT_OK)
        return status;
    *t = (struct piece_table){.item = ARENA_ARRAY(a, count_lines(text) + 1, struct piece)};
    status = read_lines(t, path, text, a, err);
    free(text);
    return status;
}

static void add_escaped(struct strbuf *out, const struct piece *p)
{
    uint32_t code;
    for (size_t at = 0, n; at < p->n; at += n) {
        n = utf8_read((const unsigned char *)p->byte + at, p->n - at, &code);
        bool plain =
            n > 0 && code >= ' ' && code != 0x7f && code != '\\' && !(code >= 0x80 && code < 0xa0);
        if (plain) {
            strbuf_add_bytes(out, p->byte + at, n);
            continue;
        }
        n = n ? n : 1;
        for (size_t i = 0; i < n; i++)
            strbuf_addf(out, "\\x%02X", (unsigned)(unsigned char)p->byte[at + i]);
    }
}

void piece_table_write(const struct piece_table *t, struct strbuf *out)
{
    for (int id = 0; id < t->n; id++) {
        strbuf_addf(out, "%d\t%zu\t", id, t->item[id].n);
        add_escaped(out, &t->item[id]);
        strbuf_add(out, "\n");
    }
}
