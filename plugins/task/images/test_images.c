/* SPDX-License-Identifier: MIT */
/* The task 'images': made shapes whose class is a place, and files of IDX and CIFAR-10. */
#define TASK "images"
#include "../data_tests.h"

enum { LEVELS = 16, ASK = LEVELS, N = 40 };

static int by_level(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* Where the brightest pixel stands seen from the bright one is the class. */
static void assert_shape(const peat_batch *b, int64_t row, int64_t side)
{
    const int32_t *token = b->token + row * b->T;
    int64_t bright = -1, brightest = -1, step[] = {1, side, -1, -side};
    ck_assert_int_eq(b->T, side * side + 1);
    ck_assert_int_eq(token[side * side], ASK);
    for (int64_t i = 0; i < side * side; i++) {
        bright = token[i] == LEVELS - 2 ? i : bright;
        brightest = token[i] == LEVELS - 1 ? i : brightest;
    }
    int64_t class = b->target[row * b->T + side * side] - ASK - 1;
    ck_assert(class >= 0 && class < 4 && brightest == bright + step[class]);
}

TEST(shapes_have_the_class_of_a_place)
{
    struct harness h;
    struct batch b;
    int64_t count[4] = {0};
    peat_task_plan plan = {.arch = PEAT_ENCODER, .seq_len = 80};
    ck_assert_msg(harness_task(&h, TASK, NULL, &plan) == PEAT_OK, "%s", h.err.text);
    ck_assert_int_eq(h.task.plan.eval_T[0], 65);
    ck_assert_int_eq(h.task.plan.vocab, LEVELS + 5);
    batch_init(&b, &h.arena, 64, 80);
    for (int64_t step = 1; step < 20; step++) {
        harness_train(&h, 1, step, &b);
        for (int64_t i = 0; i < 64; i++) {
            assert_shape(&b.b, i, 8);
            count[b.b.target[i * 65 + 64] - ASK - 1]++;
        }
    }
    for (int c = 0; c < 4; c++)
        ck_assert_msg(count[c] > 220 && count[c] < 390, "class %d: %d", c, (int)count[c]);
    harness_close(&h);
}

/* Four images that follow each other have the same levels and every class once. */
TEST(levels_without_their_places_tell_no_shape)
{
    struct harness h;
    struct batch b;
    peat_task_plan plan = {.arch = PEAT_ENCODER, .seq_len = 26, .eval_tokens = 64};
    ck_assert_int_eq(harness_task(&h, TASK, NULL, &plan), PEAT_OK);
    batch_init(&b, &h.arena, 64, 26);
    harness_eval(&h, 0, 0, &b);
    ck_assert_int_eq(b.b.B, 64);
    for (int64_t i = 0; i < 64; i++) {
        assert_shape(&b.b, i, 5);
        ck_assert_int_eq(b.b.target[i * 26 + 25], ASK + 1 + i % 4);
    }
    for (int64_t i = 0; i < 64; i++)
        qsort(b.b.token + i * 26, 25, sizeof(int32_t), by_level);
    for (int64_t i = 0; i < 64; i++)
        ck_assert_mem_eq(b.b.token + i * 26, b.b.token + i / 4 * 4 * 26, 25 * sizeof(int32_t));
    harness_close(&h);
}

static unsigned char *put(unsigned char *at, uint32_t number)
{
    for (int i = 3; i >= 0; i--)
        *at++ = (unsigned char)(number >> 8 * i);
    return at;
}

/* N images of 4 x 6 pixels: image i is 6 i everywhere, its label i % 3. */
static size_t make_idx(unsigned char *image, unsigned char *label)
{
    unsigned char *at = put(put(put(put(image, 0x803), N), 4), 6);
    for (int i = 0; i < N; i++, at += 24)
        memset(at, 6 * i, 24);
    put(put(label, 0x801), N);
    for (int i = 0; i < N; i++)
        label[8 + i] = (unsigned char)(i % 3);
    return (size_t)(at - image);
}

static peat_status open_idx(struct harness *h, const void *image, size_t n, const void *label,
                            size_t n_label, const char *more)
{
    static const peat_task_plan plan = {.arch = PEAT_DECODER, .seq_len = 30};
    char json[512];
    char *one = data_write(image, n), *two = data_write(label, n_label);
    snprintf(json, sizeof(json), "{\"source\": \"idx\", \"path\": \"%s\", \"labels\": \"%s\"%s}",
             one, two, more);
    peat_status status = harness_task(h, TASK, json, &plan);
    data_forget(one);
    data_forget(two);
    return status;
}

TEST(idx_files_become_levels)
{
    static unsigned char image[16 + 24 * N], label[8 + N];
    size_t n = make_idx(image, label);
    for (int pool = 1; pool <= 2; pool++) {
        struct harness h;
        struct batch b;
        int64_t T = 24 / (pool * pool) + 1;
        ck_assert_msg(open_idx(&h, image, n, label, 8 + N, pool == 2 ? ", \"pool\": 2" : "") ==
                          PEAT_OK,
                      "%s", h.err.text);
        batch_init(&b, &h.arena, 16, 30);
        harness_eval(&h, 0, 0, &b);
        ck_assert_int_eq(b.b.B, N / 10);
        for (int64_t i = 0; i < b.b.B; i++) {
            int64_t number = N - N / 10 + i;
            ck_assert_int_eq(b.b.T, T);
            ck_assert_int_eq(b.b.token[i * T + T - 2], 6 * number * LEVELS / 256);
            ck_assert_int_eq(b.b.target[i * T + T - 1], ASK + 1 + number % 3);
        }
        harness_train(&h, 1, 1, &b);
        for (int64_t i = 0; i < b.b.B; i++)
            ck_assert_int_lt(b.b.sequence[i], N - N / 10);
        harness_close(&h);
    }
}

static void refused_idx(const void *image, size_t n, const void *label, size_t n_label,
                        const char *more, const char *text)
{
    struct harness h;
    ck_assert_int_eq(open_idx(&h, image, n, label, n_label, more), PEAT_REFUSED);
    ck_assert_msg(strstr(h.err.text, text), "%s", h.err.text);
    harness_close(&h);
}

TEST(damaged_idx_files_are_refused_with_one_line)
{
    static unsigned char image[16 + 24 * N], label[8 + N];
    size_t n = make_idx(image, label), m = sizeof(label);
    refused_idx(image, n - 1, label, m, "", "announces 976 bytes, but has 975; is it truncated?");
    refused_idx(image, 0, label, m, "", "is not an IDX file of images");
    refused_idx(label, m, label, m, "", "is not an IDX file of images");
    refused_idx(image, n, image, n, "", "is not an IDX file of labels");
    refused_idx(image, n, label, m, ", \"pool\": 4",
                "40 images of 4 x 6 pixels are not made of squares of pool = 4");
    put(label + 4, N - 1);
    refused_idx(image, n, label, m - 1, "", "labels");
    put(put(put(image + 4, UINT32_MAX), UINT32_MAX), UINT32_MAX);
    refused_idx(image, n, label, m, "", "is it truncated?");
    refused_idx("\x1f\x8b\x08 4567890abcdef", 17, label, m, "", "is packed with gzip");
}

/* A patch is a square of pixels with its row and column; its numbers are the pixels'. */
TEST(squares_of_pixels_become_patches)
{
    enum { ROW = 3073, IMAGES = 20, P = 3 * 16, T = 64 };
    static unsigned char bytes[ROW * IMAGES];
    struct harness h;
    struct batch b;
    peat_task_plan plan = {
        .arch = PEAT_ENCODER, .seq_len = T, .head = PEAT_HEAD_CLASS, .input = PEAT_INPUT_PATCHES};
    for (int i = 0; i < IMAGES; i++) {
        bytes[i * ROW] = (unsigned char)(i % 10);
        for (int at = 0; at < 3072; at++)
            bytes[i * ROW + 1 + at] = (unsigned char)(at * 7 + i);
    }
    data_must_open(&h, bytes, sizeof(bytes), ", \"source\": \"cifar10\", \"pool\": 4", &plan);
    ck_assert_int_eq(h.task.plan.n_axes, 2);
    ck_assert_int_eq(h.task.plan.patch_width, P);
    ck_assert_int_eq(h.task.plan.n_class, 10);
    ck_assert_int_eq(task_batch_init(&h.task, &b, &h.arena, 2, T), PEAT_OK);
    harness_eval(&h, 0, 0, &b);
    ck_assert_int_eq(b.b.T, T);
    for (int i = 0; i < T; i++) { /* of the second image, number 19 */
        ck_assert_double_eq(b.b.pos[T + i], i / 8);
        ck_assert_double_eq(b.b.pos[3 * T + i], i % 8);
        for (int n = 0; n < P; n++) {
            int at = n / 16 * 1024 + (i / 8 * 4 + n / 4 % 4) * 32 + i % 8 * 4 + n % 4;
            float pixel = (float)(unsigned char)(at * 7 + 19) / 127.5f - 1;
            ck_assert(b.b.patch[(T + i) * P + n] == pixel);
        }
    }
    ck_assert_int_eq(b.b.label[1], 9);
    harness_close(&h);
}

/* The brightest square stands where its class says, seen from the bright one. */
TEST(made_patches_have_the_class_of_a_place)
{
    struct harness h;
    struct batch b;
    peat_task_plan plan = {
        .arch = PEAT_ENCODER, .seq_len = 25, .head = PEAT_HEAD_CLASS, .input = PEAT_INPUT_PATCHES};
    ck_assert_int_eq(harness_task(&h, TASK, "{\"pool\": 2}", &plan), PEAT_OK);
    ck_assert_int_eq(task_batch_init(&h.task, &b, &h.arena, 8, 25), PEAT_OK);
    harness_train(&h, 1, 1, &b);
    for (int64_t i = 0; i < 8; i++) {
        int64_t bright = -1, brightest = -1, step[] = {1, 5, -1, -5};
        for (int64_t at = 0; at < 25; at++) {
            const float *patch = b.b.patch + (i * 25 + at) * 4;
            for (int n = 1; n < 4; n++)
                ck_assert(patch[n] == patch[0]);
            brightest = patch[0] > 0.99f ? at : brightest;
            bright = patch[0] > 0.8f && patch[0] < 0.99f ? at : bright;
        }
        ck_assert_int_eq(brightest, bright + step[b.b.label[i]]);
    }
    harness_close(&h);
}

TEST(cifar_files_become_grey_levels)
{
    enum { ROW = 3073, IMAGES = 20 };
    static unsigned char bytes[ROW * IMAGES];
    struct harness h;
    struct batch b;
    peat_task_plan plan = {.arch = PEAT_ENCODER, .seq_len = 70};
    for (int i = 0; i < IMAGES; i++) {
        bytes[i * ROW] = (unsigned char)(i % 10);
        for (int p = 0; p < 3; p++)
            memset(bytes + i * ROW + 1 + p * 1024, 30 * p + i, 1024);
    }
    data_must_open(&h, bytes, sizeof(bytes), ", \"source\": \"cifar10\", \"pool\": 4", &plan);
    ck_assert_int_eq(h.task.plan.eval_T[0], 65);
    batch_init(&b, &h.arena, 4, 70);
    harness_eval(&h, 0, 0, &b);
    ck_assert_int_eq(b.b.B, 2);
    ck_assert_int_eq(b.b.token[65], (30 + 19) * LEVELS / 256);
    ck_assert_int_eq(b.b.target[64], ASK + 1 + 8);
    harness_close(&h);
    data_refused(bytes, ROW + 1, ", \"source\": \"cifar10\"", &plan,
                 "has 3074 bytes, and CIFAR-10 has 3073 for each image");
    data_refused(bytes, sizeof(bytes), ", \"source\": \"cifar10\", \"pool\": 2", &plan,
                 "an image of 16 x 16 tokens and its question take 257, but train.seq_len is 70");
    data_refused(bytes, ROW, ", \"source\": \"cifar10\", \"pool\": 4", &plan,
                 "1 images in 1 classes, 0 of them for validation");
}

PLUGIN_TESTS(TASK)
