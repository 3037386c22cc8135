/* process.c - functions of the system that a service needs in addition to the event loop: the user at the far end of a
 * socket, the service manager's sockets, locks, private files, memory. For Linux. */
#include "handle/support.h"
#include "system/system.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <malloc.h>
#include <poll.h>
#include <pwd.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define GROUPS_MAX 1024
#define SECRET_MAX 256
#define KEPT       (64 << 20) /* bytes */

static int fail_code(lua_State *L, const char *what, int code)
{
    weir_err err = {.code = code};

    snprintf(err.text, sizeof err.text, "%s: %s", what, strerror(errno));
    return weirlua_fail(L, &err, code);
}

static int fail_errno(lua_State *L, const char *what)
{
    return fail_code(L, what, WEIR_EIO);
}

static int check_fd(lua_State *L, int arg)
{
    lua_Integer fd = luaL_checkinteger(L, arg);

    luaL_argcheck(L, fd >= 0 && fd <= 0x7fffffff, arg, "a descriptor expected");
    return (int)fd;
}

/* ---- users ---- */

/* peer(fd): {uid =, gid =, pid =} of the process that connected a Unix socket; or nil, message, code. */
static int process_peer(lua_State *L)
{
    struct ucred who = {0};
    socklen_t len = sizeof who;

    if (getsockopt(check_fd(L, 1), SOL_SOCKET, SO_PEERCRED, &who, &len))
        return fail_errno(L, "the peer's identity is unknown");
    lua_createtable(L, 0, 3);
    weirlua_set_integer(L, "uid", (lua_Integer)who.uid);
    weirlua_set_integer(L, "gid", (lua_Integer)who.gid);
    weirlua_set_integer(L, "pid", who.pid);
    return 1;
}

/* hung_up(fd): whether the far end of a connection is closed for both directions. The end of input shows the close of
 * one direction only. Over TCP the far end is known to be closed after a reset, not before. */
static int process_hung_up(lua_State *L)
{
    struct pollfd one = {.fd = check_fd(L, 1)};

    lua_pushboolean(L, poll(&one, 1, 0) > 0);
    return 1;
}

static struct passwd *by_uid(lua_State *L, int arg, struct passwd *entry, char *text, size_t len)
{
    lua_Integer uid = luaL_checkinteger(L, arg);
    struct passwd *found = NULL;

    luaL_argcheck(L, uid >= 0 && uid <= 0xffffffff, arg, "a user id expected");
    return getpwuid_r((uid_t)uid, entry, text, len, &found) == 0 ? found : NULL;
}

/* user(uid): the name of a user, or nil; user(): name and id of the user who runs the process. */
static int process_user(lua_State *L)
{
    struct passwd entry, *found;
    char text[4096];

    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_pushinteger(L, (lua_Integer)geteuid());
    }
    found = by_uid(L, 1, &entry, text, sizeof text);
    lua_pushstring(L, found ? found->pw_name : NULL);
    lua_pushvalue(L, 1);
    return 2;
}

/* in_group(uid, gid, group): whether a user is in a group, by the system's lists or by gid, the user's current
 * group. */
static int process_in_group(lua_State *L)
{
    gid_t own = (gid_t)luaL_checkinteger(L, 2), list[GROUPS_MAX];
    const char *name = luaL_checkstring(L, 3);
    struct group group, *found = NULL;
    struct passwd entry, *user;
    char text[4096], more[16384];
    int n = GROUPS_MAX;
    bool in = false;

    user = by_uid(L, 1, &entry, text, sizeof text);
    if (getgrnam_r(name, &group, more, sizeof more, &found) == 0 && found) {
        in = own == found->gr_gid;
        if (!in && user && getgrouplist(user->pw_name, user->pw_gid, list, &n) >= 0)
            for (int i = 0; i < n && !in; i++)
                in = list[i] == found->gr_gid;
    }
    lua_pushboolean(L, in);
    return 1;
}

