/* SPDX-License-Identifier: MIT */
/* blocks.h: files that stand in a document, as a reader would copy them. */
#pragma once

/* Writes each fenced block whose first line names a file, "```c wave.c", into the directory of
 * shell.h; returns how many. The document is named from the root of the tree. */
int write_blocks(const char *document);
