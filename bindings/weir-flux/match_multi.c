/* match_multi.c - the request sched-fluxion-resource.match_multi: {"cmd": as for match, "jobs": [{"jobid", "jobspec"},
 * ...]}. The request is streaming: each job is answered as match answers it, in order, and ENODATA ends the stream; so
 * does the first job that finds nothing, with its error. The worker makes one match at a time, so that scheduling
 * continues in between. */
#include "sched.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

struct many {
    json_t *jobs, *cmd;
    size_t next; /* the job to be matched next, from 0 on */
};

static void free_many(struct many *m)
{
    json_decref(m->jobs);
    json_decref(m->cmd);
    free(m);
}

/* Returns the payload of a match for job i as text, to be freed; NULL with errno set. */
static char *one_match(const struct many *m, size_t i)
{
    json_t *job = json_array_get(m->jobs, i), *id = json_object_get(job, "jobid"), *given = NULL;
    char *spec = json_dumps(json_object_get(job, "jobspec"), JSON_COMPACT), *text = NULL;

    errno = json_is_integer(id) && json_object_get(job, "jobspec") ? ENOMEM : EPROTO;
    if (spec && errno == ENOMEM)
        given = json_pack("{s:O s:O s:s}", "cmd", m->cmd, "jobid", id, "jobspec", spec);
    text = given ? json_dumps(given, 0) : NULL;
    json_decref(given);
    free(spec);
    return text;
}

static void end_many(struct sched *s, const flux_msg_t *msg, struct many *m, int errnum)
{
    char text[64];
    json_t *id = json_object_get(json_array_get(m->jobs, m->next - (m->next > 0)), "jobid");

    snprintf(text, sizeof text, "jobid=%" JSON_INTEGER_FORMAT, json_integer_value(id));
    if (s)
        sched_respond_error(s, msg, errnum, errnum == ENODATA ? NULL : text);
    free_many(m);
}

static void match_next(struct sched *s, const flux_msg_t *msg, struct many *m);

static void matched_one(struct sched *s, struct call *c)
{
    if (!s || !c->reply.ok)
        end_many(s, c->msg, c->arg, c->reply.errnum);
    else if (flux_respond(s->h, c->msg, c->reply.text) < 0)
        end_many(s, c->msg, c->arg, errno);
    else
        match_next(s, c->msg, c->arg);
}

/* Posts the next match; after the last the stream ends. A failure ends the stream, too. */
static void match_next(struct sched *s, const flux_msg_t *msg, struct many *m)
{
    struct call c = {
        .method = "fluxion", .args = {NULL, "sched-fluxion-resource.match"}, .msg = msg, .arg = m, .done = matched_one};

    if (m->next == json_array_size(m->jobs)) {
        end_many(s, msg, m, ENODATA);
        return;
    }
    c.args[0] = c.own = one_match(m, m->next++);
    if (c.own && sched_post(s, &c))
        return;
    free(c.own);
    end_many(s, msg, m, errno);
}

void sched_on_match_multi(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct many *m = calloc(1, sizeof *m);
    json_t *cmd = NULL, *jobs = NULL;

    (void)h, (void)mh;
    sched_mark(arg, "match_multi");
    if (!m)
        errno = ENOMEM;
    else if (!flux_msg_is_streaming(msg))
        errno = EPROTO;
    else if (flux_request_unpack(msg, NULL, "{s:o s:o}", "cmd", &cmd, "jobs", &jobs) == 0) {
        errno = EINVAL;
        if (json_is_array(jobs)) {
            *m = (struct many){.jobs = json_incref(jobs), .cmd = json_incref(cmd)};
            match_next(arg, msg, m);
            return;
        }
    }
    sched_respond_error(arg, msg, errno, NULL);
    free(m);
}