/* ---- secrets ---- */

/* secret([bytes]): random bytes as hexadecimal digits. */
static int process_secret(lua_State *L)
{
    static const char digits[] = "0123456789abcdef";
    lua_Integer n = luaL_optinteger(L, 1, 32);
    unsigned char bytes[SECRET_MAX];
    char text[2 * SECRET_MAX];

    if (n < 1 || n > SECRET_MAX)
        return luaL_argerror(L, 1, "1 to 256 expected");
    if (getrandom(bytes, (size_t)n, 0) != n)
        return fail_errno(L, "there are no random bytes");
    for (lua_Integer i = 0; i < n; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    lua_pushlstring(L, text, 2 * (size_t)n);
    return 1;
}

/* same(a, b): whether two texts are equal, in a time independent of the length of an equal beginning. */
static int process_same(lua_State *L)
{
    size_t na, nb;
    const char *a = luaL_checklstring(L, 1, &na), *b = luaL_checklstring(L, 2, &nb);
    volatile unsigned char differs = na != nb;

    for (size_t i = 0; i < na && i < nb; i++)
        differs = (unsigned char)(differs | (a[i] ^ b[i]));
    lua_pushboolean(L, !differs);
    return 1;
}

/* ---- private files ---- */

/* file_mode(path): the permissions of a file, a text that is equal for all paths of one file and different for further
 * files, and whether the file is regular, so that reading does not consume the content; or nil, message, code:
 * "unknown" for a missing file. */
static int process_file_mode(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    struct stat st;
    int rc;

    if (stat(path, &st)) {
        rc = errno == EACCES || errno == EIO ? WEIR_EIO : WEIR_ENOENT;
        return fail_code(L, path, rc);
    }
    lua_pushinteger(L, st.st_mode & 07777);
    lua_pushfstring(L, "%I:%I", (LUAI_UACINT)st.st_dev, (LUAI_UACINT)st.st_ino);
    lua_pushboolean(L, S_ISREG(st.st_mode));
    return 3;
}

/* is_terminal(fd): whether a descriptor is one of a terminal. */
static int process_is_terminal(lua_State *L)
{
    lua_pushboolean(L, isatty((int)luaL_checkinteger(L, 1)) == 1);
    return 1;
}

/* write_private(path, text): writes a new file readable by the owner only: true; or nil, message, code. */
static int process_write_private(lua_State *L)
{
    size_t len;
    const char *path = luaL_checkstring(L, 1), *text = luaL_checklstring(L, 2, &len);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool written;

    if (fd < 0)
        return fail_errno(L, path);
    written = write(fd, text, len) == (ssize_t)len && fsync(fd) == 0;
    if (!written || close(fd)) {
        int why = errno;
        if (!written)
            close(fd);
        unlink(path);
        errno = why;
        return fail_errno(L, path);
    }
    lua_pushboolean(L, 1);
    return 1;
}

static int close_own(lua_State *L)
{
    luaL_Stream *file = luaL_checkudata(L, 1, LUA_FILEHANDLE);

    return luaL_fileresult(L, fclose(file->f) == 0, NULL);
}

/* open_own(path): an empty Lua file to be written, with the permissions of ordinary new files; or nil, message, code. A
 * symbolic link is an error, except below /dev. */
static int process_open_own(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    int own = strncmp(path, "/dev/", 5) == 0 ? 0 : O_NOFOLLOW;
    luaL_Stream *file = lua_newuserdatauv(L, sizeof *file, 0);
    int fd;

    file->closef = NULL; /* marks the file as closed */
    luaL_setmetatable(L, LUA_FILEHANDLE);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | own, 0666);
    if (fd < 0)
        return fail_errno(L, path);
    file->f = fdopen(fd, "w");
    if (!file->f) {
        close(fd);
        return fail_errno(L, path);
    }
    file->closef = close_own;
    return 1;
}

