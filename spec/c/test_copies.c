/* test_copies.c - copies, parts, merges, coarse views and comparison: on every machine file of the test data, on random
 * graphs with random books, with failing allocations, and on what must be refused.
 * Requirements: M1-M5, M12, G10, G11, P2, P12.
 */
#include <dirent.h>

#include "../../core/graph.h"
#include "check.h"

static uint64_t seed;

static uint32_t dice(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

static weir_graph *parse(const char *text, const char *format)
{
    weir_graph *g = NULL;
    weir_err err = {0};

    CHECK(weir_graph_parse(text, strlen(text), "test", format, &g, &err) == WEIR_OK, "%.60s: %s", text, err.text);
    return g;
}

static weir_vertex at(const weir_graph *g, const char *path)
{
    weir_vertex v = WEIR_NONE;
    weir_err err = {0};

    CHECK(weir_graph_lookup(g, path, &v, &err) == WEIR_OK, "%s: %s", path, err.text);
    return v;
}

static bool is_there(const weir_graph *g, const char *path)
{
    weir_vertex v;
    return weir_graph_lookup(g, path, &v, NULL) == WEIR_OK;
}

static void sound(const weir_graph *g, const char *what)
{
    weir_err err = {0};
    CHECK(weir_check(g, &err) == WEIR_OK, "%s: %s", what, err.text);
}

static void same(const weir_graph *a, const weir_graph *b, bool books, const char *what)
{
    weir_err err = {0};
    CHECK(weir_graph_compare(a, b, books, &err) == WEIR_OK, "%s: %s", what, err.text);
}

static void differ(const weir_graph *a, const weir_graph *b, const char *text)
{
    weir_err err = {0};

    CHECK(weir_graph_compare(a, b, true, &err) == WEIR_EINVAL && strstr(err.text, text), "%s: %s", text, err.text);
    CHECK(weir_graph_compare(b, a, true, NULL) == WEIR_EINVAL, "the other way round too: %s", text);
}

static weir_graph *dup(const weir_graph *g)
{
    weir_graph *c = NULL;
    weir_err err = {0};

    CHECK(weir_graph_dup(g, &c, &err) == WEIR_OK, "%s", err.text);
    return c;
}

/* Whoever has no parent, pools outside containment included. */
static uint32_t all_roots(const weir_graph *g, weir_vertex *list, uint32_t room)
{
    uint32_t n = 0;

    for (weir_vertex v = 0; v < weir_graph_limit(g) && n < room; v++)
        if (weir_vertex_live(g, v) && weir_vertex_parent(g, v) == WEIR_NONE)
            list[n++] = v;
    return n;
}

static weir_graph *extract_all(const weir_graph *g)
{
    weir_vertex roots[64];
    weir_graph *part = NULL;
    weir_err err = {0};

    CHECK(weir_graph_extract(g, roots, all_roots(g, roots, 64), &part, &err) == WEIR_OK, "%s", err.text);
    return part;
}

/* ---- machine files ---- */

static void through_jgf(const weir_graph *g, const char *what)
{
    weir_graph *back = NULL;
    weir_err err = {0};
    char *text = weir_graph_format(g, "jgf", &err);

    CHECK(text != NULL, "%s: %s", what, err.text);
    if (!text)
        return;
    CHECK(weir_graph_parse(text, strlen(text), "saved", "jgf", &back, &err) == WEIR_OK, "%s: %s", what, err.text);
    if (back)
        same(g, back, false, what);
    weir_graph_free(back);
    weir_free(text);
}

static bool all_up(const weir_graph *g)
{
    for (weir_vertex v = 0; v < weir_graph_limit(g); v++)
        if (weir_vertex_state(g, v) != WEIR_UP || weir_vertex_size(g, v) == 0)
            return false;
    return true;
}

static void round_trips(const weir_graph *g, const char *what)
{
    weir_graph *c = dup(g), *part = extract_all(g), *empty = weir_graph_new(), *copy = NULL;
    weir_vertex roots[64];
    weir_err err = {0};

    same(g, c, true, what);
    sound(c, what);
    same(g, part, false, what);
    sound(part, what);
    if (all_roots(g, roots, 64) == 1 && all_up(g)) {
        CHECK(weir_graph_copy(g, roots[0], &copy, &err) == WEIR_OK, "%s: %s", what, err.text);
        same(g, copy, false, what);
    }
    if (weir_graph_count(g) < 20000) {
        CHECK(weir_graph_merge(empty, g, NULL, &err) == WEIR_OK, "%s: %s", what, err.text);
        same(g, empty, false, what);
        sound(empty, what);
        CHECK(weir_graph_merge(c, g, NULL, &err) == WEIR_OK, "%s: %s", what, err.text);
        same(g, c, true, what);
        through_jgf(g, what);
    }
    weir_graph_free(c);
    weir_graph_free(part);
    weir_graph_free(empty);
    weir_graph_free(copy);
}

static int try_file(const char *folder, const char *name)
{
    char path[1024], base[900];
    weir_graph *g = NULL;
    int n;

    snprintf(base, sizeof base, "%s/%s", folder, name);
    check_data(base, path, sizeof path);
    if (weir_graph_load(path, NULL, &g, NULL) != WEIR_OK)
        return 0;
    n = weir_graph_count(g) > 0;
    round_trips(g, base);
    weir_graph_free(g);
    return n;
}

static void test_files(void)
{
    static const char *const folders[] = {"machines/grug", "machines/hwloc", "machines/jgf", "machines/jgf/elastic"};
    char path[1024];
    int tried = 0;

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        DIR *dir = opendir(check_data(folders[i], path, sizeof path));
        struct dirent *e;
        while (dir && (e = readdir(dir)))
            tried += e->d_name[0] != '.' && try_file(folders[i], e->d_name);
        if (dir)
            closedir(dir);
    }
    if (tried == 0)
        printf("skipped: no machine files (set WEIR_DATA)\n");
    else
        CHECK(tried >= 20, "[M1] [M2] [M3] round trips of %d machines", tried);
}

/* ---- random graphs ---- */

static weir_vertex some_vertex(const weir_graph *g)
{
    for (;;) {
        weir_vertex v = dice(weir_graph_limit(g));
        if (weir_vertex_live(g, v))
            return v;
    }
}

static int64_t next_id;
static bool templates = true;

/* Adds kids below v; ids are unique in the whole machine. */
static void grow(weir_graph *g, weir_vertex v)
{
    static const char *const types[] = {"cluster", "rack", "node", "socket", "core", "memory"};
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    uint32_t level = 0;

    while (level < 6 && strcmp(types[level], weir_vertex_type(g, v)) != 0)
        level++;
    if (level >= 4)
        return;
    level += 1 + dice(2);
    d.type = types[level];
    d.id = next_id += 100;
    d.size = level == 5 ? 4 + dice(12) : 1;
    d.unit = level == 5 && dice(2) ? "GB" : NULL;
    d.exclusive = dice(10) == 0;
    if (dice(6) == 0) {
        d.name = dice(2) && templates ? "n-${id}-${rack}-${size}" : NULL;
        d.rank = dice(2) ? (int64_t)dice(100) : WEIR_NO_RANK;
        (void)weir_graph_add(g, v, &d, NULL, NULL);
    } else {
        (void)weir_graph_add_many(g, v, &d, 1 + dice(dice(20) == 0 ? 70 : 5), 1, NULL, NULL);
    }
}

