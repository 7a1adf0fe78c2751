/* SPDX-License-Identifier: MIT */
/* safetensors.c: writing and reading named tensors. */
#include "model/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "model/foreign_numbers.h"

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
    bool foreign; /* tensors of any dtype may be in it */
};

struct range {
    size_t begin, end;
    const char *name;
};

/* A tensor as the header describes it. */
struct entry {
    struct tensor shape;
    const struct dtype_word *word;
    struct range range;
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

/* How a header says what numbers a tensor has. What is not PEAT's own and no kind of number that
 * tables of others are made of has bytes alone. */
static const struct dtype_word {
    const char *name;
    size_t bytes;
    bool own;
    peat_dtype dtype; /* of PEAT's own */
    int numbers;      /* enum number_kind; -1: none that a weight could have */
} dtype_words[] = {
    {"F32", 4, true, PEAT_F32, NUMBERS_F32},
    {"F64", 8, true, PEAT_F64, NUMBERS_F64},
    {"I32", 4, true, PEAT_I32, -1},
    {"F16", 2, .numbers = NUMBERS_F16},
    {"BF16", 2, .numbers = NUMBERS_BF16},
    {"I64", 8, .numbers = -1},
    {"I16", 2, .numbers = -1},
    {"I8", 1, .numbers = -1},
    {"U64", 8, .numbers = -1},
    {"U32", 4, .numbers = -1},
    {"U16", 2, .numbers = -1},
    {"U8", 1, .numbers = -1},
    {"BOOL", 1, .numbers = -1},
    {"F8_E4M3", 1, .numbers = -1},
    {"F8_E5M2", 1, .numbers = -1},
};

static peat_status read_dtype(const struct reader *r, const char *name, const struct value *entry,
                              const struct dtype_word **word)
{
    const char *text = json_get_text(entry, "dtype");
    if (!text)
        return DAMAGED(r, "tensor '%s' has no dtype", name);
    for (size_t i = 0; i < sizeof(dtype_words) / sizeof(*dtype_words); i++) {
        *word = &dtype_words[i];
        if (!strcmp(text, (*word)->name) && ((*word)->own || r->foreign))
            return PEAT_OK;
    }
    if (r->foreign)
        return DAMAGED(r, "tensor '%s' has dtype '%s', which is none of the format", name, text);
    return DAMAGED(r, "tensor '%s' has dtype '%s'; F32, F64 and I32 can be read", name, text);
}

static peat_status read_shape(const struct reader *r, const char *name, const struct value *entry,
                              const struct dtype_word *word, struct tensor *t)
{
    const struct value *shape = value_get(entry, "shape");
    if (!shape || shape->kind != VALUE_LIST)
        return DAMAGED(r, "tensor '%s' has no shape", name);
    if (shape->n > PEAT_MAX_RANK)
        return DAMAGED(r, "tensor '%s' has rank %d, the limit is %d", name, shape->n,
                       PEAT_MAX_RANK);
    int64_t dim[PEAT_MAX_RANK], bytes = (int64_t)word->bytes;
    for (int i = 0; i < shape->n; i++) {
        const struct value *one = shape->item[i];
        if (one->kind != VALUE_INT || one->integer < 0)
            return DAMAGED(r, "tensor '%s' has a shape that is not of whole numbers", name);
        dim[i] = one->integer;
        if (__builtin_mul_overflow(bytes, dim[i], &bytes))
            return DAMAGED(r, "the size of tensor '%s' overflows", name);
    }
    *t = tensor_shape(word->own ? word->dtype : PEAT_F32, shape->n, dim);
    return PEAT_OK;
}

static peat_status read_range(const struct reader *r, const char *name, const struct value *entry,
                              size_t bytes, struct range *range)
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
    if ((size_t)(e - b) != bytes)
        return DAMAGED(r, "tensor '%s' has %lld bytes, its shape takes %zu", name,
                       (long long)(e - b), bytes);
    *range = (struct range){(size_t)b, (size_t)e, name};
    return PEAT_OK;
}

