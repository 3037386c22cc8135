/* child.c - answers that may take long, computed by a forked copy of the process, so that scheduling continues. The
 * worker forks between two calls; the reactor reads the result. Invariant: a child writes one text to a pipe, and
 * touches nothing of Flux. */
#include "sched.h"
#include "weir.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#define SECONDS 300 /* longest life of a child */
#define MOST    8   /* children at a time */
#define PIECE   65536

struct child {
    struct sched *sched;
    struct child *next;
    const flux_msg_t *msg; /* the request to answer; NULL: notify the service */
    char about[64];        /* argument for the service */
    bool given_up;         /* before the start */
    bool whole;            /* the result is the answer */
    flux_watcher_t *w;
    int fd, pidfd;
    char *text; /* read so far: error number, blank, length of the answer, line end, answer; less the pieces sent */
    size_t len, size;
    bool headed; /* the first line was read */
    int errnum;
    unsigned long long left; /* bytes of the answer not read yet: a child may die before the end */
};

/* ---- in the worker, and in the child ---- */

static void write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno != EINTR)
            return;
        text += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
}

static void run(struct worker *w, const struct call *c, int fd)
{
    struct reply r;
    char head[48];
    sigset_t own;

    w->child = true;
    signal(SIGALRM, SIG_DFL);
    sigemptyset(&own);
    sigaddset(&own, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &own, NULL); /* threads of modules have all signals blocked */
    alarm(SECONDS);
    sched_call(w->L, c->method, c->args, &r);
    if (r.failed)
        _exit(1);
    snprintf(head, sizeof head, "%d %zu\n", r.errnum, r.text ? strlen(r.text) : 0);
    write_all(fd, head, strlen(head));
    if (r.text)
        write_all(fd, r.text, strlen(r.text));
    _exit(0);
}

/* Notes the cost of a fork: all threads of a large process stall at new memory afterwards, about 30 ms a GB, so forks
 * must be rare. */
static void tell_cost(struct worker *w, double seconds)
{
    char text[32];
    const char *args[3] = {text};
    struct reply r;

    weir_number_write(text, sizeof text, seconds);
    sched_call(w->L, "copied", args, &r);
    sched_reply_clear(&r);
}

void sched_child_start(struct worker *w, struct call *c)
{
    double before = sched_clock();
    int fds[2];
    pid_t pid;

    c->fd = c->pidfd = -1;
    if (pipe(fds) < 0) {
        c->reply.errnum = errno;
        return;
    }
    pid = fork();
    if (pid == 0) {
        close(fds[0]);
        run(w, c, fds[1]);
    }
    close(fds[1]);
    if (pid < 0) {
        c->reply.errnum = errno;
        close(fds[0]);
        return;
    }
    c->fd = fds[0];
    c->pidfd = pidfd_open(pid, 0);
    c->reply.ok = true;
    tell_cost(w, sched_clock() - before);
}

/* ---- in the reactor's thread ---- */

/* Kills a child that still runs. The child is reaped here or by the broker. */
static void end_child(int fd, int pidfd)
{
    siginfo_t info;

    if (fd >= 0)
        close(fd);
    if (pidfd < 0)
        return;
    pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
    waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG);
    close(pidfd);
}

static void destroy(struct child *c)
{
    struct child **at = &c->sched->children;

    while (*at && *at != c)
        at = &(*at)->next;
    if (*at)
        *at = c->next;
    flux_watcher_destroy(c->w);
    end_child(c->fd, c->pidfd);
    flux_msg_decref(c->msg);
    free(c->text);
    free(c);
}

static void respond(const struct child *c, int errnum, const char *answer)
{
    flux_t *h = c->sched->h;
    int rc;

    if (errnum)
        rc = flux_respond_error(h, c->msg, errnum, answer && *answer ? answer : "no answer could be found");
    else if (flux_msg_is_streaming(c->msg))
        rc = flux_respond_error(h, c->msg, ENODATA, NULL);
    else if (c->whole)
        rc = flux_respond(h, c->msg, answer);
    else
        rc = flux_respond_pack(h, c->msg, "{s:s}", "text", answer);
    if (rc < 0)
        flux_log_error(h, "cannot answer a request");
}

static void tell(const struct child *c, const char *answer)
{
    struct call call = {.method = "set_reason", .own = NULL};
    size_t about = strlen(c->about) + 1, len = strlen(answer) + 1;

    call.own = malloc(about + len);
    if (!call.own)
        return;
    memcpy(call.own, c->about, about);
    memcpy(call.own + about, answer, len);
    call.args[0] = call.own;
    call.args[1] = call.own + about;
    if (!sched_post(c->sched, &call))
        free(call.own);
}

