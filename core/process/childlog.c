/* SPDX-License-Identifier: MIT */
/* childlog.c: reads the end of a log. */
#include "process/childlog.h"

enum { LOG_TAIL = 1 << 16 };

/* The last LOG_TAIL bytes at most after `from`, terminated. */
static char *read_tail(const char *path, off_t from, size_t *n, struct arena *a)
{
    int fd;
    struct stat st = {0};
    if (file_open(path, O_RDONLY, FILE_ANYONES, &fd, NULL) != PEAT_OK || fstat(fd, &st) < 0)
        st.st_size = 0;
    if (st.st_size - from > LOG_TAIL)
        from = st.st_size - LOG_TAIL;
    size_t wanted = st.st_size > from ? (size_t)(st.st_size - from) : 0;
    char *text = arena_alloc(a, wanted + 1);
    ssize_t got = wanted ? pread(fd, text, wanted, from) : 0;
    *n = got > 0 ? (size_t)got : 0;
    text[*n] = '\0';
    if (fd >= 0)
        close(fd);
    return text;
}

const char *log_last_line(const char *path, off_t from, const char *prefix, struct arena *a)
{
    size_t n, skip = strlen(prefix);
    char *text = read_tail(path, from, &n, a);
    while (n) {
        while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
            text[--n] = '\0';
        while (n && text[n - 1] != '\n')
            n--;
        const char *line = text + n;
        if (!strncmp(line, prefix, skip) && line[skip])
            return line + skip;
    }
    return NULL;
}

const char *log_sanitizer_line(const char *path, off_t from, struct arena *a)
{
    size_t n;
    char *rest = read_tail(path, from, &n, a);
    for (char *line; (line = strsep(&rest, "\n"));)
        if (strstr(line, "ERROR: ") || strstr(line, "runtime error: "))
            return line;
    return NULL;
}
