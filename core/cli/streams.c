/* SPDX-License-Identifier: MIT */
/* streams.c: the standard streams, and output to stdout or to a file. */
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "cli/verbs.h"
#include "report/table.h"

/* A shell gives 8 MiB. With a small stack the process would die somewhere without a message. */
static void require_stack(void)
{
    enum { LEAST_KIB = 512 };
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur / 1024 >= LEAST_KIB)
        return;
    cli_say("a stack of %ju KiB is too small: at least %d are needed (`ulimit -s 8192`)",
            (uintmax_t)(stack.rlim_cur / 1024), LEAST_KIB);
    _exit(CLI_USAGE);
}

/* OpenMP's threads crash where theirs is small. Its number is of KiB, unless a letter follows. */
static void require_thread_stack(void)
{
    enum { LEAST_KIB = 256 };
    const char *text = getenv("OMP_STACKSIZE");
    uintmax_t n;
    char unit = 'K';
    if (!text || sscanf(text, "%ju %c", &n, &unit) < 1 || (n && strchr("mMgG", unit)) ||
        (strchr("bB", unit) ? n / 1024 : n) >= LEAST_KIB)
        return;
    cli_say("OMP_STACKSIZE is %s, too small a stack for threads: at least %dK are needed", text,
            LEAST_KIB);
    _exit(CLI_USAGE);
}

/* If a standard descriptor is closed, the next file opened would get its number, and output would
 * go into it. The descriptor is opened for the wrong direction, so that using it fails. */
void cli_start(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    stops_end_process();
    require_stack();
    require_thread_stack();
}

void cli_print(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    shown_vprint(stdout, fmt, args);
    va_end(args);
}

peat_status cli_write(const char *file, const struct strbuf *text, struct error *err)
{
    if (file)
        return file_write(file, text->text, text->n, err);
    fwrite(text->text, 1, text->n, stdout);
    return PEAT_OK;
}

int cli_width(const char *file, int narrowest, int widest)
{
    enum { DEFAULT = 100 };
    struct winsize size;
    if (file || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return DEFAULT;
    return size.ws_col < narrowest ? narrowest : size.ws_col > widest ? widest : size.ws_col;
}

int cli_output(const struct cli *cli, const char *file)
{
    if (cli->err->status == PEAT_OK)
        cli_write(file, cli->out, cli->err);
    return CLI_DONE;
}

void print_json(const struct value *v)
{
    struct strbuf text = STRBUF_NEW, shown = STRBUF_NEW;
    json_print(v, JSON_INDENTED, &text);
    shown_add(&shown, text.text, "\n\t");
    fwrite(shown.text, 1, shown.n, stdout); /* never wrapped */
    strbuf_release(&shown);
    strbuf_release(&text);
}

void cli_add_wrapped(const struct table *t, const char *file, bool bold, struct strbuf *out)
{
    struct strbuf text = STRBUF_NEW;
    format_text(t, cli_width(file, 60, INT_MAX), bold, &text);
    wrap_add(out, text.text, file ? 0 : terminal_columns(stdout));
    strbuf_release(&text);
}

/* When the reader of a pipe has gone, no message is needed. The errno of an earlier write may be
 * lost, but the pipe itself still shows it. */
static bool reader_is_gone(int error)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    return error == EPIPE || (poll(&out, 1, 0) == 1 && (out.revents & POLLERR));
}

int cli_finish(int code)
{
    errno = 0;
    bool bad = ferror(stdout);
    if (fflush(stdout) == 0 && !bad)
        return code;
    int error = errno;
    if (!error && write(STDOUT_FILENO, "\n", 1) < 0) /* fails with the errno of an earlier write */
        error = errno;
    if (!reader_is_gone(error))
        cli_say("cannot write to standard output: %s",
                error ? strerror(error) : "input/output error");
    return code == CLI_DONE ? CLI_FAILED : code;
}
