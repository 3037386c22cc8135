/* drive_module.c - the broker module of Flux with its two threads, without Flux: fake/ stands in for the broker, and
 * this driver for the job manager, the resource module and users. `make tsan` runs it under the thread sanitizer.
 *
 * usage: drive_module [ROUNDS [SEED]], by default 6 or ROUNDS in the environment. A round loads the module, recovers
 * jobs, submits, cancels, frees and asks at random, and unloads the module: each second round amid the work, the others
 * at the end. Checked are answers: one last answer a request, no node given twice.
 * `drive_module hello JOBS` recovers so many jobs and ends. */
#include "dice.h"
#include "fake/fake.h"
#include "weir.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int mod_main(flux_t *h, int argc, char **argv);

#define NODES  24
#define JOBS   200 /* submitted in a round */
#define OTHERS 4000
#define MOST   300000 /* turns of a round that is stuck */

enum state { NONE, WAITS, RUNS, GONE };

struct job {
    enum state state;
    char *R;
};

struct play {
    struct fake_broker broker;
    flux_t *h;
    flux_future_t *acquire, *hello;
    bool ready, started;
    int64_t recovered, submitted, last; /* jobs: 1 to recovered run from the start */
    int64_t nodes, owner[NODES];        /* the job that has a node; 0: none */
    struct job *jobs;
    uint8_t others[OTHERS]; /* answers awaited, by tag */
    int nothers;
    unsigned long end; /* the turn at which the module is unloaded; 0: when all is done */
    bool only_hello;
    int wrong;
};

static void fail(struct play *p, const char *what, int64_t id)
{
    fprintf(stderr, "turn %lu: %s (%" PRId64 ")\n", p->broker.turns, what, id);
    p->wrong++;
}

/* ---- what the broker answers ---- */

static void write_R(char *buf, size_t size, int64_t from, int64_t to)
{
    snprintf(buf, size,
             "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"%" PRId64 "-%" PRId64 "\",\"children\":{\"core\":"
             "\"0-3\"}}],\"nodelist\":[\"n[%" PRId64 "-%" PRId64 "]\"],\"starttime\":0,\"expiration\":0}}",
             from, to, from, to);
}

static void write_spec(char *buf, size_t size, int nodes, int seconds)
{
    snprintf(buf, size,
             "{\"version\":1,\"resources\":[{\"type\":\"node\",\"count\":%d,\"exclusive\":true,\"with\":[{\"type\":"
             "\"slot\",\"count\":1,\"label\":\"task\",\"with\":[{\"type\":\"core\",\"count\":1}]}]}],\"tasks\":[{"
             "\"command\":[\"a\"],\"slot\":\"task\",\"count\":{\"per_slot\":1}}],\"attributes\":{\"system\":{"
             "\"duration\":%d}}}",
             nodes, seconds);
}

static void answer_acquire(struct play *p, flux_future_t *f)
{
    char R[512], text[1024];

    p->acquire = f;
    write_R(R, sizeof R, 0, p->nodes - 1);
    snprintf(text, sizeof text, "{\"resources\":%s,\"up\":\"0-%" PRId64 "\"}", R, p->nodes - 1);
    fake_reply(f, 0, text);
}

static void answer_hello(struct play *p, flux_future_t *f)
{
    char text[128];

    for (int64_t id = 1; id <= p->recovered; id++) {
        snprintf(text, sizeof text, "{\"id\":%" PRId64 ",\"priority\":16,\"userid\":1,\"t_submit\":1.5}", id);
        fake_reply(f, 0, text);
    }
    fake_reply(f, ENODATA, NULL);
}

#define STATES "sched-weir.states"

static char *states; /* of policies, as the module has saved them; the next round begins with these */

static void answer_lookup(flux_future_t *f, const char *key)
{
    char text[1024];
    int64_t id = atoll(key + 4);

    if (strcmp(key, STATES) == 0) {
        fake_reply(f, states ? 0 : ENOENT, states);
        return;
    }
    if (strstr(key, ".R"))
        write_R(text, sizeof text, id - 1, id - 1);
    else
        write_spec(text, sizeof text, 1, 3600);
    fake_reply(f, 0, text);
}