static void decorate(weir_graph *g)
{
    static const char *const keys[] = {"a", "b", "rack", "gen"}, *const values[] = {"\"\"", "7", "[1,{}]", "\"x y\""};
    weir_vertex v = some_vertex(g), w = some_vertex(g);

    (void)weir_vertex_set(g, v, (int)dice(3), keys[dice(4)], values[dice(4)], NULL);
    if (dice(2))
        (void)weir_edge_add(g, v, w, dice(2) ? "power" : "network", dice(2) ? "supplies" : "feeds",
                            dice(2) ? "draws" : NULL, NULL);
    if (dice(4) == 0)
        (void)weir_edge_unlink(g, w, "power", NULL);
}

static void use(weir_graph *g)
{
    static const char *const shapes[] = {"slot=1/core=2", "slot=2/node", "memory=3{-x}", "slot=1/memory=5"};
    weir_request *r = NULL;
    const weir_allocation *a;
    const char *text = shapes[dice(4)];
    weir_match_options o = {dice(2) ? WEIR_NOW : WEIR_RESERVE, weir_graph_now(g), 0, NULL, NULL};

    if (dice(3) == 0) {
        (void)weir_vertex_allocate(g, some_vertex(g), 1 + dice(50), 1 + dice(4), weir_graph_now(g) + dice(10),
                                   weir_graph_now(g) + 11 + dice(40), NULL);
        return;
    }
    CHECK(weir_request_parse(text, strlen(text), "shape", &r, NULL) == WEIR_OK, "%s", text);
    (void)weir_request_set_duration(r, 1 + dice(60), NULL);
    (void)weir_match(g, r, &o, &a, NULL);
    weir_request_free(r);
}

static void step(weir_graph *g)
{
    weir_vertex v = some_vertex(g);

    switch (dice(12)) {
    case 0: (void)weir_vertex_set_state(g, v, dice(2) ? WEIR_UP : (int)dice(WEIR_STATES), NULL); break;
    case 1: grow(g, v); break;
    case 2:
        if (weir_vertex_parent(g, v) != WEIR_NONE && dice(3) == 0)
            (void)weir_graph_unlink(g, v, NULL);
        break;
    case 3: (void)weir_graph_advance(g, weir_graph_now(g) + dice(12), NULL); break;
    case 4:
        if (weir_job_count(g))
            (void)weir_release(g, weir_job_at(g, dice(weir_job_count(g)))->job, NULL);
        break;
    case 5:
    case 6: decorate(g); break;
    default: use(g); break;
    }
}

static weir_graph *random_graph(uint64_t from, int steps)
{
    weir_graph *g = weir_graph_new();
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex root, other;

    seed = from;
    d.type = "cluster";
    d.id = 0;
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &root, NULL) == WEIR_OK, "a root");
    d.type = "panel";
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &other, NULL) == WEIR_OK, "a pool of another subsystem");
    for (uint32_t i = 0, n = 5 + dice(20); i < n; i++)
        grow(g, some_vertex(g));
    (void)weir_edge_add(g, other, root, "power", "supplies", "draws", NULL);
    for (int i = 0; i < steps; i++)
        step(g);
    sound(g, "a random graph");
    return g;
}

/* A copy behaves as the original does, whatever is done to both. */
static void test_dup_lives_on(const weir_graph *g)
{
    weir_graph *a = dup(g), *b = dup(g);
    uint64_t from;

    CHECK(weir_graph_serial(a) == weir_graph_serial(g) && weir_graph_limit(a) == weir_graph_limit(g),
          "[M3] indices and serial stay");
    for (weir_vertex v = 0; v < weir_graph_limit(g); v++)
        if (weir_vertex_generation(a, v) != weir_vertex_generation(g, v) ||
            weir_vertex_live(a, v) != weir_vertex_live(g, v))
            CHECK(false, "vertex %u has the same generation", v);
    for (int i = 0; i < 40; i++) {
        uint64_t here = seed;
        int64_t id = next_id;
        step(a);
        from = seed;
        seed = here;
        next_id = id;
        step(b);
        CHECK(seed == from, "both draw alike");
    }
    same(a, b, true, "[M3] two copies after the same calls");
    sound(a, "a copy that was used");
    weir_graph_free(a);
    weir_graph_free(b);
}

