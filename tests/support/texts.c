/* SPDX-License-Identifier: MIT */
/* texts.c: parts of texts. */
#include "support/texts.h"

#include <check.h>
#include <string.h>

void assert_has(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part), "no '%s' in\n%.3000s", part, text);
}

void assert_lacks(const char *text, const char *part)
{
    const char *at = strstr(text, part);
    ck_assert_msg(!at, "there is '%.80s'", at);
}

int count_parts(const char *text, const char *part)
{
    int n = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}