/* umask(mask): sets the permissions withheld from new files of the process; returns the former mask. */
static int process_umask(lua_State *L)
{
    lua_Integer mask = luaL_checkinteger(L, 1);

    luaL_argcheck(L, mask >= 0 && mask <= 0777, 1, "permissions expected");
    lua_pushinteger(L, (lua_Integer)umask((mode_t)mask));
    return 1;
}

/* ---- locks ---- */

#define LOCK_TRIES 100 /* attempts, as further processes may remove the file before the lock */

/* Locks the whole file until the end of the process; child processes do not inherit the lock. Returns 0, or -1 with
 * *other the process holding the lock. */
static int lock_whole(int fd, pid_t *other)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    *other = 0;
    if (fcntl(fd, F_SETLK, &lock) == 0)
        return 0;
    if ((errno == EACCES || errno == EAGAIN) && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
        *other = lock.l_pid;
    return -1;
}

/* Returns whether a descriptor is of the file at a path now. */
static bool is_at(int fd, const char *path)
{
    struct stat here, there;

    return fstat(fd, &here) == 0 && lstat(path, &there) == 0 && here.st_ino == there.st_ino &&
           here.st_dev == there.st_dev;
}

/* Opens the file at a path, creating a missing file, and locks the file. Returns the descriptor, or -1 with *other the
 * holder of the lock, or with errno set. A symbolic link is an error. If the file was removed between open and lock,
 * the lock is worthless, since the next process would lock a new file: the function tries again. */
static int open_locked(const char *path, pid_t *other)
{
    int fd = -1, why;

    for (int i = 0; i < LOCK_TRIES && fd < 0; i++) {
        fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
            return -1;
        if (lock_whole(fd, other) != 0) {
            why = errno;
            close(fd);
            errno = why;
            return -1;
        }
        if (!is_at(fd, path)) {
            close(fd);
            fd = -1;
            errno = EAGAIN;
        }
    }
    return fd;
}

/* Pushes nil, message, code: the message has the text found in the lock file. */
static int fail_locked(lua_State *L, const char *path, pid_t other)
{
    weir_err err = {.code = WEIR_EEXIST};
    char text[200] = "";
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    snprintf(err.text, sizeof err.text, "process %d has it%s%s", (int)other, *text ? ": " : "", text);
    return weirlua_fail(L, &err, err.code);
}

/* lock_file(path, text): locks a file until unlock_file() or the end of the process, and writes `text`, which names the
 * process, into the file. Returns a descriptor; or nil, message, code: "exists" where a different process has the
 * lock. */
static int process_lock_file(lua_State *L)
{
    size_t len;
    const char *path = luaL_checkstring(L, 1), *text = luaL_checklstring(L, 2, &len);
    pid_t other = 0;
    int fd = open_locked(path, &other);

    if (fd < 0)
        return other ? fail_locked(L, path, other) : fail_errno(L, path);
    if (ftruncate(fd, 0) == 0 && write(fd, text, len) < 0)
        errno = 0; /* a full disk: the lock holds, and the text is only a help */
    lua_pushinteger(L, fd);
    return 1;
}

/* unlock_file(fd, path): removes the locked file, and the lock with the file. */
static int process_unlock_file(lua_State *L)
{
    int fd = check_fd(L, 1);

    unlink(luaL_checkstring(L, 2));
    close(fd);
    return 0;
}

/* ---- the service manager ---- */

/* notify(path, text): sends text to the service manager's datagram socket (sd_notify(3)): true; or nil, message,
 * code. */
static int process_notify(lua_State *L)
{
    size_t len, n;
    const char *path = luaL_checklstring(L, 1, &len), *text = luaL_checklstring(L, 2, &n);
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    ssize_t sent;
    int fd;

    if (len < 2 || len >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@'))
        return errno = EINVAL, fail_errno(L, "NOTIFY_SOCKET");
    memcpy(to.sun_path, path, len + 1);
    if (path[0] == '@')
        to.sun_path[0] = '\0';
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return fail_errno(L, "NOTIFY_SOCKET");
    sent = sendto(fd, text, n, MSG_NOSIGNAL, (struct sockaddr *)&to,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (path[0] != '@')));
    close(fd);
    if (sent < 0)
        return fail_errno(L, "NOTIFY_SOCKET");
    lua_pushboolean(L, 1);
    return 1;
}