static int by_uuid(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* What must be in a copy of what is available below v. */
static bool wanted(const weir_graph *g, weir_vertex u, weir_vertex top)
{
    int64_t now = weir_graph_now(g);

    if (weir_vertex_within(g, top, u) && u != top)
        return true;
    if (!weir_vertex_within(g, u, top))
        return false;
    for (; u != WEIR_NONE; u = weir_vertex_parent(g, u)) {
        if (weir_vertex_available(g, u, now, now + 1) <= 0)
            return false;
        if (u == top)
            return true;
    }
    return false;
}

static weir_vertex find_uuid(const weir_graph *g, const char *uuid)
{
    char text[37];

    for (weir_vertex v = 0; v < weir_graph_limit(g); v++) {
        if (!weir_vertex_live(g, v))
            continue;
        weir_vertex_uuid(g, v, text);
        if (strcmp(text, uuid) == 0)
            return v;
    }
    return WEIR_NONE;
}

static void check_copied(const weir_graph *g, weir_vertex u, weir_vertex top, const weir_graph *copy)
{
    int64_t size = weir_vertex_size(g, u), now = weir_graph_now(g);
    char uuid[37], path[512], other[512];
    weir_vertex v;

    weir_vertex_uuid(g, u, uuid);
    v = find_uuid(copy, uuid);
    if (!CHECK(v != WEIR_NONE, "[M2] [P2] vertex %u is found by its UUID", u))
        return;
    if (weir_vertex_within(g, u, top))
        size = weir_vertex_available(g, u, now, now + 1);
    CHECK(weir_vertex_size(copy, v) == size, "[M2] the size is what is available");
    CHECK(weir_vertex_state(copy, v) == weir_vertex_state(g, u), "states stay");
    CHECK(weir_vertex_rank(copy, v) == weir_vertex_rank(g, u), "ranks stay");
    weir_vertex_path(g, u, path, sizeof path);
    weir_vertex_path(copy, v, other, sizeof other);
    CHECK(strcmp(path, other) == 0, "%s is %s", path, other);
    for (int m = 0; m < 3; m++)
        CHECK(weir_vertex_count(g, u, m) == weir_vertex_count(copy, v, m), "maps stay");
}

static void test_copy_of(const weir_graph *g)
{
    weir_vertex top = some_vertex(g);
    uint32_t n = 0;
    weir_graph *copy = NULL;
    weir_err err = {0};

    CHECK(weir_graph_copy(g, top, &copy, &err) == WEIR_OK, "%s", err.text);
    sound(copy, "a copy of what is available");
    for (weir_vertex u = 0; u < weir_graph_limit(g); u++)
        if (weir_vertex_live(g, u) && wanted(g, u, top)) {
            check_copied(g, u, top, copy);
            n++;
        }
    CHECK(weir_graph_count(copy) == n && weir_job_count(copy) == 0, "[M2] %u vertices, not %u", weir_graph_count(copy),
          n);
    weir_graph_free(copy);
}

static bool below_listed(const weir_graph *g, weir_vertex v, const weir_vertex *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (weir_vertex_within(g, v, list[i]) || weir_vertex_within(g, list[i], v))
            return true;
    return false;
}

/* Parts, and merging them: the union has every vertex of both, once. */
static void test_parts_of(const weir_graph *g)
{
    weir_vertex a[5], b[5];
    weir_graph *x = NULL, *y = NULL, *before;
    uint32_t in_a = 0, in_b = 0, in_any = 0;
    weir_err err = {0};
    char(*uuids)[37];

    for (int i = 0; i < 5; i++) {
        a[i] = some_vertex(g);
        b[i] = some_vertex(g);
    }
    for (weir_vertex v = 0; v < weir_graph_limit(g); v++)
        if (weir_vertex_live(g, v)) {
            in_a += below_listed(g, v, a, 5);
            in_b += below_listed(g, v, b, 5);
            in_any += below_listed(g, v, a, 5) || below_listed(g, v, b, 5);
        }
    CHECK(weir_graph_extract(g, a, 5, &x, &err) == WEIR_OK && weir_graph_extract(g, b, 5, &y, &err) == WEIR_OK, "%s",
          err.text);
    CHECK(weir_graph_count(x) == in_a && weir_graph_count(y) == in_b, "[M12] parts have what they must");
    sound(x, "a part");
    through_jgf(x, "[M1] a part is saved");
    CHECK(weir_graph_merge(x, y, NULL, &err) == WEIR_OK, "[M4] %s", err.text);
    sound(x, "two parts merged");
    CHECK(weir_graph_count(x) == in_any, "[M4] %u vertices, not %u", weir_graph_count(x), in_any);
    before = dup(x);
    CHECK(weir_graph_merge(x, y, NULL, &err) == WEIR_OK && weir_graph_merge(x, before, NULL, &err) == WEIR_OK, "%s",
          err.text);
    same(x, before, true, "[M4] merging again adds nothing");
    uuids = malloc(in_any * sizeof *uuids);
    for (weir_vertex v = 0, n = 0; uuids && v < weir_graph_limit(x); v++)
        if (weir_vertex_live(x, v))
            weir_vertex_uuid(x, v, uuids[n++]);
    qsort(uuids, in_any, sizeof *uuids, by_uuid);
    for (uint32_t i = 0; i < in_any; i++) {
        CHECK(find_uuid(g, uuids[i]) != WEIR_NONE, "[P2] UUIDs are those of the original");
        CHECK(i == 0 || strcmp(uuids[i], uuids[i - 1]) != 0, "[P2] and unique");
    }
    free(uuids);
    weir_graph_free(before);
    weir_graph_free(x);
    weir_graph_free(y);
}

static void test_coarse_of(const weir_graph *g)
{
    static const char *const keep[] = {"rack", "node", "no such type"};
    uint32_t n = dice(4);
    weir_graph *view = NULL;
    weir_vertex *map = NULL;
    int64_t want = 0, got = 0, now = weir_graph_now(g);
    weir_err err = {0};

    CHECK(weir_graph_coarsen(g, keep, n, &view, &map, &err) == WEIR_OK, "%s", err.text);
    sound(view, "a coarse view");
    for (weir_vertex v = 0; v < weir_graph_limit(g); v++) {
        bool memory = weir_vertex_live(g, v) && strcmp(weir_vertex_type(g, v), "memory") == 0;
        want += memory ? weir_vertex_available(g, v, now, now + 1) : 0;
        if (map[v] == WEIR_NONE ||
            !CHECK(weir_vertex_live(g, v) && weir_vertex_live(view, map[v]), "the map is of what is there"))
            continue;
        CHECK(strcmp(weir_vertex_type(g, v), weir_vertex_type(view, map[v])) == 0, "[G10] like stands for like");
    }
    for (weir_vertex v = 0; v < weir_graph_limit(view); v++)
        got += strcmp(weir_vertex_type(view, v), "memory") == 0 ? weir_vertex_size(view, v) : 0;
    CHECK(got == want, "[G10] %lld GB of memory, not %lld", (long long)got, (long long)want);
    weir_graph_free(view);
    weir_free(map);
}

static void test_random(void)
{
    const char *scale = getenv("WEIR_SPEC_SCALE");
    uint64_t seeds = (uint64_t)(80 * (scale ? atof(scale) : 1));

    for (uint64_t i = 1; i <= seeds; i++) {
        weir_graph *g = random_graph(i, (int)(i % 5) * 60), *c = dup(g), *part = extract_all(g);
        char what[64];
        snprintf(what, sizeof what, "[M3] seed %llu", (unsigned long long)i);
        same(g, c, true, what);
        sound(c, what);
        same(g, part, false, what);
        sound(part, what);
        test_dup_lives_on(g);
        test_copy_of(g);
        test_parts_of(g);
        test_coarse_of(g);
        same(g, c, true, "the original stays as it was");
        weir_graph_free(part);
        weir_graph_free(c);
        weir_graph_free(g);
    }
}

/* ---- single cases ---- */

static const char cluster[] = "cluster:1 rack:2 node:3 socket:2 core:4 memory:2(size=16,unit=GB)";

static void test_compare(void)
{
    weir_graph *g = parse(cluster, "synthetic"), *c = dup(g);
    weir_vertex rack = at(g, "/cluster0/rack1"), node = at(g, "/cluster0/rack0/node2");
    weir_pool_desc d = WEIR_POOL_DESC_INIT;

    (void)weir_vertex_set(c, node, WEIR_TAGS, "odd", "1", NULL);
    differ(g, c, "/cluster0/rack0/node2: tag");
    (void)weir_vertex_unset(c, node, WEIR_TAGS, "odd");
    same(g, c, true, "a tag taken back");
    (void)weir_vertex_set_state(c, rack, WEIR_DOWN, NULL);
    differ(g, c, "/cluster0/rack1: the state is 'up' against 'down'");
    (void)weir_vertex_set_state(c, rack, WEIR_UP, NULL);
    (void)weir_vertex_set_rank(c, rack, 77, NULL);
    differ(g, c, "/cluster0/rack1: the rank is");
    (void)weir_vertex_set_rank(c, rack, WEIR_NO_RANK, NULL);
    (void)weir_edge_add(c, rack, node, "power", "supplies", NULL, NULL);
    differ(g, c, "the edge power:supplies from /cluster0/rack1 to /cluster0/rack0/node2 is in the second graph only");
    (void)weir_edge_add(g, rack, node, "power", "supplies", "draws", NULL);
    differ(g, c, "the edge power:supplies");
    CHECK(weir_edge_unlink(c, rack, "power", NULL) == WEIR_OK && weir_edge_unlink(g, rack, "power", NULL) == WEIR_OK,
          "out");
    same(g, c, true, "edges taken back");
    CHECK(weir_vertex_allocate(c, node, 9, 1, 5, 10, NULL) == WEIR_OK, "a job");
    same(g, c, false, "books do not count");
    differ(g, c, "job 9 is in the second graph only");
    CHECK(weir_vertex_allocate(g, node, 9, 1, 5, 12, NULL) == WEIR_OK, "a job");
    differ(g, c, "job 9 has times");
    d.type = "node";
    d.id = 99;
    CHECK(weir_graph_add(c, rack, &d, NULL, NULL) == WEIR_OK, "one more");
    differ(g, c, "/cluster0/rack1: 'node99' is in the second graph only");
    weir_graph_free(c);
    weir_graph_free(g);
}

static void test_compare_bases(void)
{
    static const struct {
        weir_pool_desc d;
        const char *text;
    } rows[] = {
        {{"gpu", NULL, NULL, NULL, NULL, 1, 2, 3, false}, "the type is 'node' against 'gpu'"},
        {{"node", "n", NULL, NULL, NULL, 1, 2, 3, false}, "the basename is 'node' against 'n'"},
        {{"node", NULL, "x", NULL, NULL, 1, 2, 3, false}, "the name is 'node1' against 'x'"},
        {{"node", NULL, NULL, "GB", NULL, 1, 2, 3, false}, "the unit is '' against 'GB'"},
        {{"node", NULL, NULL, NULL, "01234567-89ab-cdef-0123-456789abcdef", 1, 2, 3, false}, "the UUID is"},
        {{"node", NULL, NULL, NULL, NULL, WEIR_NO_ID, 2, 3, false}, "the id is '1' against 'none'"},
        {{"node", NULL, NULL, NULL, NULL, 1, 5, 3, false}, "the size is '2' against '5'"},
        {{"node", NULL, NULL, NULL, NULL, 1, 2, WEIR_NO_RANK, false}, "the rank is '3' against '-1'"},
        {{"node", NULL, NULL, NULL, NULL, 1, 2, 3, true}, "the exclusive flag is 'clear' against 'set'"},
    };
    const weir_pool_desc plain = {"node", NULL, NULL, NULL, NULL, 1, 2, 3, false};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_graph *a = weir_graph_new(), *b = weir_graph_new();
        CHECK(weir_graph_add(a, WEIR_NONE, &plain, NULL, NULL) == WEIR_OK, "a pool");
        CHECK(weir_graph_add(b, WEIR_NONE, &rows[i].d, NULL, NULL) == WEIR_OK, "another pool");
        differ(a, b, rows[i].text);
        weir_graph_free(a);
        weir_graph_free(b);
    }
}

