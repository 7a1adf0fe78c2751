/* SPDX-License-Identifier: MIT */
/*
 * images.c: the class of an image. One token for each pixel or pool of pixels, its grey level, row
 * by row from position 0 on, then ASK, where the class is asked for; with model.head: class there
 * is no ASK. With model.input: patches a place is a square of pixels as numbers, with its row and
 * column.
 */
#include <peat/sequence.h>

#include "../task_file.h"

enum { SHAPES, IDX, CIFAR_10, CLASSES_OF_SHAPES = 4 };
enum { IDX_IMAGES = 0x803, IDX_LABELS = 0x801, CIFAR_SIDE = 32, CIFAR_ROW = 1 + 3 * 32 * 32 };
enum { SIDE_BY_ITSELF = 8, SIDE_LEAST = 3, SHAPES_EVALUATED = 1024 };

#define SHAPES_STREAM      UINT64_C(0x494d4147455f4556)
#define SHAPES_TEST_STREAM UINT64_C(0x494d4147455f5453)

struct config {
    int64_t source, side, pool, levels;
    peat_strings path;
    const char *labels;
    double valid;
};

static const char *const sources[] = {"shapes", "idx", "cifar10", NULL};

static const peat_param rows[] = {
    {"source", PEAT_ENUM, offsetof(struct config, source), .preset = SHAPES, .labels = sources,
     .doc = "made images whose class depends on where things are, or files"},
    {"path", PEAT_STRINGS, offsetof(struct config, path),
     .doc = "idx: the file of images; cifar10: one or several binary files", .flags = PEAT_PATH},
    {"labels", PEAT_STRING, offsetof(struct config, labels), .doc = "idx: the file of labels",
     .flags = PEAT_PATH},
    {"side", PEAT_INT, offsetof(struct config, side), .min = SIDE_LEAST, .max = 64,
     .automatic = "8, or as many as fit train.seq_len", .unit = "pixels",
     .doc = "shapes: rows and columns", .flags = PEAT_AUTO},
    {"pool", PEAT_INT, offsetof(struct config, pool), .preset = 1, .min = 1, .max = 64,
     .unit = "pixels",
     .doc = "side of the squares that make a place: averaged to a token, or kept as a patch"},
    {"levels", PEAT_INT, offsetof(struct config, levels), .preset = 16, .min = 4, .max = 256,
     .doc = "grey levels"},
    {"valid", PEAT_REAL, offsetof(struct config, valid), .preset = 0.1, .min = 0, .max = 0.9,
     .doc = "files: part of the images, from their end, held out for validation and test",
     .flags = PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

struct images {
    int64_t height, width, n, train, classes; /* height and width in tokens */
    int64_t planes;                           /* of colour */
    unsigned char *level;                     /* [n, height, width]; NULL: shapes */
    unsigned char *pixel; /* patches: [n, height, width, planes, pool, pool]; NULL: tokens */
    unsigned char *label; /* [n]                              */
    int64_t test;         /* files: images [train, test) validate, [test, n) are the test part */
    int64_t evaluated, tested; /* of the validation part and of the test part */
    bool patches;
    int64_t ask; /* tokens that ask for the class: 1, or 0 where it is that of the row */
};

/* ---- files ---- */

static uint32_t big_endian(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Room for n images of rows x columns pixels. */
static peat_status make_room(peat_setup *s, const struct config *k, int64_t n, int64_t height,
                             int64_t width, int64_t planes, struct images *m)
{
    if (n < 1 || height < 1 || width < 1 || height % k->pool || width % k->pool)
        return peat_refuse(s,
                           "%" PRId64 " images of %" PRId64 " x %" PRId64
                           " pixels are not made of squares of pool = %" PRId64,
                           n, height, width, k->pool);
    m->n = n;
    m->height = height / k->pool;
    m->width = width / k->pool;
    m->planes = planes;
    m->level = peat_alloc(s, (size_t)(n * m->height * m->width));
    m->label = peat_alloc(s, (size_t)n);
    if (m->patches)
        m->pixel = peat_alloc(s, (size_t)(n * height * width * planes));
    return m->level && m->label && (m->pixel || !m->patches) ? PEAT_OK : PEAT_NOMEM;
}

/* The mean of `planes` planes of a square of pixels, as a level; `plane` bytes lie between them. */
static unsigned char pool_at(const struct config *k, const unsigned char *pixel, int64_t stride,
                             int64_t planes, int64_t plane)
{
    int64_t sum = 0;
    for (int64_t p = 0; p < planes; p++)
        for (int64_t y = 0; y < k->pool; y++)
            for (int64_t x = 0; x < k->pool; x++)
                sum += pixel[p * plane + y * stride + x];
    return (unsigned char)(sum * k->levels / (256 * planes * k->pool * k->pool));
}

/* The pixels of a square, plane by plane and row by row; returns the place behind them. */
static unsigned char *keep_at(const struct config *k, const unsigned char *pixel, int64_t stride,
                              int64_t planes, int64_t plane, unsigned char *out)
{
    for (int64_t p = 0; p < planes; p++)
        for (int64_t y = 0; y < k->pool; y++, out += k->pool)
            memcpy(out, pixel + p * plane + y * stride, (size_t)k->pool);
    return out;
}

static void pool_image(const struct config *k, struct images *m, int64_t i,
                       const unsigned char *pixel)
{
    int64_t stride = m->width * k->pool, plane = m->height * k->pool * stride;
    unsigned char *level = m->level + i * m->height * m->width;
    unsigned char *kept = m->patches ? m->pixel + i * plane * m->planes : NULL;
    for (int64_t y = 0; y < m->height; y++)
        for (int64_t x = 0; x < m->width; x++) {
            const unsigned char *square = pixel + (y * stride + x) * k->pool;
            *level++ = pool_at(k, square, stride, m->planes, plane);
            if (kept)
                kept = keep_at(k, square, stride, m->planes, plane, kept);
        }
}

/* A header of `dims` sizes; checks that the file has what it announces. */
static peat_status read_idx(peat_setup *s, const char *path, uint32_t magic, int dims,
                            struct task_file *file, int64_t *dim)
{
    peat_status status = task_file_read(s, path, file);
    if (status != PEAT_OK)
        return status;
    status = task_file_expect_plain(s, file, "");
    if (status != PEAT_OK)
        return status;
    double size = 4 + 4 * dims, items = 1;
    if ((double)file->n < size || big_endian(file->byte) != magic)
        return peat_refuse(s, "'%s' is not an IDX file of %s", path,
                           magic == IDX_IMAGES ? "images" : "labels");
    for (int i = 0; i < dims; i++) {
        dim[i] = big_endian(file->byte + 4 + 4 * i);
        items *= (double)dim[i];
    }
    if ((double)file->n != size + items)
        return peat_refuse(s, "'%s' announces %.0f bytes, but has %" PRId64 "; is it truncated?",
                           path, size + items, file->n);
    return PEAT_OK;
}

static peat_status load_idx(peat_setup *s, const struct config *k, struct images *m)
{
    struct task_file image, label;
    int64_t dim[3] = {0}, n = 0;
    if (k->path.n != 1 || !k->labels[0])
        return peat_refuse(s, "source: idx needs path, a file of images, and labels");
    peat_status status = read_idx(s, k->path.item[0], IDX_IMAGES, 3, &image, dim);
    if (status == PEAT_OK)
        status = read_idx(s, k->labels, IDX_LABELS, 1, &label, &n);
    if (status != PEAT_OK)
        return status;
    if (n != dim[0])
        return peat_refuse(s, "'%s' has %" PRId64 " images and '%s' %" PRId64 " labels", image.path,
                           dim[0], label.path, n);
    status = make_room(s, k, n, dim[1], dim[2], 1, m);
    for (int64_t i = 0; status == PEAT_OK && i < n; i++) {
        pool_image(k, m, i, image.byte + 16 + i * dim[1] * dim[2]);
        m->label[i] = label.byte[8 + i];
    }
    return status;
}

static peat_status load_cifar(peat_setup *s, const struct config *k, struct images *m)
{
    if (k->path.n < 1)
        return peat_refuse(s, "source: cifar10 needs path, one or several binary files");
    const struct task_file *file = task_files_read(s, &k->path, task_file_read);
    if (!file)
        return PEAT_IO;
    int64_t n = 0;
    for (int64_t f = 0; f < k->path.n; f++) {
        if (task_file_expect_plain(s, &file[f], "") != PEAT_OK)
            return PEAT_REFUSED;
        if (file[f].n == 0 || file[f].n % CIFAR_ROW)
            return peat_refuse(s,
                               "'%s' has %" PRId64 " bytes, and CIFAR-10 has %d for each image; is "
                               "it truncated or packed?",
                               file[f].path, file[f].n, CIFAR_ROW);
        n += file[f].n / CIFAR_ROW;
    }
    peat_status status = make_room(s, k, n, CIFAR_SIDE, CIFAR_SIDE, 3, m);
    for (int64_t f = 0, i = 0; status == PEAT_OK && f < k->path.n; f++)
        for (int64_t at = 0; at < file[f].n; at += CIFAR_ROW, i++) {
            m->label[i] = file[f].byte[at];
            pool_image(k, m, i, file[f].byte + at + 1);
        }
    return status;
}

static peat_status split(peat_setup *s, const struct config *k, double test, struct images *m)
{
    int64_t held_out = (int64_t)(k->valid * (double)m->n);
    m->train = m->n - held_out;
    m->test = m->n - (int64_t)(test * (double)held_out);
    int64_t valid = m->test - m->train;
    m->classes = 1;
    for (int64_t i = 0; i < m->n; i++)
        m->classes = m->label[i] >= m->classes ? m->label[i] + 1 : m->classes;
    if (valid < 1 || m->train < 1 || m->classes < 2)
        return peat_refuse(s,
                           "%" PRId64 " images in %" PRId64 " classes, %" PRId64
                           " of them for validation, are too few; give more or change 'valid'",
                           m->n, m->classes, valid);
    if (test > 0 && m->test == m->n)
        return peat_refuse(s,
                           "none of the %" PRId64
                           " images is in the test part; give more, or change "
                           "'valid' or eval.test",
                           m->n);
    return PEAT_OK;
}

/* ---- planning ---- */

static void choose_side(peat_setup *s, const struct config *k, int64_t seq_len, struct images *m)
{
    int64_t side = k->side ? k->side : SIDE_BY_ITSELF;
    while (!k->side && side > SIDE_LEAST && side * side + m->ask > seq_len)
        side--;
    m->height = m->width = side;
    m->planes = 1;
    m->classes = CLASSES_OF_SHAPES;
    peat_resolved(s, "side", (double)side);
}

static int64_t images_wanted(const peat_task_plan *plan, int64_t n)
{
    return plan->eval_tokens > 0 && plan->eval_tokens < n ? plan->eval_tokens : n;
}

static peat_status plan_length(peat_setup *s, struct images *m, peat_task_plan *plan)
{
    int64_t T = m->height * m->width + m->ask;
    int64_t valid = m->level ? m->test - m->train : SHAPES_EVALUATED;
    int64_t test = m->level ? m->n - m->test : SHAPES_EVALUATED;
    if (T > plan->seq_len)
        return peat_refuse(s,
                           "an image of %" PRId64 " x %" PRId64
                           " tokens and its question take %" PRId64
                           ", but train.seq_len is %" PRId64,
                           m->height, m->width, T, plan->seq_len);
    if (plan->n_lengths > 1 || (plan->n_lengths == 1 && plan->length[0] != T))
        return peat_refuse(s, "all images have %" PRId64 " tokens; leave eval.lengths out", T);
    m->evaluated = images_wanted(plan, valid);
    m->tested = images_wanted(plan, test);
    plan->n_eval = 1;
    plan->eval[0] = plan->eval_T[0] = T;
    plan->eval_sequences[0] = m->evaluated;
    plan->test_sequences[0] = m->tested;
    return PEAT_OK;
}

static peat_status setup(peat_setup *s, const void *config, peat_task_plan *plan, void **self)
{
    const struct config *k = config;
    struct images *m = peat_alloc(s, sizeof(*m));
    if (!m)
        return PEAT_NOMEM;
    *self = m;
    m->ask = !PEAT_HAS(plan, head);
    m->patches = PEAT_HAS(plan, input);
    if (m->patches && m->ask)
        return peat_refuse(s, "patches have no token that asks for the class: model.input: patches "
                              "needs model.head: class");
    peat_status status = PEAT_OK;
    if (k->source == SHAPES)
        choose_side(s, k, plan->seq_len, m);
    else
        status = k->source == IDX ? load_idx(s, k, m) : load_cifar(s, k, m);
    if (status == PEAT_OK && k->source != SHAPES)
        status = split(s, k, plan->test, m);
    if (status != PEAT_OK)
        return status;
    if (!m->ask)
        plan->n_class = m->classes;
    plan->vocab = k->levels + (m->ask ? 1 + m->classes : 0);
    if (m->patches) {
        plan->patch_width = m->planes * k->pool * k->pool;
        plan->n_axes = 2;
    }
    plan->length_unit = "tokens";
    return plan_length(s, m, plan);
}

/* ---- batches ---- */

static void ask(const struct config *k, const struct images *m, int64_t class, peat_batch *batch,
                int64_t b)
{
    batch->units++;
    if (!m->ask) {
        batch->label[b] = (int32_t) class;
        return;
    }
    int64_t at = b * batch->T + batch->T - 1;
    batch->token[at] = (int32_t)k->levels;
    batch->target[at] = (int32_t)(k->levels + 1 + class);
    batch->special[at] = 1;
    batch->has_special = true;
}

/* Rows and columns of the places of row b. */
static void fill_places(const struct images *m, peat_batch *batch, int64_t b)
{
    int64_t n = m->height * m->width;
    for (int64_t i = 0; i < n; i++) {
        batch->pos[b * n + i] = (double)(i / m->width);
        batch->pos[(batch->B + b) * n + i] = (double)(i % m->width);
    }
}

/* A square of a made image, from level 0 at -1 to the brightest at 1. */
static void fill_square(const struct config *k, int64_t level, peat_batch *batch, int64_t place)
{
    for (int64_t i = 0; i < batch->patch_width; i++)
        batch->patch[place * batch->patch_width + i] =
            2 * (float)level / (float)(k->levels - 1) - 1;
}

/* A bright pixel, and a brighter one to the right of it, below, to the left or above; the rest is
 * noise. The class is where it stands, so the levels are the same for all classes. */
static void fill_shape(const struct config *k, const struct images *m, const peat_host *h,
                       uint64_t stream, uint64_t first, int64_t class, peat_batch *batch, int64_t b)
{
    const int64_t step[CLASSES_OF_SHAPES] = {1, m->width, -1, -m->width};
    int64_t inside = m->width - 2, n = m->height * m->width;
    int32_t *token = batch->token + b * batch->T;
    int64_t y = 1 + peat_below(h, stream, first, inside);
    int64_t x = 1 + peat_below(h, stream, first + 1, inside);
    for (int64_t i = 0; i < n; i++)
        token[i] = (int32_t)peat_below(h, stream, first + 2 + (uint64_t)i, k->levels - 2);
    /* The pixels under the bright ones must not reveal the class: all four neighbours are equal. */
    for (int c = 0; c < CLASSES_OF_SHAPES; c++)
        token[y * m->width + x + step[c]] = 0;
    token[y * m->width + x] = (int32_t)k->levels - 2;
    token[y * m->width + x + step[class]] = (int32_t)k->levels - 1;
    for (int64_t i = 0; m->patches && i < n; i++)
        fill_square(k, token[i], batch, b * n + i);
    if (m->patches)
        fill_places(m, batch, b);
    ask(k, m, class, batch, b);
}

static void fill_image(const struct config *k, const struct images *m, int64_t i, peat_batch *batch,
                       int64_t b)
{
    int64_t n = m->height * m->width;
    for (int64_t at = 0; at < n; at++)
        batch->token[b * batch->T + at] = m->level[i * n + at];
    int64_t numbers = n * batch->patch_width;
    for (int64_t at = 0; at < numbers; at++)
        batch->patch[b * numbers + at] = (float)m->pixel[i * numbers + at] / 127.5f - 1;
    if (m->patches)
        fill_places(m, batch, b);
    ask(k, m, m->label[i], batch, b);
}

static peat_status train(const peat_host *h, const void *config, const void *self, uint64_t stream,
                         peat_batch *batch)
{
    const struct config *k = config;
    const struct images *m = self;
    batch->T = m->height * m->width + m->ask;
    for (int64_t b = 0; b < batch->B; b++) {
        uint64_t first = (uint64_t)b << 32;
        int64_t chosen = peat_below(h, stream, first, m->level ? m->train : CLASSES_OF_SHAPES);
        batch->sequence[b] = m->level ? chosen : b;
        if (m->level)
            fill_image(k, m, chosen, batch, b);
        else
            fill_shape(k, m, h, stream, first + 1, chosen, batch, b);
    }
    return PEAT_OK;
}

/* n images: of files those from number `from` on; with shapes, made by draws of the stream, every
 * image comes in all classes, one after the other. */
static void fill_held_out(const struct config *k, const struct images *m, const peat_host *h,
                          uint64_t stream, int64_t from, int64_t n, int64_t index,
                          peat_batch *batch)
{
    int64_t first = index * batch->B, left = n - first;
    batch->B = left < 0 ? 0 : left < batch->B ? left : batch->B;
    batch->T = m->height * m->width + m->ask;
    for (int64_t b = 0; b < batch->B; b++) {
        int64_t i = first + b, class = i % CLASSES_OF_SHAPES;
        batch->sequence[b] = i;
        if (m->level)
            fill_image(k, m, from + i, batch, b);
        else
            fill_shape(k, m, h, stream, (uint64_t)(i / CLASSES_OF_SHAPES) << 32, class, batch, b);
    }
}

static peat_status evaluate(const peat_host *h, const void *config, const void *self, int64_t which,
                            int64_t index, peat_batch *batch)
{
    const struct images *m = self;
    (void)which;
    fill_held_out(config, m, h, SHAPES_STREAM, m->train, m->evaluated, index, batch);
    return PEAT_OK;
}

static peat_status test(const peat_host *h, const void *config, const void *self, int64_t which,
                        int64_t index, peat_batch *batch)
{
    const struct images *m = self;
    (void)which;
    fill_held_out(config, m, h, SHAPES_TEST_STREAM, m->test, m->tested, index, batch);
    return PEAT_OK;
}

static const peat_metric metrics[] = {
    {"accuracy", true, "part of the images whose class had the highest logit", peat_accuracy},
    {"loss", false, "nats per image", peat_answer_loss},
    {NULL, false, NULL, NULL},
};

static const peat_task task = {
    .size = sizeof(task),
    .metric = metrics,
    .setup = setup,
    .train = train,
    .evaluate = evaluate,
    .test = test,
};

PEAT_DEFINE(PEAT_TASK, task, struct config, rows, "images", "1.0", "the class of an image", "MIT",
            "")
