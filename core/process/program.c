/* SPDX-License-Identifier: MIT */
/* program.c: the path of this program, and the environment of a cell. */
#include "process/program.h"

peat_status own_program(char *path, size_t n, struct error *err)
{
    ssize_t length = readlink("/proc/self/exe", path, n - 1);
    if (length < 0)
        return error_set(err, PEAT_IO, "cannot find out where this program is: %s",
                         strerror(errno));
    path[length] = '\0';
    return PEAT_OK;
}

/* One thread for BLAS, since the engine divides its products itself. One malloc arena for each of
 * few threads, so peak memory can be compared between cells. Waiting threads spin for microseconds
 * instead of milliseconds: where cells share cores, long spins took ten times as long. */
char **cell_environment(struct arena *a, int64_t threads)
{
    char *set[] = {arena_printf(a, "OMP_NUM_THREADS=%" PRId64, threads),
                   arena_strdup(a, "OPENBLAS_NUM_THREADS=1"), arena_strdup(a, "OMP_DYNAMIC=false"),
                   arena_strdup(a, "MALLOC_ARENA_MAX=2"), arena_strdup(a, "GOMP_SPINCOUNT=1000")};
    /* The user may choose how threads wait, so GOMP_SPINCOUNT comes last and may be left out. */
    const size_t all = sizeof(set) / sizeof(*set);
    const size_t n_set = getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY") ? all - 1 : all;
    size_t n = 0, out = 0;
    while (environ[n])
        n++;
    char **env = arena_array(a, n + n_set + 1, sizeof(*env));
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
