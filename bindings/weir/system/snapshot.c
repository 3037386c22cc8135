/* snapshot.c - runs a function in a forked copy of the process, under limits enforced by the kernel. The copy sees all
 * memory of the process as of the fork, and can change no state of the parent: the copy has one descriptor, a pipe for
 * an answer, and ends by _exit(), so that no buffer, database or handle of the parent is touched. Linux.
 *
 *   snapshot(f, {seconds =, memory =, answer =})
 *                   a child that runs f(write); or nil, message, code. All calls of write(text) together may write
 *                   `answer` bytes; `memory` are bytes in addition to the bytes mapped at the fork
 *   worker(f[, {nice =, memory =, input =}])
 *                   a child that runs f(write) without limits, with the files of the process open; or nil, message,
 *                   code. The child ignores SIGINT and SIGHUP, as the parent decides what an interrupt means, and is
 *                   killed when the parent ends. With options the child has no file of the process open but standard
 *                   error: priority `nice`, `memory` bytes at most in addition to those mapped at the fork, and with
 * `input` a pipe for its standard input any_ready(children, seconds) the index of the first child that has written, or
 * whose pipe has ended; nil where none has within the seconds, or where a signal came child:input()   the descriptor
 * that writes to the standard input; the caller has to close the descriptor child:read()    text that the child has
 * written, waiting for it; nil at the end of the pipe child:take()    the descriptor of the pipe; the caller has to
 * close the descriptor child:kill()    ends the child at once child:reap()    nil while the child runs; then the kind
 * of end ("done", "raised", "answer", "memory" or "killed"), and the processor time of the child in seconds
 *
 * Invariant: only the handle of a child waits for the child, so that no further process gets the process id before. */
#include "handle/support.h"
#include "system/interrupt.h"
#include "system/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SNAPSHOT "weir.snapshot"
#define PIPE     3 /* the descriptor that a confined child writes to */

#define CHILDREN_MAX 256 /* of any_ready() */

enum end { END_DONE, END_RAISED, END_ANSWER, END_MEMORY, END_KILLED };

static const char *const ends[] = {"done", "raised", "answer", "memory", "killed"};

struct limits {
    double seconds;
    lua_Integer memory, answer;
};

struct snapshot {
    pid_t pid;   /* 0: the child was waited for */
    pid_t owner; /* the process that forked the child: a fork copies handles, too; 0: closed */
    int fd;      /* -1: taken */
    int input;   /* -1: taken, or none */
    enum end end;
    double cpu; /* seconds */
};

/* ---- in the child ---- */

static void limit_to(__rlimit_resource_t what, rlim_t n)
{
    struct rlimit limit;

    if (getrlimit(what, &limit))
        return;
    limit.rlim_max = limit.rlim_max < n ? limit.rlim_max : n;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(what, &limit);
}

