/* atomic_file.c - files replaced as a whole: text is written to a draft next to the file, and the complete draft is
 * renamed to the file's name. Invariant: until weir_draft_end() succeeds, an existing file is unchanged.
 */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX    ".new"
#define TRIES     100 /* names tried, in case of drafts left by a crashed process or in use by a concurrent one */
#define NAME_MOST 240 /* most bytes of the file's name used for the draft's name */

struct weir_draft {
    FILE *file;
    /* path: the file, links resolved; name: the draft, or NULL for pipes and devices, which are written directly */
    char *path, *name;
    char *shown; /* the caller's path, for errors */
    int broken;  /* errno of the first failed write; 0: none */
};

static int fail(const struct weir_draft *d, weir_err *err)
{
    return weir_fail_at(err, WEIR_EIO, d->shown, 0, 0, "cannot be written: %s", strerror(errno));
}

static void forget(struct weir_draft *d)
{
    WEIR_FREE(d->path, d->name, d->shown, d);
}

/* Resolves the links of a path. A dangling link counts as a file and is replaced. */
static int resolve(struct weir_draft *d, const char *path, unsigned flags, weir_err *err)
{
    char real[PATH_MAX];
    bool follows = !(flags & WEIR_WRITE_NO_LINK) && realpath(path, real);

    d->shown = weir_mem_strdup(path);
    d->path = weir_mem_strdup(follows ? real : path);
    return d->shown && d->path ? WEIR_OK : weir_fail_nomem(err);
}

/* Formats the draft's name number n. */
static void name_draft(const struct weir_draft *d, int n)
{
    const char *slash = strrchr(d->path, '/'), *base = slash ? slash + 1 : d->path;
    size_t dir = (size_t)(base - d->path), len = strlen(base);

    len = len < NAME_MOST ? len : NAME_MOST;
    sprintf(d->name, n ? "%.*s" SUFFIX "%d" : "%.*s" SUFFIX, (int)(dir + len), d->path, n);
}

/* Creates a new draft. Returns a file descriptor, or -1 with errno set. */
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

/* Gives the draft the mode and owner of the file to be replaced. A failure of fchown() is ignored, because only root
 * can give a file to a different owner. */
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
        return fail(d, err);
    if ((!old || take_after(fd, old) == 0) && (d->file = fdopen(fd, "wb")))
        return WEIR_OK;
    fail(d, err);
    close(fd);
    unlink(d->name);
    return WEIR_EIO;
}

/* Whether the path is written directly. /dev/stdout may be a regular file held open by another process, which would
 * not see a replacement. /dev/shm has files like those of any directory. */
static bool is_device(const char *path, const struct stat *there)
{
    return (strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0) || strncmp(path, "/proc/", 6) == 0 ||
           (there && !S_ISREG(there->st_mode));
}

static int open_device(struct weir_draft *d, weir_err *err)
{
    d->file = fopen(d->shown, "wbe");
    return d->file ? WEIR_OK : fail(d, err);
}

static int refuse(const struct weir_draft *d, const char *what, weir_err *err)
{
    return weir_fail_at(err, WEIR_EIO, d->shown, 0, 0, "cannot be written: it is %s, expected a file", what);
}

/* Opens the draft or the device. With WEIR_WRITE_NO_LINK no file is opened under the path's own name, so a link
 * created between lstat() and rename() is replaced, never followed. */
static int open_path(struct weir_draft *d, unsigned flags, weir_err *err)
{
    bool no_link = flags & WEIR_WRITE_NO_LINK;
    struct stat there;
    const struct stat *old = (no_link ? lstat(d->path, &there) : stat(d->path, &there)) == 0 ? &there : NULL;

    if (old && S_ISDIR(old->st_mode))
        return refuse(d, "a directory", err);
    if (no_link && old && !S_ISREG(old->st_mode))
        return refuse(d, S_ISLNK(old->st_mode) ? "a link" : "a pipe or a device", err);
    if (!no_link && is_device(d->shown, old))
        return open_device(d, err);
    return open_draft(d, old, err);
}

int weir_draft_begin(const char *path, unsigned flags, weir_draft **out, weir_err *err)
{
    struct weir_draft *d = weir_mem_zalloc(1, sizeof *d);
    int rc;

    *out = NULL;
    if (!d)
        return weir_fail_nomem(err);
    rc = resolve(d, path, flags, err);
    rc = rc ? rc : open_path(d, flags, err);
    if (rc)
        forget(d);
    else
        *out = d;
    return rc;
}

int weir_draft_write(weir_draft *d, const char *text, size_t len, weir_err *err)
{
    if (!d->broken && fwrite(text, 1, len, d->file) != len)
        d->broken = errno ? errno : EIO;
    errno = d->broken;
    return d->broken ? fail(d, err) : WEIR_OK;
}

int weir_draft_end(weir_draft *d, int rc, weir_err *err)
{
    errno = d->broken;
    if (!rc && (d->broken || fflush(d->file) != 0 || (d->name && fsync(fileno(d->file)) != 0)))
        rc = fail(d, err);
    if (fclose(d->file) != 0 && !rc)
        rc = fail(d, err);
    if (!rc && d->name && rename(d->name, d->path) != 0)
        rc = fail(d, err);
    if (rc && d->name)
        unlink(d->name);
    forget(d);
    return rc;
}

int weir_file_write(const char *path, const char *text, size_t len, unsigned flags, weir_err *err)
{
    weir_draft *d;
    int rc = weir_draft_begin(path, flags, &d, err);

    return rc ? rc : weir_draft_end(d, weir_draft_write(d, text, len, err), err);
}