/* A derived UUID follows from the place: where another sibling stood first once, it is another one. */
static void test_compare_places(void)
{
    weir_graph *a = parse("cluster:1 rack:1 node:1", "synthetic"), *b = dup(a);
    weir_vertex rack = at(b, "/cluster0/rack0");
    weir_pool_desc d = WEIR_POOL_DESC_INIT;

    d.type = "node";
    CHECK(weir_graph_unlink(b, weir_vertex_child(b, rack, 0), NULL) == WEIR_OK, "one goes");
    d.id = weir_vertex_id(a, weir_vertex_child(a, rack, 0));
    CHECK(weir_graph_add(b, rack, &d, NULL, NULL) == WEIR_OK, "and another comes in its place");
    if (weir_vertex_rank(a, weir_vertex_child(a, rack, 0)) != WEIR_NO_RANK)
        (void)weir_vertex_set_rank(b, weir_vertex_child(b, rack, 0), weir_vertex_rank(a, weir_vertex_child(a, rack, 0)),
                                   NULL);
    differ(a, b, "the UUID is");
    weir_graph_free(a);
    weir_graph_free(b);
}

static void test_copy(void)
{
    weir_graph *g = parse(cluster, "synthetic"), *c = NULL, *d = NULL;
    weir_vertex rack = at(g, "/cluster0/rack1"), node = at(g, "/cluster0/rack1/node4");
    weir_vertex memory = at(g, "/cluster0/rack1/node3/socket0/memory0");
    weir_err err = {0};

    (void)weir_vertex_set(g, rack, WEIR_EXTENDED, "row", "[1,2]", NULL);
    (void)weir_vertex_set(g, rack, WEIR_PROPERTIES, "big", "", NULL);
    (void)weir_edge_add(g, rack, node, "power", "supplies", "draws", NULL);
    (void)weir_edge_add(g, rack, memory, "power", "supplies", "draws", NULL);
    CHECK(weir_vertex_allocate(g, node, 1, 1, 0, 100, NULL) == WEIR_OK, "a node");
    CHECK(weir_vertex_allocate(g, memory, 2, 5, 0, 100, NULL) == WEIR_OK, "a part of the memory");
    CHECK(weir_vertex_allocate(g, at(g, "/cluster0/rack1/node5"), 3, 1, 50, 100, NULL) == WEIR_OK, "a node, later");
    (void)weir_vertex_set_state(g, at(g, "/cluster0/rack1/node5/socket1"), WEIR_DOWN, NULL);
    CHECK(weir_graph_copy(g, rack, &c, &err) == WEIR_OK, "%s", err.text);
    sound(c, "a copy");
    CHECK(!is_there(c, "/cluster0/rack0") && !is_there(c, "/cluster0/rack1/node4"),
          "[M2] neither others nor what is taken");
    CHECK(is_there(c, "/cluster0/rack1/node5") && !is_there(c, "/cluster0/rack1/node5/socket1"),
          "[M2] nor what is down");
    CHECK(weir_vertex_size(c, at(c, "/cluster0/rack1/node3/socket0/memory0")) == 11, "[M2] 5 of 16 GB are taken");
    rack = at(c, "/cluster0/rack1");
    CHECK(check_same(weir_vertex_get(c, rack, WEIR_EXTENDED, "row"), "[1,2]"), "[P12] extended data come along");
    CHECK(check_same(weir_vertex_get(c, rack, WEIR_PROPERTIES, "big"), ""), "properties come along");
    CHECK(weir_edge_count(c) == 1, "edges between what is copied come along");
    rack = at(g, "/cluster0/rack0");
    (void)weir_vertex_set_state(g, at(g, "/cluster0"), WEIR_DOWN, NULL);
    CHECK(weir_graph_copy(g, rack, &d, &err) == WEIR_OK && weir_graph_count(d) == 1,
          "[M2] below what is down nothing is");
    CHECK(weir_graph_copy(g, 12345, &d, &err) == WEIR_ENOENT, "no such vertex");
    weir_graph_free(d);
    weir_graph_free(c);
    weir_graph_free(g);
}

