/* SPDX-License-Identifier: MIT */
/*
 * gemm_notes.h: what the cells of one run tell each other about products.
 *
 * Notes stand in a file in memory that the parent makes. Nothing maps it, so a plugin that writes
 * where it should not can't change it. A note is written at once and behind all others, whoever
 * writes; a reader sees those that are there.
 */
#ifndef TENSOR_GEMM_NOTES_H
#define TENSOR_GEMM_NOTES_H

#include <stddef.h>

enum gemm_note { NOTE_LIBRARY = 1, NOTE_PRODUCT };

/* -1: there is none. */
int gemm_notes_open(void);
/* n bytes, NOTE_MOST at most. What can't be written is not told. */
enum { NOTE_MOST = 1024 };
void gemm_note_add(int fd, enum gemm_note kind, const void *note, size_t n);
/* Calls fn with each note of that kind and n bytes, in their order. fd of -1 has none. */
void gemm_notes_read(int fd, enum gemm_note kind, size_t n, void (*fn)(void *ctx, const void *note),
                     void *ctx);

#endif
