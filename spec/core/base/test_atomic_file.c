/* test_atomic_file.c - weir_file_write writes the whole file or nothing: for every failing allocation, and for a
 * file that may not grow. */
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64], draft[80];

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "wb");

    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0, "%s is made", name);
}

/* The content of the file; "" without a file. */
static const char *content(void)
{
    static char text[64];
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

    text[n] = '\0';
    if (f)
        fclose(f);
    return text;
}

static int once(void *arg)
{
    int rc = weir_file_write(path, arg, strlen(arg), 0, NULL);

    CHECK(strcmp(content(), rc ? "old" : "new") == 0, "status %d, the file is \"%s\"", rc, content());
    CHECK(access(draft, F_OK) != 0, "there is no draft after status %d", rc);
    put(path, "old");
    return rc;
}

static void limit(rlim_t bytes)
{
    struct rlimit limit;

    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0, "the limit is known");
    limit.rlim_cur = bytes;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0, "and set");
}

static void test_full(void)
{
    weir_err err = {0};
    static char text[100000];
    int rc;

    signal(SIGXFSZ, SIG_IGN);
    memset(text, 'x', sizeof text);
    limit(4096);
    rc = weir_file_write(path, text, sizeof text, 0, &err);
    limit(RLIM_INFINITY);
    CHECK(rc == WEIR_EIO && strstr(err.text, "cannot be written: "), "status %d, \"%s\"", rc, err.text);
    CHECK(strcmp(err.source, path) == 0, "the error names %s", err.source);
    CHECK(strcmp(content(), "old") == 0 && access(draft, F_OK) != 0, "all is as it was");
}

static void test_mode(void)
{
    struct stat st;

    CHECK(chmod(path, 0640) == 0, "the mode is set");
    CHECK(weir_file_write(path, "mode", 4, 0, NULL) == WEIR_OK && stat(path, &st) == 0, "written");
    CHECK((st.st_mode & 0777) == 0640, "mode %o", st.st_mode & 0777u);
}

/* Old drafts are left behind, until no name for a draft is free. */
static void test_drafts(void)
{
    char name[80];
    weir_err err = {0};

    for (int n = 0; n < 100; n++) {
        snprintf(name, sizeof name, n ? "%s.new%d" : "%s.new", path, n);
        CHECK(weir_file_write(path, name, strlen(name), 0, NULL) == WEIR_OK, "%d drafts are there", n);
        CHECK(strcmp(content(), name) == 0, "the file is \"%s\"", content());
        put(name, "mine");
    }
    CHECK(weir_file_write(path, "x", 1, 0, &err) == WEIR_EIO && strstr(err.text, "File exists"), "\"%s\"", err.text);
    for (int n = 0; n < 100; n++) {
        snprintf(name, sizeof name, n ? "%s.new%d" : "%s.new", path, n);
        unlink(name);
    }
}

/* ---- links ---- */

static char target[80];

/* Makes `path` a link to `target`, a file with "old". */
static void make_link(void)
{
    unlink(path);
    put(target, "old");
    CHECK(symlink(target, path) == 0, "a link is made");
}

static bool is_link(void)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

static void test_links(void)
{
    weir_err err = {0};

    make_link();
    CHECK(weir_file_write(path, "followed", 8, 0, NULL) == WEIR_OK && is_link() && strcmp(content(), "followed") == 0,
          "what the link leads to is written");
    make_link();
    CHECK(weir_file_write(path, "x", 1, WEIR_WRITE_NO_LINK, &err) == WEIR_EIO && strstr(err.text, "it is a link"),
          "\"%s\"", err.text);
    CHECK(is_link() && strcmp(content(), "old") == 0 && access(draft, F_OK) != 0, "all is as it was");
    unlink(target);
    CHECK(weir_file_write(path, "x", 1, WEIR_WRITE_NO_LINK, &err) == WEIR_EIO && access(target, F_OK) != 0 && is_link(),
          "nor is a link that leads nowhere");
    unlink(path);
    for (int n = 0; n < 2; n++)
        CHECK(weir_file_write(path, "own", 3, WEIR_WRITE_NO_LINK, NULL) == WEIR_OK && strcmp(content(), "own") == 0,
              "a file, new or not, is written");
    unlink(path);
    weir_err_clear(&err);
    CHECK(mkfifo(path, 0600) == 0 && weir_file_write(path, "x", 1, WEIR_WRITE_NO_LINK, &err) == WEIR_EIO &&
              strstr(err.text, "it is a pipe"),
          "\"%s\"", err.text);
    unlink(path);
}

/* A link in the place of a draft is left alone. */
static void test_draft_link(void)
{
    struct stat st;

    put(path, "old");
    put(target, "mine");
    CHECK(symlink(target, draft) == 0 && weir_file_write(path, "new", 3, 0, NULL) == WEIR_OK, "written");
    CHECK(strcmp(content(), "new") == 0 && stat(target, &st) == 0 && st.st_size == 4, "but not through the link");
    unlink(draft);
    unlink(target);
}

/* Reading an empty pipe would wait for ever, but for the earlier signal. */
static void test_interrupted(void)
{
    weir_err err = {0};
    char name[64], *text = NULL, block[8];
    size_t len = 0, n = 9;
    int ends[2];
    FILE *f;

    if (!CHECK(pipe(ends) == 0, "pipe: %s", strerror(errno)))
        return;
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    f = fopen(name, "rb");
    weir_interrupt(true);
    CHECK(weir_file_read(name, "a machine", 100, &text, &len, &err) == WEIR_EINTERRUPTED, "read: %s", err.text);
    CHECK(f && weir_file_block(f, name, block, sizeof block, &n, &err) == WEIR_EINTERRUPTED, "block: %s", err.text);
    CHECK(n == 0, "%zu bytes", n);
    weir_interrupt(false);
    fclose(f);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    char text[] = "new";

    snprintf(path, sizeof path, "/tmp/weir-draft-%ld", (long)getpid());
    snprintf(draft, sizeof draft, "%s.new", path);
    snprintf(target, sizeof target, "%s.target", path);
    put(path, "old");
    check_nomem(once, text, "writing a file");
    test_full();
    test_mode();
    test_drafts();
    test_links();
    test_draft_link();
    unlink(path);
    test_interrupted();
    return check_report();
}