/* A name made from the size stays what it was. */
static void test_copy_name(void)
{
    weir_graph *g = weir_graph_new(), *c = NULL;
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex root, v;
    char name[64];

    d.type = "cluster";
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &root, NULL) == WEIR_OK, "a root");
    d = (weir_pool_desc){"memory", NULL, "m-${size}-${size}", "GB", NULL, 3, 64, WEIR_NO_RANK, false};
    CHECK(weir_graph_add(g, root, &d, &v, NULL) == WEIR_OK, "a pool");
    CHECK(weir_vertex_allocate(g, v, 1, 24, 0, 10, NULL) == WEIR_OK, "a part");
    CHECK(weir_graph_copy(g, root, &c, NULL) == WEIR_OK, "copied");
    v = weir_vertex_child(c, weir_graph_root(c, NULL, 0), 0);
    weir_vertex_name(c, v, name, sizeof name);
    CHECK(weir_vertex_size(c, v) == 40 && strcmp(name, "m-64-64") == 0, "%s", name);
    weir_graph_free(c);
    weir_graph_free(g);
}

static void test_extract(void)
{
    weir_graph *g = parse(cluster, "synthetic"), *c = NULL;
    weir_vertex list[3] = {at(g, "/cluster0/rack1/node4"), at(g, "/cluster0/rack0/node1/socket1/core5"), 0};
    char *text, was[37], is[37];
    weir_err err = {0};

    list[2] = list[0];
    CHECK(weir_graph_extract(g, list, 3, &c, &err) == WEIR_OK, "%s", err.text);
    CHECK(weir_graph_count(c) == 1 + 2 + 2 + 14 + 2, "[M12] %u: ancestors and what is below", weir_graph_count(c));
    weir_vertex_uuid(g, list[1], was);
    weir_vertex_uuid(c, at(c, "/cluster0/rack0/node1/socket1/core5"), is);
    CHECK(strcmp(was, is) == 0, "[P2] the UUID stays");
    text = weir_graph_format(c, "jgf", &err);
    CHECK(text && strstr(text, "node4"), "[M1] a part is written: %s", err.text);
    weir_free(text);
    weir_graph_free(c);
    c = NULL;
    CHECK(weir_graph_extract(g, NULL, 0, &c, &err) == WEIR_OK && weir_graph_count(c) == 0, "nothing is a part");
    weir_graph_free(c);
    list[1] = WEIR_NONE;
    CHECK(weir_graph_extract(g, list, 3, &c, &err) == WEIR_ENOENT, "no such vertex");
    weir_graph_free(g);
}

/* ---- merge ---- */

/* What comes next finds the same places: a kid below every vertex, and a root. */
static void extend(weir_graph *g)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    uint32_t n = weir_graph_limit(g);
    bool *there = calloc(n, sizeof *there);

    d.type = "extra";
    for (weir_vertex v = 0; there && v < n; v++)
        there[v] = weir_vertex_live(g, v);
    for (weir_vertex v = 0; there && v < n; v++)
        if (there[v])
            (void)weir_graph_add(g, v, &d, NULL, NULL);
    (void)weir_graph_add(g, WEIR_NONE, &d, NULL, NULL);
    free(there);
}

/* c is what g is, after a merge that failed, and goes on as g would. */
static void unchanged(const weir_graph *g, weir_graph *c, const char *what)
{
    weir_graph *next = dup(g);

    same(g, c, true, what);
    sound(c, what);
    CHECK(weir_subsystem_count(c) == weir_subsystem_count(g), "%s: no subsystem is left over", what);
    extend(next);
    extend(c);
    same(next, c, true, what);
    weir_graph_free(next);
}

static void refused(const weir_graph *g, const weir_graph *other, const char *uri, int code, const char *text)
{
    weir_graph *c = dup(g);
    weir_err err = {0};
    int rc = weir_graph_merge(c, other, uri, &err);

    CHECK(rc == code && strstr(err.text, text), "%s: %s: %s", text, weir_status_name(rc), err.text);
    unchanged(g, c, text);
    weir_graph_free(c);
}

/* A cluster with one rack, and one node there made from d. */
static weir_graph *small(const weir_pool_desc *d, const char *property)
{
    weir_graph *g = parse("cluster:1 rack:1", "synthetic");
    weir_vertex v;

    CHECK(weir_graph_add(g, at(g, "/cluster0/rack0"), d, &v, NULL) == WEIR_OK, "a node");
    if (property)
        (void)weir_vertex_set(g, v, WEIR_PROPERTIES, "gen", property, NULL);
    return g;
}

static void test_merge_refused(void)
{
    static const struct {
        weir_pool_desc d;
        const char *property, *text;
    } rows[] = {
        {{"node", NULL, NULL, NULL, NULL, 7, 5, 3, false}, "1", "the size is '2' against '5'"},
        {{"box", "node", NULL, NULL, NULL, 7, 2, 3, false}, "1", "the type is 'node' against 'box'"},
        {{"node", NULL, NULL, "W", NULL, 7, 2, 3, false}, "1", "the unit is '' against 'W'"},
        {{"node", NULL, NULL, NULL, NULL, 7, 2, 4, false}, "1", "its rank is another one"},
        {{"node", NULL, NULL, NULL, NULL, 7, 2, 3, true}, "1", "the exclusive flag"},
        {{"node", "no", "node7", NULL, NULL, 7, 2, 3, false}, "1", "the basename is 'node' against 'no'"},
        {{"node", NULL, NULL, NULL, NULL, 7, 2, 3, false}, "2", "property 'gen' is '1', not '2'"},
    };
    const weir_pool_desc plain = {"node", NULL, NULL, NULL, NULL, 7, 2, 3, false};
    weir_graph *g = small(&plain, "1"), *two = parse("cluster:1 rack:1", "synthetic"), *empty = weir_graph_new();
    weir_pool_desc d = WEIR_POOL_DESC_INIT;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_graph *other = small(&rows[i].d, rows[i].property);
        refused(g, other, NULL, WEIR_EEXIST, "/cluster0/rack0/node7 is there already");
        refused(g, other, "containment:/cluster0", WEIR_EEXIST, rows[i].text);
        weir_graph_free(other);
    }
    refused(g, two, "/cluster0/rack9", WEIR_ENOENT, "rack9");
    refused(g, two, "cluster0", WEIR_EINVAL, "is not a URI");
    refused(g, two, "power:/cluster0", WEIR_ENOENT, "there is no subsystem");
    refused(g, two, "/cluster0/rack0", WEIR_EINVAL, "of type rack; a root of type cluster");
    refused(g, empty, "/cluster0", WEIR_EINVAL, "has none");
    CHECK(weir_graph_merge(g, g, NULL, NULL) == WEIR_EINVAL, "not into itself");
    d.type = "cluster";
    CHECK(weir_graph_add(two, WEIR_NONE, &d, NULL, NULL) == WEIR_OK, "a second root");
    refused(g, two, "/cluster0", WEIR_EINVAL, "has several");
    weir_graph_begin(empty);
    CHECK(weir_graph_merge(empty, g, NULL, NULL) == WEIR_EINVAL && weir_graph_count(empty) == 0,
          "not between begin and end");
    weir_graph_free(empty);
    weir_graph_free(two);
    weir_graph_free(g);
}