/* Bytes mapped by the process. */
static rlim_t mapped(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (f && fscanf(f, "%llu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages ? (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) : RLIM_INFINITY / 2;
}

static void handle_by_default(void)
{
    sigset_t none;

    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Makes the copy, not the service, the process to be killed by the kernel when memory runs out. */
static void volunteer(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    if (write(fd, "1000", 4) != 4)
        errno = 0; /* the limits hold in any case */
    close(fd);
}

/* Closes all descriptors except the pipe fd, which becomes PIPE, and the standard error, used by sanitizers. Standard
 * input becomes `in`; -1: /dev/null. */
static bool close_others_but(int in, int fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    return null >= 0 && dup2(in >= 0 ? in : null, 0) >= 0 && dup2(null, 1) >= 0 &&
           (fd == PIPE || dup2(fd, PIPE) >= 0) && close_range(PIPE + 1, ~0U, 0) == 0;
}

static void confine(int fd, pid_t parent, const struct limits *limits)
{
    handle_by_default();
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
        _exit(END_KILLED);
    volunteer();
    limit_to(RLIMIT_AS, mapped() + (rlim_t)limits->memory);
    if (!close_others_but(-1, fd))
        _exit(END_KILLED);
    limit_to(RLIMIT_CPU, (rlim_t)ceil(limits->seconds) + 1);
    limit_to(RLIMIT_CORE, 0);
    limit_to(RLIMIT_FSIZE, 0);
    limit_to(RLIMIT_NPROC, 0);
    limit_to(RLIMIT_NOFILE, 0);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* write(text). Upvalues: the number of bytes left to write, the descriptor. */
static int write_answer(lua_State *L)
{
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);
    lua_Integer left = lua_tointeger(L, lua_upvalueindex(1)) - (lua_Integer)len;
    int fd = (int)lua_tointeger(L, lua_upvalueindex(2));

    if (left < 0)
        _exit(END_ANSWER);
    while (len > 0) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno != EINTR)
            _exit(END_KILLED);
        text += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    lua_pushinteger(L, left);
    lua_replace(L, lua_upvalueindex(1));
    return 0;
}

/* Calls f, at 1, with a function write() that writes at most the number of bytes at 2 to the descriptor at 3. */
static int call_with_write(lua_State *L)
{
    lua_pushcclosure(L, write_answer, 2);
    lua_call(L, 1, 0);
    return 0;
}

/* Calls the function at 1 and ends the process. */
static void run(lua_State *L, lua_Integer answer, int fd)
{
    int rc;

    lua_sethook(L, NULL, 0, 0);
    weirlua_interrupts_clear();
    lua_pushcfunction(L, call_with_write);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, answer);
    lua_pushinteger(L, fd);
    rc = lua_pcall(L, 3, 0, 0);
    _exit(rc == LUA_OK ? END_DONE : rc == LUA_ERRMEM ? END_MEMORY : END_RAISED);
}

/* ---- in the parent ---- */

static int fail_errno(lua_State *L, const char *what)
{
    weir_err err = {.code = WEIR_EBUSY};

    snprintf(err.text, sizeof err.text, "%s: %s", what, strerror(errno));
    return weirlua_fail(L, &err, err.code);
}

static lua_Integer size_field(lua_State *L, const char *name)
{
    lua_Integer n = weirlua_field_integer(L, 2, name, 0);

    if (n < 1)
        luaL_error(L, "field '%s': a number of bytes above 0 expected", name);
    return n;
}

static struct limits read_limits(lua_State *L)
{
    static const char *const known[] = {"seconds", "memory", "answer", NULL};
    struct limits limits;

    luaL_checktype(L, 2, LUA_TTABLE);
    weirlua_options(L, 2, known);
    lua_getfield(L, 2, "seconds");
    limits.seconds = lua_tonumber(L, -1);
    if (!(limits.seconds > 0 && limits.seconds < 1e9))
        luaL_error(L, "field 'seconds': seconds above 0 expected");
    lua_pop(L, 1);
    limits.memory = size_field(L, "memory");
    limits.answer = size_field(L, "answer");
    return limits;
}

/* Forks with all signals blocked, so that no handler of the parent ever runs in the child: a handler of libuv would
 * write to a pipe of the parent. */
static pid_t fork_quietly(void)
{
    sigset_t all, old;
    pid_t pid;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    pid = fork();
    if (pid != 0) {
        int why = errno;
        sigprocmask(SIG_SETMASK, &old, NULL);
        errno = why;
    }
    return pid;
}

/* Pushes the handle of a child and forks; fds gets the ends of the pipe. Returns 0 in the child and a positive number
 * in the parent; on failure -1, with nil, a message and a code on the stack. */
static int fork_child(lua_State *L, int fds[2])
{
    struct snapshot *own = lua_newuserdatauv(L, sizeof *own, 0);

    *own = (struct snapshot){.owner = getpid(), .fd = -1, .input = -1};
    luaL_setmetatable(L, SNAPSHOT);
    if (pipe2(fds, O_CLOEXEC)) {
        fail_errno(L, "a copy cannot answer");
        return -1;
    }
    own->pid = fork_quietly();
    if (own->pid == 0)
        return 0;
    if (own->pid < 0) {
        own->pid = 0;
        fail_errno(L, "no copy can be made");
        close(fds[0]);
        close(fds[1]);
        return -1;
    }
    close(fds[1]);
    own->fd = fds[0];
    return 1;
}

static int snapshot_new(lua_State *L)
{
    struct limits limits;
    pid_t parent = getpid();
    int fds[2], forked;

    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 2);
    limits = read_limits(L);
    forked = fork_child(L, fds);
    if (forked == 0) {
        confine(fds[1], parent, &limits);
        run(L, limits.answer, PIPE);
    }
    return forked < 0 ? 3 : 1;
}

