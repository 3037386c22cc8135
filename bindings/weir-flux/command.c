/* command.c - flux weir: sends requests to the scheduler of an instance, and prints the answers.
 *
 * Exit status: 0 success, 1 the scheduler refused, 2 wrong usage. */
#include <errno.h>
#include <flux/core.h>
#include <jansson.h>
#include <limits.h>
#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "weir.h"

static const char usage[] = "usage: flux weir COMMAND\n"
                            "\n"
                            "  why JOBID                          why a job waits, and what would help\n"
                            "  policy [show]                      what decides who starts, and where\n"
                            "  policy list                        what there is to choose from\n"
                            "  policy use [policy=P] [queue=Q]    from now on, until the module is loaded again; P and"
                            " Q are names of\n"
                            "                                     policies, or files, whose text is sent\n"
                            "  try [policy=P] [queue=Q]           what the jobs that wait would do under"
                            " these policies\n"
                            "  shadow start [policy=P] [queue=Q]  run these policies alongside those in force\n"
                            "  shadow status [--json] [--report DIR]   what became of it; a page into DIR\n"
                            "  shadow stop                        ends it and prints the result\n"
                            "  dump                               the machine and the books, as a JSON graph\n"
                            "  stats                              what the scheduler has done so far\n";

int command_misuse(const char *text)
{
    fprintf(stderr, "flux weir: %s\n%s", text, usage);
    return 2;
}

int command_failed(flux_future_t *f)
{
    if (errno == ENOSYS)
        fprintf(stderr, "flux weir: the module sched-weir is not loaded\n");
    else
        fprintf(stderr, "flux weir: %s\n", future_strerror(f, errno));
    flux_future_destroy(f);
    return 1;
}

/* Prints JSON for people: a line a field, numbers without noise in their last digits. */
static int print_json(const char *text)
{
    json_t *o = json_loads(text, 0, NULL);
    char *pretty = o ? json_dumps(o, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_REAL_PRECISION(12)) : NULL;

    puts(pretty ? pretty : text);
    free(pretty);
    json_decref(o);
    return fflush(stdout) == 0 ? 0 : 2;
}

/* Sends a request, and prints the field "text" of the answer, or with `whole` the entire answer, which is JSON. */
static int ask(flux_t *h, const char *topic, json_t *payload, bool whole)
{
    char *body = payload ? json_dumps(payload, 0) : NULL;
    flux_future_t *f = flux_rpc(h, topic, body, FLUX_NODEID_ANY, 0);
    const char *text;
    int rc;

    free(body);
    json_decref(payload);
    if (!f || (whole ? flux_rpc_get(f, &text) : flux_rpc_get_unpack(f, "{s:s}", "text", &text)) < 0)
        return command_failed(f);
    if (whole) {
        rc = print_json(text);
    } else {
        fputs(text, stdout);
        rc = fflush(stdout) == 0 ? 0 : 2;
    }
    flux_future_destroy(f);
    return rc;
}

/* Returns a job id as text in the form F58 of the locale: mostly with "ƒ" in front. */
static const char *f58(flux_jobid_t id)
{
    char text[64];

    return flux_job_id_encode(id, "f58", text, sizeof text) == 0 && text[0] == 'f' ? "f" : "ƒ";
}

/* ---- why ---- */

/* Prints the dependencies of a job. */
static void print_dependencies(const json_t *list)
{
    const char *separator = ": ";
    size_t i;
    json_t *o;

    json_array_foreach(list, i, o)
    {
        printf("%s%s", separator, json_is_string(o) ? json_string_value(o) : "?");
        separator = ", ";
    }
}