static peat_status read_entry(const struct reader *r, const char *name, const struct value *v,
                              struct entry *entry)
{
    if (v->kind != VALUE_MAP)
        return DAMAGED(r, "tensor '%s' is not described by an object", name);
    peat_status status = read_dtype(r, name, v, &entry->word);
    if (status == PEAT_OK)
        status = read_shape(r, name, v, entry->word, &entry->shape);
    if (status != PEAT_OK)
        return status;
    size_t bytes = (size_t)tensor_count(&entry->shape) * entry->word->bytes;
    return read_range(r, name, v, bytes, &entry->range);
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

static peat_status copy_tensor(const struct reader *r, const struct entry *entry,
                               struct named_tensor *out)
{
    const struct range *range = &entry->range;
    out->name = arena_strdup(r->arena, range->name);
    out->tensor = tensor_new(r->arena, entry->shape.dtype, entry->shape.rank, entry->shape.dim);
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

/* `sorted` is put into the order of the file and only looked at. */
static peat_status read_entries(const struct reader *r, const struct value *header,
                                struct entry *entry, struct range *sorted, int *n)
{
    int count = 0;
    for (int i = 0; i < header->n; i++) {
        if (!strcmp(header->key[i], metadata_key))
            continue;
        peat_status status = read_entry(r, header->key[i], header->item[i], &entry[count]);
        if (status != PEAT_OK)
            return status;
        sorted[count] = entry[count].range;
        count++;
    }
    *n = count;
    return check_ranges(r, sorted, count);
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

/* All checks are done before a tensor is handed out. */
static peat_status read_header(const struct reader *r, const struct value *header,
                               struct value **metadata, struct entry **entry, int *n)
{
    size_t count = (size_t)header->n;
    if (count > TENSOR_LIMIT + 1)
        return DAMAGED(r, "more than %d tensors", TENSOR_LIMIT);
    peat_status status = read_metadata(r, header, metadata);
    if (status != PEAT_OK)
        return status;
    *entry = ARENA_ARRAY(r->arena, count, struct entry);
    struct range *sorted = mem_array(count, sizeof(*sorted), "tensors");
    status = read_entries(r, header, *entry, sorted, n);
    free(sorted);
    return status;
}

static peat_status copy_tensors(const struct reader *r, const struct entry *entry, int n,
                                struct named_tensor **t)
{
    struct named_tensor *out = ARENA_ARRAY(r->arena, n, struct named_tensor);
    peat_status status = PEAT_OK;
    for (int i = 0; status == PEAT_OK && i < n; i++)
        status = copy_tensor(r, &entry[i], &out[i]);
    if (status == PEAT_OK)
        qsort(out, (size_t)n, sizeof(*out), by_name);
    *t = out;
    return status;
}

/* Where the header is, and what follows it. */
static peat_status find_header(const void *bytes, size_t size, const char *path, const char **text,
                               size_t *length, struct error *err)
{
    uint64_t n;
    if (size < PREFIX_BYTES)
        return damaged(path, err, "too short for a safetensors file");
    memcpy(&n, bytes, PREFIX_BYTES);
    if (n > HEADER_LIMIT)
        return damaged(path, err, "a header of %llu bytes, the limit is %d", (unsigned long long)n,
                       HEADER_LIMIT);
    if (n > size - PREFIX_BYTES)
        return damaged(path, err, "the header ends beyond the file");
    *text = (const char *)bytes + PREFIX_BYTES;
    *length = (size_t)n;
    return n > 0 && **text == '{' ? PEAT_OK
                                  : damaged(path, err, "the header does not begin with '{'");
}

/* From the first byte to the last range; `tree` holds the header. r->path, arena, err and foreign
 * are given, the rest is filled in. */
static peat_status read_file(struct reader *r, const void *bytes, size_t size, struct arena *tree,
                             struct value **metadata, struct entry **entry, int *n)
{
    const char *text = NULL;
    size_t length = 0;
    struct error wrong = {0};
    peat_status status = find_header(bytes, size, r->path, &text, &length, r->err);
    if (status != PEAT_OK)
        return status;
    r->data = (const unsigned char *)text + length;
    r->data_bytes = size - PREFIX_BYTES - length;
    const struct value *header = json_parse(tree, text, length, NULL, &wrong);
    return header ? read_header(r, header, metadata, entry, n)
                  : DAMAGED(r, "header: %s", wrong.text);
}

peat_status safetensors_parse(const void *bytes, size_t size, const char *path, struct arena *a,
                              struct named_tensor **t, int *n, struct value **metadata,
                              struct error *err)
{
    struct arena tree;
    struct entry *entry;
    struct reader r = {.path = path, .arena = a, .err = err};
    arena_init(&tree, "header", 1 << 16);
    peat_status status = read_file(&r, bytes, size, &tree, metadata, &entry, n);
    if (status == PEAT_OK)
        status = copy_tensors(&r, entry, *n, t);
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

/* Files of others */

peat_status safetensors_open(struct safetensors *f, const void *bytes, size_t size,
                             const char *path, struct arena *a, struct error *err)
{
    struct reader r = {.path = path, .arena = a, .err = err, .foreign = true};
    *f = (struct safetensors){.path = path};
    peat_status status = read_file(&r, bytes, size, a, NULL, &f->entry, &f->n);
    f->data = r.data;
    return status;
}

const char *safetensors_only(const struct safetensors *f)
{
    return f->n == 1 ? f->entry[0].range.name : NULL;
}

/* f->n where there is none. */
static int index_of(const struct safetensors *f, const char *name)
{
    int i = 0;
    while (i < f->n && strcmp(f->entry[i].range.name, name) != 0)
        i++;
    return i;
}

bool safetensors_has(const struct safetensors *f, const char *name)
{
    return index_of(f, name) < f->n;
}

/* With the names that there are when they are few. */
static peat_status no_such_tensor(const struct safetensors *f, const char *name, struct error *err)
{
    enum { FEW = 8 };
    const char **all = mem_array((size_t)f->n + 1, sizeof(*all), "names");
    for (int i = 0; i < f->n; i++)
        all[i] = f->entry[i].range.name;
    error_set(err, PEAT_NOTFOUND, "'%s' has no tensor '%s'%s", f->path, name,
              f->n > 0 && f->n <= FEW ? "; it has " : "");
    if (f->n <= FEW)
        error_add_names(err, name, all, f->n);
    else
        error_add_nearest(err, name, all, f->n);
    free(all);
    return PEAT_NOTFOUND;
}

peat_status safetensors_take(const struct safetensors *f, const char *name, struct arena *a,
                             struct tensor *t, struct error *err)
{
    int i = index_of(f, name);
    if (i == f->n)
        return no_such_tensor(f, name, err);
    const struct entry *e = &f->entry[i];
    if (e->word->numbers < 0)
        return error_set(err, PEAT_INVALID,
                         "tensor '%s' of '%s' has dtype %s; weights are made of F32, F64, F16 and "
                         "BF16",
                         name, f->path, e->word->name);
    *t = numbers_read((enum number_kind)e->word->numbers, e->shape.rank, e->shape.dim,
                      f->data + e->range.begin, a);
    return t->data ? PEAT_OK
                   : error_set(err, PEAT_NOMEM, "no memory for tensor '%s' of '%s'", name, f->path);
}
