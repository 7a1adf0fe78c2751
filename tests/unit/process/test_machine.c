/* SPDX-License-Identifier: MIT */
/* test_machine.c: cores and memory that a process may use. */
#include "process/machine.h"

#include <sched.h>

#include "support/shell.h"
#include "support/support.h"

static cpu_set_t before;
static int first;

/* The process may use the first two of its processors, which share a core where `siblings` says so.
 */
static void open_two(void)
{
    cpu_set_t two;
    int found = 0;
    shell_open();
    ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
    CPU_ZERO(&two);
    for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
        if (CPU_ISSET((size_t)cpu, &before)) {
            CPU_SET((size_t)cpu, &two);
            first = found++ ? first : cpu;
        }
    ck_assert_int_eq(sched_setaffinity(0, sizeof(two), &two), 0);
}

static void close_two(void)
{
    sched_setaffinity(0, sizeof(before), &before);
    shell_close();
}

static void plant(const char *path, const char *text)
{
    shell_expect(0, "mkdir -p $(dirname .%s) && printf '%s' >.%s", path, text, path);
}

static struct machine look(void)
{
    struct machine m;
    machine_look(&m, shell.dir);
    return m;
}

static int processors(void)
{
    cpu_set_t mine;
    ck_assert_int_eq(sched_getaffinity(0, sizeof(mine), &mine), 0);
    return CPU_COUNT(&mine);
}

TEST(each_processor_is_a_core_where_nothing_else_is_said)
{
    ck_assert_int_eq(look().cores, processors());
    ck_assert(look().free_bytes == INT64_MAX);
}

TEST(processors_of_one_core_count_once)
{
    for (int cpu = first; cpu < first + 8; cpu++) {
        char path[128], text[64];
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                 cpu);
        snprintf(text, sizeof(text), "%d-%d,%d", first, first + 5, first + 7);
        plant(path, text);
    }
    ck_assert_int_eq(look().cores, 1);
}

TEST(processors_that_belong_to_others_lead_no_core)
{
    char path[128], text[64];
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
             first);
    snprintf(text, sizeof(text), "%d,%d", first, first + 512);
    plant(path, text);
    ck_assert_int_eq(look().cores, processors());
}

TEST(the_tightest_limit_of_the_groups_above_holds)
{
    plant("/proc/self/cgroup", "1:cpu:/old\\n0::/outer/inner\\n");
    plant("/proc/meminfo", "MemTotal: 4000 kB\\nMemAvailable:    3000 kB\\n");
    ck_assert(look().free_bytes == 3000 * 1024);
    plant("/sys/fs/cgroup/outer/inner/cpu.max", "max 100000\\n");
    plant("/sys/fs/cgroup/outer/inner/memory.max", "max\\n");
    plant("/sys/fs/cgroup/outer/inner/memory.current", "500000\\n");
    ck_assert_int_eq(look().cores, processors());
    plant("/sys/fs/cgroup/outer/cpu.max", "150000 100000\\n");
    plant("/sys/fs/cgroup/outer/memory.max", "2000000\\n");
    plant("/sys/fs/cgroup/outer/memory.current", "1500000\\n");
    ck_assert_int_eq(look().cores, 1);
    ck_assert(look().free_bytes == 500000);
}

TEST(a_group_beyond_its_limit_has_no_room)
{
    plant("/proc/self/cgroup", "0::/\\n");
    plant("/sys/fs/cgroup/memory.max", "1000\\n");
    plant("/sys/fs/cgroup/memory.current", "1200\\n");
    plant("/sys/fs/cgroup/cpu.max", "20000 100000\\n");
    ck_assert(look().free_bytes == 0);
    ck_assert_int_eq(look().cores, 1);
}

int main(void)
{
    return run_tests((struct tests){"machine", open_two, close_two});
}