static void take_commit(const char *text)
{
    if (strncmp(text, STATES "=", strlen(STATES) + 1) == 0) {
        free(states);
        states = strdup(text + strlen(STATES) + 1);
    }
}

static void serve(struct fake_broker *b, flux_future_t *f, const char *topic, const char *text)
{
    struct play *p = (struct play *)b;

    if (strcmp(topic, "resource.acquire") == 0)
        answer_acquire(p, f);
    else if (strcmp(topic, "job-manager.sched-hello") == 0)
        answer_hello(p, f);
    else if (strcmp(topic, "kvs.lookup") == 0)
        answer_lookup(f, text);
    else if (strcmp(topic, "state-machine.get") == 0)
        fake_reply(f, 0, "{\"state\":\"run\"}");
    else {
        if (strcmp(topic, "kvs.commit") == 0)
            take_commit(text);
        p->ready = p->ready || strcmp(topic, "job-manager.sched-ready") == 0;
        fake_reply(f, 0, "{}");
    }
}

/* ---- what the module answers ---- */

/* Returns the ranks of an R, to be freed; NULL for none. */
static weir_idset *ranks_of(const char *R)
{
    const char *at = strstr(R, "\"rank\":\""), *end = at ? strchr(at + 8, '"') : NULL;
    char text[256] = "";
    weir_idset *ids = NULL;

    if (end && end - at < 200) {
        memcpy(text, at + 8, (size_t)(end - at - 8));
        if (weir_idset_parse(text, strlen(text), &ids, NULL) < 0)
            return NULL;
    }
    return ids;
}

/* Notes that a job has the nodes of R (or with id 0 that nobody has): none has two owners. */
static void own(struct play *p, const char *R, int64_t id)
{
    weir_idset *ids = ranks_of(R);

    if (!ids)
        fail(p, "an R without ranks", id);
    for (int64_t rank = ids ? weir_idset_first(ids) : -1; rank >= 0; rank = weir_idset_next(ids, rank)) {
        if (id && p->owner[rank])
            fail(p, "a node is given twice, to", id);
        p->owner[rank] = id;
    }
    weir_idset_free(ids);
}

static void take_alloc(struct play *p, int64_t id, const char *text)
{
    struct job *job = &p->jobs[id];
    const char *type = strstr(text, "\"type\":"), *R = strstr(text, "\"R\":");

    if (!type || type[7] - '0' == FLUX_SCHED_ALLOC_ANNOTATE)
        return;
    if (job->state != WAITS) {
        fail(p, "a second last answer to the request of job", id);
        return;
    }
    job->state = GONE;
    if (type[7] - '0' == FLUX_SCHED_ALLOC_SUCCESS && R) {
        job->state = RUNS;
        p->started = true;
        job->R = strndup(R + 4, strlen(R + 4) - 1);
        own(p, job->R, id);
    }
}

static void answered(struct fake_broker *b, const char *topic, int64_t tag, int errnum, const char *text)
{
    struct play *p = (struct play *)b;

    if (strcmp(topic, "sched.alloc") == 0)
        take_alloc(p, tag, text);
    else if (errnum == 0 && (strcmp(topic, "sched-weir.dump") == 0 || strstr(topic, ".match_multi")))
        return; /* a piece; the end is ENODATA, or the error of a match */
    else if (tag < 0 || tag >= p->nothers || !p->others[tag])
        fail(p, topic, tag);
    else
        p->others[tag]--;
}

/* ---- what users and the instance do ---- */

static void submit(struct play *p)
{
    int64_t id = ++p->last;
    char spec[640], text[900];

    write_spec(spec, sizeof spec, 1 + (int)dice(3), 1 + (int)dice(100));
    snprintf(text, sizeof text, "{\"id\":%" PRId64 ",\"priority\":%d,\"userid\":1,\"t_submit\":2.5,\"jobspec\":%s}", id,
             1 + (int)dice(31), spec);
    p->jobs[id].state = WAITS;
    p->submitted++;
    fake_request(p->h, "sched.alloc", text, id, false);
}

/* Returns a job in a state, chosen at random; 0: there is none. */
static int64_t some(struct play *p, enum state state)
{
    int64_t from = (int64_t)dice((uint32_t)p->last + 1);

    for (int64_t i = 0; i <= p->last; i++) {
        int64_t id = (from + i) % (p->last + 1);
        if (p->jobs[id].state == state)
            return id;
    }
    return 0;
}

