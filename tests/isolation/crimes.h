/* SPDX-License-Identifier: MIT */
/* crimes.h: what a plugin can do to the process it runs in. */
#pragma once

#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MARK_PATH
#define MARK_PATH "mark"
#endif

enum crime {
    NOTHING,
    SEGV,
    FPE,
    ILL,
    ABORT,
    LOOP,
    SLEEP,
    ENDURE,
    EXIT_0,
    EXIT_3,
    EXIT_130,
    FORK,
    CLOSE,
    HUGE_ALLOCATION,
    OVERRUN,
    KILL,
    STOP,
    CHDIR,
    LOCALE,
    ROUNDING,
    HANDLER,
    PRINT,
    MARK, /* makes the folder MARK_PATH */
    /* The rest is about results and left to each kind. */
    NOT_A_NUMBER,
    SHAPE,
    NOTHING_AT_ALL,
    MEMORY,
    WRITE_CONST
};

static const char *const crimes[] = {"nothing", "segv",     "fpe",     "ill",   "abort",   "loop",
                                     "sleep",   "endure",   "exit0",   "exit3", "exit130", "fork",
                                     "close",   "huge",     "overrun", "kill",  "stop",    "chdir",
                                     "locale",  "rounding", "handler", "print", "mark",    "nan",
                                     "shape",   "null",     "memory",  "const", NULL};

static volatile int zero;

static inline void commit(int64_t crime)
{
    switch (crime) {
    case SEGV:
        *(volatile int *)(uintptr_t)8 = 1;
        break;
    case FPE:
        zero = (int)getpid() / zero;
        break;
    case ILL:
        raise(SIGILL);
        break;
    case ABORT:
        abort();
    case LOOP:
        while (!zero)
            continue;
        break;
    case SLEEP:
        sleep(1000);
        break;
    case ENDURE:
        signal(SIGALRM, SIG_IGN);
        signal(SIGTERM, SIG_IGN);
        for (;;)
            continue;
    case EXIT_0:
        exit(0);
    case EXIT_3:
        _exit(3);
    case EXIT_130:
        _exit(130);
    case FORK:
        fork();
        break;
    case CLOSE:
        for (int fd = 0; fd < 64; fd++)
            close(fd);
        break;
    case HUGE_ALLOCATION: {
        volatile char *p = malloc((size_t)1 << (62 + zero));
        p[8] = 1;
        break;
    }
    case OVERRUN: {
        volatile char *p = malloc(16);
        for (size_t i = 0; i < (size_t)1 << (30 + zero); i += 16)
            p[i] = 0x7f;
        break;
    }
    case KILL:
        kill(getpid(), SIGKILL);
        break;
    case STOP:
        raise(SIGSTOP);
        break;
    case CHDIR:
        if (chdir("/") != 0)
            abort();
        break;
    case LOCALE:
        setlocale(LC_ALL, "C.UTF-8");
        break;
    case ROUNDING:
        fesetround(FE_UPWARD);
        break;
    case HANDLER:
        signal(SIGTERM, SIG_IGN);
        break;
    case PRINT:
        printf("a plugin prints\n");
        fflush(stdout);
        break;
    case MARK:
        mkdir(MARK_PATH, 0700);
        break;
    default:
        break;
    }
}
