/* SPDX-License-Identifier: MIT */
/* spawn.c: posix_spawn with the environment, files and signals of a cell. */
#include "process/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* share -1: nothing is shared. */
static int add_files(posix_spawn_file_actions_t *files, const char *log, int share)
{
    int bad = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!bad)
        bad = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, log,
                                               O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (!bad)
        bad = posix_spawn_file_actions_adddup2(files, STDOUT_FILENO, STDERR_FILENO);
    if (!bad && share >= 0)
        bad = posix_spawn_file_actions_adddup2(files, share, SPAWN_SHARED);
    return bad;
}

/* A terminal's Ctrl-C must not reach the cell: its own group. Signals that the parent blocks or
 * ignores are as in a fresh process. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int bad = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                       POSIX_SPAWN_SETSIGDEF);
    if (!bad)
        bad = posix_spawnattr_setpgroup(attributes, 0);
    if (!bad)
        bad = posix_spawnattr_setsigmask(attributes, &none);
    return bad ? bad : posix_spawnattr_setsigdefault(attributes, &all);
}

static int start(char *const *argv, char *const *env, const char *log, int share, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int bad = posix_spawn_file_actions_init(&files);
    if (bad)
        return bad;
    bad = posix_spawnattr_init(&attributes);
    if (!bad) {
        bad = add_files(&files, log, share);
        if (!bad)
            bad = set_attributes(&attributes);
        if (!bad)
            bad = posix_spawn(pid, argv[0], &files, &attributes, argv, env);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return bad;
}

/* What fails in the new process before exec comes back as its errno too: the log is opened here
 * first, so that a full or unwritable directory is not blamed on the program. */
peat_status process_start_sharing(char *const *argv, char *const *env, const char *log, int share,
                                  pid_t *pid, struct error *err)
{
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_set(err, PEAT_IO, "cannot open '%s': %s", log, strerror(errno));
    int bad = start(argv, env, log, share, pid);
    close(fd);
    if (bad)
        return error_set(err, PEAT_IO, "cannot start '%s': %s", argv[0], strerror(bad));
    return PEAT_OK;
}

peat_status process_start(char *const *argv, char *const *env, const char *log, pid_t *pid,
                          struct error *err)
{
    return process_start_sharing(argv, env, log, -1, pid, err);
}

peat_status own_program(char *path, size_t n, struct error *err)
{
    ssize_t length = readlink("/proc/self/exe", path, n - 1);
    if (length < 0)
        return error_set(err, PEAT_IO, "cannot tell where this program is: %s", strerror(errno));
    path[length] = '\0';
    return PEAT_OK;
}

void process_signal(pid_t pid, int signal)
{
    kill(-pid, signal);
}

/* One thread for BLAS: the engine divides its products itself. One malloc arena for each of few
 * threads keeps peak memory comparable between cells. Threads that wait spin for microseconds, not
 * for milliseconds: where cells share cores, long spins were seen to cost ten times the work. */
char **cell_environment(struct arena *a, int64_t threads)
{
    char *set[] = {arena_printf(a, "OMP_NUM_THREADS=%" PRId64, threads),
                   arena_strdup(a, "OPENBLAS_NUM_THREADS=1"), arena_strdup(a, "OMP_DYNAMIC=false"),
                   arena_strdup(a, "MALLOC_ARENA_MAX=2"), arena_strdup(a, "GOMP_SPINCOUNT=1000")};
    /* The last one is the user's to overrule. */
    const size_t all = sizeof(set) / sizeof(*set);
    const size_t n_set = getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY") ? all - 1 : all;
    size_t n = 0, out = 0;
    while (environ[n])
        n++;
    char **env = arena_array(a, n + n_set + 1, sizeof(*env));
    for (size_t j = 0; j < n_set; j++)
        if (!env || !set[j])
            return NULL;
    for (size_t i = 0; i < n; i++) {
        bool replaced = false;
        for (size_t j = 0; j < n_set; j++)
            replaced = replaced || !strncmp(environ[i], set[j], strcspn(set[j], "=") + 1);
        if (!replaced)
            env[out++] = environ[i];
    }
    for (size_t j = 0; j < n_set; j++)
        env[out++] = set[j];
    return env;
}