static void end_job(struct play *p, int64_t id)
{
    struct job *job = &p->jobs[id];
    char text[2048];

    snprintf(text, sizeof text, "{\"id\":%" PRId64 ",\"R\":%s,\"final\":true}", id, job->R);
    own(p, job->R, 0);
    free(job->R);
    job->R = NULL;
    job->state = GONE;
    fake_request(p->h, "sched.free", text, 0, false);
}

static void about_job(struct play *p, const char *topic, const char *format, int64_t id)
{
    char text[160];

    snprintf(text, sizeof text, format, id);
    fake_request(p->h, topic, text, 0, false);
}

/* Sends a request that is to be answered once. */
static void ask(struct play *p, const char *topic, const char *text, bool streaming)
{
    if (p->nothers == OTHERS)
        return;
    p->others[p->nothers] = 1;
    fake_request(p->h, topic, text, p->nothers++, streaming);
}

#define SMALL                                                                                                          \
    "{\"jobid\":900000,\"jobspec\":{\"resources\":[{\"type\":\"slot\",\"count\":1,\"label\":\"a\",\"with\":[{"         \
    "\"type\":\"core\",\"count\":1}]}]}}"

static void ask_something(struct play *p)
{
    static const struct {
        const char *topic, *text;
    } questions[] = {
        {"sched-weir.stats-get", "{}"},
        {"sched-weir.stats-clear", "{}"},
        {"sched-weir.policy", "{\"words\":[\"list\"]}"},
        {"sched-weir.policy", "{\"words\":[\"use\",\"queue=conservative\"]}"},
        {"sched-weir.policy", "{\"words\":[\"use\",\"queue=fcfs\",\"policy=low\"]}"},
        {"sched-weir.policy", "{\"words\":[\"use\",\"queue=nonsense\"]}"},
        {"sched-weir.config-reload", "{\"sched-weir\":{\"queue\":\"easy\"}}"},
        {"sched-weir.config-reload", "{\"sched-weir\":{\"queue\":\"hybrid\",\"policy\":\"high\"}}"},
        {"sched.resource-status", "{}"},
        {"feasibility.check", "{\"jobspec\":7}"},
        {"sched-fluxion-resource.params", "{}"},
        {"sched-fluxion-resource.stats-get", "{}"},
        {"sched-fluxion-qmanager.stats-get", "{}"},
        {"sched-fluxion-resource.next_jobid", "{}"},
        {"sched-fluxion-resource.match_multi", "{\"cmd\":\"satisfiability\",\"jobs\":7}"},
        {"sched-fluxion-resource.match_multi", "{\"cmd\":\"satisfiability\",\"jobs\":[" SMALL "," SMALL "," SMALL "]}"},
        {"sched-fluxion-resource.match_multi", "{\"cmd\":\"satisfiability\",\"jobs\":[" SMALL ",{\"jobid\":8}]}"},
        {"sched-weir.why", "{\"id\":3}"},
        {"sched-fluxion-resource.find", "{\"criteria\":\"status=up\"}"},
    };
    size_t forking = sizeof questions / sizeof *questions - 2;
    uint32_t i = dice((uint32_t)(dice(8) ? forking : forking + 2));

    ask(p, questions[i].topic, questions[i].text, strstr(questions[i].topic, "match_multi") != NULL);
}

/* Sets a node down that no job has, and all up again. */
static void change_resources(struct play *p)
{
    int64_t rank = (int64_t)dice((uint32_t)p->nodes);
    char text[64];

    snprintf(text, sizeof text, "{\"%s\":\"%" PRId64 "\"}", dice(2) ? "down" : "up", rank);
    fake_reply(p->acquire, 0, text);
}

/* The job manager speaks of jobs once the scheduler is ready. Users ask, and change the policy, once a job has started:
 * the first policy has a state then. */