/* inherited(fd): the kind of an inherited listening socket, "unix" or "tcp", after closing the socket for child
 * processes; or nil, message, code. */
static int process_inherited(lua_State *L)
{
    int fd = check_fd(L, 1), listens = 0, type = 0;
    socklen_t len = sizeof listens, tlen = sizeof type, alen = sizeof(struct sockaddr_storage);
    struct sockaddr_storage addr = {0};

    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) ||
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &tlen) || getsockname(fd, (struct sockaddr *)&addr, &alen) ||
        fcntl(fd, F_SETFD, FD_CLOEXEC))
        return fail_errno(L, "an inherited socket");
    if (!listens || type != SOCK_STREAM)
        return errno = EPROTOTYPE, fail_errno(L, "the inherited socket is not a listening stream");
    lua_pushstring(L, addr.ss_family == AF_UNIX ? "unix" : "tcp");
    return 1;
}

/* ---- time ---- */

/* uptime(): seconds since the start of the machine, sleep included; independent of the wall clock. */
static int process_uptime(lua_State *L)
{
    struct timespec t = {0};

    clock_gettime(CLOCK_BOOTTIME, &t);
    lua_pushnumber(L, (lua_Number)t.tv_sec + (lua_Number)t.tv_nsec / 1e9);
    return 1;
}

/* ---- memory ---- */

/* keep_memory(): for a process that answers small requests for long. Freed memory is kept for the next request and not
 * returned to the system, which halves the cost of a request. */
static int process_keep_memory(lua_State *L)
{
    mallopt(M_TRIM_THRESHOLD, KEPT);
    mallopt(M_MMAP_THRESHOLD, KEPT / 2);
    mallopt(M_MXFAST, 0);
    (void)L;
    return 0;
}

/* release_memory(): returns freed memory to the system, after a peak. */
static int process_release_memory(lua_State *L)
{
    malloc_trim(0);
    (void)L;
    return 0;
}

/* open_files(n): raises the limit of open files to n where the system allows, and returns the limit. */
static int process_open_files(lua_State *L)
{
    lua_Integer n = luaL_checkinteger(L, 1);
    struct rlimit limit;

    luaL_argcheck(L, n >= 0, 1, "a count of files expected");
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return fail_errno(L, "the limit of open files");
    if (limit.rlim_cur < (rlim_t)n) {
        limit.rlim_cur = limit.rlim_max < (rlim_t)n ? limit.rlim_max : (rlim_t)n;
        if (setrlimit(RLIMIT_NOFILE, &limit))
            return fail_errno(L, "the limit of open files");
    }
    lua_pushinteger(L, limit.rlim_cur > INT32_MAX ? INT32_MAX : (lua_Integer)limit.rlim_cur);
    return 1;
}

const luaL_Reg weirlua_process_functions[] = {{"peer", process_peer},
                                              {"hung_up", process_hung_up},
                                              {"user", process_user},
                                              {"in_group", process_in_group},
                                              {"secret", process_secret},
                                              {"same", process_same},
                                              {"file_mode", process_file_mode},
                                              {"is_terminal", process_is_terminal},
                                              {"write_private", process_write_private},
                                              {"notify", process_notify},
                                              {"inherited", process_inherited},
                                              {"keep_memory", process_keep_memory},
                                              {"release_memory", process_release_memory},
                                              {"open_files", process_open_files},
                                              {"open_own", process_open_own},
                                              {"umask", process_umask},
                                              {"uptime", process_uptime},
                                              {"lock_file", process_lock_file},
                                              {"unlock_file", process_unlock_file},
                                              {NULL, NULL}};
