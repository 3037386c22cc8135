/* test_sqlite_kill.c - saves that are killed, and saves and loads in which the n-th allocation of weir or SQLite
 * fails: the file holds the old graph or the saved graph, and loads. Requirement: L8.
 */
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define dup weir_test_dup /* unistd.h has a dup of its own */
#include "stores.h"
#undef dup
#include <unistd.h>

#include "graph/journal.h"

/* ---- kills ---- */

/* Makes the k-th change of a graph; the clock tells the number of the last change. */
static void change(weir_graph *g, int64_t k)
{
    weir_vertex v = 1 + (weir_vertex)(k * 7919 % 400);

    CHECK(weir_graph_advance(g, k, NULL) == WEIR_OK, "the clock");
    if (weir_vertex_allocate(g, v, k, 1, k, k + 50, NULL))
        (void)!weir_vertex_set_state(g, v, (int)(k % WEIR_STATES), NULL);
    if (k > 40)
        (void)!weir_release(g, k - 40, NULL);
    (void)!weir_vertex_set(g, v, WEIR_TAGS, k % 2 ? "a" : "b", "1", NULL);
    if (k % 5 == 0) {
        weir_pool_desc d = WEIR_POOL_DESC_INIT;
        d.type = "gpu";
        d.id = k;
        (void)!weir_graph_add(g, 1, &d, NULL, NULL);
    }
    if (k % 15 == 0)
        (void)!weir_graph_unlink(g, v, NULL);
}

/* Loads the file and continues from there, saving after each change and reporting the save. Killed by its parent. */
static void child(int out)
{
    weir_graph *g = NULL;
    char byte = 0;

    if (weir_graph_load(file, NULL, &g, NULL))
        _exit(3);
    for (;;) {
        change(g, weir_graph_now(g) + 1);
        if (weir_graph_save(g, file, NULL, dice(8) ? WEIR_SAVE_CHANGED : 0, NULL) || write(out, &byte, 1) != 1)
            _exit(4);
    }
}

/* Waits for some saves of the child, then for part of one more. */
static void wait_a_while(int in)
{
    static volatile uint32_t work;
    char byte;

    for (uint32_t n = dice(4); n-- > 0;)
        if (read(in, &byte, 1) != 1)
            return;
    for (uint32_t n = dice(dice(2) ? 2000000 : 20000); n > 0; n--)
        work = work * 1664525u + 1013904223u;
}

static void kill_one(void)
{
    int ends[2], status;
    pid_t pid;

    CHECK(pipe(ends) == 0, "a pipe");
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child(ends[1]);
    }
    close(ends[1]);
    wait_a_while(ends[0]);
    kill(pid, SIGKILL);
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
          "it went on until killed");
    close(ends[0]);
}

static int scaled(int n)
{
    const char *scale = getenv("WEIR_SPEC_SCALE");
    double times = scale ? atof(scale) : 1;
    return (int)(n * times) > 0 ? (int)(n * times) : 1;
}

/* The graph in the file must equal a graph after as many changes as the file says. `make soak` runs hundreds of
 * kills.
 */
static void kills(void)
{
    int rounds = scaled(40), during = 0;
    weir_graph *g = parse("cluster:1 node:50 core:6 memory:1(size=4)", "synthetic");
    int64_t first;

    save(g, 0);
    for (int i = 0; i < rounds; i++) {
        weir_graph *back;
        seed = (uint64_t)i + 1;
        first = weir_graph_now(g);
        kill_one();
        during += there("-wal");
        back = load();
        if (!back)
            break;
        sound(back, "after a kill");
        CHECK(weir_graph_now(back) >= first, "no save that was through is lost");
        while (weir_graph_now(g) < weir_graph_now(back))
            change(g, weir_graph_now(g) + 1);
        same(g, back, true, "[L8] the graph of one save, never half");
        weir_graph_free(back);
    }
    CHECK(rounds < 100 || during > rounds / 10, "%d of %d kills came during a save", during, rounds);
    printf("%d kills, %d of them during a save, %lld saves\n", rounds, during, (long long)weir_graph_now(g));
    weir_graph_free(g);
    stores_clear();
}