/* Prints the facts that the instance has about a job unknown to the scheduler. */
static void print_state(const char *word, flux_job_state_t state, int urgency, const char *result, const json_t *waits)
{
    if (state == FLUX_JOB_STATE_DEPEND) {
        printf("%s waits for what it depends on", word);
        print_dependencies(waits);
        puts(".");
    } else if (state == FLUX_JOB_STATE_INACTIVE)
        printf("%s has ended: %s.\n", word, result);
    else if (state & (FLUX_JOB_STATE_NEW | FLUX_JOB_STATE_PRIORITY))
        printf("%s is being looked at by the instance: it has no priority yet.\n", word);
    else if (state == FLUX_JOB_STATE_SCHED && urgency == 0)
        printf("%s is held, as its urgency is 0: flux job urgency %s default\n", word, word);
    else if (state == FLUX_JOB_STATE_SCHED)
        printf("%s has not been sent to the scheduler: its queue is stopped, or queue-depth is limited.\n", word);
    else
        printf("%s does not wait for resources: its state is %s.\n", word, flux_job_statetostr(state, "L"));
}

static const char *result_name(int result)
{
    return result == FLUX_JOB_RESULT_COMPLETED  ? "COMPLETED"
           : result == FLUX_JOB_RESULT_FAILED   ? "FAILED"
           : result == FLUX_JOB_RESULT_CANCELED ? "CANCELED"
                                                : "TIMEOUT";
}

/* Prints the state of a job that the scheduler does not know. Returns false for a job that the instance does not know
 * either. */
static bool tell_state(flux_t *h, flux_jobid_t id, const char *word)
{
    flux_future_t *f = flux_rpc_pack(h, "job-list.list-id", FLUX_NODEID_ANY, 0, "{s:I s:[ssss]}", "id", id, "attrs",
                                     "state", "urgency", "result", "dependencies");
    int state, urgency = -1, result = 0;
    json_t *waits = NULL;
    bool ok = f && flux_rpc_get_unpack(f, "{s:{s:i s?i s?i s?o}}", "job", "state", &state, "urgency", &urgency,
                                       "result", &result, "dependencies", &waits) == 0;

    if (ok)
        print_state(word, (flux_job_state_t)state, urgency, result_name(result), waits);
    flux_future_destroy(f);
    return ok;
}

static int why(flux_t *h, int argc, char **argv)
{
    flux_jobid_t id;
    flux_future_t *f;
    const char *text;

    if (argc != 1)
        return command_misuse("why: expected a job id");
    if (flux_job_id_parse(argv[0], &id) < 0)
        return command_misuse("why: this is no job id");
    f = flux_rpc_pack(h, "sched-weir.why", FLUX_NODEID_ANY, 0, "{s:I s:s}", "id", id, "f58", f58(id));
    if (!f || flux_rpc_get_unpack(f, "{s:s}", "text", &text) < 0) {
        if (errno != ENOENT || !tell_state(h, id, argv[0]))
            return command_failed(f);
    } else
        fputs(text, stdout);
    flux_future_destroy(f);
    return fflush(stdout) == 0 ? 0 : 2;
}

/* ---- policies: files are read here, since the scheduler may run on a remote host ---- */

/* Returns the text of a file as JSON, or NULL with errno set. */
static json_t *read_file(const char *path)
{
    static char text[WEIR_POLICY_MAX + 1]; /* one byte above the limit detects longer files */
    FILE *file = fopen(path, "r");
    json_t *o = NULL;
    size_t len;

    if (!file)
        return NULL;
    len = fread(text, 1, sizeof text, file);
    errno = ferror(file) ? errno : len > WEIR_POLICY_MAX ? EFBIG : EILSEQ;
    if (!ferror(file) && len <= WEIR_POLICY_MAX)
        o = json_stringn(text, len);
    fclose(file);
    return o;
}

/* Finds the path in a word such as "queue=mine.lua:k=4". Returns false for a word without a path. */
static bool find_file(const char *word, const char **from, const char **to)
{
    const char *slash;

    *from = strchr(word, '=');
    if (!*from)
        return false;
    slash = strrchr(++*from, '/');
    *to = strchr(slash ? slash : *from, ':');
    *to = *to ? *to : *from + strlen(*from);
    return slash || (*to - *from > 4 && strncmp(*to - 4, ".lua", 4) == 0);
}

