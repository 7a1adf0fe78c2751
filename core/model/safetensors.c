/* SPDX-License-Identifier: MIT */
/* safetensors.c: writing and reading named tensors. */
#include "model/safetensors.h"

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

/* The header's text, and the number of bytes of data for it. */
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

/* The whole file in memory, freed by the caller; NULL: out of memory. */
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

unsigned char *safetensors_image(const struct named_tensor *t, int n, const struct value *metadata,
                                 size_t *size)
{
    struct arena a;
    size_t data_bytes;
    arena_init(&a, "header", 1 << 16);
    const struct named_tensor **order = in_file_order(t, n);
    const char *header = header_text(order, n, metadata, &a, &data_bytes);
    unsigned char *image = file_image(order, n, header, data_bytes, size);
    free(order);
    arena_release(&a);
    return image;
}

peat_status safetensors_write(const char *path, const struct named_tensor *t, int n,
                              const struct value *metadata, struct error *err)
{
    size_t size;
    unsigned char *image = safetensors_image(t, n, metadata, &size);
    peat_status status = image ? file_write(path, image, size, err)
                               : error_set(err, PEAT_NOMEM, "out of memory to write '%s'", path);
    free(image);
    return status;
}

/* Reading */

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

/* A file that is being read. The first error is kept; results after it are not used. */
struct reader {
    const char *path;
    const unsigned char *data; /* the data after the header */
    size_t data_bytes;
    struct arena *arena;
    struct error *err;
    bool foreign; /* tensors of any dtype may be in it */
    peat_status status;
    int n;
    struct entry *entry; /* in the order of the header */
    struct value *metadata;
};

__attribute__((format(printf, 2, 3))) static void damaged(struct reader *r, const char *fmt, ...)
{
    va_list args;
    if (r->status != PEAT_OK)
        return;
    va_start(args, fmt);
    r->status = error_set_args(r->err, PEAT_CORRUPT, fmt, args);
    va_end(args);
    error_prefix(r->err, "%s", r->path);
}

/* The dtypes of the format. A PEAT file has some of them. A foreign file may have any; those with a
 * number_kind can be read as weights. */
static const struct dtype_word {
    const char *name;
    size_t bytes;
    bool own;
    peat_dtype dtype; /* its dtype in PEAT files    */
    int numbers;      /* enum number_kind; -1: not a type for weights */
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

static void read_dtype(struct reader *r, const char *name, const struct value *described,
                       struct entry *entry)
{
    const char *text = json_get_text(described, "dtype");
    const struct dtype_word *found = NULL;
    for (size_t i = 0; text && i < sizeof(dtype_words) / sizeof(*dtype_words); i++)
        if (!strcmp(text, dtype_words[i].name) && (dtype_words[i].own || r->foreign))
            found = &dtype_words[i];
    if (!text)
        damaged(r, "tensor '%s' has no dtype", name);
    else if (!found && r->foreign)
        damaged(r, "tensor '%s' has dtype '%s', which the format does not have", name, text);
    else if (!found)
        damaged(r, "tensor '%s' has dtype '%s'; F32, F64 and I32 can be read", name, text);
    entry->word = found ? found : dtype_words;
}

/* The bytes of the tensor. */
static int64_t read_shape(struct reader *r, const char *name, const struct value *described,
                          struct entry *entry)
{
    const struct value *shape = value_get(described, "shape");
    int64_t dim[PEAT_MAX_RANK] = {0}, bytes = (int64_t)entry->word->bytes;
    int rank = shape && shape->kind == VALUE_LIST ? shape->n : -1;
    if (rank < 0)
        damaged(r, "tensor '%s' has no shape", name);
    else if (rank > PEAT_MAX_RANK)
        damaged(r, "tensor '%s' has rank %d, the limit is %d", name, rank, PEAT_MAX_RANK);
    for (int i = 0; r->status == PEAT_OK && i < rank; i++) {
        const struct value *one = shape->item[i];
        dim[i] = one->kind == VALUE_INT ? one->integer : -1;
        if (dim[i] < 0)
            damaged(r, "tensor '%s' has a shape that is not of whole numbers", name);
        else if (__builtin_mul_overflow(bytes, dim[i], &bytes))
            damaged(r, "the size of tensor '%s' overflows", name);
    }
    if (r->status == PEAT_OK)
        entry->shape = tensor_shape(entry->word->own ? entry->word->dtype : PEAT_F32, rank, dim);
    return bytes;
}

static void read_range(struct reader *r, const char *name, const struct value *described,
                       int64_t bytes, struct entry *entry)
{
    const struct value *offsets = value_get(described, "data_offsets");
    if (!offsets || offsets->kind != VALUE_LIST || offsets->n != 2 ||
        offsets->item[0]->kind != VALUE_INT || offsets->item[1]->kind != VALUE_INT) {
        damaged(r, "tensor '%s' has no data_offsets", name);
        return;
    }
    int64_t b = offsets->item[0]->integer, e = offsets->item[1]->integer;
    if (b < 0 || e < b)
        damaged(r, "tensor '%s' ends before it begins", name);
    else if ((uint64_t)e > r->data_bytes)
        damaged(r, "tensor '%s' ends beyond the file", name);
    else if (e - b != bytes)
        damaged(r, "tensor '%s' has %lld bytes, its shape takes %lld", name, (long long)(e - b),
                (long long)bytes);
    entry->range = (struct range){(size_t)b, (size_t)e, name};
}

static int by_range(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->begin != y->begin)
        return (x->begin > y->begin) - (x->begin < y->begin);
    return (x->end > y->end) - (x->end < y->end);
}

