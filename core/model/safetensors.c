/* SPDX-License-Identifier: MIT */
/* safetensors.c: writing and reading named tensors. */
#include "model/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian");

enum { PREFIX_BYTES = 8, HEADER_ALIGN = 8, HEADER_LIMIT = 100 * 1000 * 1000 };
enum { TENSOR_LIMIT = 65536, METADATA_LIMIT = 4096 };

static const char metadata_key[] = "__metadata__";

/* Writing */

static int by_size_then_name(const void *a, const void *b)
{
    const struct named_tensor *x = *(const struct named_tensor *const *)a;
    const struct named_tensor *y = *(const struct named_tensor *const *)b;
    size_t sx = dtype_bytes(x->tensor.dtype), sy = dtype_bytes(y->tensor.dtype);
    return sx != sy ? (sx < sy) - (sx > sy) : strcmp(x->name, y->name);
}

static const struct named_tensor **in_file_order(const struct named_tensor *t, int n)
{
    const struct named_tensor **order = mem_array((size_t)n, sizeof(*order), "tensors");
    for (int i = 0; i < n; i++)
        order[i] = &t[i];
    qsort(order, (size_t)n, sizeof(*order), by_size_then_name);
    return order;
}

/* {"dtype": ..., "shape": [...], "data_offsets": [begin, end]} */
static struct value *entry_of(const struct tensor *t, size_t begin, struct arena *a)
{
    struct json entry = json_map(a);
    json_put_text(entry, "dtype", dtype_name(t->dtype));
    struct json shape = json_put_list(entry, "shape");
    for (int i = 0; i < t->rank; i++)
        json_add_int(shape, t->dim[i]);
    struct json offsets = json_put_list(entry, "data_offsets");
    json_add_int(offsets, (int64_t)begin);
    json_add_int(offsets, (int64_t)(begin + tensor_bytes(t)));
    return entry.v;
}

static void put_metadata(struct json header, const struct value *metadata)
{
    struct json map = json_put_map(header, metadata_key);
    json_put_text(map, "format", "pt");
    for (int i = 0; metadata && i < metadata->n; i++) {
        BUG_UNLESS(metadata->item[i]->kind == VALUE_TEXT);
        json_put(map, metadata->key[i], metadata->item[i]);
    }
}

/* The header's text, and the bytes of data it describes. */
static const char *header_text(const struct named_tensor *const *order, int n,
                               const struct value *metadata, struct arena *a, size_t *data_bytes)
{
    struct json header = json_map(a);
    put_metadata(header, metadata);
    size_t begin = 0;
    for (int i = 0; i < n; i++) {
        const struct named_tensor *t = order[i];
        BUG_UNLESS(tensor_contiguous(&t->tensor) && tensor_count(&t->tensor) >= 0);
        BUG_UNLESS(i == 0 || strcmp(t->name, order[i - 1]->name) != 0);
        value_set_new(a, header.v, t->name, NOWHERE, entry_of(&t->tensor, begin, a));
        begin += tensor_bytes(&t->tensor);
    }
    *data_bytes = begin;
    return json_to_text(header.v, JSON_DENSE, a);
}

/* The whole file in memory, freed by the caller; NULL when there is none. */
static unsigned char *file_image(const struct named_tensor *const *order, int n, const char *header,
                                 size_t data_bytes, size_t *size)
{
    size_t text = strlen(header);
    size_t length = (text + HEADER_ALIGN - 1) / HEADER_ALIGN * HEADER_ALIGN;
    *size = PREFIX_BYTES + length + data_bytes;
    unsigned char *image = malloc(*size);
    if (!image)
        return NULL;
    uint64_t prefix = length;
    memcpy(image, &prefix, PREFIX_BYTES);
    memcpy(image + PREFIX_BYTES, header, text);
    memset(image + PREFIX_BYTES + text, ' ', length - text);
    unsigned char *at = image + PREFIX_BYTES + length;
    for (int i = 0; i < n; i++) {
        size_t bytes = tensor_bytes(&order[i]->tensor);
        if (bytes)
            memcpy(at, order[i]->tensor.data, bytes);
        at += bytes;
    }
    return image;
}

peat_status safetensors_write(const char *path, const struct named_tensor *t, int n,
                              const struct value *metadata, struct error *err)
{
    struct arena a;
    size_t data_bytes, size;
    arena_init(&a, "header", 1 << 16);
    const struct named_tensor **order = in_file_order(t, n);
    const char *header = header_text(order, n, metadata, &a, &data_bytes);
    unsigned char *image = file_image(order, n, header, data_bytes, &size);
    peat_status status = image ? file_write(path, image, size, err)
                               : error_set(err, PEAT_NOMEM, "out of memory to write '%s'", path);
    free(image);
    free(order);
    arena_release(&a);
    return status;
}

/* Reading */

