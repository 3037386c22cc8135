/* shadow.c - flux weir shadow: other policies alongside those in force. `start` leaves a process behind, which listens
 * to what Flux publishes (the journals of jobs and resources, the configuration) and answers as the service
 * "weir-shadow"; `status` and `stop` query it. The scheduler, which may also be Fluxion, has no part in it. What is
 * computed: lua/weir-flux/flux/shadow.lua.
 *
 * Invariant: the process reads messages without computing: it keeps their text, and a timer works on what is kept. */
#include "command.h"
#include "sched.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SERVICE "weir-shadow"
#define NICE    19
#define MEMORY  (4ULL << 30) /* bytes of address space */
#define SLICE   "0.05"       /* seconds of work before messages are read */
#define CONFIG  30.0         /* seconds between looks at the configuration */
#define QUEUES  5.0          /* seconds between looks at the queues */

struct shadow {
    flux_t *h;
    lua_State *L;
    flux_watcher_t *timer;
    flux_future_t *jobs, *resources;
    flux_msg_handler_t **handlers;
    double config_at, queues_at;
    int ready; /* a pipe to the command that starts the process; -1 afterwards */
};

/* ---- calls of Lua ---- */

static struct reply call(struct shadow *s, const char *method, const char *a, const char *b)
{
    const char *args[3] = {a, b};
    struct reply r;

    sched_call(s->L, method, args, &r);
    return r;
}

static void set_timer(struct shadow *s, double seconds)
{
    flux_timer_watcher_reset(s->timer, seconds > 0 ? seconds : 1e-6, 0);
    flux_watcher_start(s->timer);
}

/* Keeps a text to be worked on. */
static void hear(struct shadow *s, const char *kind, const char *text)
{
    struct reply r = call(s, "hear", kind, text);

    sched_reply_clear(&r);
    set_timer(s, 0);
}

static void end(struct shadow *s, const char *why)
{
    struct reply r = call(s, "stop", why, NULL);

    sched_reply_clear(&r);
}

/* ---- input from Flux ---- */

static void on_config(flux_future_t *f, void *arg)
{
    const char *text;

    if (flux_rpc_get(f, &text) == 0 && text)
        hear(arg, "config", text);
    flux_future_destroy(f);
}

static void on_status(flux_future_t *f, void *arg)
{
    const char *text;

    if (flux_rpc_get(f, &text) == 0 && text)
        hear(arg, "resource", text);
    flux_future_destroy(f);
}

/* Passes on whether a queue is started. While the scheduler is loaded again nothing is said of queues. */
static void on_queue(flux_future_t *f, void *arg)
{
    const char *reason = NULL;
    int started;
    json_t *report = NULL;
    char *text = NULL;

    if (flux_rpc_get_unpack(f, "{s:b s?s}", "start", &started, "stop_reason", &reason) == 0 &&
        !(reason && strcmp(reason, "Scheduler is offline") == 0))
        report = json_pack("{s:s s:b}", "name", flux_future_aux_get(f, "name"), "start", started);
    if (report && (text = json_dumps(report, 0)))
        hear(arg, "queue", text);
    free(text);
    json_decref(report);
    flux_future_destroy(f);
}

/* Passes the answer of f on. A future that cannot be waited for ends the shadow. */
static void wait_for(struct shadow *s, flux_future_t *f, flux_continuation_f then)
{
    if (f && flux_future_then(f, -1, then, s) == 0)
        return;
    flux_future_destroy(f);
    end(s, "the instance no longer answers");
}

static void look_at_queue(struct shadow *s, const char *name)
{
    const char *topic = "job-manager.queue-status";
    flux_future_t *f = *name ? flux_rpc_pack(s->h, topic, FLUX_NODEID_ANY, 0, "{s:s}", "name", name)
                             : flux_rpc(s->h, topic, "{}", FLUX_NODEID_ANY, 0);
    char *own = f ? strdup(name) : NULL;

    if (f && (!own || flux_future_aux_set(f, "name", own, free) < 0)) {
        free(own);
        flux_future_destroy(f);
        f = NULL;
    }
    wait_for(s, f, on_queue);
}

