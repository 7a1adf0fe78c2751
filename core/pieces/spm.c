/* SPDX-License-Identifier: MIT */
/* spm.c: runs spm_train and spm_encode, and reports their failures. */

#include <time.h>

#include "pieces.h"
#include "process/child.h"

const char *const pieces_model_word[] = {"unigram", "bpe"};

/* Prints a line now and then until the program ends, or a stop ends it. */
static void watch(struct child *c, const struct tokenize *t, const char *doing)
{
    const double seldom = 10;
    const struct timespec nap = {0, 20 * 1000 * 1000};
    double next = clock_seconds() + seldom;
    while (!child_has_ended(c) && !stops_waiting()) {
        nanosleep(&nap, NULL);
        if (clock_seconds() < next)
            continue;
        t->say("%s for %.0f s", doing, clock_since(c->started));
        next += seldom;
    }
    child_wait(c);
}

static peat_status run(char *const *argv, const char *dir, const char *doing,
                       const struct tokenize *t, struct child *c, struct error *err)
{
    const struct file_path said = path_in(dir, SPM_SAID);
    *c = (struct child){.argv = argv, .dir = dir, .log = said.text, .own_group = true, .grace = 1};
    peat_status status = child_start(c, err);
    if (status == PEAT_NOTFOUND)
        error_set(err, status,
                  "%s is not installed, which pieces of words need (Debian: apt-get install "
                  "sentencepiece)",
                  argv[0]);
    if (status == PEAT_OK)
        watch(c, t, doing);
    if (status == PEAT_OK && stops_waiting())
        status = error_set(err, PEAT_FAILED, "stopped");
    return status;
}

/* The last check that failed: "file(line) [condition] what is wrong". */
static peat_status program_failed(const char *program, const struct child *c, const char *dir,
                                  struct error *err)
{
    char name[SIGNAL_NAME];
    char *text = NULL;
    size_t n;
    peat_status status = PEAT_FAILED;
    if (c->signal)
        error_set(err, status, "%s was ended by %s%s", program, signal_name(c->signal, name),
                  c->signal == SIGKILL ? " (out of memory?)" : "");
    else if (file_read(path_in(dir, SPM_SAID).text, 0, &text, &n, NULL) != PEAT_OK)
        error_set(err, status, "%s failed with status %d", program, c->code);
    for (char *at = text, *next; at; at = next) {
        next = strstr(at, "] ");
        if (next) {
            next += 2;
            error_set(err, status, "%s failed: %.*s", program, (int)strcspn(next, "\n"), next);
        }
    }
    free(text);
    return status;
}

/* Two of spm_train's checks report the possible sizes of a vocabulary. */
static peat_status explain_vocab(const struct tokenize *t, struct error *err)
{
    const char *most = strstr(err->text, "set it to a value <= ");
    const char *least = strstr(err->text, "smaller than required_chars");
    const char *number = least ? strstr(least, " vs ") : NULL;
    if (most)
        return error_set(err, PEAT_INVALID,
                         "--vocab %" PRId64 " is too large: at most %d pieces can be learned from "
                         "this text",
                         t->vocab, atoi(most + strlen("set it to a value <= ")));
    if (number)
        return error_set(err, PEAT_INVALID,
                         "--vocab %" PRId64 " is too small: the bytes and the characters of this "
                         "text need at least %d pieces",
                         t->vocab, atoi(number + strlen(" vs ")) + 1);
    return PEAT_FAILED;
}

/* The number of threads changes the result, because sums are added in their order; so it is fixed,
 * whatever the machine. Rare characters are written as bytes. */
peat_status spm_learn(const struct tokenize *t, const char *dir, struct arena *a, struct error *err)
{
    const char *const word[] = {
        "spm_train",
        "--input=" SPM_LEARN,
        "--model_prefix=sentencepiece",
        arena_printf(a, "--model_type=%s", pieces_model_word[t->model]),
        arena_printf(a, "--vocab_size=%" PRId64, t->vocab),
        arena_printf(a, "--max_sentence_length=%d", SEGMENT_MOST + 1),
        "--byte_fallback=true",
        "--normalization_rule_name=identity",
        "--remove_extra_whitespaces=false",
        "--add_dummy_prefix=false",
        "--allow_whitespace_only_pieces=true",
        "--character_coverage=0.9995",
        "--unk_id=0",
        "--bos_id=-1",
        "--eos_id=-1",
        "--pad_id=-1",
        "--num_threads=16",
        "--random_seed=1",
    };
    enum { WORDS = sizeof(word) / sizeof(*word) };
    char **argv = ARENA_ARRAY(a, WORDS + 1, char *);
    struct child c;
    for (int i = 0; i < WORDS; i++)
        argv[i] = arena_strdup(a, word[i]);
    peat_status status = run(argv, dir, "spm_train has been learning", t, &c, err);
    if (status != PEAT_OK || c.code == 0)
        return status;
    status = program_failed(word[0], &c, dir, err);
    return c.signal ? status : explain_vocab(t, err);
}

peat_status spm_encode(const struct tokenize *t, const char *dir, struct arena *a,
                       struct error *err)
{
    char *argv[] = {arena_strdup(a, "spm_encode"),         arena_strdup(a, "--model=" SPM_MODEL),
                    arena_strdup(a, "--output_format=id"), arena_strdup(a, "--input=" SPM_TEXT),
                    arena_strdup(a, "--output=" SPM_IDS),  NULL};
    struct child c;
    peat_status status = run(argv, dir, "spm_encode has been writing ids", t, &c, err);
    return status == PEAT_OK && c.code != 0 ? program_failed(argv[0], &c, dir, err) : status;
}

const char *spm_version(struct arena *a)
{
    char *argv[] = {arena_strdup(a, "spm_train"), arena_strdup(a, "--version"), NULL};
    struct child c = {.argv = argv};
    struct strbuf out = STRBUF_NEW;
    if (child_run(&c, &out, NULL, NULL) != PEAT_OK)
        strbuf_clear(&out);
    out.text[strcspn(out.text, "\n")] = '\0';
    const char *digits = out.text + strcspn(out.text, "0123456789");
    const char *version = arena_strdup(a, digits);
    strbuf_release(&out);
    return version;
}
