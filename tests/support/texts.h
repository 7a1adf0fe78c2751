/* SPDX-License-Identifier: MIT */
/* texts.h: questions about the content of a text. */
#pragma once

void assert_has(const char *text, const char *part);
void assert_lacks(const char *text, const char *part);
/* How often, without overlaps. */
int count_parts(const char *text, const char *part);
