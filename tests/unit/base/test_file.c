/* SPDX-License-Identifier: MIT */
/* test_file.c: files that are whole or absent. */
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "support/support.h"

static void assert_holds(const char *path, const char *text)
{
    char *bytes;
    size_t n;
    ck_assert_int_eq(file_read(path, 0, &bytes, &n, NULL), PEAT_OK);
    ck_assert_uint_eq(n, strlen(text));
    ck_assert_str_eq(bytes, text);
    free(bytes);
}

static int names_in(const char *path)
{
    char **name;
    int n;
    ck_assert_int_eq(dir_list(path, &name, &n, NULL), PEAT_OK);
    names_free(name, n);
    return n;
}

TEST(write_replaces_and_leaves_nothing_behind)
{
    struct error err = {0};
    ck_assert_int_eq(file_write(scratch_path("a"), "first", 5, &err), PEAT_OK);
    ck_assert_int_eq(file_write(scratch_path("a"), "second", 6, &err), PEAT_OK);
    assert_holds(scratch_path("a"), "second");
    ck_assert_int_eq(file_write(scratch_path("empty"), "", 0, &err), PEAT_OK);
    assert_holds(scratch_path("empty"), "");
    ck_assert_int_eq(names_in(scratch_dir), 2);
    ck_assert_str_eq(err.text, "");
}

TEST(failed_write_keeps_the_old_file_and_names_the_path)
{
    struct error err = {0};
    struct rlimit all, few;
    ck_assert_int_eq(file_write(scratch_path("a"), "old", 3, &err), PEAT_OK);
    getrlimit(RLIMIT_FSIZE, &all);
    few = (struct rlimit){.rlim_cur = 1, .rlim_max = all.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &few);
    peat_status status = file_write(scratch_path("a"), "new", 3, &err);
    setrlimit(RLIMIT_FSIZE, &all);
    ck_assert_int_eq(status, PEAT_IO);
    ck_assert_ptr_nonnull(strstr(err.text, scratch_path("a")));
    ck_assert_ptr_nonnull(strstr(err.text, strerror(EFBIG)));
    assert_holds(scratch_path("a"), "old");
    ck_assert_int_eq(names_in(scratch_dir), 1);
    ck_assert_int_eq(file_write(scratch_path("none/b"), "x", 1, &err), PEAT_NOTFOUND);
    ck_assert_int_eq(file_write(scratch_dir, "x", 1, &err), PEAT_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "is a directory"));
}

TEST(write_leaves_files_of_the_user_beside_it_alone)
{
    static const char *const users[] = {"a.tmp", "a.tmp-1", "a.tmp-x-1", "a.tmp-1-2-3x"};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(file_write(scratch_path(users[i]), users[i], strlen(users[i]), NULL),
                         PEAT_OK);
    ck_assert_int_eq(file_write(scratch_path("a"), "new", 3, NULL), PEAT_OK);
    dir_tidy(scratch_dir);
    for (int i = 0; i < 4; i++)
        assert_holds(scratch_path(users[i]), users[i]);
}

TEST(tidying_removes_what_killed_writers_left_and_nothing_else)
{
    ck_assert_int_eq(file_write(scratch_path("a.tmp-123-456"), "x", 1, NULL), PEAT_OK);
    ck_assert_int_eq(file_write(scratch_path("b.tmp-1-2.tmp-3-4"), "x", 1, NULL), PEAT_OK);
    ck_assert_int_eq(file_write(scratch_path("kept"), "x", 1, NULL), PEAT_OK);
    dir_tidy(scratch_dir);
    ck_assert_int_eq(names_in(scratch_dir), 1);
    assert_holds(scratch_path("kept"), "x");
}