/* Half of it fits: a leaf that a job has cannot get children. What came before it goes again. */
static void test_merge_rolls_back(void)
{
    weir_graph *g = parse("cluster:1 rack:2 node:2", "synthetic");
    weir_graph *other = parse("cluster:1 rack:3 node:2 core:2", "synthetic");

    (void)weir_vertex_set(other, at(other, "/cluster0"), WEIR_TAGS, "more", "", NULL);
    (void)weir_edge_add(other, at(other, "/cluster0/rack0"), at(other, "/cluster0/rack2"), "power", "supplies", NULL,
                        NULL);
    CHECK(weir_vertex_allocate(g, at(g, "/cluster0/rack1/node3"), 1, 1, 0, 10, NULL) == WEIR_OK, "a node is taken");
    refused(g, other, NULL, WEIR_EBUSY, "cannot get children while jobs hold units");
    CHECK(weir_release(g, 1, NULL) == WEIR_OK && weir_graph_merge(g, other, NULL, NULL) == WEIR_OK,
          "[M4] then it goes");
    same(g, other, false, "[M4] all is there");
    sound(g, "after the merge");
    weir_graph_free(g);
    weir_graph_free(other);
}

/* G11: one definition of a rack, put in several places. M4: growing by what another graph has more. */
static void test_merge_at(void)
{
    weir_graph *g = parse("cluster:1 rack:2", "synthetic"), *rack = weir_graph_new();
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex root, v;
    char a[37], b[37];
    weir_err err = {0};

    d.type = "rack";
    CHECK(weir_graph_add(rack, WEIR_NONE, &d, &root, NULL) == WEIR_OK, "a rack");
    d.type = "node";
    d.uuid = "01234567-89ab-cdef-0123-456789abcdef";
    d.id = 0;
    CHECK(weir_graph_add(rack, root, &d, &v, NULL) == WEIR_OK, "a node");
    (void)weir_vertex_set(rack, v, WEIR_PROPERTIES, "fast", "", NULL);
    CHECK(weir_graph_merge(g, rack, "containment:/cluster0/rack0", &err) == WEIR_OK, "%s", err.text);
    CHECK(weir_graph_merge(g, rack, "/cluster0/rack1", &err) == WEIR_OK, "%s", err.text);
    CHECK(weir_graph_count(g) == 5, "[G11] each rack has its node");
    v = at(g, "/cluster0/rack1/node0");
    CHECK(check_same(weir_vertex_get(g, v, WEIR_PROPERTIES, "fast"), ""), "[G11] with its properties");
    weir_vertex_uuid(g, v, a);
    weir_vertex_uuid(g, at(g, "/cluster0/rack0/node0"), b);
    CHECK(strcmp(a, b) != 0, "[P2] UUIDs of two pools differ, be they made from one definition");
    sound(g, "composed");
    weir_graph_free(rack);
    weir_graph_free(g);
}

static void test_merge_own(void)
{
    weir_graph *g = parse("cluster:1 rack:2", "synthetic"), *other = dup(g);
    weir_vertex v = at(g, "/cluster0/rack1");

    (void)weir_vertex_set(g, v, WEIR_TAGS, "x", "mine", NULL);
    (void)weir_vertex_set_state(g, v, WEIR_DOWN, NULL);
    (void)weir_vertex_set(other, v, WEIR_TAGS, "x", "other", NULL);
    (void)weir_vertex_set(other, v, WEIR_TAGS, "y", "new", NULL);
    (void)weir_vertex_set(other, v, WEIR_PROPERTIES, "p", "1", NULL);
    (void)weir_vertex_set_rank(other, v, 4, NULL);
    (void)weir_edge_add(other, 0, v, "power", "supplies", "draws", NULL);
    (void)weir_edge_add(g, 0, v, "power", "supplies", "draws", NULL);
    (void)weir_edge_add(other, 0, v, "power", "supplies", NULL, NULL);
    CHECK(weir_graph_merge(g, other, NULL, NULL) == WEIR_OK, "merged");
    CHECK(check_same(weir_vertex_get(g, v, WEIR_TAGS, "x"), "mine"), "[M4] what is there stays");
    CHECK(check_same(weir_vertex_get(g, v, WEIR_TAGS, "y"), "new"), "[M4] what is new comes");
    CHECK(check_same(weir_vertex_get(g, v, WEIR_PROPERTIES, "p"), "1") && weir_vertex_rank(g, v) == 4, "so do these");
    CHECK(weir_vertex_state(g, v) == WEIR_DOWN, "the state stays");
    CHECK(weir_edge_count(g) == 2, "[M4] an edge that is there is not added again");
    weir_graph_free(g);
    weir_graph_free(other);
}

/* Siblings of one name are matched in their order. */
static void test_merge_twins(void)
{
    weir_graph *g = weir_graph_new(), *other = parse("cluster:1", "synthetic");
    weir_pool_desc d = WEIR_POOL_DESC_INIT;

    d.type = "memory";
    for (d.size = 4; d.size < 7; d.size++)
        CHECK(weir_graph_add(other, 0, &d, NULL, NULL) == WEIR_OK, "a twin");
    CHECK(weir_graph_merge(g, other, NULL, NULL) == WEIR_OK && weir_graph_count(g) == 4, "all twins come");
    CHECK(weir_graph_merge(g, other, NULL, NULL) == WEIR_OK && weir_graph_count(g) == 4, "and only once");
    same(g, other, false, "twins");
    CHECK(weir_graph_unlink(g, weir_vertex_child(g, 0, 2), NULL) == WEIR_OK, "one goes");
    CHECK(weir_graph_merge(g, other, NULL, NULL) == WEIR_OK && weir_graph_count(g) == 4, "and comes back");
    weir_graph_free(other);
    weir_graph_free(g);
}

/* ---- unlink (M5) ---- */