/* Returns a word of `policy use` with the real path of the file, and adds the file's text to `texts`. Returns NULL for
 * an unreadable file, with a message printed. A path missing here may exist on the scheduler's host. */
static json_t *expand(const char *word, json_t *texts)
{
    const char *from, *to;
    char path[PATH_MAX], real[PATH_MAX];
    json_t *text;

    if (!find_file(word, &from, &to) || to - from >= (ptrdiff_t)sizeof path)
        return json_string(word);
    snprintf(path, sizeof path, "%.*s", (int)(to - from), from);
    if (realpath(path, real) && (text = read_file(real))) {
        json_object_set_new(texts, real, text);
        return json_sprintf("%.*s%s%s", (int)(from - word), word, real, to);
    }
    if (path[0] == '/' && errno == ENOENT)
        return json_string(word);
    fprintf(stderr, "flux weir: %s: %s\n", path, errno == EILSEQ ? "this is no text" : strerror(errno));
    return NULL;
}

/* Returns {"words": [...], "texts": {...}, "f58": ...} of the words; those from the `plain`-th on may name files.
 * Returns NULL with a message printed. */
json_t *command_words(int argc, char **argv, int plain)
{
    json_t *words = json_array(), *texts = json_object(), *word;

    for (int i = 0; i < argc; i++) {
        word = i >= plain ? expand(argv[i], texts) : json_string(argv[i]);
        if (!word) {
            json_decref(words);
            json_decref(texts);
            return NULL;
        }
        json_array_append_new(words, word);
    }
    return json_pack("{s:o s:o s:s}", "words", words, "texts", texts, "f58", f58(0));
}

static int policy(flux_t *h, int argc, char **argv)
{
    json_t *payload = command_words(argc, argv, argc && strcmp(argv[0], "use") == 0 ? 1 : argc);

    return payload ? ask(h, "sched-weir.policy", payload, false) : 1;
}

static int try(flux_t *h, int argc, char **argv)
{
    json_t *payload;

    if (argc == 0)
        return command_misuse("try: expected policy=P or queue=Q");
    payload = command_words(argc, argv, 0);
    return payload ? ask(h, "sched-weir.try", payload, false) : 1;
}

/* ---- the rest ---- */

/* Prints an answer that arrives in pieces. */
static int dump(flux_t *h, int argc, char **argv)
{
    flux_future_t *f;
    const void *piece;
    size_t len;

    (void)argv;
    if (argc)
        return command_misuse("dump takes no arguments");
    f = flux_rpc(h, "sched-weir.dump", NULL, FLUX_NODEID_ANY, FLUX_RPC_STREAMING);
    while (f && flux_rpc_get_raw(f, &piece, &len) == 0) {
        if (fwrite(piece, 1, len, stdout) < len) {
            flux_future_destroy(f);
            return 2;
        }
        flux_future_reset(f);
    }
    if (!f || errno != ENODATA)
        return command_failed(f);
    flux_future_destroy(f);
    return fflush(stdout) == 0 ? 0 : 2;
}

static int stats(flux_t *h, int argc, char **argv)
{
    (void)argv;
    return argc ? command_misuse("stats takes no arguments") : ask(h, "sched-weir.stats-get", NULL, true);
}

static const struct {
    const char *name;
    int (*run)(flux_t *h, int argc, char **argv);
} commands[] = {{"why", why},   {"policy", policy},         {"try", try},
                {"dump", dump}, {"shadow", command_shadow}, {"stats", stats}};

int main(int argc, char **argv)
{
    flux_t *h;
    int status;

    setlocale(LC_ALL, "");
    if (argc < 2)
        return command_misuse("expected a command");
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        fputs(usage, stdout);
        return 0;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(argv[1], commands[i].name) != 0)
            continue;
        h = flux_open(NULL, 0);
        if (!h) {
            fprintf(stderr, "flux weir: cannot reach an instance of Flux: %s\n", strerror(errno));
            return 1;
        }
        status = commands[i].run(h, argc - 2, argv + 2);
        flux_close(h);
        return status;
    }
    return command_misuse("there is no such command");
}
