/* SPDX-License-Identifier: MIT */
/* state.c: reading and comparing the state of the process. */
#include "process/state.h"

#include <fenv.h>
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "base/file.h"
#include "base/sanitizer.h"
#ifdef BASE_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif
#ifdef BASE_THREAD_SANITIZER
size_t __sanitizer_get_current_allocated_bytes(void); /* gcc has the function and no header */
#endif

/* The low six bits of MXCSR only record what happened. */
static uint32_t read_rounding(void)
{
    uint32_t mode = (uint32_t)fegetround() << 16;
#if defined(__SSE__)
    mode |= _mm_getcsr() & ~0x3fu;
#endif
    return mode;
}

void state_restore_rounding(const struct state *s)
{
    fesetround((int)(s->rounding >> 16));
#if defined(__SSE__)
    _mm_setcsr(s->rounding & 0xffffu);
#endif
}

static int count_entries(const char *path)
{
    char **name;
    int n = 0;
    if (dir_list(path, &name, &n, NULL) == PEAT_OK)
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

void state_read_part(struct state *s, int n, const int *signals)
{
    bool own = uselocale((locale_t)0) != LC_GLOBAL_LOCALE;
    const char *locale = own ? "a thread's own" : setlocale(LC_ALL, NULL);
    s->rounding = read_rounding();
    snprintf(s->locale, sizeof(s->locale), "%s", locale ? locale : "");
    if (!getcwd(s->directory, sizeof(s->directory)))
        s->directory[0] = '\0';
    for (int i = 0; i < n; i++) {
        struct sigaction action;
        bool known = sigaction(signals[i], NULL, &action) == 0;
        s->handler[signals[i]] = known ? action.sa_handler : SIG_DFL;
    }
    sigprocmask(SIG_SETMASK, NULL, &s->blocked);
}

void state_read(struct state *s)
{
    int signals[STATE_SIGNALS - 1];
    for (int i = 1; i < STATE_SIGNALS; i++)
        signals[i - 1] = i;
    *s = (struct state){.descriptors = count_entries("/proc/self/fd"),
                        .threads = count_entries("/proc/self/task"),
                        .openmp = count_openmp(),
                        .environment = hash_environment()};
    state_read_part(s, STATE_SIGNALS - 1, signals);
    s->umask = umask(0);
    umask(s->umask);
}

bool state_same_signal(const struct state *before, const struct state *after, int signal)
{
    return before->handler[signal] == after->handler[signal] &&
           sigismember(&before->blocked, signal) == sigismember(&after->blocked, signal);
}

static void add(struct strbuf *out, const char *text)
{
    strbuf_addf(out, "%s%s", out->n ? "; " : "", text);
}

static void compare_texts(const char *what, const char *before, const char *after,
                          struct strbuf *out)
{
    if (strcmp(before, after) != 0)
        strbuf_addf(out, "%sthe %s is '%s' and was '%s'", out->n ? "; " : "", what, after, before);
}

static void compare_counts(const char *what, int before, int after, struct strbuf *out)
{
    if (before != after)
        strbuf_addf(out, "%sthere are %d %s and were %d", out->n ? "; " : "", after, what, before);
}

static void compare_signals(const struct state *before, const struct state *after,
                            struct strbuf *out)
{
    for (int i = 1; i < STATE_SIGNALS; i++) {
        if (before->handler[i] != after->handler[i])
            strbuf_addf(out, "%sthe handler of signal %d (%s) has changed", out->n ? "; " : "", i,
                        strsignal(i));
        if (sigismember(&before->blocked, i) != sigismember(&after->blocked, i))
            strbuf_addf(out, "%sthe mask of signal %d (%s) has changed", out->n ? "; " : "", i,
                        strsignal(i));
    }
}

void state_compare(const struct state *before, const struct state *after, struct strbuf *out)
{
    if (before->rounding != after->rounding)
        add(out, "the rounding mode or the treatment of denormals has changed");
    compare_texts("locale", before->locale, after->locale, out);
    compare_texts("directory", before->directory, after->directory, out);
    if (before->umask != after->umask)
        add(out, "the umask has changed");
    compare_signals(before, after, out);
    compare_counts("open files", before->descriptors, after->descriptors, out);
    compare_counts("threads", before->threads, after->threads, out);
    compare_counts("OpenMP runtimes", before->openmp, after->openmp, out);
    if (before->environment != after->environment)
        add(out, "an environment variable has changed");
}

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
#ifdef BASE_THREAD_SANITIZER /* has an allocator of its own */
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