/* Checks that the ranges follow each other from the first byte of data to the last. */
static void check_ranges(struct reader *r)
{
    struct range *range = mem_array((size_t)r->n, sizeof(*range), "tensors");
    size_t at = 0;
    for (int i = 0; i < r->n; i++)
        range[i] = r->entry[i].range;
    qsort(range, (size_t)r->n, sizeof(*range), by_range);
    for (int i = 0; i < r->n; i++) {
        if (range[i].begin > at)
            damaged(r, "a hole of %zu bytes before tensor '%s'", range[i].begin - at,
                    range[i].name);
        if (range[i].begin < at)
            damaged(r, "tensor '%s' overlaps another", range[i].name);
        at = range[i].end;
    }
    if (at != r->data_bytes)
        damaged(r, "%zu bytes after the last tensor", r->data_bytes - at);
    free(range);
}

static void read_metadata(struct reader *r, const struct value *entry)
{
    struct json map = json_map(r->arena);
    r->metadata = map.v;
    if (entry && entry->kind != VALUE_MAP)
        damaged(r, "the metadata is not an object");
    else if (entry && entry->n > METADATA_LIMIT)
        damaged(r, "more than %d entries of metadata", METADATA_LIMIT);
    for (int i = 0; entry && r->status == PEAT_OK && i < entry->n; i++)
        if (entry->item[i]->kind == VALUE_TEXT)
            json_put_text(map, entry->key[i], entry->item[i]->text);
        else
            damaged(r, "metadata '%s' is not a text", entry->key[i]);
}

/* All checks come before any tensor is returned. */
static void read_header(struct reader *r, const struct value *header)
{
    if (header->n > TENSOR_LIMIT + 1) {
        damaged(r, "more than %d tensors", TENSOR_LIMIT);
        return;
    }
    read_metadata(r, value_get(header, metadata_key));
    r->entry = ARENA_ARRAY(r->arena, header->n, struct entry);
    for (int i = 0; r->status == PEAT_OK && i < header->n; i++) {
        const char *name = header->key[i];
        const struct value *described = header->item[i];
        if (!strcmp(name, metadata_key))
            continue;
        struct entry *entry = &r->entry[r->n++];
        if (described->kind != VALUE_MAP) {
            damaged(r, "tensor '%s' is not described by an object", name);
            return;
        }
        read_dtype(r, name, described, entry);
        read_range(r, name, described, read_shape(r, name, described, entry), entry);
    }
    if (r->status == PEAT_OK)
        check_ranges(r);
}

