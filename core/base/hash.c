/* SPDX-License-Identifier: MIT */
/* hash.c: SHA-256 of memory and of files, from libmd. */
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/file.h"

void hash_bytes(const void *bytes, size_t n, char hex[HASH_HEX])
{
    SHA2_CTX state;
    SHA256Init(&state);
    SHA256Update(&state, bytes, n);
    SHA256End(&state, hex);
}

static bool hash_descriptor(int fd, SHA2_CTX *state)
{
    unsigned char buffer[1 << 16];
    for (;;) {
        ssize_t n = read(fd, buffer, sizeof(buffer));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
        SHA256Update(state, buffer, (size_t)n);
    }
}

peat_status hash_file(const char *path, char hex[HASH_HEX], struct error *err)
{
    int fd;
    peat_status status = file_open(path, O_RDONLY, FILE_ANYONES, &fd, err);
    if (status != PEAT_OK)
        return status;
    SHA2_CTX state;
    SHA256Init(&state);
    bool whole = hash_descriptor(fd, &state);
    int reason = errno;
    close(fd);
    if (!whole)
        return error_set(err, PEAT_IO, "cannot read '%s': %s", path, strerror(reason));
    SHA256End(&state, hex);
    return PEAT_OK;
}
