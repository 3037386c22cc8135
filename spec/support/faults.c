/* faults.c - makes system calls of a program fail: LD_PRELOAD=build/test/faults.so WEIR_FAULTS=PLAN WEIR_FAULTS_ON=ON.
 *
 * Counted are calls on files whose path begins with ON, and with ON "net" calls on Internet sockets. The file PLAN says
 * which calls fail, with EIO: "3 17", the third and the seventeenth from now on; "fdatasync:-wal:2", the second call of
 * fdatasync on a path that ends in -wal; "random SEED N", N in 1000. A plan is read, and removed, before the next call
 * after it was written; PLAN.log has a line for each call that failed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST 16

/* The n-th call of a function on a path with an ending; "": of any function, on any path. */
struct choice {
    char call[16], ending[16];
    long n, seen;
};

static struct choice choices[MOST];
static long permille;
static int nchoices;
static unsigned seed;

#define REAL(name) ((__typeof__(name) *)real(#name))

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* Reads the plan, if there is a new one. */
static void read_plan(const char *plan)
{
    char text[400], *rest, *word;
    int fd = REAL(open64)(plan, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : REAL(read)(fd, text, sizeof text - 1);

    if (fd >= 0)
        REAL(close)(fd);
    if (n < 0)
        return;
    REAL(unlink)(plan);
    text[n] = '\0';
    permille = nchoices = 0;
    if (sscanf(text, "random %u %ld", &seed, &permille) == 2)
        return;
    for (word = strtok_r(text, " ", &rest); word && nchoices < MOST; word = strtok_r(NULL, " ", &rest)) {
        struct choice *c = &choices[nchoices++];
        memset(c, 0, sizeof *c);
        if (sscanf(word, "%15[^:]:%15[^:]:%ld", c->call, c->ending, &c->n) != 3) {
            c->call[0] = c->ending[0] = '\0';
            c->n = atol(word);
        }
    }
}

static bool is_chosen(struct choice *c, const char *call, const char *path)
{
    size_t len = strlen(path), end = strlen(c->ending);

    if ((c->call[0] && strcmp(c->call, call) != 0) || len < end || strcmp(path + len - end, c->ending) != 0)
        return false;
    return ++c->seen == c->n;
}

static bool is_planned(const char *call, const char *path)
{
    bool planned = false;

    seed = seed * 1103515245u + 12345u;
    for (int i = 0; i < nchoices; i++)
        planned |= is_chosen(&choices[i], call, path);
    return planned || (permille && (long)((seed >> 8) % 1000) < permille);
}

static void note(const char *plan, const char *call, const char *path)
{
    char line[700];
    int n = snprintf(line, sizeof line, "%s.log", plan), fd = REAL(open64)(line, O_WRONLY | O_CREAT | O_APPEND, 0600);

    n = snprintf(line, sizeof line, "%s %s\n", call, path);
    if (fd < 0 || REAL(write)(fd, line, (size_t)n) != n)
        abort();
    REAL(close)(fd);
}

/* Whether a call on a path has to fail. */
static bool fails_on(const char *call, const char *path)
{
    const char *plan = getenv("WEIR_FAULTS"), *on = getenv("WEIR_FAULTS_ON");
    bool fails = false;
    int before = errno;

    if (plan && on && strncmp(path, on, strlen(on)) == 0) {
        read_plan(plan);
        fails = is_planned(call, path);
        if (fails)
            note(plan, call, path);
    }
    errno = fails ? EIO : before;
    return fails;
}

static bool fails(const char *call, int fd)
{
    char name[64], path[512] = "";
    struct stat st;
    ssize_t n;
    int before = errno;

    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    n = REAL(readlink)(name, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    if (strncmp(path, "socket:", 7) == 0 && REAL(fstat)(fd, &st) == 0) {
        struct sockaddr_storage a;
        socklen_t size = sizeof a;
        bool net = getsockname(fd, (struct sockaddr *)&a, &size) == 0 && a.ss_family != AF_UNIX;
        strcpy(path, net ? "net" : "");
    }
    errno = before;
    return fails_on(call, path);
}

#define HOOK(result, name, params, args)                                                                               \
    result name params                                                                                                 \
    {                                                                                                                  \
        return fails(#name, fd) ? -1 : REAL(name) args;                                                                \
    }
HOOK(ssize_t, read, (int fd, void *b, size_t n), (fd, b, n))
HOOK(ssize_t, write, (int fd, const void *b, size_t n), (fd, b, n))
HOOK(ssize_t, pread64, (int fd, void *b, size_t n, off64_t o), (fd, b, n, o))
HOOK(ssize_t, pwrite64, (int fd, const void *b, size_t n, off64_t o), (fd, b, n, o))
HOOK(int, ftruncate64, (int fd, off64_t n), (fd, n))
HOOK(int, fdatasync, (int fd), (fd))
HOOK(int, fsync, (int fd), (fd))
HOOK(int, fchmod, (int fd, mode_t m), (fd, m))
HOOK(int, fstat64, (int fd, struct stat64 *st), (fd, st))
HOOK(int, fstat, (int fd, struct stat *st), (fd, st))
HOOK(int, connect, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n))
HOOK(ssize_t, send, (int fd, const void *b, size_t n, int flags), (fd, b, n, flags))
HOOK(ssize_t, recv, (int fd, void *b, size_t n, int flags), (fd, b, n, flags))

#define HOOK_PATH(name, params, args)                                                                                  \
    int name params                                                                                                    \
    {                                                                                                                  \
        return fails_on(#name, path) ? -1 : REAL(name) args;                                                           \
    }
HOOK_PATH(access, (const char *path, int m), (path, m))
HOOK_PATH(unlink, (const char *path), (path))
HOOK_PATH(rename, (const char *path, const char *to), (path, to))
HOOK_PATH(stat64, (const char *path, struct stat64 *st), (path, st))
HOOK_PATH(stat, (const char *path, struct stat *st), (path, st))
HOOK_PATH(lstat64, (const char *path, struct stat64 *st), (path, st))

#define HOOK_FOPEN(name)                                                                                               \
    FILE *name(const char *path, const char *mode)                                                                     \
    {                                                                                                                  \
        return fails_on(#name, path) ? NULL : REAL(name)(path, mode);                                                  \
    }
HOOK_FOPEN(fopen)
HOOK_FOPEN(fopen64)

int statx(int dir, const char *restrict path, int flags, unsigned mask, struct statx *restrict out)
{
    return fails_on("statx", path) ? -1 : REAL(statx)(dir, path, flags, mask, out);
}

/* A file that cannot be closed properly is closed all the same. */
int close(int fd)
{
    bool fail = fails("close", fd);
    int rc = REAL(close)(fd);

    if (fail)
        errno = EIO;
    return fail ? -1 : rc;
}

/* What stdio writes itself fails when it is flushed or closed. */
int fflush(FILE *f)
{
    return f && fails("fflush", fileno(f)) ? EOF : REAL(fflush)(f);
}

int fclose(FILE *f)
{
    bool fail = fails("fclose", fileno(f));
    int rc = REAL(fclose)(f);

    if (fail)
        errno = EIO;
    return fail ? EOF : rc;
}

size_t fwrite(const void *b, size_t size, size_t n, FILE *f)
{
    return fileno(f) > 2 && fails("fwrite", fileno(f)) ? 0 : REAL(fwrite)(b, size, n, f);
}

static int open_path(const char *name, const char *path, int flags, mode_t mode)
{
    return fails_on(name, path) ? -1 : REAL(open64)(path, flags, mode);
}

#define HOOK_OPEN(name)                                                                                                \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list ap;                                                                                                    \
        mode_t mode;                                                                                                   \
        va_start(ap, flags);                                                                                           \
        mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;                                                               \
        va_end(ap);                                                                                                    \
        return open_path(#name, path, flags, mode);                                                                    \
    }
HOOK_OPEN(open)
HOOK_OPEN(open64)

static int control(const char *name, int fd, int op, void *arg)
{
    return fails(name, fd) ? -1 : REAL(fcntl64)(fd, op, arg);
}

#define HOOK_FCNTL(name)                                                                                               \
    int name(int fd, int op, ...)                                                                                      \
    {                                                                                                                  \
        va_list ap;                                                                                                    \
        void *arg;                                                                                                     \
        va_start(ap, op);                                                                                              \
        arg = va_arg(ap, void *);                                                                                      \
        va_end(ap);                                                                                                    \
        return control(#name, fd, op, arg);                                                                            \
    }
HOOK_FCNTL(fcntl)
HOOK_FCNTL(fcntl64)

/* SQLite waits between tries, up to 10 s; here nobody else holds a lock that would be given up meanwhile. */
int usleep(useconds_t n)
{
    (void)n;
    return 0;
}

void *mmap64(void *at, size_t size, int prot, int flags, int fd, off64_t offset)
{
    return fd >= 0 && fails("mmap64", fd) ? MAP_FAILED : REAL(mmap64)(at, size, prot, flags, fd, offset);
}
