/* command.c - flux weir: asks the scheduler of an instance, and prints what it says.
 *
 * Exit status: 0 done, 1 the scheduler did not agree, 2 wrong use. */
#include <errno.h>
#include <flux/core.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "usage: flux weir COMMAND\n"
                            "\n"
                            "  why JOBID                          why a job waits, and what would help\n"
                            "  policy [show]                      what decides who starts, and where\n"
                            "  policy list                        what there is to choose from\n"
                            "  policy use [policy=P] [queue=Q]    from now on, until the module is loaded again\n"
                            "  dump                               the machine and the books, as a JSON graph\n"
                            "  stats                              what the scheduler has done so far\n";

static int misuse(const char *text)
{
    fprintf(stderr, "flux weir: %s\n%s", text, usage);
    return 2;
}

static int failed(flux_future_t *f)
{
    if (errno == ENOSYS)
        fprintf(stderr, "flux weir: the module sched-weir is not loaded\n");
    else
        fprintf(stderr, "flux weir: %s\n", future_strerror(f, errno));
    flux_future_destroy(f);
    return 1;
}

/* Sends a request; prints the field "text" of the answer, or all of it. */
static int ask(flux_t *h, const char *topic, json_t *payload, bool whole)
{
    char *body = payload ? json_dumps(payload, 0) : NULL;
    flux_future_t *f = flux_rpc(h, topic, body, FLUX_NODEID_ANY, 0);
    const char *text;

    free(body);
    json_decref(payload);
    if (!f || (whole ? flux_rpc_get(f, &text) : flux_rpc_get_unpack(f, "{s:s}", "text", &text)) < 0)
        return failed(f);
    fputs(text, stdout);
    if (whole)
        putchar('\n');
    flux_future_destroy(f);
    return fflush(stdout) == 0 ? 0 : 2;
}

static int why(flux_t *h, int argc, char **argv)
{
    flux_jobid_t id;

    if (argc != 1)
        return misuse("why: a job id is expected");
    if (flux_job_id_parse(argv[0], &id) < 0)
        return misuse("why: this is no job id");
    return ask(h, "sched-weir.why", json_pack("{s:I}", "id", id), false);
}

static int policy(flux_t *h, int argc, char **argv)
{
    json_t *words = json_array();

    for (int i = 0; words && i < argc; i++)
        json_array_append_new(words, json_string(argv[i]));
    return ask(h, "sched-weir.policy", json_pack("{s:o}", "words", words), false);
}

static int dump(flux_t *h, int argc, char **argv)
{
    (void)argv;
    return argc ? misuse("dump takes no arguments") : ask(h, "sched-weir.dump", NULL, false);
}

static int stats(flux_t *h, int argc, char **argv)
{
    (void)argv;
    return argc ? misuse("stats takes no arguments") : ask(h, "sched-weir.stats-get", NULL, true);
}

static const struct {
    const char *name;
    int (*run)(flux_t *h, int argc, char **argv);
} commands[] = {{"why", why}, {"policy", policy}, {"dump", dump}, {"stats", stats}};

int main(int argc, char **argv)
{
    flux_t *h;
    int status;

    if (argc < 2)
        return misuse("a command is expected");
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
    return misuse("there is no such command");
}
