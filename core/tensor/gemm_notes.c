/* SPDX-License-Identifier: MIT */
/* gemm_notes.c: a file in memory, one note behind the other. */
#include "gemm_notes.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* In front of each. */
struct head {
    uint32_t kind, n;
};

int gemm_notes_open(void)
{
    int fd = memfd_create("peat-products", MFD_CLOEXEC);
    if (fd >= 0 && fcntl(fd, F_SETFL, O_APPEND) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

void gemm_note_add(int fd, enum gemm_note kind, const void *note, size_t n)
{
    char bytes[sizeof(struct head) + NOTE_MOST];
    const struct head head = {(uint32_t)kind, (uint32_t)n};
    BUG_UNLESS(n <= NOTE_MOST);
    if (fd < 0)
        return;
    memcpy(bytes, &head, sizeof(head));
    memcpy(bytes + sizeof(head), note, n);
    (void)!write(fd, bytes, sizeof(head) + n);
}

/* All that stands there; NULL: nothing does. */
static char *read_all(int fd, size_t *n)
{
    struct stat seen;
    if (fd < 0 || fstat(fd, &seen) != 0 || seen.st_size <= 0)
        return NULL;
    char *bytes = malloc((size_t)seen.st_size);
    ssize_t got = bytes == NULL ? -1 : pread(fd, bytes, (size_t)seen.st_size, 0);
    *n = got > 0 ? (size_t)got : 0;
    return bytes;
}

/* What is no note ends them. */
void gemm_notes_read(int fd, enum gemm_note kind, size_t n, void (*fn)(void *ctx, const void *note),
                     void *ctx)
{
    size_t all = 0;
    struct head head;
    _Alignas(16) char note[NOTE_MOST];
    char *bytes = read_all(fd, &all);
    for (size_t at = 0; at + sizeof(head) <= all; at += sizeof(head) + head.n) {
        memcpy(&head, bytes + at, sizeof(head));
        if (head.n > NOTE_MOST || at + sizeof(head) + head.n > all)
            break;
        if (head.kind != (uint32_t)kind || head.n != n)
            continue;
        memcpy(note, bytes + at + sizeof(head), n);
        fn(ctx, note);
    }
    free(bytes);
}
