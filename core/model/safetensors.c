/* SPDX-License-Identifier: MIT */
/* safetensors.c: writing and reading named tensors. */
#include "model/safetensors.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

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
    const struct named_tensor **order = calloc((size_t)n + 1, sizeof(*order));
    for (int i = 0; order && i < n; i++)
        order[i] = &t[i];
    if (order)
        qsort(order, (size_t)n, sizeof(*order), by_size_then_name);
    return order;
}

/* {"dtype": ..., "shape": [...], "data_offsets": [begin, end]} */
static json_t *entry_of(const struct tensor *t, size_t begin)
{
    json_t *shape = json_array();
    for (int i = 0; i < t->rank; i++)
        json_array_append_new(shape, json_integer(t->dim[i]));
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtype_name(t->dtype), "shape", shape,
                     "data_offsets", (json_int_t)begin, (json_int_t)(begin + tensor_bytes(t)));
}

static json_t *metadata_entry(const struct value *metadata)
{
    json_t *map = json_pack("{s:s}", "format", "pt");
    for (int i = 0; metadata && i < metadata->n; i++) {
        BUG_UNLESS(metadata->item[i]->kind == VALUE_TEXT);
        json_object_set_new(map, metadata->key[i], json_string(metadata->item[i]->text));
    }
    return map;
}

/* The header's text, freed by the caller, and the bytes of data it describes. */
static char *header_text(const struct named_tensor *const *order, int n,
                         const struct value *metadata, size_t *data_bytes)
{
    json_t *header = json_object();
    json_object_set_new(header, metadata_key, metadata_entry(metadata));
    size_t begin = 0;
    for (int i = 0; i < n; i++) {
        BUG_UNLESS(tensor_contiguous(&order[i]->tensor) && tensor_count(&order[i]->tensor) >= 0);
        BUG_UNLESS(!json_object_get(header, order[i]->name));
        json_object_set_new(header, order[i]->name, entry_of(&order[i]->tensor, begin));
        begin += tensor_bytes(&order[i]->tensor);
    }
    bool whole = json_object_size(header) == (size_t)n + 1;
    char *text = whole ? json_dumps(header, JSON_COMPACT) : NULL;
    json_decref(header);
    *data_bytes = begin;
    return text;
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
    size_t data_bytes, size;
    json_start();
    const struct named_tensor **order = in_file_order(t, n);
    char *header = order ? header_text(order, n, metadata, &data_bytes) : NULL;
    unsigned char *image = header ? file_image(order, n, header, data_bytes, &size) : NULL;
    peat_status status = image ? file_write(path, image, size, err)
                               : error_set(err, PEAT_NOMEM, "out of memory to write '%s'", path);
    free(image);
    free(header);
    free(order);
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
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return error_set(err, PEAT_CORRUPT, "%s: %s", path, text);
}

static peat_status no_memory(const struct reader *r)
{
    return error_set(r->err, PEAT_NOMEM, "%s: out of memory", r->path);
}

static peat_status read_dtype(const struct reader *r, const char *name, const json_t *entry,
                              peat_dtype *dtype)
{
    static const peat_dtype known[] = {PEAT_F32, PEAT_F64, PEAT_I32};
    const char *text = json_string_value(json_object_get(entry, "dtype"));
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

static peat_status read_shape(const struct reader *r, const char *name, const json_t *entry,
                              peat_dtype dtype, struct tensor *t)
{
    const json_t *shape = json_object_get(entry, "shape");
    if (!json_is_array(shape))
        return DAMAGED(r, "tensor '%s' has no shape", name);
    size_t rank = json_array_size(shape);
    if (rank > PEAT_MAX_RANK)
        return DAMAGED(r, "tensor '%s' has rank %zu, the limit is %d", name, rank, PEAT_MAX_RANK);
    int64_t dim[PEAT_MAX_RANK], bytes = (int64_t)dtype_bytes(dtype);
    for (size_t i = 0; i < rank; i++) {
        const json_t *one = json_array_get(shape, i);
        if (!json_is_integer(one) || json_integer_value(one) < 0)
            return DAMAGED(r, "tensor '%s' has a shape that is not of whole numbers", name);
        dim[i] = json_integer_value(one);
        if (__builtin_mul_overflow(bytes, dim[i], &bytes))
            return DAMAGED(r, "the size of tensor '%s' overflows", name);
    }
    *t = tensor_shape(dtype, (int)rank, dim);
    return PEAT_OK;
}

static peat_status read_range(const struct reader *r, const char *name, const json_t *entry,
                              const struct tensor *t, struct range *range)
{
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end))
        return DAMAGED(r, "tensor '%s' has no data_offsets", name);
    json_int_t b = json_integer_value(begin), e = json_integer_value(end);
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

static peat_status read_entry(const struct reader *r, const char *name, const json_t *entry,
                              struct tensor *t, struct range *range)
{
    if (!json_is_object(entry))
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
    if (!out->name || !out->tensor.data)
        return no_memory(r);
    if (range->end > range->begin)
        memcpy(out->tensor.data, r->data + range->begin, range->end - range->begin);
    return PEAT_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named_tensor *)a)->name, ((const struct named_tensor *)b)->name);
}

/* All checks first: `sorted` is put into the order of the file and only looked at. */
static peat_status read_tensors(const struct reader *r, json_t *header, struct named_tensor *out,
                                struct range *range, struct range *sorted, int *n)
{
    const char *name;
    json_t *entry;
    int count = 0;
    json_object_foreach(header, name, entry)
    {
        if (!strcmp(name, metadata_key))
            continue;
        peat_status status = read_entry(r, name, entry, &out[count].tensor, &range[count]);
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

static peat_status read_metadata(const struct reader *r, const json_t *header,
                                 struct value **metadata)
{
    json_t *entry = json_object_get(header, metadata_key), *item;
    const char *key;
    const struct place at = {.file = NULL};
    struct value *map = value_map(r->arena, at);
    if (entry && !json_is_object(entry))
        return DAMAGED(r, "the metadata is not an object");
    if (json_object_size(entry) > METADATA_LIMIT)
        return DAMAGED(r, "more than %d entries of metadata", METADATA_LIMIT);
    json_object_foreach(entry, key, item)
    {
        if (!json_is_string(item))
            return DAMAGED(r, "metadata '%s' is not a text", key);
        value_set(r->arena, map, key, at, value_text(r->arena, at, json_string_value(item)));
    }
    if (metadata)
        *metadata = map;
    return PEAT_OK;
}

static peat_status read_header(const struct reader *r, json_t *header, struct named_tensor **t,
                               int *n, struct value **metadata)
{
    size_t count = json_object_size(header);
    if (count > TENSOR_LIMIT + 1)
        return DAMAGED(r, "more than %d tensors", TENSOR_LIMIT);
    peat_status status = read_metadata(r, header, metadata);
    if (status != PEAT_OK)
        return status;
    struct named_tensor *out = ARENA_TRY_ARRAY(r->arena, count, struct named_tensor);
    struct range *range = calloc(2 * count + 1, sizeof(*range));
    status = out && range ? read_tensors(r, header, out, range, range + count, n) : no_memory(r);
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
    json_error_t wrong;
    json_start();
    json_t *header = json_loadb(text, length, JSON_REJECT_DUPLICATES, &wrong);
    if (!header)
        return damaged(path, err, "header: %s", wrong.text);
    const struct reader r = {path, (const unsigned char *)text + length,
                             size - PREFIX_BYTES - length, a, err};
    peat_status status = read_header(&r, header, t, n, metadata);
    json_decref(header);
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