static void test_edge_unlink(void)
{
    weir_graph *g = parse("cluster:1 rack:1 node:2", "synthetic");
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex pdu, node = at(g, "/cluster0/rack0/node0"), next = at(g, "/cluster0/rack0/node1");
    weir_edge e;
    weir_err err = {0};

    d.type = "pdu";
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &pdu, NULL) == WEIR_OK, "a pdu");
    CHECK(weir_edge_unlink(g, pdu, "power", &err) == WEIR_ENOENT && strstr(err.text, "/pdu is not in"), "%s", err.text);
    (void)weir_edge_add(g, pdu, node, "power", "supplies", "draws", NULL);
    (void)weir_edge_add(g, pdu, next, "power", "supplies", "draws", NULL);
    (void)weir_edge_add(g, node, next, "network", "links", NULL, NULL);
    CHECK(weir_edge_unlink(g, node, "containment", NULL) == WEIR_EINVAL, "containment is another matter");
    CHECK(weir_edge_unlink(g, node, NULL, NULL) == WEIR_EINVAL, "a name is wanted");
    CHECK(weir_edge_unlink(g, 999, "power", NULL) == WEIR_ENOENT, "no such vertex");
    CHECK(weir_edge_unlink(g, node, "storage", NULL) == WEIR_ENOENT, "not in that one");
    CHECK(weir_edge_unlink(g, node, "power", NULL) == WEIR_OK && weir_edge_count(g) == 2, "[M5] its edges there go");
    CHECK(weir_vertex_live(g, node) && weir_vertex_edge(g, node, "network", true, 0, &e),
          "[M5] it stays in the others");
    CHECK(weir_vertex_live(g, pdu) && weir_vertex_edge(g, pdu, "power", true, 0, &e) && e.target == next,
          "so does the pdu");
    CHECK(weir_vertex_allocate(g, pdu, 1, 1, 0, 10, NULL) == WEIR_OK, "somebody has it");
    CHECK(weir_edge_unlink(g, pdu, "power", NULL) == WEIR_EBUSY && weir_edge_count(g) == 2,
          "[M5] not while it is used");
    CHECK(weir_release(g, 1, NULL) == WEIR_OK, "released");
    CHECK(weir_edge_unlink(g, pdu, "power", NULL) == WEIR_OK && !weir_vertex_live(g, pdu), "[M5] in none: reclaimed");
    CHECK(weir_edge_count(g) == 1 && weir_vertex_live(g, next), "nothing else goes");
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &pdu, NULL) == WEIR_OK, "a pdu in two subsystems");
    (void)weir_edge_add(g, pdu, node, "power", "supplies", "draws", NULL);
    (void)weir_edge_add(g, next, pdu, "cooling", "cools", NULL, NULL);
    CHECK(weir_edge_unlink(g, pdu, "power", NULL) == WEIR_OK && weir_vertex_live(g, pdu),
          "[M5] it is still in the other");
    CHECK(weir_edge_unlink(g, pdu, "cooling", NULL) == WEIR_OK && !weir_vertex_live(g, pdu), "[M5] and now in none");
    (void)weir_edge_add(g, node, node, "network", "loops", NULL, NULL);
    CHECK(weir_edge_unlink(g, node, "network", NULL) == WEIR_OK && weir_edge_count(g) == 0, "a loop goes once");
    sound(g, "after unlinking");
    weir_graph_free(g);
}

/* ---- coarse views (G10) ---- */

static const char sample[] = "cluster:1 rack:2 node:18 socket:2 core:20 gpu:1 memory:4(size=16,unit=GB)";

static int64_t size_at(const weir_graph *g, const char *path)
{
    weir_vertex v;
    return weir_graph_lookup(g, path, &v, NULL) == WEIR_OK ? weir_vertex_size(g, v) : -1;
}

static void test_coarse(void)
{
    static const char *const both[] = {"rack", "node"};
    weir_graph *g = parse(sample, "synthetic"), *view = NULL;
    weir_vertex *map = NULL;
    weir_err err = {0};

    CHECK(weir_graph_coarsen(g, both, 2, &view, &map, &err) == WEIR_OK, "%s", err.text);
    CHECK(weir_graph_count(view) == 1 + 2 + 36 * (1 + 4), "[G10] nodes with pools: %u", weir_graph_count(view));
    CHECK(size_at(view, "/cluster0/rack1/node20/core") == 40, "[G10] cores of a node");
    CHECK(size_at(view, "/cluster0/rack1/node20/gpu") == 2 && size_at(view, "/cluster0/rack1/node20/memory") == 128,
          "[G10] gpus and memory");
    CHECK(check_same(weir_vertex_unit(view, at(view, "/cluster0/rack1/node20/memory")), "GB"), "the unit stays");
    CHECK(map[at(g, "/cluster0/rack1/node20/socket1/core25")] == at(view, "/cluster0/rack1/node20/core"),
          "[G10] the map leads from a core to its pool");
    CHECK(map[at(g, "/cluster0/rack1")] == at(view, "/cluster0/rack1"), "[G10] and from a rack to itself");
    weir_graph_free(view);
    weir_free(map);
    CHECK(weir_graph_coarsen(g, both, 1, &view, NULL, &err) == WEIR_OK, "%s", err.text);
    CHECK(weir_graph_count(view) == 1 + 2 * 6, "[G10] racks with pools: %u", weir_graph_count(view));
    CHECK(size_at(view, "/cluster0/rack0/node") == 18 && size_at(view, "/cluster0/rack0/core") == 720,
          "[G10] sums of a rack");
    sound(view, "a view of racks");
    weir_graph_free(view);
    CHECK(weir_graph_coarsen(g, NULL, 0, &view, NULL, &err) == WEIR_OK && weir_graph_count(view) == 7, "roots only");
    CHECK(size_at(view, "/cluster0/rack") == 2 && size_at(view, "/cluster0/memory") == 36 * 128, "[G10] sums of all");
    weir_graph_free(view);
    weir_graph_free(g);
}

/* What is down or taken does not count; where a state would be lost with its vertex, those below get it. */
static void test_coarse_free(void)
{
    static const char *const keep[] = {"node"};
    weir_graph *g = parse(sample, "synthetic"), *view = NULL;
    weir_vertex *map = NULL, node = at(g, "/cluster0/rack0/node1");
    weir_err err = {0};

    (void)weir_edge_add(g, node, at(g, "/cluster0/rack0/node2"), "network", "links", NULL, NULL);
    (void)weir_edge_add(g, at(g, "/cluster0/rack0"), node, "power", "supplies", NULL, NULL);
    CHECK(weir_vertex_allocate(g, at(g, "/cluster0/rack0/node0"), 1, 1, 0, 9, NULL) == WEIR_OK, "a node");
    CHECK(weir_vertex_allocate(g, at(g, "/cluster0/rack0/node1/socket0/core3"), 2, 1, 0, 9, NULL) == WEIR_OK, "a core");
    CHECK(weir_vertex_allocate(g, at(g, "/cluster0/rack0/node1/socket0/memory0"), 2, 6, 0, 9, NULL) == WEIR_OK,
          "memory");
    (void)weir_vertex_set_state(g, at(g, "/cluster0/rack0/node1/socket1"), WEIR_DOWN, NULL);
    (void)weir_vertex_set_state(g, at(g, "/cluster0/rack1"), WEIR_DRAINING, NULL);
    CHECK(weir_graph_coarsen(g, keep, 1, &view, &map, &err) == WEIR_OK, "%s", err.text);
    sound(view, "a view of what is free");
    CHECK(!is_there(view, "/cluster0/node0") && map[at(g, "/cluster0/rack0/node0")] == WEIR_NONE,
          "[G10] taken: not there");
    CHECK(size_at(view, "/cluster0/node1/core") == 19 && size_at(view, "/cluster0/node1/memory") == 58,
          "[G10] what is free");
    CHECK(map[at(g, "/cluster0/rack0/node1/socket1/core20")] == WEIR_NONE, "what is down stands for nothing");
    CHECK(size_at(view, "/cluster0/rack") == 1, "[G10] one rack is up");
    CHECK(weir_vertex_state(view, at(view, "/cluster0/node20")) == WEIR_DRAINING, "[G10] the rack's state is not lost");
    CHECK(size_at(view, "/cluster0/node20/core") == -1, "[G10] what is below it does not count");
    CHECK(weir_edge_count(view) == 1 && weir_job_count(view) == 0, "edges between what stays");
    weir_graph_free(view);
    weir_free(map);
    weir_graph_free(g);
}

