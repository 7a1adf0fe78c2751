/* SPDX-License-Identifier: MIT */
/* task_file.h: files that tasks read, and how what is no text is refused. */
#ifndef TASK_TASK_FILE_H
#define TASK_TASK_FILE_H

#include <inttypes.h>
#include <string.h>

#include <peat/plugin.h>

struct task_file {
    const char *path;
    const unsigned char *byte;
    int64_t n;
};

/* PEAT_IO: already reported. */
static inline peat_status task_file_read(peat_setup *s, const char *path, struct task_file *file)
{
    file->path = path;
    file->byte = s->host->read_file(s, path, &file->n);
    return file->byte ? PEAT_OK : PEAT_IO;
}

/* The program that made it, by its first bytes, or NULL. */
static inline const char *task_file_packer(const struct task_file *file)
{
    static const struct {
        const char *magic, *name;
        size_t n;
    } packer[] = {
        {"\x1f\x8b", "gzip", 2},
        {"\xfd"
         "7zXZ\0",
         "xz", 6},
        {"\x28\xb5\x2f\xfd", "zstd", 4},
        {"PK\x03\x04", "zip", 4},
        {"BZh", "bzip2", 3},
    };
    for (size_t i = 0; i < sizeof(packer) / sizeof(*packer); i++)
        if (file->n >= (int64_t)packer[i].n + 8 &&
            memcmp(file->byte, packer[i].magic, packer[i].n) == 0 &&
            (packer[i].n != 3 || memcmp(file->byte + 4, "1AY&SY", 6) == 0))
            return packer[i].name;
    return NULL;
}

/* Text has no NUL and is packed by nothing. */
static inline peat_status task_file_expect_text(peat_setup *s, const struct task_file *file)
{
    static const char tokens[] = "; the task 'tokens' reads files of token ids";
    const char *packer = task_file_packer(file);
    if (packer)
        return peat_refuse(s, "'%s' is packed with %s: unpack it first%s", file->path, packer,
                           tokens);
    if (file->n >= 2 &&
        (memcmp(file->byte, "\xff\xfe", 2) == 0 || memcmp(file->byte, "\xfe\xff", 2) == 0))
        return peat_refuse(s, "'%s' is UTF-16: convert it to UTF-8", file->path);
    const unsigned char *nul = memchr(file->byte, 0, (size_t)file->n);
    if (nul)
        return peat_refuse(s, "'%s' is not text: byte %" PRId64 " is 0%s", file->path,
                           (int64_t)(nul - file->byte), tokens);
    return PEAT_OK;
}

static inline peat_status task_file_read_text(peat_setup *s, const char *path,
                                              struct task_file *file)
{
    peat_status status = task_file_read(s, path, file);
    return status == PEAT_OK ? task_file_expect_text(s, file) : status;
}

/* All files of a list, with `read` for each; NULL: reported. */
static inline struct task_file *task_files_read(peat_setup *s, const peat_strings *path,
                                                peat_status (*read)(peat_setup *, const char *,
                                                                    struct task_file *))
{
    if (path->n == 0) {
        peat_refuse(s, "path names no file");
        return NULL;
    }
    struct task_file *file = (struct task_file *)peat_alloc(s, (size_t)path->n * sizeof(*file));
    for (int64_t i = 0; file && i < path->n; i++)
        if (read(s, path->item[i], &file[i]) != PEAT_OK)
            return NULL;
    return file;
}

#endif
