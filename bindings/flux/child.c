/* child.c - answers that may take long: computed by a child of this process, on the copy of everything that fork() makes, so that
 * scheduling goes on. Invariant: a child writes one text to its pipe, and touches nothing of Flux. */
#include "sched.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#define SECONDS 300       /* that a child may live */
#define MOST    8         /* children at a time */
#define PIECE   65536

struct child {
    struct sched *sched;
    struct child *next;
    const flux_msg_t *msg; /* the request that is answered; or NULL: the service is told */
    char *about;           /* ... with this */
    flux_watcher_t *w;
    pid_t pid;
    int fd;
    char *text; /* so far: "+" or an error number, a line end, the answer */
    size_t len, size;
};

/* ---- in the child ---- */

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

static void run(struct sched *s, const char *method, const char *text, const char *user, int fd)
{
    struct reply r;
    char head[16];

    alarm(SECONDS);
    if (!sched_call(s, method, text, user, &r))
        _exit(1);
    snprintf(head, sizeof head, "%d\n", r.errnum);
    write_all(fd, head, strlen(head));
    if (r.text)
        write_all(fd, r.text, strlen(r.text));
    _exit(0);
}

/* ---- in the parent ---- */

static void destroy(struct child *c)
{
    struct child **at = &c->sched->children;

    while (*at && *at != c)
        at = &(*at)->next;
    if (*at)
        *at = c->next;
    flux_watcher_destroy(c->w);
    if (c->fd >= 0)
        close(c->fd);
    if (c->pid > 0) /* the broker may have reaped it */
        waitpid(c->pid, NULL, WNOHANG);
    flux_msg_decref(c->msg);
    free(c->about);
    free(c->text);
    free(c);
}

static void respond(const struct child *c, int errnum, const char *answer)
{
    flux_t *h = c->sched->h;
    int rc;

    if (errnum)
        rc = flux_respond_error(h, c->msg, errnum, answer ? answer : "no answer could be found");
    else
        rc = flux_respond_pack(h, c->msg, "{s:s}", "text", answer);
    if (rc < 0)
        flux_log_error(h, "cannot answer a request");
}

static void tell(const struct child *c, const char *answer)
{
    struct reply r;

    if (sched_call(c->sched, "told", c->about, answer, &r))
        sched_reply_clear(&r);
}

static void finish(struct child *c)
{
    char *answer = c->len ? memchr(c->text, '\n', c->len) : NULL;
    int errnum = answer ? atoi(c->text) : EIO;

    answer = answer ? answer + 1 : NULL;
    if (c->msg)
        respond(c, errnum, answer);
    else if (!errnum)
        tell(c, answer);
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

static void on_readable(flux_reactor_t *r, flux_watcher_t *w, int revents, void *arg)
{
    struct child *c = arg;
    ssize_t n;

    (void)r, (void)w, (void)revents;
    if (!reserve(c)) {
        c->len = 0;
        finish(c);
        return;
    }
    n = read(c->fd, c->text + c->len, PIECE);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        c->text[c->len] = '\0';
        finish(c);
        return;
    }
    c->len += (size_t)n;
}

/* Starts a child; -1: errno is set. */
static int start(struct child *c, const char *method, const char *text, const char *user)
{
    int fds[2];

    if (pipe(fds) < 0)
        return -1;
    c->fd = fds[0];
    c->pid = fork();
    if (c->pid == 0) {
        close(fds[0]);
        run(c->sched, method, text, user, fds[1]);
    }
    close(fds[1]);
    if (c->pid < 0)
        return -1;
    c->w = flux_fd_watcher_create(flux_get_reactor(c->sched->h), c->fd, FLUX_POLLIN, on_readable, c);
    if (!c->w)
        return -1;
    flux_watcher_start(c->w);
    return 0;
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
    *c = (struct child){.sched = s, .next = s->children, .fd = -1};
    s->children = c;
    return c;
}

void sched_child(struct sched *s, const flux_msg_t *msg, const char *method, const char *text, const char *user)
{
    struct child *c = new_child(s);

    if (!c) {
        if (flux_respond_error(s->h, msg, EAGAIN, "too many ask at the same time") < 0)
            flux_log_error(s->h, "cannot answer a request");
        return;
    }
    c->msg = flux_msg_incref(msg);
    if (start(c, method, text, user) == 0)
        return;
    if (flux_respond_error(s->h, msg, errno, NULL) < 0)
        flux_log_error(s->h, "cannot answer a request");
    destroy(c);
}

void sched_explain(struct sched *s, flux_jobid_t id)
{
    struct child *c = new_child(s);
    char about[64];

    if (!c)
        return;
    snprintf(about, sizeof about, "{\"id\":%ju}", (uintmax_t)id);
    c->about = strdup(about);
    if (!c->about || start(c, "reason", c->about, NULL) < 0)
        destroy(c);
}

void sched_children_close(struct sched *s)
{
    while (s->children)
        destroy(s->children);
}
