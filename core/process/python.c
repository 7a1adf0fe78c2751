/* SPDX-License-Identifier: MIT */
/* python.c: the interpreter, and what to say where it does not start. */
#include "process/python.h"

static const char *named(void)
{
    const char *name = getenv("PEAT_PYTHON");
    return name && *name ? name : NULL;
}

char **python_words(char *const *word, int n, struct arena *a)
{
    enum { FIRST = 2 };
    char **argv = ARENA_ARRAY(a, FIRST + n + 1, char *);
    argv[0] = arena_strdup(a, named() ? named() : "python3");
    argv[1] = arena_strdup(a, "-I");
    for (int i = 0; i < n; i++)
        argv[FIRST + i] = word[i];
    return argv;
}

char **python_module(const char *name, const char *const *word, int n, const char *what,
                     struct arena *a, struct error *err)
{
    const char *python = installed_dir(a, PEAT_PYTHONDIR);
    const char *file = arena_printf(a, "%s/peat/torch/%s", python ? python : "", name);
    char **words = ARENA_ARRAY(a, n + 1, char *);
    if (!file_exists(file)) {
        error_set(err, PEAT_NOTFOUND,
                  "%s needs '%s', which is not there (Debian: apt-get install python3-peat)", what,
                  file);
        return NULL;
    }
    words[0] = arena_strdup(a, file);
    for (int i = 0; i < n; i++)
        words[1 + i] = arena_strdup(a, word[i]);
    return python_words(words, 1 + n, a);
}

peat_status python_start_error(const struct child *c, const char *what, struct error *err)
{
    if (err && err->status == PEAT_NOTFOUND && named())
        return error_set(err, PEAT_NOTFOUND,
                         "%s needs '%s', which PEAT_PYTHON names and is not there", what,
                         c->argv[0]);
    if (err && err->status == PEAT_NOTFOUND)
        return error_set(err, PEAT_NOTFOUND,
                         "%s needs python3, which is not installed (Debian: python3; PEAT_PYTHON "
                         "names another interpreter)",
                         what);
    return err ? err->status : PEAT_FAILED;
}

peat_status python_ask(const char *name, const char *const *word, int n, const char *what,
                       struct arena *a, const char **answer, struct error *err)
{
    struct strbuf out = STRBUF_NEW, said = STRBUF_NEW;
    struct child c = {
        .argv = python_module(name, word, n, what, a, err), .own_group = true, .grace = 1};
    peat_status status = c.argv ? child_run(&c, &out, &said, err) : PEAT_NOTFOUND;
    if (c.argv && status != PEAT_OK)
        status = python_start_error(&c, what, err);
    else if (c.argv && c.code != 0)
        status =
            error_set(err, PEAT_INVALID, "%s", out.n ? out.text : "Python ended without a word");
    *answer = arena_strdup(a, out.text);
    strbuf_release(&out);
    strbuf_release(&said);
    return status;
}
