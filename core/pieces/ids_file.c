/* SPDX-License-Identifier: MIT */
/* ids_file.c: writes '<u2' or '<u4'; the header last, when the number of ids is known. */
#include "pieces.h"

peat_status ids_file_open(struct ids_file *f, const char *path, int64_t vocab, struct error *err)
{
    f->path = path;
    f->width = vocab <= 1 << 16 ? 2 : 4;
    f->n = 0;
    f->held = IDS_HEADER;
    memset(f->buffer, 0, IDS_HEADER);
    return file_open(path, O_WRONLY | O_CREAT | O_TRUNC, FILE_OWN, &f->fd, err);
}

static peat_status flush(struct ids_file *f, struct error *err)
{
    size_t n = f->held;
    f->held = 0;
    return fd_write(f->fd, f->buffer, n, err);
}

peat_status ids_file_add(struct ids_file *f, int32_t id, struct error *err)
{
    for (int i = 0; i < f->width; i++)
        f->buffer[f->held++] = (unsigned char)((uint32_t)id >> 8 * i);
    f->n++;
    return f->held == IDS_HELD ? flush(f, err) : PEAT_OK;
}

/* Version 1 of the format: the length of what follows, and a dict padded with spaces. */
static void make_header(const struct ids_file *f, unsigned char header[IDS_HEADER])
{
    enum { START = 10 };
    char text[IDS_HEADER];
    int n = snprintf(text, sizeof(text),
                     "{'descr': '<u%d', 'fortran_order': False, 'shape': (%" PRId64 ",), }",
                     f->width, f->n);
    memset(header, ' ', IDS_HEADER);
    memcpy(header, "\x93NUMPY\1\0", 8);
    header[8] = IDS_HEADER - START;
    header[9] = 0;
    memcpy(header + START, text, (size_t)n);
    header[IDS_HEADER - 1] = '\n';
}

peat_status ids_file_close(struct ids_file *f, peat_status status, struct error *err)
{
    unsigned char header[IDS_HEADER];
    if (f->fd < 0)
        return status;
    make_header(f, header);
    if (status == PEAT_OK)
        status = flush(f, err);
    if (status == PEAT_OK && lseek(f->fd, 0, SEEK_SET) != 0)
        status = PEAT_IO;
    if (status == PEAT_OK)
        status = fd_write(f->fd, header, IDS_HEADER, err);
    if (status == PEAT_OK && fsync(f->fd) != 0)
        status = error_set(err, PEAT_IO, "cannot sync '%s': %s", f->path, strerror(errno));
    else if (status == PEAT_IO)
        error_prefix(err, "cannot write '%s'", f->path);
    close(f->fd);
    return status;
}