/* The header's text, which the data follow. NULL: the file is refused. */
static const char *find_header(struct reader *r, const char *bytes, size_t size, size_t *length)
{
    uint64_t n = 0;
    if (size < PREFIX_BYTES) {
        damaged(r, "too short for a safetensors file");
        return NULL;
    }
    memcpy(&n, bytes, PREFIX_BYTES);
    const char *text = bytes + PREFIX_BYTES;
    if (n > HEADER_LIMIT)
        damaged(r, "a header of %llu bytes, the limit is %d", (unsigned long long)n, HEADER_LIMIT);
    else if (n > size - PREFIX_BYTES)
        damaged(r, "the header ends beyond the file");
    else if (n == 0 || *text != '{')
        damaged(r, "the header does not begin with '{'");
    if (r->status != PEAT_OK)
        return NULL;
    *length = (size_t)n;
    r->data = (const unsigned char *)text + n;
    r->data_bytes = size - PREFIX_BYTES - n;
    return text;
}

/* r->path, arena, err and foreign are set; `tree` gets the header. */
static void read_file(struct reader *r, const void *bytes, size_t size, struct arena *tree)
{
    size_t length;
    struct error wrong = {0};
    const char *text = find_header(r, bytes, size, &length);
    const struct value *header = text ? json_parse(tree, text, length, NULL, &wrong) : NULL;
    if (header)
        read_header(r, header);
    else
        damaged(r, "header: %s", wrong.text);
}

static struct named_tensor *copy_tensors(struct reader *r)
{
    struct named_tensor *out = ARENA_ARRAY(r->arena, r->n, struct named_tensor);
    for (int i = 0; r->status == PEAT_OK && i < r->n; i++) {
        const struct entry *e = &r->entry[i];
        struct tensor t = tensor_new(r->arena, e->shape.dtype, e->shape.rank, e->shape.dim);
        out[i] = (struct named_tensor){arena_strdup(r->arena, e->range.name), t};
        if (!t.data)
            r->status = error_set(r->err, PEAT_NOMEM, "%s: out of memory", r->path);
        else if (e->range.end > e->range.begin)
            memcpy(t.data, r->data + e->range.begin, e->range.end - e->range.begin);
    }
    qsort(out, (size_t)r->n, sizeof(*out), compare_texts);
    return out;
}

peat_status safetensors_parse(const void *bytes, size_t size, const char *path, struct arena *a,
                              struct named_tensor **t, int *n, struct value **metadata,
                              struct error *err)
{
    struct arena tree;
    struct reader r = {.path = path, .arena = a, .err = err};
    arena_init(&tree, "header", 1 << 16);
    read_file(&r, bytes, size, &tree);
    if (r.status == PEAT_OK)
        *t = copy_tensors(&r);
    *n = r.n;
    if (metadata)
        *metadata = r.metadata;
    arena_release(&tree);
    return r.status;
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
    return n ? bsearch(&key, t, (size_t)n, sizeof(*t), compare_texts) : NULL;
}

/* Foreign files */

peat_status safetensors_open(struct safetensors *f, const void *bytes, size_t size,
                             const char *path, struct arena *a, struct error *err)
{
    struct reader r = {.path = path, .arena = a, .err = err, .foreign = true};
    read_file(&r, bytes, size, a);
    *f = (struct safetensors){.path = path, .data = r.data, .n = r.n, .entry = r.entry};
    return r.status;
}

const char *safetensors_only(const struct safetensors *f)
{
    return f->n == 1 ? f->entry[0].range.name : NULL;
}

/* returns f->n where no tensor has this name */
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

/* Names all tensors of the file if they are few, otherwise the nearest. */
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