/* The first save to a file: the file is empty or complete, and the next save succeeds. */
static void first_kills(void)
{
    weir_graph *g = parse("cluster:1 node:400 core:6 memory:1(size=4)", "synthetic");
    int rounds = scaled(20), whole = 0;

    for (int i = 0; i < rounds; i++) {
        weir_graph *back = NULL;
        weir_err err = {0};
        struct timespec wait = {0, 50000L * (i % 60)};
        pid_t pid;
        int rc;
        fflush(stdout);
        pid = fork();
        if (pid == 0)
            _exit(weir_graph_save(g, file, NULL, 0, NULL) ? 4 : 0);
        nanosleep(&wait, NULL);
        kill(pid, SIGKILL);
        CHECK(waitpid(pid, NULL, 0) == pid, "it is gone");
        rc = weir_graph_load(file, NULL, &back, &err);
        CHECK(rc == WEIR_OK || rc == WEIR_EPARSE || (rc == WEIR_EIO && !there("")), "%s: %s", weir_status_name(rc),
              err.text);
        if (back)
            same(g, back, true, "[L8] the first save, whole");
        whole += back != NULL;
        weir_graph_free(back);
        save(g, 0);
        back = load();
        same(g, back, true, "[L8] a save after one that was killed");
        weir_graph_free(back);
        stores_clear();
    }
    CHECK(rounds < 100 || whole < rounds, "%d of %d first saves were killed too late", whole, rounds);
    printf("%d kills, %d of them after the first save\n", rounds, whole);
    weir_graph_free(g);
}

/* ---- failing allocations ---- */

/* Where time is short not each allocation fails, but some of all. */
static long stride(void)
{
    const char *scale = getenv("WEIR_SPEC_SCALE");
    return scale && atof(scale) < 1 ? 7 : 1;
}

static long countdown, failures;

static bool must_fail(void)
{
    if (countdown > 0 && --countdown == 0) {
        failures++;
        return true;
    }
    return false;
}

static void *test_malloc(int size)
{
    return must_fail() ? NULL : malloc((size_t)size);
}

static void *test_realloc(void *p, int size)
{
    return must_fail() ? NULL : realloc(p, (size_t)size);
}

static int test_size(void *p)
{
    return p ? (int)malloc_usable_size(p) : 0;
}

static int test_round(int size)
{
    return (size + 7) & ~7;
}

static int test_init(void *p)
{
    (void)p;
    return SQLITE_OK;
}

static void test_shutdown(void *p)
{
    (void)p;
}

static void hook_sqlite(void)
{
    static const sqlite3_mem_methods hooks = {test_malloc, free,      test_realloc,  test_size,
                                              test_round,  test_init, test_shutdown, NULL};
    CHECK(sqlite3_config(SQLITE_CONFIG_MALLOC, &hooks) == SQLITE_OK, "the allocator of SQLite");
}

static weir_graph *booked(void)
{
    weir_graph *g = parse("cluster:1 node:3 core:4 memory:1(size=8)", "synthetic");
    weir_vertex node = at(g, "/cluster0/node0");

    CHECK(weir_vertex_allocate(g, node, 3, 1, 0, 50, NULL) == WEIR_OK, "job 3");
    CHECK(weir_vertex_set(g, node, WEIR_TAGS, "x", "1", NULL) == WEIR_OK, "a tag");
    CHECK(weir_edge_add(g, node, at(g, "/cluster0/node1"), "net", "links", NULL, NULL) == WEIR_OK, "an edge");
    return g;
}

/* One save or load with a failing allocation; returns WEIR_OK, or file and graph are as before. */
static int save_once(weir_graph *g, unsigned flags, const weir_graph *before)
{
    weir_err err = {0};
    int rc;
    weir_graph *back;

    rc = weir_graph_save(g, file, NULL, flags, &err);
    countdown = 0;
    weir_mem_fail_after(0);
    CHECK(rc == WEIR_OK || rc == WEIR_ENOMEM, "%s: %s", weir_status_name(rc), err.text);
    back = load();
    if (back)
        same(back, rc == WEIR_OK ? g : before, true, rc == WEIR_OK ? "a save that went through" : "a save that failed");
    weir_graph_free(back);
    return rc;
}

