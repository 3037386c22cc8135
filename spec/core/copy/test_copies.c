/* test_copies.c - copies, parts, coarse views and comparison: on every machine file of the test data, on random
 * graphs with random jobs, and with failing allocations. Merges of single cases: test_merge.c. Requirements:
 * M1-M4, M12, G10, P2, P12.
 */
#include <dirent.h>

#include "copies.h"

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

/* Whether a copy of the free resources below `top` must have u. */
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

static void check_copied(const weir_graph *g, weir_vertex u, weir_vertex top, const weir_graph *copy)
{
    int64_t size = weir_vertex_size(g, u), now = weir_graph_now(g);
    char uuid[37], path[512], other[512];
    weir_vertex v;

    weir_vertex_uuid(g, u, uuid);
    v = weir_graph_find_uuid(copy, uuid);
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

static weir_vertex root_of(const weir_graph *g, weir_vertex v)
{
    while (weir_vertex_parent(g, v) != WEIR_NONE)
        v = weir_vertex_parent(g, v);
    return v;
}

/* Counts the vertices of a copy that were not asked for: they serve the copied ones from beside the tree. */
static uint32_t count_sources(const weir_graph *g, weir_vertex top, const weir_graph *copy)
{
    uint32_t n = 0;
    char uuid[37];

    for (weir_vertex v = 0; v < weir_graph_limit(copy); v++) {
        weir_vertex u;
        if (!weir_vertex_live(copy, v))
            continue;
        weir_vertex_uuid(copy, v, uuid);
        u = weir_graph_find_uuid(g, uuid);
        if (!CHECK(u != WEIR_NONE, "[M2] vertex %u of the copy has the UUID of none", v) || wanted(g, u, top))
            continue;
        CHECK(root_of(g, u) != root_of(g, top), "[M2] vertex %u of the tree was not asked for", u);
        n++;
    }
    return n;
}

static void test_copy_of(const weir_graph *g)
{
    weir_vertex top = some_vertex(g);
    uint32_t n = 0, sources;
    weir_graph *copy = NULL;
    weir_err err = {0};

    CHECK(weir_graph_copy(g, top, &copy, &err) == WEIR_OK, "%s", err.text);
    sound(copy, "a copy of what is available");
    for (weir_vertex u = 0; u < weir_graph_limit(g); u++)
        if (weir_vertex_live(g, u) && wanted(g, u, top)) {
            check_copied(g, u, top, copy);
            n++;
        }
    sources = count_sources(g, top, copy);
    CHECK(weir_graph_count(copy) == n + sources && weir_job_count(copy) == 0, "[M2] %u vertices, not %u and %u sources",
          weir_graph_count(copy), n, sources);
    weir_graph_free(copy);
}

static bool below_listed(const weir_graph *g, weir_vertex v, const weir_vertex *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (weir_vertex_within(g, v, list[i]) || weir_vertex_within(g, list[i], v))
            return true;
    return false;
}

/* Parts, and merging two parts: the union has every vertex of both, once. */
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
        CHECK(weir_graph_find_uuid(g, uuids[i]) != WEIR_NONE, "[P2] UUIDs are those of the original");
        CHECK(i == 0 || strcmp(uuids[i], uuids[i - 1]) != 0, "[P2] and unique");
    }
    free(uuids);
    weir_graph_free(before);
    weir_graph_free(x);
    weir_graph_free(y);
}

static void test_coarse_of(const weir_graph *g)
{
    static const char *const keep[] = {"rack", "node"};
    uint32_t n = dice(3);
    weir_graph *view = NULL;
    weir_vertex *map = NULL;
    int64_t want = 0, got = 0, now = weir_graph_now(g);
    weir_err err = {0};

    if (weir_graph_coarsen(g, keep, n, &view, &map, &err) == WEIR_ENOENT)
        return; /* the machine has no such type */
    CHECK(view != NULL, "%s", err.text);
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
    same(g, c, false, "schedules do not count");
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

/* A derived UUID belongs to one pool: another pool in its place has another UUID. */
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

/* A name made from the size stays as it was. */
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

/* Vertices down or held do not count; where a state would be lost with its vertex, the children get the state. */
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
    const struct trial *t = arg;
    const char *keep[] = {weir_vertex_type(t->g, weir_graph_root(t->g, NULL, 0))};
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

static void test_nomem(void)
{
    struct trial t;

    t.g = random_graph(77, 200);
    t.other = dup(t.g);
    check_nomem(once_dup, &t, "dup");
    check_nomem(once_copy, &t, "copy");
    check_nomem(once_extract, &t, "extract");
    check_nomem(once_coarsen, &t, "coarsen");
    check_nomem(once_compare, &t, "compare");
    templates = true;
    weir_graph_free(t.other);
    weir_graph_free(t.g);
}

int main(void)
{
    test_compare();
    test_compare_bases();
    test_compare_places();
    test_copy();
    test_copy_name();
    test_extract();
    test_coarse();
    test_coarse_free();
    test_coarse_units();
    test_nomem();
    test_random();
    test_files();
    return check_report();
}
