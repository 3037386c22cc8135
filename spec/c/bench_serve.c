/* bench_serve.c - load for a service, for spec/bench/serve.lua: bench_serve SOCKET CLIENTS SECONDS [DEPTH] has each
 * client match one node and release it, over and over, with DEPTH requests in flight, and prints requests a second and
 * latencies as a line of JSON. It costs little: lines are put together by printf, answers are searched for two words.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define DEPTH_MAX   64
#define CLIENTS_MAX 4096
#define BUCKETS     200000 /* of 10 microseconds */

/* A request of a client in flight: a match (job 0), or the release of a job. */
struct slot {
    long job;
    double sent;
};

struct client {
    int fd;
    size_t len;
    struct slot slots[DEPTH_MAX];
    char in[1 << 16];
};

static uint32_t latencies[BUCKETS];
static long done, failed;
static int depth = 1;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int dial(const char *path)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    if (fd < 0 || strlen(path) >= sizeof addr.sun_path)
        return -1;
    memcpy(addr.sun_path, path, strlen(path) + 1);
    if (connect(fd, (struct sockaddr *)&addr, sizeof addr) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Adds the next request of a slot to `out`; returns the number of bytes added. */
static size_t put_request(char *out, size_t room, struct client *c, int i, double t)
{
    struct slot *s = &c->slots[i];

    s->sent = t;
    if (s->job)
        return (size_t)snprintf(out, room, "{\"id\":%d,\"method\":\"release\",\"params\":{\"job\":%ld}}\n", i, s->job);
    return (size_t)snprintf(out, room, "{\"id\":%d,\"method\":\"match\",\"params\":{\"request\":\"slot=1/node\"}}\n",
                            i);
}

static int send_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno != EINTR)
            return -1;
        text += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static long number_after(const char *line, const char *key)
{
    const char *at = strstr(line, key);

    return at ? strtol(at + strlen(key), NULL, 10) : -1;
}

/* Takes an answer, a text with a zero at the end; returns the number of its slot, or -1. */
static int take(struct client *c, const char *line, double t)
{
    long i = number_after(line, "\"id\":"), us = 0;
    struct slot *s;

    if (i < 0 || i >= depth)
        return -1;
    s = &c->slots[i];
    us = (long)((t - s->sent) * 1e5);
    latencies[us < BUCKETS ? us : BUCKETS - 1]++;
    done++;
    if (strstr(line, "\"error\":")) {
        if (failed++ == 0)
            fprintf(stderr, "%s\n", line);
        s->job = 0;
    } else {
        s->job = s->job ? 0 : number_after(line, "\"job\":");
    }
    return (int)i;
}

/* Reads all answers so far and sends the next requests in a single write; -1: the service has gone. */
static int serve(struct client *c)
{
    char out[DEPTH_MAX * 100], *line = c->in, *stop;
    ssize_t n = read(c->fd, c->in + c->len, sizeof c->in - c->len);
    double t = now();
    size_t len = 0;

    if (n <= 0)
        return -1;
    c->len += (size_t)n;
    while ((stop = memchr(line, '\n', c->len - (size_t)(line - c->in))) != NULL) {
        int i;

        *stop = '\0';
        i = take(c, line, t);
        if (i >= 0)
            len += put_request(out + len, sizeof out - len, c, i, t);
        line = stop + 1;
    }
    c->len -= (size_t)(line - c->in);
    memmove(c->in, line, c->len);
    return send_all(c->fd, out, len);
}

static struct client *start(const char *path, int ep)
{
    struct client *c = calloc(1, sizeof *c);
    struct epoll_event ev = {.events = EPOLLIN};
    char out[DEPTH_MAX * 100];
    size_t len = 0;

    if (!c || (c->fd = dial(path)) < 0)
        return free(c), NULL;
    ev.data.ptr = c;
    for (int i = 0; i < depth; i++)
        len += put_request(out + len, sizeof out - len, c, i, now());
    if (epoll_ctl(ep, EPOLL_CTL_ADD, c->fd, &ev) || send_all(c->fd, out, len))
        return free(c), NULL;
    return c;
}

/* The milliseconds within which `part` percent of the requests were answered. */
static double percentile(double part)
{
    long sum = 0, i = 0;

    while (i < BUCKETS - 1 && (double)(sum += latencies[i]) < part * (double)done)
        i++;
    return (double)(i + 1) / 100;
}

static int run(int ep, double seconds)
{
    struct epoll_event events[256];
    double begin = now(), end = begin + seconds;
    struct timespec cpu;

    while (now() < end) {
        int n = epoll_wait(ep, events, 256, 100);
        for (int i = 0; i < n; i++)
            if (serve(events[i].data.ptr))
                return fputs("bench_serve: the service has gone\n", stderr), EXIT_FAILURE;
    }
    end = now();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    printf("{\"requests\":%ld,\"failed\":%ld,\"seconds\":%.3f,\"rate\":%.0f,\"p50\":%.2f,\"p99\":%.2f,\"max\":%.2f,"
           "\"cpu\":%.3f}\n",
           done, failed, end - begin, (double)done / (end - begin), percentile(0.5), percentile(0.99), percentile(1),
           (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    static struct client *clients[CLIENTS_MAX];
    int n = argc > 3 ? atoi(argv[2]) : 0, ep = epoll_create1(0), rc;

    depth = argc > 4 ? atoi(argv[4]) : 1;
    if (n < 1 || n > CLIENTS_MAX || depth < 1 || depth > DEPTH_MAX)
        return fputs("usage: bench_serve SOCKET CLIENTS SECONDS [DEPTH]\n", stderr), 2;
    for (int i = 0; i < n; i++)
        if (!(clients[i] = start(argv[1], ep)))
            return perror(argv[1]), EXIT_FAILURE;
    rc = run(ep, atof(argv[3]));
    for (int i = 0; i < n; i++)
        free(clients[i]);
    return rc;
}