TEST(write_keeps_the_mode_of_the_file_it_replaces)
{
    struct stat st;
    mode_t mask = umask(027);
    ck_assert_int_eq(file_write(scratch_path("a"), "x", 1, NULL), PEAT_OK);
    ck_assert_int_eq(stat(scratch_path("a"), &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0640);
    ck_assert_int_eq(chmod(scratch_path("a"), 0606), 0);
    ck_assert_int_eq(file_write(scratch_path("a"), "y", 1, NULL), PEAT_OK);
    ck_assert_int_eq(stat(scratch_path("a"), &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0606);
    umask(mask);
}

/* Each writer's text is one letter, again and again: a torn file has two of them. */
static void write_often(char letter, int times)
{
    enum { BYTES = 100000 };
    static char text[BYTES];
    memset(text, letter, BYTES);
    for (int i = 0; i < times; i++)
        if (file_write(scratch_path("a"), text, BYTES, NULL) != PEAT_OK)
            _exit(1);
    _exit(0);
}

static void read_often(int times)
{
    for (int i = 0; i < times; i++) {
        char *bytes = NULL;
        size_t n = 0, same = 0;
        if (file_read(scratch_path("a"), 0, &bytes, &n, NULL) != PEAT_OK)
            continue;
        while (same < n && bytes[same] == bytes[0])
            same++;
        ck_assert_uint_eq(n, 100000);
        ck_assert_uint_eq(same, n);
        free(bytes);
    }
}

TEST(four_writers_at_once_never_fail_or_tear_the_file)
{
    for (int i = 0; i < 4; i++) {
        pid_t pid = fork();
        if (pid == 0)
            write_often((char)('a' + i), 20);
        ck_assert_int_gt(pid, 0);
    }
    read_often(100);
    for (int i = 0, status; i < 4; i++) {
        ck_assert_int_gt(wait(&status), 0);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    ck_assert_int_eq(names_in(scratch_dir), 1);
}

TEST(writer_whose_temporary_file_is_tidied_away_writes_again)
{
    pid_t pid = fork();
    if (pid == 0)
        write_often('a', 30);
    while (waitpid(pid, NULL, WNOHANG) == 0)
        dir_tidy(scratch_dir);
    ck_assert_int_eq(names_in(scratch_dir), 1);
    read_often(1);
}

/* A file that is not regular, in the folder of the test. */
static void plant_strange_files(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(mkfifo(scratch_path("pipe"), 0666), 0);
    ck_assert_int_eq(mkdir(scratch_path("folder"), 0777), 0);
    ck_assert_int_eq(symlink("/dev/zero", scratch_path("device")), 0);
    ck_assert_int_eq(symlink("loop", scratch_path("loop")), 0);
    ck_assert_int_eq(symlink("pipe", scratch_path("link-to-pipe")), 0);
    strcpy(address.sun_path, scratch_path("socket"));
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    close(fd);
}

static const struct {
    const char *name, *reason;
} strange[] = {
    {"pipe", "is a named pipe, not a regular file"},
    {"folder", "is a directory"},
    {"device", "is a device, not a regular file"},
    {"loop", "Too many levels of symbolic links"},
    {"link-to-pipe", "is a named pipe, not a regular file"},
    {"socket", "is a socket, not a regular file"},
};
enum { STRANGE = sizeof(strange) / sizeof(*strange) };

TEST(reading_refuses_at_once_what_is_no_regular_file)
{
    char *bytes = NULL, hex[HASH_HEX];
    size_t n;
    plant_strange_files();
    for (int i = 0; i < STRANGE; i++) {
        struct error err = {0}, again = {0};
        const char *path = scratch_path(strange[i].name);
        ck_assert_int_ne(file_read(path, 0, &bytes, &n, &err), PEAT_OK);
        ck_assert_msg(strstr(err.text, strange[i].reason), "%s", err.text);
        ck_assert_ptr_nonnull(strstr(err.text, path));
        ck_assert_int_ne(hash_file(path, hex, &again), PEAT_OK);
        ck_assert_str_eq(again.text, err.text);
    }
    ck_assert_ptr_null(bytes);
}

TEST(own_files_are_never_written_through_links_or_into_pipes)
{
    struct stat before, after;
    plant_strange_files();
    ck_assert_int_eq(file_write(scratch_path("target"), "old", 3, NULL), PEAT_OK);
    ck_assert_int_eq(symlink("target", scratch_path("link")), 0);
    ck_assert_int_eq(symlink("none", scratch_path("dangling")), 0);
    static const char *const name[] = {"pipe",         "folder", "device", "loop",
                                       "link-to-pipe", "socket", "link",   "dangling"};
    for (int i = 0; i < 8; i++) {
        struct error err = {0};
        int fd;
        ck_assert_int_eq(lstat(scratch_path(name[i]), &before), 0);
        ck_assert_int_eq(file_write_own(scratch_path(name[i]), "new", 3, &err), PEAT_IO);
        ck_assert_ptr_nonnull(strstr(err.text, scratch_path(name[i])));
        ck_assert(!S_ISLNK(before.st_mode) || strstr(err.text, "is a symbolic link"));
        ck_assert_int_eq(
            file_open(scratch_path(name[i]), O_RDWR | O_CREAT | O_TRUNC, FILE_OWN, &fd, NULL),
            PEAT_IO);
        ck_assert_int_eq(lstat(scratch_path(name[i]), &after), 0);
        ck_assert_uint_eq(before.st_ino, after.st_ino);
    }
    assert_holds(scratch_path("target"), "old");
    ck_assert(!file_exists(scratch_path("none")));
}

TEST(write_makes_the_file_that_a_dangling_link_names)
{
    struct stat st;
    ck_assert_int_eq(mkdir(scratch_path("sub"), 0777), 0);
    ck_assert_int_eq(symlink("sub/second", scratch_path("first")), 0);
    ck_assert_int_eq(symlink("../third", scratch_path("sub/second")), 0);
    ck_assert_int_eq(file_write(scratch_path("first"), "x", 1, NULL), PEAT_OK);
    assert_holds(scratch_path("third"), "x");
    ck_assert_int_eq(lstat(scratch_path("sub/second"), &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
}

TEST(pipe_with_a_reader_is_written_straight)
{
    char got[8] = "";
    struct stat st;
    ck_assert_int_eq(mkfifo(scratch_path("pipe"), 0666), 0);
    int reader = open(scratch_path("pipe"), O_RDONLY | O_NONBLOCK);
    ck_assert_int_eq(file_write(scratch_path("pipe"), "text", 4, NULL), PEAT_OK);
    ck_assert_int_eq(read(reader, got, sizeof(got)), 4);
    ck_assert_str_eq(got, "text");
    close(reader);
    ck_assert_int_eq(lstat(scratch_path("pipe"), &st), 0);
    ck_assert(S_ISFIFO(st.st_mode));
}

TEST(name_of_an_open_descriptor_is_written_and_read_straight)
{
    int ends[2];
    char name[32], *bytes = NULL;
    size_t n = 0;
    struct error err = {0};
    ck_assert_int_eq(pipe(ends), 0);
    snprintf(name, sizeof(name), "/dev/fd/%d", ends[1]);
    ck_assert_int_eq(file_write(name, "text", 4, NULL), PEAT_OK);
    close(ends[1]);
    snprintf(name, sizeof(name), "/proc/self/fd/%d", ends[0]);
    ck_assert_int_eq(file_read(name, 100, &bytes, &n, &err), PEAT_INVALID);
    ck_assert_int_eq(file_read_stream(name, 100, &bytes, &n, NULL), PEAT_OK);
    ck_assert_str_eq(bytes, "text");
    free(bytes);
    close(ends[0]);
    int fd = open("/dev/zero", O_RDONLY);
    snprintf(name, sizeof(name), "/dev/fd/%d", fd);
    ck_assert_int_eq(file_read_stream(name, 100, &bytes, &n, &err), PEAT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "the limit is 100"));
    ck_assert_int_eq(file_descriptor("/dev/fd/"), -1);
    ck_assert_int_eq(file_descriptor("/dev/fd/1x"), -1);
    ck_assert_int_eq(file_descriptor("/dev/stdout"), 1);
}

TEST(long_names_can_be_written)
{
    char name[256], path[400];
    memset(name, 'x', 255);
    name[255] = '\0';
    snprintf(path, sizeof(path), "%s", scratch_path(name));
    ck_assert_int_eq(file_write(path, "1", 1, NULL), PEAT_OK);
    ck_assert_int_eq(file_write(path, "2", 1, NULL), PEAT_OK);
    assert_holds(path, "2");
}

TEST(full_device_is_an_error)
{
    struct error err = {0};
    ck_assert_int_eq(file_write("/dev/full", "x", 1, &err), PEAT_IO);
    ck_assert_str_eq(err.text, "cannot write '/dev/full': No space left on device");
    int fd = open("/dev/full", O_WRONLY);
    ck_assert_int_eq(fd_write(fd, "x", 1, &err), PEAT_IO);
    close(fd);
}

TEST(devices_and_links_survive_a_write)
{
    struct stat st;
    ck_assert_int_eq(file_write("/dev/null", "x", 1, NULL), PEAT_OK);
    ck_assert_int_eq(stat("/dev/null", &st), 0);
    ck_assert(S_ISCHR(st.st_mode));
    ck_assert_int_eq(file_write(scratch_path("target"), "old", 3, NULL), PEAT_OK);
    ck_assert_int_eq(symlink("target", scratch_path("link")), 0);
    ck_assert_int_eq(file_write(scratch_path("link"), "new", 3, NULL), PEAT_OK);
    ck_assert_int_eq(lstat(scratch_path("link"), &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
    assert_holds(scratch_path("target"), "new");
}

TEST(read_keeps_zero_bytes_and_terminates)
{
    char *bytes;
    size_t n;
    ck_assert_int_eq(file_write(scratch_path("a"), "a\0b", 3, NULL), PEAT_OK);
    ck_assert_int_eq(file_read(scratch_path("a"), 3, &bytes, &n, NULL), PEAT_OK);
    ck_assert_uint_eq(n, 3);
    ck_assert_mem_eq(bytes, "a\0b", 4);
    free(bytes);
}

TEST(read_takes_files_that_claim_to_be_empty)
{
    char *bytes;
    size_t n;
    ck_assert_int_eq(file_read("/proc/self/status", 0, &bytes, &n, NULL), PEAT_OK);
    ck_assert_uint_gt(n, 100);
    ck_assert_uint_eq(strlen(bytes), n);
    free(bytes);
}

/* The log of the kernel, which root alone may read: a regular file to stat, and never at its end.
 */
TEST(read_refuses_a_file_without_an_end)
{
    static const char path[] = "/proc/kmsg";
    char *bytes;
    size_t n;
    struct error err = {0};
    if (access(path, R_OK) != 0)
        return;
    peat_status status = file_read(path, 0, &bytes, &n, &err);
    ck_assert_msg(status == PEAT_INVALID || status == PEAT_IO, "%s", err.text);
}

TEST(read_refuses_what_is_too_large)
{
    char *bytes = NULL;
    size_t n;
    struct error err = {0};
    ck_assert_int_eq(file_write(scratch_path("a"), "12345", 5, NULL), PEAT_OK);
    ck_assert_int_eq(file_read(scratch_path("a"), 4, &bytes, &n, &err), PEAT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "has 5 bytes, the limit is 4"));
    ck_assert_ptr_null(bytes);
}

TEST(read_tells_absent_files_from_directories)
{
    char *bytes;
    size_t n;
    struct error err = {0};
    ck_assert_int_eq(file_read(scratch_path("none"), 0, &bytes, &n, &err), PEAT_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(err.text, scratch_path("none")));
    ck_assert_int_eq(file_read(scratch_dir, 0, &bytes, &n, &err), PEAT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "is a directory"));
}

TEST(directories_are_made_with_their_parents)
{
    struct error err = {0};
    ck_assert_int_eq(dir_make(scratch_path("a/b//c/"), &err), PEAT_OK);
    ck_assert_int_eq(dir_make(scratch_path("a/b/c"), &err), PEAT_OK);
    ck_assert(file_exists(scratch_path("a/b/c")));
    ck_assert_int_eq(dir_make("/", &err), PEAT_OK);
    ck_assert_int_eq(file_write(scratch_path("file"), "", 0, &err), PEAT_OK);
    ck_assert_int_eq(dir_make(scratch_path("file"), &err), PEAT_IO);
    ck_assert_ptr_nonnull(strstr(err.text, strerror(ENOTDIR)));
    ck_assert_int_eq(dir_make(scratch_path("file/x"), &err), PEAT_IO);
}

TEST(remove_takes_everything_but_what_links_point_to)
{
    ck_assert_int_eq(dir_make(scratch_path("a/b"), NULL), PEAT_OK);
    ck_assert_int_eq(file_write(scratch_path("a/b/f"), "x", 1, NULL), PEAT_OK);
    ck_assert_int_eq(file_write(scratch_path("kept"), "x", 1, NULL), PEAT_OK);
    ck_assert_int_eq(symlink("../kept", scratch_path("a/link")), 0);
    ck_assert_int_eq(symlink("..", scratch_path("a/up")), 0);
    ck_assert_int_eq(dir_remove(scratch_path("a"), NULL), PEAT_OK);
    ck_assert(!file_exists(scratch_path("a")));
    ck_assert(file_exists(scratch_path("kept")));
    ck_assert_int_eq(dir_remove(scratch_path("a"), NULL), PEAT_OK);
}

TEST(list_is_sorted_by_bytes)
{
    static const char *const made[] = {"b", "a", "B", "a10", "a2", ".x"};
    static const char *const sorted[] = {".x", "B", "a", "a10", "a2", "b"};
    char **name;
    int n;
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(file_write(scratch_path(made[i]), "", 0, NULL), PEAT_OK);
    ck_assert_int_eq(dir_list(scratch_dir, &name, &n, NULL), PEAT_OK);
    ck_assert_int_eq(n, 6);
    for (int i = 0; i < n; i++)
        ck_assert_str_eq(name[i], sorted[i]);
    names_free(name, n);
    struct error err = {0};
    ck_assert_int_eq(dir_list(scratch_path("none"), &name, &n, &err), PEAT_NOTFOUND);
}

static void assert_path(char *path, const char *expected)
{
    ck_assert_str_eq(path, expected);
    free(path);
}

TEST(paths_are_joined_and_resolved)
{
    assert_path(path_join("a", "b"), "a/b");
    assert_path(path_join("a/", "b"), "a/b");
    assert_path(path_join("", "b"), "b");
    assert_path(path_beside("exp/one.yaml", "data.txt"), "exp/data.txt");
    assert_path(path_beside("one.yaml", "./my.so"), "./my.so");
    assert_path(path_beside("exp/one.yaml", "/abs"), "/abs");
    assert_path(path_beside("/one.yaml", "x"), "/x");
    ck_assert_str_eq(path_name("a/b/one.npy"), "one.npy");
    ck_assert_str_eq(path_name("one.npy"), "one.npy");
    ck_assert_str_eq(path_name("a/"), "");
}

/* In the scratch directory; `age` in seconds. */
static const char *make_left(const char *name, int age)
{
    const char *path = scratch_path(name);
    struct timespec now[2];
    ck_assert_int_eq(mkdir(path, 0700), 0);
    clock_gettime(CLOCK_REALTIME, &now[0]);
    now[0].tv_sec -= age;
    now[1] = now[0];
    ck_assert_int_eq(utimensat(AT_FDCWD, path, now, 0), 0);
    return path;
}

TEST(own_directory_ends_with_its_process_or_with_the_next)
{
    struct own_dir own, next;
    setenv("TMPDIR", scratch_dir, 1);
    ck_assert_int_eq(own_dir_open(&own, "test", NULL), PEAT_OK);
    ck_assert_int_eq(utimensat(AT_FDCWD, own.path, (struct timespec[2]){{1, 0}, {1, 0}}, 0), 0);
    make_left("peat-test-abcdef", 3600);
    make_left("peat-test-new123", 1);
    make_left("peat-other-abcdef", 3600);
    make_left("peat-test-abcdefg", 3600);
    ck_assert_int_eq(own_dir_open(&next, "test", NULL), PEAT_OK);
    ck_assert(file_exists(own.path));
    ck_assert(!file_exists(scratch_path("peat-test-abcdef")));
    ck_assert(file_exists(scratch_path("peat-test-new123")));
    ck_assert(file_exists(scratch_path("peat-other-abcdef")));
    ck_assert(file_exists(scratch_path("peat-test-abcdefg")));
    own_dir_close(&next);
    own_dir_close(&own);
    ck_assert_int_eq(names_in(scratch_dir), 3);
    unsetenv("TMPDIR");
}

int main(void)
{
    return run_tests((struct tests){"file", scratch_make, scratch_remove, .seconds = 60});
}