static void test_coarse_units(void)
{
    weir_graph *g = parse("cluster:1", "synthetic"), *view = NULL;
    const char *const units[] = {"GB", NULL, "MB", "GB", "MB"};
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_err err = {0};

    d.type = "memory";
    d.size = 10;
    for (d.id = 0; d.id < 5; d.id++) {
        d.unit = units[d.id];
        CHECK(weir_graph_add(g, 0, &d, NULL, NULL) == WEIR_OK, "a pool");
    }
    CHECK(weir_graph_coarsen(g, NULL, 0, &view, NULL, &err) == WEIR_OK, "%s", err.text);
    CHECK(weir_graph_count(view) == 4, "[G10] a pool for each unit");
    CHECK(size_at(view, "/cluster0/memory") == 20 && size_at(view, "/cluster0/memory-MB") == 20 &&
              size_at(view, "/cluster0/memory-") == 10,
          "[G10] with names of their own");
    weir_graph_free(view);
    weir_graph_free(g);
}

/* ---- failing allocations ---- */

struct trial {
    weir_graph *g, *other;
};

static int once_dup(void *arg)
{
    const struct trial *t = arg;
    weir_graph *c = NULL;
    int rc = weir_graph_dup(t->g, &c, NULL);

    CHECK((rc == WEIR_OK) == (c != NULL), "*out is set on success only");
    weir_graph_free(c);
    return rc;
}

static int once_copy(void *arg)
{
    const struct trial *t = arg;
    weir_graph *c = NULL;
    int rc = weir_graph_copy(t->g, weir_graph_root(t->g, NULL, 0), &c, NULL);

    CHECK((rc == WEIR_OK) == (c != NULL), "*out is set on success only");
    weir_graph_free(c);
    return rc;
}

static int once_extract(void *arg)
{
    const struct trial *t = arg;
    weir_vertex roots[4];
    weir_graph *c = NULL;
    int rc = weir_graph_extract(t->g, roots, all_roots(t->g, roots, 4), &c, NULL);

    CHECK((rc == WEIR_OK) == (c != NULL), "*out is set on success only");
    weir_graph_free(c);
    return rc;
}

static int once_coarsen(void *arg)
{
    static const char *const keep[] = {"node"};
    const struct trial *t = arg;
    weir_vertex *map = NULL;
    weir_graph *c = NULL;
    int rc = weir_graph_coarsen(t->g, keep, 1, &c, &map, NULL);

    CHECK((rc == WEIR_OK) == (c != NULL && map != NULL), "*out is set on success only");
    weir_graph_free(c);
    weir_free(map);
    return rc;
}

static int once_compare(void *arg)
{
    const struct trial *t = arg;
    return weir_graph_compare(t->g, t->other, true, NULL);
}

/* Merging is different: the graph that it failed on must be what it was. */
static void nomem_merge(const weir_graph *g, const weir_graph *other, const char *uri)
{
    weir_graph *all = dup(g);
    long failed = 0;

    CHECK(weir_graph_merge(all, other, uri, NULL) == WEIR_OK, "it can be merged");
    for (long n = 1, through = 0; n < 100000 && through < 3; n++) {
        weir_graph *c = dup(g);
        int rc;
        weir_mem_fail_after(n);
        rc = weir_graph_merge(c, other, uri, NULL);
        weir_mem_fail_after(0);
        through = rc == WEIR_OK ? through + 1 : 0;
        failed += rc != WEIR_OK;
        CHECK(rc == WEIR_OK || rc == WEIR_ENOMEM, "merge: allocation %ld: %s", n, weir_status_name(rc));
        if (rc) {
            unchanged(g, c, "[M4] a merge that failed has changed nothing");
        } else {
            same(all, c, true, "[M4] a merge that went through");
            sound(c, "after a merge");
        }
        weir_graph_free(c);
    }
    weir_graph_free(all);
    CHECK(failed > 10, "merge: %ld failed allocations", failed);
}

/* Most of what is merged is of vertices that are there; a new root and a new subsystem come last. */
static void nomem_merge_own(void)
{
    weir_graph *g = parse("cluster:1 rack:3", "synthetic"), *other = dup(g);
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex pdu;

    d.type = "pdu";
    for (weir_vertex v = 0; v < 4; v++) {
        (void)weir_vertex_set(other, v, WEIR_TAGS, "x", "1", NULL);
        (void)weir_vertex_set(other, v, WEIR_EXTENDED, "y", "[]", NULL);
        (void)weir_vertex_set_rank(other, v, v, NULL);
    }
    CHECK(weir_graph_add(other, WEIR_NONE, &d, &pdu, NULL) == WEIR_OK, "a new root");
    for (weir_vertex v = 0; v < 4; v++) {
        (void)weir_edge_add(other, 1, v, "power", "supplies", "draws", NULL);
        (void)weir_edge_add(other, pdu, v, "cooling", "cools", NULL, NULL);
    }
    nomem_merge(g, other, NULL);
    weir_graph_free(other);
    weir_graph_free(g);
}

static void test_nomem(void)
{
    weir_graph *g, *most = NULL, *two = parse("cluster:1 rack:2 node:2", "synthetic");
    weir_vertex list[4];
    struct trial t;

    templates = false;
    g = random_graph(77, 200);
    templates = true;
    t = (struct trial){g, dup(g)};
    check_nomem(once_dup, &t, "dup");
    check_nomem(once_copy, &t, "copy");
    check_nomem(once_extract, &t, "extract");
    check_nomem(once_coarsen, &t, "coarsen");
    check_nomem(once_compare, &t, "compare");
    for (int i = 0; i < 4; i++)
        list[i] = some_vertex(g);
    CHECK(weir_graph_extract(g, list, 4, &most, NULL) == WEIR_OK, "a part");
    nomem_merge(most, g, NULL);
    nomem_merge(two, g, "/cluster0");
    nomem_merge_own();
    weir_graph_free(two);
    weir_graph_free(most);
    weir_graph_free(t.other);
    weir_graph_free(g);
}

int main(void)
{
    test_compare();
    test_compare_bases();
    test_compare_places();
    test_copy();
    test_copy_name();
    test_extract();
    test_merge_refused();
    test_merge_rolls_back();
    test_merge_at();
    test_merge_own();
    test_merge_twins();
    test_edge_unlink();
    test_coarse();
    test_coarse_free();
    test_coarse_units();
    test_nomem();
    test_random();
    test_files();
    return check_report();
}
