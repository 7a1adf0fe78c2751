/* SPDX-License-Identifier: MIT */
/*
 * safetensors.h: named tensors in a file that PyTorch and Hugging Face read.
 *
 * 8 bytes little-endian header length, a JSON header, the data. The reader checks everything that
 * the format requires before it returns any tensor: header at most 100 MB and inside the file, no
 * duplicate keys, contiguous ranges without gaps or overlap up to the end of the file, sizes equal
 * to shape times dtype without overflow. At most 65,536 tensors of rank at most 6 are read.
 */
#pragma once

#include "tensor/tensor.h"

struct named_tensor {
    const char *name;
    struct tensor tensor;
};

/* Written whole or not at all (base/file.h). metadata: a map of texts, may be NULL; "format": "pt"
 * is added. */
peat_status safetensors_write(const char *path, const struct named_tensor *t, int n,
                              const struct value *metadata, struct error *err);
/* The bytes of such a file, freed by the caller; NULL: out of memory. */
unsigned char *safetensors_image(const struct named_tensor *t, int n, const struct value *metadata,
                                 size_t *size);
/* Reads into the arena; tensors are sorted by name. metadata may be NULL. */
peat_status safetensors_read(const char *path, struct arena *a, struct named_tensor **t, int *n,
                             struct value **metadata, struct error *err);
/* Reads a file that is in memory; path is for messages. */
peat_status safetensors_parse(const void *bytes, size_t size, const char *path, struct arena *a,
                              struct named_tensor **t, int *n, struct value **metadata,
                              struct error *err);
/* Finds a tensor by name, among tensors sorted by name. */
const struct named_tensor *safetensors_find(const struct named_tensor *t, int n, const char *name);

/* ---- foreign files ---- */

/* A file in memory from which some tensors are read. The others may have any dtype of the format.
 */
struct safetensors {
    const char *path;
    const unsigned char *data; /* borrowed */
    int n;
    struct entry *entry; /* in the order of the header */
};

/* Opens a file after the same checks. bytes and path are borrowed. */
peat_status safetensors_open(struct safetensors *f, const void *bytes, size_t size,
                             const char *path, struct arena *a, struct error *err);
bool safetensors_has(const struct safetensors *f, const char *name);
/* The name of the file's tensor if it has exactly one; otherwise NULL. */
const char *safetensors_only(const struct safetensors *f);
/* Copies a tensor: F64 as F64; F32, F16 and BF16 as F32. PEAT_NOTFOUND, with the nearest names, if
 * there is no such tensor. */
peat_status safetensors_take(const struct safetensors *f, const char *name, struct arena *a,
                             struct tensor *t, struct error *err);
