/* SPDX-License-Identifier: MIT */
/* fuzz_images.c: data files of the task 'images', each as every kind of file that it reads. */
#include "../../plugins/task/images/images.c"

#include "fuzz/task_data.h"

enum { IMAGES = 30, PIXELS = 6 };

/* A sound file of `size` bytes after its header, made once. */
static void make_file(char *path, const unsigned char *header, size_t n, size_t size)
{
    static const unsigned char zeros[IMAGES * PIXELS];
    int fd = mkstemp(path);
    BUG_UNLESS(fd >= 0 && fd_write(fd, (const char *)header, n, NULL) == PEAT_OK);
    BUG_UNLESS(fd_write(fd, (const char *)zeros, size, NULL) == PEAT_OK);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const unsigned char images[] = {0, 0, 8, 3, 0, 0, 0, IMAGES, 0, 0, 0, 2, 0, 0, 0, 3};
    static const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, IMAGES};
    char *image_path = own_dir_pattern("fuzz"), *label_path = own_dir_pattern("fuzz");
    make_file(image_path, images, sizeof(images), (size_t)IMAGES * PIXELS);
    make_file(label_path, labels, sizeof(labels), IMAGES);
    const char *const settings[][7] = {
        {"source", "idx", "path", "", "labels", label_path, NULL},
        {"source", "idx", "path", image_path, "labels", "", NULL},
        {"source", "cifar10", "path", "", NULL},
    };
    for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
        fuzz_task_data(peat_entry(), settings[i], bytes, n);
    unlink(image_path);
    unlink(label_path);
    free(image_path);
    free(label_path);
    return 0;
}
