/* atomic_file.c - files that are written whole or not at all. */
#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX   ".new"
#define TRIES    100 /* drafts that others may have left */
#define NAME_MOST 240 /* bytes of a file's name that the name of its draft has */

int weir_draft_fail(const struct weir_draft *d, weir_err *err)
{
    return weir_fail_at(err, WEIR_EIO, d->shown, 0, 0, "cannot be written: %s", strerror(errno));
}

static void forget(struct weir_draft *d)
{
    weir_mem_free(d->path);
    weir_mem_free(d->name);
    *d = (struct weir_draft){0};
}

/* The file that a path leads to. A link that leads nowhere is replaced, as is a file. */
static int resolve(struct weir_draft *d, const char *path, weir_err *err)
{
    char real[PATH_MAX];

    d->shown = path;
    d->path = weir_mem_strdup(realpath(path, real) ? real : path);
    return d->path ? WEIR_OK : weir_fail_nomem(err);
}

/* The n-th name for a draft. */
static void name_draft(const struct weir_draft *d, int n)
{
    const char *slash = strrchr(d->path, '/'), *base = slash ? slash + 1 : d->path;
    size_t dir = (size_t)(base - d->path), len = strlen(base);

    len = len < NAME_MOST ? len : NAME_MOST;
    sprintf(d->name, n ? "%.*s" SUFFIX "%d" : "%.*s" SUFFIX, (int)(dir + len), d->path, n);
}

/* A draft that was not there before; a descriptor or -1. */
static int create(const struct weir_draft *d)
{
    int fd = -1;

    for (int n = 0; n < TRIES && fd < 0; n++) {
        name_draft(d, n);
        fd = open(d->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

/* As the file that it replaces. That the owner can only be kept by root is no failure. */
static int take_after(int fd, const struct stat *old)
{
    if (fchown(fd, old->st_uid, old->st_gid) != 0)
        errno = 0;
    return fchmod(fd, old->st_mode & 07777);
}

static int open_draft(struct weir_draft *d, const struct stat *old, weir_err *err)
{
    int fd;

    d->name = weir_mem_alloc(strlen(d->path) + sizeof SUFFIX + 4);
    if (!d->name)
        return weir_fail_nomem(err);
    fd = create(d);
    if (fd < 0)
        return weir_draft_fail(d, err);
    if ((!old || take_after(fd, old) == 0) && (d->file = fdopen(fd, "wb")))
        return WEIR_OK;
    weir_draft_fail(d, err);
    close(fd);
    unlink(d->name);
    return WEIR_EIO;
}

/* /dev/stdout may lead to a file that somebody has open: no other may take its place. */
static bool is_device(const char *path, const struct stat *there)
{
    return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0 || (there && !S_ISREG(there->st_mode));
}

static int open_device(struct weir_draft *d, weir_err *err)
{
    d->file = fopen(d->shown, "wbe");
    return d->file ? WEIR_OK : weir_draft_fail(d, err);
}

int weir_draft_begin(struct weir_draft *d, const char *path, weir_err *err)
{
    struct stat old;
    bool there;
    int rc;

    *d = (struct weir_draft){0};
    rc = resolve(d, path, err);
    if (rc)
        return rc;
    there = stat(d->path, &old) == 0;
    if (there && S_ISDIR(old.st_mode))
        rc = weir_fail_at(err, WEIR_EIO, path, 0, 0, "cannot be written: it is a directory, a file is wanted");
    else if (is_device(path, there ? &old : NULL))
        rc = open_device(d, err);
    else
        rc = open_draft(d, there ? &old : NULL, err);
    if (rc)
        forget(d);
    return rc;
}

int weir_draft_end(struct weir_draft *d, int rc, weir_err *err)
{
    if (!rc && (fflush(d->file) != 0 || (d->name && fsync(fileno(d->file)) != 0)))
        rc = weir_draft_fail(d, err);
    if (fclose(d->file) != 0 && !rc)
        rc = weir_draft_fail(d, err);
    if (!rc && d->name && rename(d->name, d->path) != 0)
        rc = weir_draft_fail(d, err);
    if (rc && d->name)
        unlink(d->name);
    forget(d);
    return rc;
}

int weir_file_write(const char *path, const char *text, size_t len, weir_err *err)
{
    struct weir_draft d;
    int rc = weir_draft_begin(&d, path, err);

    if (rc)
        return rc;
    if (fwrite(text, 1, len, d.file) != len)
        rc = weir_draft_fail(&d, err);
    return weir_draft_end(&d, rc, err);
}
