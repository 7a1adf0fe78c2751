/* SPDX-License-Identifier: MIT */
/* hash.c: SHA-256 of memory and of files, from nettle, which uses the instructions that a CPU has
 * for it. */
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/file.h"

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

static bool hash_descriptor(int fd, struct sha256_ctx *state)
{
    unsigned char buffer[1 << 16];
    for (;;) {
        ssize_t n = read(fd, buffer, sizeof(buffer));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
        sha256_update(state, (size_t)n, buffer);
    }
}

peat_status hash_file(const char *path, char hex[HASH_HEX], struct error *err)
{
    int fd;
    peat_status status = file_open(path, O_RDONLY, FILE_ANYONES, &fd, err);
    if (status != PEAT_OK)
        return status;
    struct sha256_ctx state;
    sha256_init(&state);
    bool whole = hash_descriptor(fd, &state);
    int reason = errno;
    close(fd);
    if (!whole)
        return error_set(err, PEAT_IO, "cannot read '%s': %s", path, strerror(reason));
    end(&state, hex);
    return PEAT_OK;
}
