/* SPDX-License-Identifier: MIT */
/* packer.h: bytes in, fewer bytes out, the same for the same on any machine with these libraries.
 */
#ifndef GRID_PACKER_H
#define GRID_PACKER_H

#include "base/error.h"
#include "base/strbuf.h"
#include "grid/bundle.h"

struct packer;

/* PEAT_FAILED: this build has no zlib and liblzma; *p is NULL then. */
peat_status packer_open(struct packer **p, enum packing packing, struct error *err);
peat_status packer_add(struct packer *p, const void *bytes, size_t n, struct error *err);
/* All of it, packed, onto *out; nothing is to be added any more. */
peat_status packer_finish(struct packer *p, struct strbuf *out, struct error *err);
void packer_close(struct packer *p); /* NULL: nothing */

#endif
