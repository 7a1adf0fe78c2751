/* SPDX-License-Identifier: MIT */
/*
 * fuzz_driver.c: every file of the folders named, long yaml for the folder yaml, and a hundred
 * mutations of each, through a fuzz target, without a fuzzer. The mutations are the same in every
 * run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "fuzz/fuzz.h"

enum { MUTATIONS = 100, ROOM = 64, LARGEST = 1 << 16, LINES = 5000 };

static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* Up to three changes: a byte replaced, a run of bytes left out or doubled, the end cut off. */
static size_t mutate(char *text, size_t n, uint64_t *state)
{
    static const char telling[] = "{}[]\",:-&*!|>#%0919.eE\\\x00\x7f\xff\n\t ";
    for (uint64_t k = 1 + draw(state) % 3; k > 0 && n > 0; k--) {
        size_t at = draw(state) % n, run = 1 + draw(state) % 16;
        run = run < n - at ? run : n - at;
        switch (draw(state) % 5) {
        case 0:
            text[at] = (char)draw(state);
            break;
        case 1:
            text[at] = telling[draw(state) % (sizeof(telling) - 1)];
            break;
        case 2:
            memmove(text + at, text + at + run, n - at - run);
            n -= run;
            break;
        case 3:
            memmove(text + at + run, text + at, n - at);
            n += run;
            break;
        default:
            n = draw(state) % 8 ? n : at;
        }
    }
    return n;
}

/* In memory of its very size: a sanitizer then sees a read behind the end. */
static void run_one(const char *text, size_t n)
{
    uint8_t *exact = malloc(n ? n : 1);
    if (!exact)
        exit(EXIT_FAILURE);
    memcpy(exact, text, n);
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
}

static long run_text(const char *text, size_t n)
{
    run_one(text, n);
    long runs = 1;
    char *copy = malloc(n + ROOM);
    uint64_t state = n;
    for (int i = 0; copy && n <= LARGEST && i < MUTATIONS; i++, runs++) {
        memcpy(copy, text, n);
        run_one(copy, mutate(copy, n, &state));
    }
    free(copy);
    return runs;
}

static long run_file(const char *path)
{
    char *text = NULL;
    size_t n = 0;
    if (file_read(path, 0, &text, &n, NULL) != PEAT_OK)
        return 0;
    long runs = run_text(text, n);
    free(text);
    return runs;
}

/* The yaml that is too long for a file of the corpus: lists within lists, and one map. */
static long run_long_yaml(bool nested)
{
    struct strbuf text = STRBUF_NEW;
    for (int i = 0; i < LINES; i++)
        nested ? strbuf_add(&text, "[\n") : strbuf_addf(&text, "k%d: 1\n", i);
    long runs = run_text(text.text, text.n);
    strbuf_release(&text);
    return runs;
}

int main(int argc, char **argv)
{
    long runs = 0;
    for (int i = 1; i < argc; i++) {
        char **name = NULL;
        int n = 0;
        struct error err = {0};
        if (dir_list(argv[i], &name, &n, &err) != PEAT_OK) {
            fprintf(stderr, "%s\n", err.text);
            return EXIT_FAILURE;
        }
        for (int k = 0; k < n; k++) {
            char *path = path_join(argv[i], name[k]);
            runs += run_file(path);
            free(path);
        }
        names_free(name, n);
        if (path_ends_in(argv[i], "/yaml"))
            runs += run_long_yaml(true) + run_long_yaml(false);
    }
    printf("%ld inputs\n", runs);
    return runs > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