/* Requests each queue; without queues the one that has no name. */
static void on_queues(flux_future_t *f, void *arg)
{
    json_t *names;

    if (flux_rpc_get_unpack(f, "{s:o}", "queues", &names) == 0) {
        for (size_t i = 0; i < json_array_size(names); i++)
            look_at_queue(arg, json_string_value(json_array_get(names, i)));
        if (json_array_size(names) == 0)
            look_at_queue(arg, "");
    }
    flux_future_destroy(f);
}

/* Sends a request, and passes the answer on. */
static void look(struct shadow *s, const char *topic, flux_continuation_f then)
{
    wait_for(s, flux_rpc(s->h, topic, NULL, FLUX_NODEID_ANY, 0), then);
}

static void on_jobs(flux_future_t *f, void *arg)
{
    struct shadow *s = arg;
    const char *text;

    if (flux_rpc_get(f, &text) < 0) {
        end(s, "the instance no longer reports jobs: its job manager was reloaded");
        return;
    }
    hear(s, "job", text);
    flux_future_reset(f);
}

static void on_resources(flux_future_t *f, void *arg)
{
    struct shadow *s = arg;

    if (flux_future_get(f, NULL) < 0) {
        end(s, "the instance no longer reports resources: its resource module was reloaded");
        return;
    }
    look(s, "resource.status", on_status);
    flux_future_reset(f);
}

static int listen_to(struct shadow *s)
{
    s->jobs = flux_rpc(s->h, "job-manager.events-journal",
                       "{\"allow\":{\"submit\":1,\"priority\":1,\"jobspec-update\":1,\"alloc\":1,\"resource-update\":1,"
                       "\"free\":1,\"clean\":1}}",
                       FLUX_NODEID_ANY, FLUX_RPC_STREAMING);
    s->resources = flux_rpc(s->h, "resource.journal", NULL, 0, FLUX_RPC_STREAMING);
    if (!s->jobs || !s->resources)
        return -1;
    return flux_future_then(s->jobs, -1, on_jobs, s) < 0 ? -1 : flux_future_then(s->resources, -1, on_resources, s);
}

static void on_timer(flux_reactor_t *reactor, flux_watcher_t *w, int revents, void *arg)
{
    struct shadow *s = arg;
    struct reply r = call(s, "work", SLICE, NULL);

    (void)reactor, (void)w, (void)revents;
    if (flux_reactor_time() > s->queues_at) {
        s->queues_at = flux_reactor_time() + QUEUES;
        look(s, "job-manager.queue-list", on_queues);
    }
    if (flux_reactor_time() > s->config_at) {
        s->config_at = flux_reactor_time() + CONFIG;
        look(s, "config.get", on_config);
    }
    if (r.ok)
        set_timer(s, r.number);
    sched_reply_clear(&r);
}

/* ---- requests ---- */

static void respond(struct shadow *s, const flux_msg_t *msg)
{
    struct reply r = call(s, "status", NULL, NULL);

    if (r.ok)
        flux_respond(s->h, msg, r.text);
    else
        flux_respond_error(s->h, msg, EINVAL, r.text);
    sched_reply_clear(&r);
}

static void on_asked(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    (void)h, (void)mh;
    respond(arg, msg);
}

static void on_stop(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    (void)mh;
    end(arg, "it was stopped");
    respond(arg, msg);
    flux_reactor_stop(flux_get_reactor(h));
}

static const struct flux_msg_handler_spec handlers[] = {
    {FLUX_MSGTYPE_REQUEST, SERVICE ".status", on_asked, 0},
    {FLUX_MSGTYPE_REQUEST, SERVICE ".stop", on_stop, 0},
    FLUX_MSGHANDLER_TABLE_END,
};

static int serve(struct shadow *s)
{
    flux_future_t *f = flux_service_register(s->h, SERVICE);
    int rc = f ? flux_future_get(f, NULL) : -1;

    flux_future_destroy(f);
    return rc < 0 ? -1 : flux_msg_handler_addvec(s->h, handlers, s, &s->handlers);
}

/* ---- the process ---- */

/* clock(): seconds since 1970 */
static int read_clock(lua_State *L)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    lua_pushnumber(L, (lua_Number)t.tv_sec + (lua_Number)t.tv_nsec / 1e9);
    return 1;
}

