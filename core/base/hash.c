/* SPDX-License-Identifier: MIT */
/* hash.c: SHA-256 of memory and of files, by nettle, which uses the CPU's instructions for it. */

#include "base/base.h"
#include <nettle/base16.h>
#include <nettle/sha2.h>

static void end(struct sha256_ctx *state, char hex[HASH_HEX])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(state, sizeof(digest), digest);
    base16_encode_update(hex, sizeof(digest), digest);
    hex[HASH_HEX - 1] = '\0';
}

void hash_bytes(const void *bytes, size_t n, char hex[HASH_HEX])
{
    struct sha256_ctx state;
    sha256_init(&state);
    sha256_update(&state, n, bytes);
    end(&state, hex);
}

/* Progress messages for a large file. */
struct telling {
    const char *path;
    off_t size, done;
    double next; /* time of the clock */
    bool line;   /* a line on a terminal is begun */
};

/* Prints a line: on a terminal over the last one, elsewhere now and then. */
static void tell(struct telling *t)
{
    const double often = 0.5, seldom = 10, gib = (double)(1 << 30);
    const off_t large = 64 << 20; /* a smaller file takes no time, whatever the clock says */
    double now = clock_seconds();
    if (now < t->next || t->size < large)
        return;
    bool terminal = isatty(STDERR_FILENO);
    fputs(terminal && t->line ? "\r" : "", stderr);
    shown_print(stderr, "peat: hashing '%s': %.1f of %.1f GiB", t->path, (double)t->done / gib,
                (double)t->size / gib);
    fputs(terminal ? "" : "\n", stderr);
    fflush(stderr);
    t->line = terminal;
    t->next = now + (terminal ? often : seldom);
}

static bool add_file(int fd, const char *path, struct sha256_ctx *state)
{
    const double patience = 3;
    unsigned char buffer[1 << 14];
    struct stat st;
    struct telling t = {.path = path, .next = clock_seconds() + patience};
    t.size = fstat(fd, &st) == 0 ? st.st_size : 0;
    for (;;) {
        ssize_t n = read(fd, buffer, sizeof(buffer));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            fputs(t.line ? "\n" : "", stderr);
            return n == 0;
        }
        sha256_update(state, (size_t)n, buffer);
        t.done += n;
        tell(&t);
    }
}

peat_status hash_descriptor(int fd, const char *path, char hex[HASH_HEX], struct error *err)
{
    struct sha256_ctx state;
    sha256_init(&state);
    if ((lseek(fd, 0, SEEK_SET) < 0 && errno != ESPIPE) || !add_file(fd, path, &state))
        return error_set(err, PEAT_IO, "cannot read '%s': %s", path, strerror(errno));
    end(&state, hex);
    return PEAT_OK;
}

peat_status hash_file(const char *path, char hex[HASH_HEX], struct error *err)
{
    int fd;
    peat_status status = file_open(path, O_RDONLY, FILE_ANYONES, &fd, err);
    if (status != PEAT_OK)
        return status;
    status = hash_descriptor(fd, path, hex, err);
    close(fd);
    return status;
}