/* A file while it is read: where it came from and what is still to be checked. */
struct reader {
    const char *path;
    const unsigned char *data; /* behind the header */
    size_t data_bytes;
    struct arena *arena;
    struct error *err;
};

struct range {
    size_t begin, end;
    const char *name;
};

#define DAMAGED(reader, ...) damaged((reader)->path, (reader)->err, __VA_ARGS__)

static peat_status damaged(const char *path, struct error *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static peat_status damaged(const char *path, struct error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_set_args(err, PEAT_CORRUPT, fmt, args);
    va_end(args);
    error_prefix(err, "%s", path);
    return PEAT_CORRUPT;
}

static peat_status read_dtype(const struct reader *r, const char *name, const struct value *entry,
                              peat_dtype *dtype)
{
    static const peat_dtype known[] = {PEAT_F32, PEAT_F64, PEAT_I32};
    const char *text = json_get_text(entry, "dtype");
    if (!text)
        return DAMAGED(r, "tensor '%s' has no dtype", name);
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (!strcmp(text, dtype_name(known[i]))) {
            *dtype = known[i];
            return PEAT_OK;
        }
    }
    return DAMAGED(r, "tensor '%s' has dtype '%s'; F32, F64 and I32 can be read", name, text);
}

static peat_status read_shape(const struct reader *r, const char *name, const struct value *entry,
                              peat_dtype dtype, struct tensor *t)
{
    const struct value *shape = value_get(entry, "shape");
    if (!shape || shape->kind != VALUE_LIST)
        return DAMAGED(r, "tensor '%s' has no shape", name);
    if (shape->n > PEAT_MAX_RANK)
        return DAMAGED(r, "tensor '%s' has rank %d, the limit is %d", name, shape->n,
                       PEAT_MAX_RANK);
    int64_t dim[PEAT_MAX_RANK], bytes = (int64_t)dtype_bytes(dtype);
    for (int i = 0; i < shape->n; i++) {
        const struct value *one = shape->item[i];
        if (one->kind != VALUE_INT || one->integer < 0)
            return DAMAGED(r, "tensor '%s' has a shape that is not of whole numbers", name);
        dim[i] = one->integer;
        if (__builtin_mul_overflow(bytes, dim[i], &bytes))
            return DAMAGED(r, "the size of tensor '%s' overflows", name);
    }
    *t = tensor_shape(dtype, shape->n, dim);
    return PEAT_OK;
}

static peat_status read_range(const struct reader *r, const char *name, const struct value *entry,
                              const struct tensor *t, struct range *range)
{
    const struct value *offsets = value_get(entry, "data_offsets");
    if (!offsets || offsets->kind != VALUE_LIST || offsets->n != 2 ||
        offsets->item[0]->kind != VALUE_INT || offsets->item[1]->kind != VALUE_INT)
        return DAMAGED(r, "tensor '%s' has no data_offsets", name);
    int64_t b = offsets->item[0]->integer, e = offsets->item[1]->integer;
    if (b < 0 || e < b)
        return DAMAGED(r, "tensor '%s' ends before it begins", name);
    if ((uint64_t)e > r->data_bytes)
        return DAMAGED(r, "tensor '%s' ends beyond the file", name);
    if ((size_t)(e - b) != tensor_bytes(t))
        return DAMAGED(r, "tensor '%s' has %lld bytes, its shape takes %zu", name,
                       (long long)(e - b), tensor_bytes(t));
    *range = (struct range){(size_t)b, (size_t)e, name};
    return PEAT_OK;
}

static peat_status read_entry(const struct reader *r, const char *name, const struct value *entry,
                              struct tensor *t, struct range *range)
{
    if (entry->kind != VALUE_MAP)
        return DAMAGED(r, "tensor '%s' is not described by an object", name);
    peat_dtype dtype = PEAT_F32;
    peat_status status = read_dtype(r, name, entry, &dtype);
    if (status == PEAT_OK)
        status = read_shape(r, name, entry, dtype, t);
    return status == PEAT_OK ? read_range(r, name, entry, t, range) : status;
}

static int by_range(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->begin != y->begin)
        return (x->begin > y->begin) - (x->begin < y->begin);
    return (x->end > y->end) - (x->end < y->end);
}

/* The ranges follow each other from the first byte of data to the last. */
static peat_status check_ranges(const struct reader *r, struct range *range, int n)
{
    qsort(range, (size_t)n, sizeof(*range), by_range);
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        if (range[i].begin > at)
            return DAMAGED(r, "a hole of %zu bytes before tensor '%s'", range[i].begin - at,
                           range[i].name);
        if (range[i].begin < at)
            return DAMAGED(r, "tensor '%s' overlaps another", range[i].name);
        at = range[i].end;
    }
    if (at != r->data_bytes)
        return DAMAGED(r, "%zu bytes after the last tensor", r->data_bytes - at);
    return PEAT_OK;
}