static int push_asked(lua_State *L, void *asked)
{
    lua_pushstring(L, asked);
    lua_newtable(L);
    lua_pushcfunction(L, read_clock);
    lua_setfield(L, -2, "clock");
    return 2;
}

/* Reports the result of the start to the command; an empty text: success. */
static void report(struct shadow *s, const char *text)
{
    (void)!write(s->ready, text, strlen(text));
    close(s->ready);
    s->ready = -1;
}

static int run(struct shadow *s, char *asked)
{
    struct sched_opening opening = {"weir.flux.shadow", push_asked, asked};
    char *why = NULL;

    s->L = sched_lua_open(&opening, &why);
    if (!s->L) {
        report(s, why ? why : "out of memory");
        free(why);
        return 1;
    }
    s->h = flux_open(NULL, 0);
    s->timer = s->h ? flux_timer_watcher_create(flux_get_reactor(s->h), 1, 0, on_timer, s) : NULL;
    if (!s->timer || serve(s) < 0) {
        report(s, errno == EEXIST ? "a shadow runs already; flux weir shadow stop ends it" : strerror(errno));
        return 1;
    }
    if (listen_to(s) < 0) {
        report(s, strerror(errno));
        return 1;
    }
    flux_watcher_start(s->timer);
    s->config_at = flux_reactor_time() + CONFIG;
    report(s, "");
    return flux_reactor_run(flux_get_reactor(s->h), 0) < 0;
}

/* Becomes a process of its own: no terminal, the lowest priority, bounded memory, no files but the pipe. */
static void detach(int keep)
{
    struct rlimit most = {MEMORY, MEMORY};
    int null = open("/dev/null", O_RDWR);

    setsid();
    signal(SIGHUP, SIG_IGN);
    (void)!nice(NICE);
    setrlimit(RLIMIT_AS, &most);
    (void)!chdir("/");
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    for (int fd = 3; fd < 1024; fd++)
        if (fd != keep)
            close(fd);
}

/* Leaves the process behind. Returns how its start went, "" for well, for the caller to free; or NULL with errno
 * set. */
static char *leave_behind(char *asked)
{
    char *text = calloc(1, 4096);
    size_t len = 0;
    ssize_t n;
    int fds[2];
    pid_t pid;

    if (!text || pipe(fds) < 0 || fcntl(fds[1], F_SETFD, FD_CLOEXEC) < 0 || (pid = fork()) < 0) {
        free(text);
        return NULL;
    }
    if (pid == 0) {
        struct shadow s = {.ready = fds[1]};
        detach(fds[1]);
        _exit(run(&s, asked));
    }
    close(fds[1]);
    while (len < 4095 && ((n = read(fds[0], text + len, 4095 - len)) > 0 || (n < 0 && errno == EINTR)))
        len += n > 0 ? (size_t)n : 0;
    close(fds[0]);
    return text;
}

/* ---- the command ---- */

/* Adds the answer to a request to the settings. Returns false with a message printed; with `spare` a request without
 * an answer adds nothing. */
static bool add(flux_t *h, json_t *asked, const char *name, const char *topic, bool spare)
{
    flux_future_t *f = flux_rpc(h, topic, NULL, FLUX_NODEID_ANY, 0);
    const char *text;
    json_t *value;

    if (!f || flux_rpc_get(f, &text) < 0 || !text || !(value = json_loads(text, 0, NULL))) {
        if (!spare)
            command_failed(f);
        else
            flux_future_destroy(f);
        return spare;
    }
    json_object_set_new(asked, name, value);
    flux_future_destroy(f);
    return true;
}

/* Adds the R of the instance, with the graph of the R, if any. */
static bool add_R(flux_t *h, json_t *asked)
{
    flux_future_t *f = flux_kvs_lookup(h, NULL, 0, "resource.R");
    const char *text;
    json_t *R;

    if (!f || flux_kvs_lookup_get(f, &text) < 0 || !(R = json_loads(text, 0, NULL))) {
        command_failed(f);
        return false;
    }
    json_object_set_new(asked, "R", R);
    flux_future_destroy(f);
    return true;
}

