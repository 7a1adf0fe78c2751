/* SPDX-License-Identifier: MIT */
/*
 * fuzz_words.c: any words on the command line make an experiment and its points, or an error with a
 * text. Each line of the input is a word key=value.
 */

#include "experiment/experiment.h"
#include "fuzz/fuzz.h"

enum { WORDS_MAX = 8 };

static const char experiment[] = "version: 1\n"
                                 "name: words\n"
                                 "defaults:\n"
                                 "  task: {plugin: copy, symbols: 3}\n"
                                 "  train: {steps: 4}\n"
                                 "matrix:\n"
                                 "  position.scheme: [none, {plugin: rotary, base: 500}]\n"
                                 "  size: {S: {model.d_model: 8}, M: {model.d_model: 16}}\n"
                                 "seeds: 2\n";

static char *path;

static void remove_file(void)
{
    unlink(path);
    free(path);
}

/* Made once, removed at exit. */
static const char *experiment_path(void)
{
    if (!path) {
        path = own_dir_pattern("fuzz");
        int fd = mkstemp(path);
        BUG_UNLESS(fd >= 0 && fd_write(fd, experiment, strlen(experiment), NULL) == PEAT_OK);
        close(fd);
        atexit(remove_file);
    }
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena arena;
    struct experiment e;
    struct point *point = NULL;
    struct error err = {0};
    char *text = malloc(n + 1), *word[WORDS_MAX], *rest = text;
    int n_word = 0, n_point = 0;
    memcpy(text, bytes, n);
    text[n] = '\0';
    for (char *one; n_word < WORDS_MAX && (one = strtok_r(rest, "\n", &rest));)
        word[n_word++] = one;
    arena_init(&arena, "fuzz", 1 << 16);
    peat_status status = experiment_load(&e, &arena, experiment_path(), n_word, word, NULL, &err);
    if (status == PEAT_OK && e.n_seed <= 1000)
        status = experiment_points(&e, &point, &n_point, &err);
    BUG_UNLESS(status == PEAT_OK || err.text[0]);
    arena_release(&arena);
    free(text);
    return 0;
}