/* The n-th allocation fails in a save of changes after a full save, then in a full save. */
static void failing_saves(bool ours)
{
    weir_graph *g = booked(), *before = booked();
    int went = 0;

    for (long n = 1; went < 6 && n < 5000; n += stride()) {
        unsigned flags = n % 2 ? WEIR_SAVE_CHANGED : 0;
        long had = failures;
        CHECK(weir_graph_save(before, file, NULL, 0, NULL) == WEIR_OK, "the state before");
        weir_graph_free(g);
        g = load();
        CHECK(weir_vertex_set_state(g, 5, WEIR_DOWN, NULL) == WEIR_OK && weir_release(g, 3, NULL) == WEIR_OK,
              "changes");
        if (ours)
            weir_mem_fail_after(n);
        else
            countdown = n;
        if (save_once(g, flags, before) == WEIR_OK && (ours || failures == had))
            went++;
        else
            went = 0;
    }
    CHECK(went == 6, "saves go through at last");
    weir_graph_free(g);
    weir_graph_free(before);
    stores_clear();
}

static void failing_first_saves(void)
{
    weir_graph *g = booked();
    bool went = false;

    for (long n = 1; !went && n < 5000; n += stride()) {
        weir_err err = {0};
        long had = failures;
        int rc;
        stores_clear();
        countdown = n;
        rc = weir_graph_save(g, file, NULL, 0, &err);
        countdown = 0;
        went = rc == WEIR_OK && failures == had;
        CHECK(rc == WEIR_OK || rc == WEIR_ENOMEM, "%s: %s", weir_status_name(rc), err.text);
        CHECK((rc == WEIR_OK) == there(""), "a first save that fails (allocation %ld) leaves no file", n);
        weir_graph_free(rc == WEIR_OK ? load() : NULL);
    }
    weir_graph_free(g);
    stores_clear();
}

static int load_once(void *arg)
{
    weir_graph *g = NULL;
    weir_err err = {0};
    int rc = weir_graph_load(file, NULL, &g, &err);

    countdown = 0;
    weir_mem_fail_after(0);
    if (rc == WEIR_OK)
        same(arg, g, true, "loaded with failing memory");
    CHECK((rc == WEIR_OK) == (g != NULL), "a graph or an error");
    weir_graph_free(g);
    return rc;
}

static void failing_loads(void)
{
    weir_graph *g = booked();
    bool went = false;

    save(g, 0);
    check_nomem(load_once, g, "load");
    for (long n = 1; !went && n < 5000; n += stride()) {
        long had = failures;
        int rc;
        countdown = n;
        rc = load_once(g);
        went = rc == WEIR_OK && failures == had;
        CHECK(rc == WEIR_OK || rc == WEIR_ENOMEM, "allocation %ld of SQLite fails: %s", n, weir_status_name(rc));
    }
    CHECK(went, "a load goes through at last");
    weir_graph_free(g);
    stores_clear();
}

/* Where the journal has no memory the change is still made, and the next save writes everything. */
static void failing_notes(void)
{
    weir_graph *g = booked(), *back;

    save(g, 0);
    weir_mem_fail_after(1);
    CHECK(weir_vertex_set_state(g, 2, WEIR_DOWN, NULL) == WEIR_OK && g->saves.journal->vertices.all,
          "a note that finds no room");
    weir_mem_fail_after(0);
    save(g, WEIR_SAVE_CHANGED);
    back = load();
    same(g, back, true, "after it");
    weir_graph_free(back);
    weir_graph_free(g);
    stores_clear();
}

int main(void)
{
    hook_sqlite();
    stores_begin();
    kills();
    first_kills();
    failing_saves(true);
    failing_saves(false);
    failing_first_saves();
    failing_loads();
    failing_notes();
    stores_end();
    return check_report();
}
