/* SPDX-License-Identifier: MIT */
/* state.c: reads the state of the process and compares it with an earlier one. */
#include "process/state.h"

#include <fenv.h>
#include <locale.h>
#include <malloc.h>

#include "process/child.h"
#ifdef BASE_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif
#ifdef BASE_THREAD_SANITIZER
size_t __sanitizer_get_current_allocated_bytes(void); /* gcc has the function but no header for
                                                       * it */
#endif

static uint32_t read_rounding(void)
{
    return (uint32_t)fegetround() << 16 | rounding_get();
}

static void restore_rounding(uint32_t mode)
{
    fesetround((int)(mode >> 16));
    rounding_set(mode & 0xffffu);
}

static int count_entries(const char *path)
{
    char **name;
    int n;
    dir_list(path, &name, &n, NULL);
    names_free(name, n);
    return n;
}

/* FNV-1a. */
static uint64_t hash_environment(void)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (char **e = environ; e && *e; e++)
        for (const char *c = *e;; c++) {
            hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
            if (!*c)
                break;
        }
    return hash;
}

static int count_openmp(void)
{
    static const char *const runtime[] = {"/libgomp.so", "/libomp.so", "/libiomp5.so"};
    bool found[3] = {false, false, false};
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4096];
    while (maps && fgets(line, sizeof(line), maps))
        for (int i = 0; i < 3; i++)
            found[i] = found[i] || strstr(line, runtime[i]);
    if (maps)
        fclose(maps);
    return found[0] + found[1] + found[2];
}

static void read_files(struct state *s)
{
    enum { LOOKED_AT = 64 };
    struct stat st;
    for (int fd = 0; fd < LOOKED_AT && s->n_file < STATE_FILES; fd++) {
        if (fstat(fd, &st) < 0)
            continue;
        s->file[s->n_file].fd = fd;
        s->file[s->n_file].device = st.st_dev;
        s->file[s->n_file++].inode = st.st_ino;
    }
}

static void read_handler(struct state *s, int signal)
{
    struct sigaction action;
    s->handler[signal] = sigaction(signal, NULL, &action) == 0 ? action.sa_handler : SIG_DFL;
}

/* Reads the part of the state that takes only a few system calls. */
static void read_quickly(struct state *s)
{
    static const int usual[] = {SIGINT,  SIGTERM, SIGCHLD, SIGPIPE,
                                SIGALRM, SIGSEGV, SIGFPE,  SIGABRT};
    bool own = uselocale((locale_t)0) != LC_GLOBAL_LOCALE;
    const char *locale = own ? "a thread's own" : setlocale(LC_ALL, NULL);
    s->rounding = read_rounding();
    s->n_file = 0;
    s->has_child = child_is_left();
    snprintf(s->locale, sizeof(s->locale), "%s", locale ? locale : "");
    if (!getcwd(s->directory, sizeof(s->directory)))
        s->directory[0] = '\0';
    for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
        read_handler(s, usual[i]);
    sigprocmask(SIG_SETMASK, NULL, &s->blocked);
    read_files(s);
}

void state_read(struct state *s)
{
    *s = (struct state){.descriptors = count_entries("/proc/self/fd"),
                        .threads = count_entries("/proc/self/task"),
                        .openmp = count_openmp(),
                        .environment = hash_environment()};
    read_quickly(s);
    for (int i = 1; i < STATE_SIGNALS; i++)
        read_handler(s, i);
    s->umask = umask(0);
    umask(s->umask);
}

/* ---- differences ---- */

__attribute__((format(printf, 2, 3))) static void state_add(struct strbuf *out, const char *fmt,
                                                            ...)
{
    va_list args;
    strbuf_add(out, out->n ? "; " : "");
    va_start(args, fmt);
    strbuf_addv(out, fmt, args);
    va_end(args);
}

static void compare_words(const char *what, const char *before, const char *after,
                          struct strbuf *out)
{
    if (strcmp(before, after) != 0)
        state_add(out, "changed the %s from '%s' to '%s'", what, before, after);
}

static void compare_counts(const char *what, int before, int after, struct strbuf *out)
{
    if (before != after)
        state_add(out, "changed the number of %s from %d to %d", what, before, after);
}

static void compare_signals(const struct state *before, const struct state *after,
                            struct strbuf *out)
{
    char name[SIGNAL_NAME];
    for (int i = 1; i < STATE_SIGNALS; i++)
        if (before->handler[i] != after->handler[i] ||
            sigismember(&before->blocked, i) != sigismember(&after->blocked, i))
            state_add(out, "changed what %s does", signal_name(i, name));
}

static void compare_files(const struct state *before, const struct state *after, struct strbuf *out)
{
    for (int i = 0, k = 0; i < before->n_file; i++) {
        while (k < after->n_file && after->file[k].fd < before->file[i].fd)
            k++;
        if (k == STATE_FILES)
            return;
        if (k == after->n_file || after->file[k].fd != before->file[i].fd ||
            after->file[k].device != before->file[i].device ||
            after->file[k].inode != before->file[i].inode)
            state_add(out, "closed file descriptor %d", before->file[i].fd);
    }
}

void state_compare(const struct state *before, const struct state *after, struct strbuf *out)
{
    if (before->rounding != after->rounding)
        state_add(out, "changed how numbers are rounded, or the treatment of denormals");
    compare_words("locale", before->locale, after->locale, out);
    compare_words("current directory", before->directory, after->directory, out);
    if (before->umask != after->umask)
        state_add(out, "changed the umask");
    if (after->has_child && !before->has_child)
        state_add(out, "left a child process");
    compare_signals(before, after, out);
    compare_files(before, after, out);
    compare_counts("open files", before->descriptors, after->descriptors, out);
    compare_counts("threads", before->threads, after->threads, out);
    compare_counts("OpenMP runtimes", before->openmp, after->openmp, out);
    if (before->environment != after->environment)
        state_add(out, "changed an environment variable");
}

/* ---- the guard ---- */

void guard_start(struct guard *g)
{
    g->pid = getpid();
    read_quickly(&g->was);
}

void guard_look(struct guard *g, const char *where)
{
    if (getpid() != g->pid)
        _exit(1);
    struct state now = g->was;
    struct strbuf what = STRBUF_NEW;
    read_quickly(&now);
    state_compare(&g->was, &now, &what);
    if (what.n && !g->where[0]) {
        snprintf(g->where, sizeof(g->where), "%s", where);
        snprintf(g->what, sizeof(g->what), "%s", what.text);
    }
    strbuf_release(&what);
}

peat_status guard_verdict(struct guard *g, struct error *err)
{
    if (!g->where[0])
        return PEAT_OK;
    restore_rounding(g->was.rounding);
    if (g->was.directory[0] && chdir(g->was.directory) < 0)
        return error_set(err, PEAT_FAILED, "%s %s, and the way back to '%s' failed: %s", g->where,
                         g->what, g->was.directory, strerror(errno));
    return error_set(err, PEAT_FAILED, "%s %s", g->where, g->what);
}

/* ---- memory ---- */

#ifdef BASE_ADDRESS_SANITIZER
size_t state_memory(void)
{
    return 0;
}

size_t state_memory_kept(size_t before)
{
    return before + (__lsan_do_recoverable_leak_check() != 0);
}
#else
size_t state_memory(void)
{
#ifdef BASE_THREAD_SANITIZER /* the sanitizer has its own allocator */
    return __sanitizer_get_current_allocated_bytes();
#else
    return mallinfo2().uordblks;
#endif
}

size_t state_memory_kept(size_t before)
{
    size_t now = state_memory();
    return now > before ? now - before : 0;
}
#endif