static void act(struct play *p)
{
    int64_t id;

    switch (dice(12)) {
    case 0:
    case 1:
    case 2:
        if (p->ready && p->submitted < JOBS)
            submit(p);
        break;
    case 3:
    case 4:
    case 5:
        id = p->ready ? some(p, RUNS) : 0;
        if (id)
            end_job(p, id);
        break;
    case 6:
        id = some(p, WAITS);
        if (id)
            about_job(p, "sched.cancel", "{\"id\":%" PRId64 "}", id);
        break;
    case 7:
        id = some(p, WAITS);
        if (id)
            about_job(p, "sched.prioritize", "{\"jobs\":[[%" PRId64 ",20]]}", id);
        break;
    case 8: change_resources(p); break;
    case 9:
        if (dice(40) == 0)
            ask(p, "sched-weir.dump", "{}", true);
        break;
    default:
        if (p->started && p->submitted < JOBS)
            ask_something(p);
        break;
    }
}

/* Whether every request has its last answer. */
static bool all_answered(const struct play *p)
{
    for (int64_t id = 1; id <= p->last; id++)
        if (p->jobs[id].state == WAITS)
            return false;
    for (int i = 0; i < p->nothers; i++)
        if (p->others[i])
            return false;
    return true;
}

/* Lets all jobs that are left start, one after the other. */
static void wind_up(struct play *p)
{
    int64_t id;
    char all[64];

    if (p->broker.turns % 16 == 0) {
        snprintf(all, sizeof all, "{\"up\":\"0-%" PRId64 "\"}", p->nodes - 1);
        fake_reply(p->acquire, 0, all);
    }
    for (id = 1; id <= p->last; id++)
        if (p->jobs[id].state == RUNS)
            end_job(p, id);
}

static bool turn(struct fake_broker *b)
{
    struct play *p = (struct play *)b;

    if (b->turns > MOST) {
        fail(p, "no end is in sight; jobs submitted", p->submitted);
        return false;
    }
    if (p->only_hello)
        return !p->ready;
    if (p->end && b->turns >= p->end)
        return false;
    if (!p->acquire)
        return true;
    act(p);
    if (p->submitted < JOBS)
        return true;
    wind_up(p);
    return !all_answered(p);
}

/* ---- rounds ---- */

static int play(uint64_t with_seed, bool amid, int64_t recovered, bool only_hello)
{
    char *arguments[] = {"slice=2ms"};
    struct play *p = calloc(1, sizeof *p);
    int wrong, rc;

    p->broker = (struct fake_broker){.serve = serve,
                                     .answered = answered,
                                     .turn = turn,
                                     .config = "{\"sched-weir\":{\"queue\":\"easy\",\"policy\":\"round_robin\"}}"};
    seed = with_seed;
    p->nodes = only_hello ? recovered : NODES;
    p->recovered = p->last = recovered;
    p->jobs = calloc((size_t)recovered + JOBS + 1, sizeof *p->jobs);
    for (int64_t id = 1; id <= recovered && !only_hello; id++) {
        char R[512];
        write_R(R, sizeof R, id - 1, id - 1);
        p->jobs[id] = (struct job){RUNS, strdup(R)};
        p->owner[id - 1] = id;
    }
    p->only_hello = only_hello;
    p->end = amid ? 1 + dice(400) : 0;
    p->h = fake_open(&p->broker);
    rc = mod_main(p->h, 1, arguments);
    fake_close(p->h);
    if (rc < 0)
        fail(p, "the module ended with a failure", rc);
    if (!only_hello && !amid && !(states && strstr(states, "round_robin")))
        fail(p, "the state of the policy is not saved", 0);
    wrong = p->wrong;
    printf("seed %" PRIu64 "%s: %" PRId64 " jobs, %d questions, %lu turns\n", with_seed, amid ? ", amid the work" : "",
           p->submitted, p->nothers, p->broker.turns);
    for (int64_t id = 1; id <= p->last; id++)
        free(p->jobs[id].R);
    free(p->jobs);
    free(p);
    return wrong;
}

int main(int argc, char **argv)
{
    const char *asked = argc > 1 ? argv[1] : getenv("ROUNDS");
    int rounds = asked ? atoi(asked) : 6, wrong = 0;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

    if (argc > 2 && strcmp(argv[1], "hello") == 0)
        return play(1, false, atoll(argv[2]), true) != 0;
    for (int i = 0; i < rounds; i++) /* each begins with the states of the one before */
        wrong += play(first + (uint64_t)i, i % 2 == 1, 6, false) != 0;
    free(states);
    printf("%d passed, %d failed\n", rounds - wrong, wrong);
    return wrong != 0;
}