static void finish(struct child *c)
{
    bool whole = c->headed && c->left == 0;
    int errnum = whole ? c->errnum : EIO;

    if (c->msg)
        respond(c, errnum, whole ? c->text : "the copy of the scheduler ended before the end of the answer");
    else if (!errnum)
        tell(c, c->text);
    destroy(c);
}

static bool reserve(struct child *c)
{
    char *more;

    if (c->size - c->len > PIECE)
        return true;
    more = realloc(c->text, 2 * c->size + 2 * PIECE);
    if (!more)
        return false;
    c->text = more;
    c->size = 2 * c->size + 2 * PIECE;
    return true;
}

/* Cuts off the first line, and sends the pieces of a streaming answer. */
static void pass_on(struct child *c)
{
    char *line_end = c->headed ? NULL : memchr(c->text, '\n', c->len), *length;

    if (line_end) {
        c->headed = true;
        *line_end = '\0';
        c->errnum = (int)strtol(c->text, &length, 10);
        c->left = strtoull(length, NULL, 10);
        c->len -= (size_t)(line_end + 1 - c->text);
        memmove(c->text, line_end + 1, c->len);
        c->left -= c->len < c->left ? c->len : c->left;
    }
    if (!c->headed || c->errnum || !c->msg || !flux_msg_is_streaming(c->msg) || !c->len)
        return;
    if (flux_respond_raw(c->sched->h, c->msg, c->text, (int)c->len) < 0)
        flux_log_error(c->sched->h, "cannot answer a request");
    c->len = 0;
}

static void on_readable(flux_reactor_t *r, flux_watcher_t *w, int revents, void *arg)
{
    struct child *c = arg;
    ssize_t n = -1;

    (void)r, (void)w, (void)revents;
    sched_mark(c->sched, "answer of a child");
    if (reserve(c))
        n = read(c->fd, c->text + c->len, PIECE);
    else
        c->headed = false;
    if (n < 0 && c->size && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        if (c->text)
            c->text[c->len] = '\0';
        finish(c);
        return;
    }
    c->len += (size_t)n;
    if (c->headed)
        c->left -= (size_t)n < c->left ? (size_t)n : c->left;
    pass_on(c);
}

/* Called when the worker has forked, or failed to fork. */
static void started(struct sched *s, struct call *call)
{
    struct child *c = call->arg;

    if (!s || c->given_up || !call->reply.ok) {
        if (s && !c->given_up && c->msg)
            sched_respond_error(s, c->msg, call->reply.errnum, NULL);
        c->fd = call->reply.ok ? call->fd : -1;
        c->pidfd = call->reply.ok ? call->pidfd : -1;
        destroy(c);
        return;
    }
    c->fd = call->fd;
    c->pidfd = call->pidfd;
    c->w = flux_fd_watcher_create(flux_get_reactor(s->h), c->fd, FLUX_POLLIN, on_readable, c);
    if (c->w)
        flux_watcher_start(c->w);
    else
        finish(c);
}

static struct child *new_child(struct sched *s)
{
    struct child *c;
    int n = 0;

    for (c = s->children; c; c = c->next)
        n++;
    c = n < MOST ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return NULL;
    *c = (struct child){.sched = s, .next = s->children, .fd = -1, .pidfd = -1};
    s->children = c;
    return c;
}

void sched_child(struct sched *s, const flux_msg_t *msg, const char *method, const char *text, const char *more,
                 bool whole)
{
    struct child *c = new_child(s);
    struct call call = {
        .method = method, .args = {text}, .quiet = true, .snapshot = true, .msg = msg, .arg = c, .done = started};

    if (!c) {
        sched_respond_error(s, msg, EAGAIN, "too many ask at the same time");
        return;
    }
    c->whole = whole;
    c->msg = flux_msg_incref(msg);
    call.own = more ? strdup(more) : NULL;
    call.args[1] = call.own;
    if ((!more || call.own) && sched_post(s, &call))
        return;
    free(call.own);
    sched_respond_error(s, msg, ENOMEM, NULL);
    destroy(c);
}

void sched_explain(struct sched *s, flux_jobid_t id)
{
    struct child *c = new_child(s);
    struct call call = {.method = "reason", .quiet = true, .snapshot = true, .arg = c, .done = started};

    if (!c)
        return;
    snprintf(c->about, sizeof c->about, "{\"id\":%ju}", (uintmax_t)id);
    call.args[0] = c->about;
    if (!sched_post(s, &call))
        destroy(c);
}

void sched_children_disconnect(struct sched *s, const flux_msg_t *msg)
{
    struct child *c, *next;

    for (c = s->children; c; c = next) {
        next = c->next;
        if (!c->msg || !flux_disconnect_match(msg, c->msg))
            continue;
        if (c->w)
            destroy(c);
        else
            c->given_up = true;
    }
}

void sched_children_close(struct sched *s)
{
    while (s->children)
        destroy(s->children);
}
