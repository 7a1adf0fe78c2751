/* SPDX-License-Identifier: MIT */
/* texts.h: what a text has in it. */
#ifndef TESTS_TEXTS_H
#define TESTS_TEXTS_H

void assert_has(const char *text, const char *part);
void assert_lacks(const char *text, const char *part);
/* How often, without overlaps. */
int count_parts(const char *text, const char *part);

#endif