static peat_status copy_tensor(const struct reader *r, const struct tensor *shape,
                               const struct range *range, struct named_tensor *out)
{
    out->name = arena_strdup(r->arena, range->name);
    out->tensor = tensor_new(r->arena, shape->dtype, shape->rank, shape->dim);
    if (!out->tensor.data)
        return error_set(r->err, PEAT_NOMEM, "%s: out of memory", r->path);
    if (range->end > range->begin)
        memcpy(out->tensor.data, r->data + range->begin, range->end - range->begin);
    return PEAT_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named_tensor *)a)->name, ((const struct named_tensor *)b)->name);
}

/* All checks first: `sorted` is put into the order of the file and only looked at. */
static peat_status read_tensors(const struct reader *r, const struct value *header,
                                struct named_tensor *out, struct range *range, struct range *sorted,
                                int *n)
{
    int count = 0;
    for (int i = 0; i < header->n; i++) {
        if (!strcmp(header->key[i], metadata_key))
            continue;
        peat_status status =
            read_entry(r, header->key[i], header->item[i], &out[count].tensor, &range[count]);
        if (status != PEAT_OK)
            return status;
        sorted[count] = range[count];
        count++;
    }
    peat_status status = check_ranges(r, sorted, count);
    for (int i = 0; status == PEAT_OK && i < count; i++) {
        struct tensor shape = out[i].tensor;
        status = copy_tensor(r, &shape, &range[i], &out[i]);
    }
    if (status == PEAT_OK)
        qsort(out, (size_t)count, sizeof(*out), by_name);
    *n = count;
    return status;
}

static peat_status read_metadata(const struct reader *r, const struct value *header,
                                 struct value **metadata)
{
    const struct value *entry = value_get(header, metadata_key);
    struct json map = json_map(r->arena);
    if (entry && entry->kind != VALUE_MAP)
        return DAMAGED(r, "the metadata is not an object");
    if (entry && entry->n > METADATA_LIMIT)
        return DAMAGED(r, "more than %d entries of metadata", METADATA_LIMIT);
    for (int i = 0; entry && i < entry->n; i++) {
        if (entry->item[i]->kind != VALUE_TEXT)
            return DAMAGED(r, "metadata '%s' is not a text", entry->key[i]);
        json_put_text(map, entry->key[i], entry->item[i]->text);
    }
    if (metadata)
        *metadata = map.v;
    return PEAT_OK;
}

static peat_status read_header(const struct reader *r, const struct value *header,
                               struct named_tensor **t, int *n, struct value **metadata)
{
    size_t count = (size_t)header->n;
    if (count > TENSOR_LIMIT + 1)
        return DAMAGED(r, "more than %d tensors", TENSOR_LIMIT);
    peat_status status = read_metadata(r, header, metadata);
    if (status != PEAT_OK)
        return status;
    struct named_tensor *out = ARENA_ARRAY(r->arena, count, struct named_tensor);
    struct range *range = mem_array(2 * count, sizeof(*range), "tensors");
    status = read_tensors(r, header, out, range, range + count, n);
    free(range);
    *t = out;
    return status;
}

peat_status safetensors_parse(const void *bytes, size_t size, const char *path, struct arena *a,
                              struct named_tensor **t, int *n, struct value **metadata,
                              struct error *err)
{
    uint64_t length;
    if (size < PREFIX_BYTES)
        return damaged(path, err, "too short for a safetensors file");
    memcpy(&length, bytes, PREFIX_BYTES);
    if (length > HEADER_LIMIT)
        return damaged(path, err, "a header of %llu bytes, the limit is %d",
                       (unsigned long long)length, HEADER_LIMIT);
    if (length > size - PREFIX_BYTES)
        return damaged(path, err, "the header ends beyond the file");
    const char *text = (const char *)bytes + PREFIX_BYTES;
    if (length == 0 || *text != '{')
        return damaged(path, err, "the header does not begin with '{'");
    struct arena tree;
    struct error wrong = {0};
    arena_init(&tree, "header", 1 << 16);
    const struct value *header = json_parse(&tree, text, length, NULL, &wrong);
    const struct reader r = {path, (const unsigned char *)text + length,
                             size - PREFIX_BYTES - length, a, err};
    peat_status status = header ? read_header(&r, header, t, n, metadata)
                                : damaged(path, err, "header: %s", wrong.text);
    arena_release(&tree);
    return status;
}

peat_status safetensors_read(const char *path, struct arena *a, struct named_tensor **t, int *n,
                             struct value **metadata, struct error *err)
{
    char *bytes;
    size_t size;
    peat_status status = file_read(path, 0, &bytes, &size, err);
    if (status != PEAT_OK)
        return status;
    status = safetensors_parse(bytes, size, path, a, t, n, metadata, err);
    free(bytes);
    return status;
}

const struct named_tensor *safetensors_find(const struct named_tensor *t, int n, const char *name)
{
    const struct named_tensor key = {.name = name};
    return n ? bsearch(&key, t, (size_t)n, sizeof(*t), by_name) : NULL;
}