/* The limits of a worker on resources of the system. */
struct snapshot_worker {
    bool alone;         /* no file of the process, but standard error */
    bool input;         /* a pipe for standard input */
    int nice;           /* priority */
    lua_Integer memory; /* bytes; 0: without a limit */
};

static struct snapshot_worker read_worker(lua_State *L)
{
    static const char *const known[] = {"nice", "memory", "input", NULL};
    struct snapshot_worker worker = {.alone = !lua_isnoneornil(L, 2)};

    if (!worker.alone)
        return worker;
    luaL_checktype(L, 2, LUA_TTABLE);
    weirlua_options(L, 2, known);
    worker.nice = (int)weirlua_field_integer(L, 2, "nice", 0);
    worker.memory = weirlua_field_integer(L, 2, "memory", 0);
    lua_getfield(L, 2, "input");
    worker.input = lua_toboolean(L, -1);
    lua_pop(L, 1);
    if (worker.nice < 0 || worker.nice > 19 || worker.memory < 0)
        luaL_error(L, "expected nice from 0 to 19 and a number of bytes of memory");
    return worker;
}

/* Makes the child alone: closes the files of the process, with `in` as standard input, and sets priority and limit. */
static void make_alone(const struct snapshot_worker *worker, int in, int out)
{
    int input = worker->input ? fcntl(in, F_DUPFD_CLOEXEC, PIPE + 1) : -1;

    if ((worker->input && input < 0) || !close_others_but(input, out))
        _exit(END_KILLED);
    volunteer();
    if (worker->memory)
        limit_to(RLIMIT_AS, mapped() + (rlim_t)worker->memory);
    limit_to(RLIMIT_CORE, 0);
    setpriority(PRIO_PROCESS, 0, worker->nice);
}

/* Runs the function at 1 in the child. */
static void run_worker(lua_State *L, const struct snapshot_worker *worker, pid_t parent, int in, int out)
{
    handle_by_default();
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
        _exit(END_KILLED);
    if (worker->alone)
        make_alone(worker, in, out);
    run(L, LUA_MAXINTEGER, worker->alone ? PIPE : out);
}

static int worker_new(lua_State *L)
{
    pid_t parent = getpid();
    int fds[2], in[2] = {-1, -1}, forked;
    struct snapshot_worker worker;

    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 2);
    worker = read_worker(L);
    if (worker.input && pipe2(in, O_CLOEXEC))
        return fail_errno(L, "cannot write to a worker");
    forked = fork_child(L, fds);
    if (forked == 0)
        run_worker(L, &worker, parent, in[0], fds[1]);
    if (worker.input)
        close(in[0]);
    if (forked < 0) {
        if (worker.input)
            close(in[1]);
        return 3;
    }
    ((struct snapshot *)lua_touserdata(L, -1))->input = in[1];
    return 1;
}

static struct snapshot *check(lua_State *L)
{
    struct snapshot *own = luaL_checkudata(L, 1, SNAPSHOT);

    luaL_argcheck(L, own->owner == getpid(), 1, "the copy was closed, or is another process's");
    return own;
}

static int snapshot_take(lua_State *L)
{
    struct snapshot *own = check(L);

    luaL_argcheck(L, own->fd >= 0, 1, "the pipe was taken already");
    lua_pushinteger(L, own->fd);
    own->fd = -1;
    return 1;
}

