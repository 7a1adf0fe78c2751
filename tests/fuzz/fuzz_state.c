/* SPDX-License-Identifier: MIT */
/*
 * fuzz_state.c: a state.json of any content never breaks the reader of a checkpoint. Maps are
 * sealed first; otherwise almost every input would fail at the checksum.
 */

#include "fuzz/fuzz.h"
#include "train/generation.h"

static void put(const char *path, const char *text, size_t n)
{
    FILE *f = fopen(path, "we");
    BUG_UNLESS(f && fwrite(text, 1, n, f) == n && fclose(f) == 0);
}

static void remove_directory(void);

/* Made once, removed at exit. */
static char *directory(void)
{
    static struct own_dir dir;
    if (!dir.path) {
        BUG_UNLESS(own_dir_open(&dir, "fuzz", NULL) == PEAT_OK);
        atexit(remove_directory);
    }
    return dir.path;
}

static void remove_directory(void)
{
    dir_remove(directory(), NULL);
}

static void put_state(struct arena *a, const char *path, const uint8_t *bytes, size_t n)
{
    struct strbuf text = STRBUF_NEW;
    const struct value *v = json_parse(a, (const char *)bytes, n, "input", NULL);
    if (v && v->kind == VALUE_MAP)
        json_print(sealed(a, v), JSON_LINE, &text);
    else
        strbuf_add_bytes(&text, bytes, n);
    put(path, text.text, text.n);
    strbuf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena arena;
    const struct train_config config = {.patience = 1};
    struct trainer trainer = {.train = &config};
    struct value *state = NULL;
    struct error err = {0};
    char *path = path_join(directory(), GENERATION_STATE);
    arena_init(&arena, "fuzz", 1 << 16);
    put_state(&arena, path, bytes, n);
    peat_status status = generation_read_state(directory(), &arena, &state, &err);
    BUG_UNLESS(status == PEAT_OK || err.text[0]);
    if (state && state->kind == VALUE_MAP)
        generation_apply_state(state, &trainer, &err);
    arena_release(&arena);
    free(path);
    return 0;
}
