/* SPDX-License-Identifier: MIT */
/* packer.c: gzip by zlib and xz by liblzma, where both are installed. */
#include "packer.h"

#ifdef PEAT_PACKS

#include <lzma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/memory.h"

enum { OUT = 1 << 16, PART = 1 << 30 };

struct packer {
    enum packing packing;
    z_stream gzip;
    lzma_stream xz;
    struct strbuf bytes; /* packed so far */
};

/* ---- one call of each library: true while there is more to fetch ---- */

static bool step_gzip(struct packer *p, const unsigned char **next, size_t *n, bool last,
                      bool *failed)
{
    unsigned char out[OUT];
    p->gzip.next_in = (Bytef *)*next; /* read alone: zlib's type lacks the const */
    p->gzip.avail_in = (uInt)*n;
    p->gzip.next_out = out;
    p->gzip.avail_out = sizeof(out);
    int code = deflate(&p->gzip, last ? Z_FINISH : Z_NO_FLUSH);
    strbuf_add_bytes(&p->bytes, out, sizeof(out) - p->gzip.avail_out);
    *next += *n - p->gzip.avail_in;
    *n = p->gzip.avail_in;
    *failed = code != Z_OK && code != Z_BUF_ERROR && code != Z_STREAM_END;
    return code == Z_OK && (*n > 0 || p->gzip.avail_out == 0);
}

static bool step_xz(struct packer *p, const unsigned char **next, size_t *n, bool last,
                    bool *failed)
{
    unsigned char out[OUT];
    p->xz.next_in = *next;
    p->xz.avail_in = *n;
    p->xz.next_out = out;
    p->xz.avail_out = sizeof(out);
    lzma_ret code = lzma_code(&p->xz, last ? LZMA_FINISH : LZMA_RUN);
    strbuf_add_bytes(&p->bytes, out, sizeof(out) - p->xz.avail_out);
    *next += *n - p->xz.avail_in;
    *n = p->xz.avail_in;
    *failed = code != LZMA_OK && code != LZMA_STREAM_END && code != LZMA_BUF_ERROR;
    return code == LZMA_OK && (*n > 0 || p->xz.avail_out == 0);
}

static peat_status pack(struct packer *p, const unsigned char *bytes, size_t n, bool last,
                        struct error *err)
{
    bool failed = false, more = true;
    while (more && !failed)
        more = p->packing == PACKED_XZ ? step_xz(p, &bytes, &n, last, &failed)
                                       : step_gzip(p, &bytes, &n, last, &failed);
    return failed ? error_set(err, PEAT_IO, "cannot pack the archive") : PEAT_OK;
}

/* ---- a stream ---- */

static bool start(struct packer *p)
{
    enum { BEST = 9, WITH_GZIP_HEADER = 16 };
    if (p->packing == PACKED_XZ)
        return lzma_easy_encoder(&p->xz, LZMA_PRESET_DEFAULT, LZMA_CHECK_CRC64) == LZMA_OK;
    return deflateInit2(&p->gzip, BEST, Z_DEFLATED, MAX_WBITS + WITH_GZIP_HEADER, 8,
                        Z_DEFAULT_STRATEGY) == Z_OK;
}

peat_status packer_open(struct packer **p, enum packing packing, struct error *err)
{
    (void)err;
    *p = mem_array(1, sizeof(**p), "archive");
    (*p)->packing = packing;
    strbuf_init(&(*p)->bytes);
    if (!start(*p))
        out_of_memory("archive");
    return PEAT_OK;
}

peat_status packer_add(struct packer *p, const void *bytes, size_t n, struct error *err)
{
    const unsigned char *next = bytes;
    peat_status status = PEAT_OK;
    for (size_t part = 0; n > 0 && status == PEAT_OK; n -= part, next += part) {
        part = n < PART ? n : PART;
        status = pack(p, next, part, false, err);
    }
    return status;
}

peat_status packer_finish(struct packer *p, struct strbuf *out, struct error *err)
{
    static const unsigned char nothing[1];
    peat_status status = pack(p, nothing, 0, true, err);
    if (status == PEAT_OK)
        strbuf_add_bytes(out, p->bytes.text, p->bytes.n);
    return status;
}

void packer_close(struct packer *p)
{
    if (!p)
        return;
    if (p->packing == PACKED_XZ)
        lzma_end(&p->xz);
    else
        deflateEnd(&p->gzip);
    strbuf_release(&p->bytes);
    free(p);
}

#else

static peat_status missing(struct error *err)
{
    return error_set(err, PEAT_FAILED,
                     "this build has no zlib and liblzma, which bundles need: install them "
                     "(Debian: zlib1g-dev, liblzma-dev) and build again");
}

peat_status packer_open(struct packer **p, enum packing packing, struct error *err)
{
    (void)packing;
    *p = NULL;
    return missing(err);
}

peat_status packer_add(struct packer *p, const void *bytes, size_t n, struct error *err)
{
    (void)p;
    (void)bytes;
    (void)n;
    return missing(err);
}

peat_status packer_finish(struct packer *p, struct strbuf *out, struct error *err)
{
    (void)p;
    (void)out;
    return missing(err);
}

void packer_close(struct packer *p)
{
    (void)p;
}

#endif
