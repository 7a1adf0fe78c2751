/* SPDX-License-Identifier: MIT */
/*
 * table_file.h: two columns of a file of tab- or comma-separated values.
 *
 * Tabs: a line is a row, and fields are taken as they stand. Commas: as RFC 4180 says, a field in
 * double quotes may hold commas, line ends and doubled quotes.
 */
#ifndef TASK_TABLE_FILE_H
#define TASK_TABLE_FILE_H

#include "task_file.h"

struct table_field {
    const unsigned char *byte;
    int64_t n;
};

struct table {
    const char *path;
    int64_t n;                    /* rows                       */
    struct table_field (*row)[2]; /* [n]                        */
};

struct table_reader {
    const struct task_file *file;
    unsigned char delimiter;
    int64_t at, line, row_line; /* lines from 1: here, and where the row began */
    unsigned char *out;         /* where unquoted fields go, as long as the file */
};

/* Tabs where the first line has one. */
static inline unsigned char table_delimiter(const struct task_file *file)
{
    const unsigned char *end = memchr(file->byte, '\n', (size_t)file->n);
    size_t n = end ? (size_t)(end - file->byte) : (size_t)file->n;
    return memchr(file->byte, '\t', n) ? '\t' : ',';
}

static inline bool table_ends_field(const struct table_reader *r, unsigned char c)
{
    return c == r->delimiter || c == '\n';
}

/* From behind the first quote to behind the last; false: there is none. */
static inline bool table_read_quoted(struct table_reader *r, struct table_field *field)
{
    const struct task_file *f = r->file;
    field->byte = r->out;
    for (; r->at < f->n; r->at++) {
        bool quote = f->byte[r->at] == '"';
        if (quote && (r->at + 1 == f->n || f->byte[r->at + 1] != '"')) {
            r->at++;
            field->n = r->out - field->byte;
            return true;
        }
        r->at += quote;
        r->line += f->byte[r->at] == '\n';
        *r->out++ = f->byte[r->at];
    }
    return false;
}

static inline void table_read_plain(struct table_reader *r, struct table_field *field)
{
    const struct task_file *f = r->file;
    field->byte = f->byte + r->at;
    while (r->at < f->n && !table_ends_field(r, f->byte[r->at]))
        r->at++;
    field->n = f->byte + r->at - field->byte;
    bool last = r->at == f->n || f->byte[r->at] == '\n';
    if (last && field->n > 0 && field->byte[field->n - 1] == '\r')
        field->n--;
}

static inline peat_status table_read_field(peat_setup *s, struct table_reader *r,
                                           struct table_field *field)
{
    const struct task_file *f = r->file;
    bool quoted = r->delimiter == ',' && r->at < f->n && f->byte[r->at] == '"';
    if (!quoted) {
        table_read_plain(r, field);
        return PEAT_OK;
    }
    r->at++;
    if (!table_read_quoted(r, field))
        return peat_refuse(s, "'%s':%" PRId64 ": a quote is not closed", f->path, r->row_line);
    if (r->at + 1 < f->n && f->byte[r->at] == '\r' && f->byte[r->at + 1] == '\n')
        r->at++;
    if (r->at < f->n && !table_ends_field(r, f->byte[r->at]))
        return peat_refuse(s, "'%s':%" PRId64 ": something follows a closed quote", f->path,
                           r->line);
    return PEAT_OK;
}

/* One row; its columns number column[0] and column[1] (from 1) into row. */
static inline peat_status table_read_row(peat_setup *s, struct table_reader *r,
                                         const int64_t column[2], struct table_field row[2])
{
    const struct task_file *f = r->file;
    int64_t n = 0, most = column[0] > column[1] ? column[0] : column[1];
    r->row_line = r->line;
    for (bool more = true; more; r->at += r->at < f->n) {
        struct table_field field;
        peat_status status = table_read_field(s, r, &field);
        if (status != PEAT_OK)
            return status;
        n++;
        for (int i = 0; i < 2; i++)
            if (column[i] == n)
                row[i] = field;
        more = r->at < f->n && f->byte[r->at] == r->delimiter;
    }
    r->line++;
    if (n < most)
        return peat_refuse(
            s, "'%s':%" PRId64 ": column %" PRId64 " is asked for, and there %s %" PRId64, f->path,
            r->row_line, most, n == 1 ? "is" : "are", n);
    return PEAT_OK;
}

/* Empty lines are passed over. */
static inline void table_skip_empty(struct table_reader *r)
{
    const struct task_file *f = r->file;
    while (r->at < f->n && (f->byte[r->at] == '\n' || (f->byte[r->at] == '\r' && r->at + 1 < f->n &&
                                                       f->byte[r->at + 1] == '\n'))) {
        r->line += f->byte[r->at] == '\n';
        r->at++;
    }
}

/* Reads both columns of every row; with `header` the first is left out. Fields point into the file
 * or into memory of the set-up. */
static inline peat_status table_read(peat_setup *s, const char *path, unsigned char delimiter,
                                     const int64_t column[2], bool header, struct table *t)
{
    struct task_file file;
    peat_status status = task_file_read_text(s, path, &file);
    if (status != PEAT_OK)
        return status;
    int64_t lines = 1;
    for (int64_t i = 0; i < file.n; i++)
        lines += file.byte[i] == '\n';
    t->path = path;
    t->row = (struct table_field(*)[2])peat_alloc(s, (size_t)lines * sizeof(*t->row));
    struct table_reader r = {.file = &file, .line = 1};
    r.delimiter = delimiter ? delimiter : table_delimiter(&file);
    r.out = (unsigned char *)peat_alloc(s, (size_t)file.n + 1);
    if (!t->row || !r.out)
        return PEAT_NOMEM;
    for (table_skip_empty(&r); r.at < file.n; table_skip_empty(&r)) {
        status = table_read_row(s, &r, column, t->row[t->n]);
        if (status != PEAT_OK)
            return status;
        t->n += !header;
        header = false;
    }
    if (t->n == 0)
        return peat_refuse(s, "'%s' has no rows", path);
    return PEAT_OK;
}

/* A number in [0, 1) that is a function of the bytes: what is below `valid` validates, so that
 * equal fields are all on one side. FNV-1a, mixed. */
static inline double table_share(const struct table_field *field)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int64_t i = 0; i < field->n; i++)
        hash = (hash ^ field->byte[i]) * UINT64_C(0x100000001b3);
    hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (double)((hash ^ hash >> 32) >> 11) * 0x1p-53;
}

#endif
