/* SPDX-License-Identifier: MIT */
/*
 * safetensors.h: named tensors in a file that PyTorch and Hugging Face read.
 *
 * 8 bytes little-endian header length, a JSON header, the data. The reader checks everything the
 * format promises before any tensor is handed out: header at most 100 MB and inside the file, no
 * duplicate keys, ranges contiguous without holes or overlap up to the end of the file, sizes equal
 * to shape times dtype without overflow. At most 65,536 tensors of rank at most 6 are read.
 */
#ifndef MODEL_SAFETENSORS_H
#define MODEL_SAFETENSORS_H

#include "base/value.h"
#include "tensor/tensor.h"

struct named_tensor {
    const char *name;
    struct tensor tensor;
};

/* Written whole or not at all (base/file.h). metadata: a map of texts, may be NULL; "format": "pt"
 * is added. */
peat_status safetensors_write(const char *path, const struct named_tensor *t, int n,
                              const struct value *metadata, struct error *err);
/* Reads into the arena; tensors are sorted by name. metadata may be NULL. */
peat_status safetensors_read(const char *path, struct arena *a, struct named_tensor **t, int *n,
                             struct value **metadata, struct error *err);
/* The same from memory; path is for messages. */
peat_status safetensors_parse(const void *bytes, size_t size, const char *path, struct arena *a,
                              struct named_tensor **t, int *n, struct value **metadata,
                              struct error *err);
/* By name, among tensors sorted by name. */
const struct named_tensor *safetensors_find(const struct named_tensor *t, int n, const char *name);

#endif
