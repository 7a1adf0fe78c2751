/* SPDX-License-Identifier: MIT */
/* blocks.c: finding fenced blocks that name a file. */
#include "support/blocks.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "support/shell.h"

/* "c wave.c" -> "wave.c"; false for a block that names no file. */
static bool block_name(const char *info, char name[64])
{
    const char *space = strchr(info, ' ');
    size_t n = space ? strcspn(space + 1, " \n") : 0;
    if (!space || space > info + strcspn(info, "\n") || n == 0 || n >= 64)
        return false;
    snprintf(name, 64, "%.*s", (int)n, space + 1);
    return true;
}

int write_blocks(const char *document)
{
    char *path = path_join(getenv("PEAT_SOURCE"), document), *text;
    size_t size;
    int n = 0;
    ck_assert_msg(file_read(path, 0, &text, &size, NULL) == PEAT_OK, "no %s", path);
    for (char *at = text; (at = strstr(at, "\n```"));) {
        char *info = at + 4, name[64];
        char *body = info + strcspn(info, "\n"), *end = strstr(body, "\n```");
        ck_assert_msg(end, "%s: a block does not end", document);
        if (block_name(info, name)) {
            end[1] = '\0';
            shell_write(name, body + 1);
            end[1] = '`';
            n++;
        }
        at = end + 4;
    }
    free(text);
    free(path);
    return n;
}
