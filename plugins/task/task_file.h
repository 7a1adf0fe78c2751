/* SPDX-License-Identifier: MIT */
/* task_file.h: files that tasks read, and how files that are not text are refused. */
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

/* Refuses a format that names itself; `more` ends the line. */
static inline peat_status task_file_expect_plain(peat_setup *s, const struct task_file *file,
                                                 const char *more)
{
    const char *kind = s->host->file_kind(file->byte, file->n);
    return kind ? peat_refuse(s, "'%s' is %s%s", file->path, kind, more) : PEAT_OK;
}

/* Text has no NUL and is of no other format. */
static inline peat_status task_file_expect_text(peat_setup *s, const struct task_file *file)
{
    static const char tokens[] = "; the task 'tokens' reads files of token ids";
    peat_status status = task_file_expect_plain(s, file, tokens);
    if (status != PEAT_OK)
        return status;
    const unsigned char *nul = (const unsigned char *)memchr(file->byte, 0, (size_t)file->n);
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
