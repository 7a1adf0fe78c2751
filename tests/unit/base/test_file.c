/* SPDX-License-Identifier: MIT */
/* test_file.c: files that are whole or absent. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
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

START_TEST(write_replaces_and_leaves_nothing_behind)
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
END_TEST

START_TEST(failed_write_keeps_the_old_file_and_names_the_path)
{
    struct error err = {0};
    ck_assert_int_eq(file_write(scratch_path("a"), "old", 3, &err), PEAT_OK);
    ck_assert_int_eq(mkdir(scratch_path("a.tmp"), 0777), 0);
    ck_assert_int_eq(file_write(scratch_path("a"), "new", 3, &err), PEAT_IO);
    ck_assert_ptr_nonnull(strstr(err.text, scratch_path("a")));
    ck_assert_ptr_nonnull(strstr(err.text, strerror(EISDIR)));
    assert_holds(scratch_path("a"), "old");
    ck_assert_int_eq(file_write(scratch_path("none/b"), "x", 1, &err), PEAT_NOTFOUND);
    ck_assert_int_eq(file_write(scratch_dir, "x", 1, &err), PEAT_IO);
}
END_TEST

START_TEST(full_device_is_an_error)
{
    struct error err = {0};
    ck_assert_int_eq(file_write("/dev/full", "x", 1, &err), PEAT_IO);
    ck_assert_str_eq(err.text, "cannot write '/dev/full': No space left on device");
    int fd = open("/dev/full", O_WRONLY);
    ck_assert_int_eq(fd_write(fd, "x", 1, &err), PEAT_IO);
    close(fd);
}
END_TEST

START_TEST(devices_and_links_survive_a_write)
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
END_TEST

START_TEST(read_keeps_zero_bytes_and_terminates)
{
    char *bytes;
    size_t n;
    ck_assert_int_eq(file_write(scratch_path("a"), "a\0b", 3, NULL), PEAT_OK);
    ck_assert_int_eq(file_read(scratch_path("a"), 3, &bytes, &n, NULL), PEAT_OK);
    ck_assert_uint_eq(n, 3);
    ck_assert_mem_eq(bytes, "a\0b", 4);
    free(bytes);
}
END_TEST

START_TEST(read_takes_files_that_claim_to_be_empty)
{
    char *bytes;
    size_t n;
    ck_assert_int_eq(file_read("/proc/self/status", 0, &bytes, &n, NULL), PEAT_OK);
    ck_assert_uint_gt(n, 100);
    ck_assert_uint_eq(strlen(bytes), n);
    free(bytes);
}
END_TEST

START_TEST(read_refuses_what_is_too_large)
{
    char *bytes = NULL;
    size_t n;
    struct error err = {0};
    ck_assert_int_eq(file_write(scratch_path("a"), "12345", 5, NULL), PEAT_OK);
    ck_assert_int_eq(file_read(scratch_path("a"), 4, &bytes, &n, &err), PEAT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "has 5 bytes, the limit is 4"));
    ck_assert_int_eq(file_read("/dev/zero", 100000, &bytes, &n, &err), PEAT_INVALID);
    ck_assert_ptr_null(bytes);
}
END_TEST

START_TEST(read_tells_absent_files_from_directories)
{
    char *bytes;
    size_t n;
    struct error err = {0};
    ck_assert_int_eq(file_read(scratch_path("none"), 0, &bytes, &n, &err), PEAT_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(err.text, scratch_path("none")));
    ck_assert_int_eq(file_read(scratch_dir, 0, &bytes, &n, &err), PEAT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "is a directory"));
}
END_TEST

START_TEST(directories_are_made_with_their_parents)
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
END_TEST

START_TEST(remove_takes_everything_but_what_links_point_to)
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
END_TEST

START_TEST(list_is_sorted_by_bytes)
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
END_TEST

static void assert_path(char *path, const char *expected)
{
    ck_assert_str_eq(path, expected);
    free(path);
}

START_TEST(paths_are_joined_and_resolved)
{
    assert_path(path_join("a", "b"), "a/b");
    assert_path(path_join("a/", "b"), "a/b");
    assert_path(path_join("", "b"), "b");
    assert_path(path_beside("exp/one.yaml", "data.txt"), "exp/data.txt");
    assert_path(path_beside("one.yaml", "./my.so"), "./my.so");
    assert_path(path_beside("exp/one.yaml", "/abs"), "/abs");
    assert_path(path_beside("/one.yaml", "x"), "/x");
}
END_TEST

int main(void)
{
    return run_list(
        (struct tests){"file", scratch_make, scratch_remove},
        TESTS(write_replaces_and_leaves_nothing_behind,
              failed_write_keeps_the_old_file_and_names_the_path, full_device_is_an_error,
              devices_and_links_survive_a_write, read_keeps_zero_bytes_and_terminates,
              read_takes_files_that_claim_to_be_empty, read_refuses_what_is_too_large,
              read_tells_absent_files_from_directories, directories_are_made_with_their_parents,
              remove_takes_everything_but_what_links_point_to, list_is_sorted_by_bytes,
              paths_are_joined_and_resolved));
}
