/* SPDX-License-Identifier: MIT */
/* guard.c: comparing the process with what it was. */
#include "process/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

static const int watched[GUARD_SIGNALS] = {SIGINT,  SIGTERM, SIGCHLD, SIGPIPE,
                                           SIGALRM, SIGSEGV, SIGFPE,  SIGABRT};

/* Rounding, traps and denormals; the low six bits only record what happened. */
static unsigned rounding_now(void)
{
#if defined(__SSE__)
    return _mm_getcsr() & ~0x3fu;
#else
    return (unsigned)fegetround();
#endif
}

static void rounding_set(unsigned mode)
{
#if defined(__SSE__)
    _mm_setcsr(mode);
#else
    fesetround((int)mode);
#endif
}

static bool has_child(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static void (*handler_of(int number))(int)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 ? action.sa_handler : SIG_DFL;
}

/* ---- as it should be ---- */

static void note_files(struct guard *g)
{
    enum { LOOKED_AT = 64 };
    struct stat st;
    g->n_file = 0;
    for (int fd = 0; fd < LOOKED_AT && g->n_file < GUARD_FILES; fd++) {
        if (fstat(fd, &st) < 0)
            continue;
        g->file[g->n_file].fd = fd;
        g->file[g->n_file].device = st.st_dev;
        g->file[g->n_file++].inode = st.st_ino;
    }
}

void guard_start(struct guard *g)
{
    const char *locale = setlocale(LC_ALL, NULL);
    g->pid = getpid();
    g->rounding = rounding_now();
    snprintf(g->locale, sizeof(g->locale), "%s", locale ? locale : "");
    if (!getcwd(g->directory, sizeof(g->directory)))
        g->directory[0] = '\0';
    for (int i = 0; i < GUARD_SIGNALS; i++)
        g->handler[i] = handler_of(watched[i]);
    sigprocmask(SIG_SETMASK, NULL, &g->blocked);
    g->had_child = has_child();
    note_files(g);
}

/* ---- as it is ---- */

static void find(struct guard *g, const char *where, const char *what)
{
    if (g->where[0])
        return;
    snprintf(g->where, sizeof(g->where), "%s", where);
    snprintf(g->what, sizeof(g->what), "%s", what);
}

static bool locale_is_same(const struct guard *g)
{
    const char *locale = setlocale(LC_ALL, NULL);
    return uselocale((locale_t)0) == LC_GLOBAL_LOCALE &&
           strcmp(locale ? locale : "", g->locale) == 0;
}

static bool directory_is_same(const struct guard *g)
{
    char now[sizeof(g->directory)];
    if (!getcwd(now, sizeof(now)))
        now[0] = '\0';
    return strcmp(now, g->directory) == 0;
}

static void look_at_signals(struct guard *g, const char *where)
{
    sigset_t blocked;
    char text[64];
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (int i = 0; i < GUARD_SIGNALS; i++) {
        if (sigismember(&blocked, watched[i]) == sigismember(&g->blocked, watched[i]) &&
            handler_of(watched[i]) == g->handler[i])
            continue;
        snprintf(text, sizeof(text), "changed what SIG%s does", sigabbrev_np(watched[i]));
        find(g, where, text);
    }
}

static void look_at_files(struct guard *g, const char *where)
{
    struct stat st;
    char text[64];
    for (int i = 0; i < g->n_file; i++) {
        if (fstat(g->file[i].fd, &st) == 0 && st.st_dev == g->file[i].device &&
            st.st_ino == g->file[i].inode)
            continue;
        snprintf(text, sizeof(text), "closed file descriptor %d", g->file[i].fd);
        find(g, where, text);
    }
}

void guard_look(struct guard *g, const char *where)
{
    if (getpid() != g->pid)
        _exit(1);
    if (rounding_now() != g->rounding)
        find(g, where, "changed how numbers are rounded");
    if (!locale_is_same(g))
        find(g, where, "changed the locale");
    if (!directory_is_same(g))
        find(g, where, "changed the current directory");
    if (!g->had_child && has_child())
        find(g, where, "left a child process");
    look_at_signals(g, where);
    look_at_files(g, where);
}

peat_status guard_verdict(struct guard *g, struct error *err)
{
    if (!g->where[0])
        return PEAT_OK;
    rounding_set(g->rounding);
    if (g->directory[0] && chdir(g->directory) < 0)
        return error_set(err, PEAT_FAILED, "%s %s, and '%s' cannot be gone back to: %s", g->where,
                         g->what, g->directory, strerror(errno));
    return error_set(err, PEAT_FAILED, "%s %s", g->where, g->what);
}