static int snapshot_input(lua_State *L)
{
    struct snapshot *own = check(L);

    luaL_argcheck(L, own->input >= 0, 1, "the child has no standard input, or the pipe was taken already");
    lua_pushinteger(L, own->input);
    own->input = -1;
    return 1;
}

static int snapshot_read(lua_State *L)
{
    struct snapshot *own = check(L);
    char text[1 << 14];
    ssize_t n;

    luaL_argcheck(L, own->fd >= 0, 1, "the pipe was taken already");
    do
        n = read(own->fd, text, sizeof text);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return 0;
    lua_pushlstring(L, text, (size_t)n);
    return 1;
}

/* Returns the descriptor of the pipe of the child at index i of the list at 1. */
static int pipe_of(lua_State *L, int i)
{
    struct snapshot *own;
    int fd;

    lua_rawgeti(L, 1, i);
    own = luaL_checkudata(L, -1, SNAPSHOT);
    luaL_argcheck(L, own->owner == getpid() && own->fd >= 0, 1, "a child with a pipe expected");
    fd = own->fd;
    lua_pop(L, 1);
    return fd;
}

static int snapshot_ready(lua_State *L)
{
    struct pollfd list[CHILDREN_MAX];
    double seconds = luaL_checknumber(L, 2);
    lua_Unsigned n;

    luaL_checktype(L, 1, LUA_TTABLE);
    n = lua_rawlen(L, 1);
    luaL_argcheck(L, n <= CHILDREN_MAX, 1, "at most 256 children expected");
    luaL_argcheck(L, seconds >= 0 && seconds <= 1e6, 2, "seconds from 0 to 1e6 expected");
    for (lua_Unsigned i = 0; i < n; i++)
        list[i] = (struct pollfd){.fd = pipe_of(L, (int)i + 1), .events = POLLIN};
    if (poll(list, (nfds_t)n, (int)ceil(seconds * 1000)) <= 0)
        return 0;
    for (lua_Unsigned i = 0; i < n; i++)
        if (list[i].revents) {
            lua_pushinteger(L, (lua_Integer)i + 1);
            return 1;
        }
    return 0;
}

static int snapshot_kill(lua_State *L)
{
    struct snapshot *own = check(L);

    if (own->pid)
        kill(own->pid, SIGKILL);
    return 0;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Whether the child has ended; flags are those of waitpid(2). */
static bool ended(struct snapshot *own, int flags)
{
    struct rusage usage = {0};
    int status = 0;
    pid_t pid = 0;

    if (own->pid == 0)
        return true;
    do
        pid = wait4(own->pid, &status, flags, &usage);
    while (pid < 0 && errno == EINTR);
    if (pid == 0)
        return false;
    own->pid = 0;
    own->cpu = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    own->end = END_KILLED;
    if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) < END_KILLED)
        own->end = (enum end)WEXITSTATUS(status);
    return true;
}

static int snapshot_reap(lua_State *L)
{
    struct snapshot *own = check(L);

    if (!ended(own, WNOHANG))
        return 0;
    lua_pushstring(L, ends[own->end]);
    lua_pushnumber(L, own->cpu);
    return 2;
}

static int snapshot_gc(lua_State *L)
{
    struct snapshot *own = luaL_checkudata(L, 1, SNAPSHOT);

    if (own->owner != getpid())
        return 0;
    if (own->pid)
        kill(own->pid, SIGKILL);
    ended(own, 0);
    if (own->fd >= 0)
        close(own->fd);
    if (own->input >= 0)
        close(own->input);
    own->owner = 0;
    return 0;
}

void weirlua_snapshot_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg methods[] = {{"take", snapshot_take}, {"read", snapshot_read}, {"input", snapshot_input},
                                       {"kill", snapshot_kill}, {"reap", snapshot_reap}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__gc", snapshot_gc}, {"__close", snapshot_gc}, {NULL, NULL}};

    weirlua_class(L, s, SNAPSHOT, methods, meta);
}

const luaL_Reg weirlua_snapshot_functions[] = {
    {"snapshot", snapshot_new}, {"worker", worker_new}, {"any_ready", snapshot_ready}, {NULL, NULL}};