/* Adds what is in force: of sched-weir its policies, of another scheduler nothing. */
static void add_force(flux_t *h, json_t *asked)
{
    flux_future_t *f = flux_rpc(h, "sched-weir.stats-get", NULL, FLUX_NODEID_ANY, 0);
    const char *policy, *queue;

    if (f && flux_rpc_get_unpack(f, "{s:s s:s}", "policy", &policy, "queue", &queue) == 0) {
        json_object_set_new(asked, "force", json_pack("[s++ s++]", "policy=", policy, "", "queue=", queue, ""));
        json_object_set_new(asked, "in_force", json_sprintf("%s and %s", policy, queue));
    } else
        json_object_set_new(asked, "in_force", json_string("another scheduler"));
    flux_future_destroy(f);
}

static int start(flux_t *h, int argc, char **argv)
{
    json_t *asked = command_words(argc, argv, 0);
    char *text, *answer;
    int rc = 1;

    if (!asked || !add(h, asked, "config", "config.get", true) || !add(h, asked, "machine", "resource.status", false) ||
        !add_R(h, asked)) {
        json_decref(asked);
        return 1;
    }
    add_force(h, asked);
    text = json_dumps(asked, 0);
    json_decref(asked);
    answer = text ? leave_behind(text) : NULL;
    free(text);
    if (!answer)
        fprintf(stderr, "flux weir: shadow: %s\n", strerror(errno));
    else if (*answer)
        fprintf(stderr, "flux weir: shadow: %s\n", answer);
    else
        rc = puts("It runs alongside the policies in force; flux weir shadow status shows the result.") < 0 ? 2 : 0;
    free(answer);
    return rc;
}

/* Writes a text to DIR/name. Returns false with a message printed. */
static bool write_file(const char *dir, const char *name, const char *text)
{
    char path[4096];
    FILE *file;
    bool ok;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    file = fopen(path, "w");
    ok = file && fputs(text, file) >= 0;
    if ((file && fclose(file) != 0) || !ok) {
        fprintf(stderr, "flux weir: %s: %s\n", path, strerror(errno));
        return false;
    }
    return true;
}

static bool write_page(const char *dir, const char *page, json_t *report)
{
    char *text = json_dumps(report, JSON_SORT_KEYS | JSON_INDENT(1));
    bool ok;

    if (mkdir(dir, 0777) < 0 && errno != EEXIST) {
        fprintf(stderr, "flux weir: %s: %s\n", dir, strerror(errno));
        free(text);
        return false;
    }
    ok = text && write_file(dir, "index.html", page) && write_file(dir, "shadow.json", text);
    free(text);
    return ok;
}

/* Queries the shadow, and prints its answer. */
static int tell(flux_t *h, const char *topic, bool json, const char *dir)
{
    flux_future_t *f = flux_rpc(h, topic, NULL, FLUX_NODEID_ANY, 0);
    const char *text, *page;
    json_t *report;
    char *plain;
    int rc = 0;

    if (!f || flux_rpc_get_unpack(f, "{s:s s:s s:o}", "text", &text, "page", &page, "report", &report) < 0) {
        if (!f || errno != ENOSYS)
            return command_failed(f);
        fprintf(stderr, "flux weir: there is no shadow; flux weir shadow start begins one\n");
        flux_future_destroy(f);
        return 1;
    }
    if (dir && !write_page(dir, page, report))
        rc = 2;
    plain = json ? json_dumps(report, JSON_SORT_KEYS) : NULL;
    printf("%s%s", json ? (plain ? plain : "") : text, json ? "\n" : "");
    free(plain);
    if (dir && rc == 0 && !json)
        printf("The page: %s/index.html\n", dir);
    flux_future_destroy(f);
    return fflush(stdout) == 0 ? rc : 2;
}

int command_shadow(flux_t *h, int argc, char **argv)
{
    const char *what = argc ? argv[0] : "", *dir = NULL;
    bool json = false;

    if (strcmp(what, "start") == 0)
        return start(h, argc - 1, argv + 1);
    if (strcmp(what, "stop") == 0)
        return argc > 1 ? command_misuse("shadow stop takes no arguments") : tell(h, SERVICE ".stop", false, NULL);
    if (strcmp(what, "status") != 0)
        return command_misuse("shadow: expected start, status or stop");
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strcmp(argv[i], "--report") == 0 && i + 1 < argc)
            dir = argv[++i];
        else
            return command_misuse("shadow status takes --json and --report DIR");
    }
    return tell(h, SERVICE ".status", json, dir);
}
