/* test_kv_image.c - key-value images: round trips and changes of random graphs with random jobs over a store of
 * keys, invalid values, failing allocations. Requirements: L3, L5, L8.
 */
#include "stored.h"

/* A key-value store: rows below a declared key that the image does not set are deleted. */
struct row {
    char *key, *text;
    size_t len;
    bool now; /* set by the last image */
};

struct kv {
    struct row *list;
    uint32_t n, cap;
    uint32_t written; /* rows written by the last save */
    char stamp[64];
};

static void drop(struct kv *kv, uint32_t i)
{
    free(kv->list[i].key);
    free(kv->list[i].text);
    kv->list[i] = kv->list[--kv->n];
}

static struct row *find(struct kv *kv, const char *key)
{
    for (uint32_t i = 0; i < kv->n; i++)
        if (strcmp(kv->list[i].key, key) == 0)
            return &kv->list[i];
    return NULL;
}

static void put(struct kv *kv, const char *key, const char *text, size_t len)
{
    struct row *e = find(kv, key);

    if (!e) {
        if (kv->n == kv->cap)
            kv->list = realloc(kv->list, (kv->cap = 2 * kv->cap + 16) * sizeof *kv->list);
        e = &kv->list[kv->n++];
        *e = (struct row){strdup(key), NULL, 0, true};
    }
    free(e->text);
    e->text = memcpy(malloc(len + 1), text, len);
    e->text[len] = '\0';
    e->len = len;
    e->now = true;
}

static void store(struct kv *kv, const weir_pieces *p)
{
    const char *key, *text;
    size_t len;

    for (uint32_t i = 0; i < kv->n; i++)
        kv->list[i].now = false;
    kv->written = 0;
    for (uint32_t i = 0; weir_pieces_at(p, i, &key, &text, &len); i++)
        if (text) {
            CHECK(len < (1 << 20) && strlen(text) == len, "a piece is short");
            put(kv, key, text, len);
            kv->written++;
        }
    for (uint32_t i = 0; weir_pieces_at(p, i, &key, &text, &len); i++)
        for (uint32_t k = kv->n; !text && k-- > 0;)
            if (strncmp(kv->list[k].key, key, strlen(key)) == 0 && !kv->list[k].now)
                drop(kv, k);
    snprintf(kv->stamp, sizeof kv->stamp, "%s", weir_pieces_stamp(p));
}

static void save(struct kv *kv, weir_graph *g, bool changed)
{
    weir_pieces *p = NULL;
    weir_err err = {0};

    if (!CHECK(weir_graph_pieces(g, changed ? kv->stamp : NULL, &p, &err) == WEIR_OK, "%s", err.text))
        return;
    store(kv, p);
    CHECK(weir_pieces_stored(p, g, &err) == WEIR_OK, "%s", err.text);
    CHECK(weir_pieces_stored(p, g, NULL) == WEIR_EINVAL, "only once");
    weir_pieces_free(p);
}

static weir_pieces *pieces_of(const struct kv *kv)
{
    weir_pieces *p = weir_pieces_new();

    for (uint32_t i = 0; i < kv->n; i++)
        CHECK(weir_pieces_put(p, kv->list[i].key, kv->list[i].text, kv->list[i].len, NULL) == WEIR_OK, "a piece");
    return p;
}

static int read(const struct kv *kv, weir_graph **out, weir_err *err)
{
    weir_pieces *p = pieces_of(kv);
    int rc = weir_pieces_graph(p, out, err);

    weir_pieces_free(p);
    return rc;
}

static weir_graph *load(const struct kv *kv)
{
    weir_graph *g = NULL;
    weir_err err = {0};

    CHECK(read(kv, &g, &err) == WEIR_OK && g, "%s", err.text);
    return g;
}

static void clear(struct kv *kv)
{
    while (kv->n)
        drop(kv, 0);
    free(kv->list);
    *kv = (struct kv){0};
}

/* the stored graph is the saved graph */

static void round_trips(void)
{
    for (int64_t i = 1; i <= scaled(60); i++) {
        struct kv kv = {0};
        weir_graph *g = random_graph((uint64_t)i, 120), *back;
        save(&kv, g, false);
        back = load(&kv);
        same_all(g, back);
        same_answers(g, back);
        weir_graph_free(back);
        weir_graph_free(g);
        clear(&kv);
    }
}

/* An R is as written at the last change of the job. */
static bool is_rset(const char *key)
{
    return strcmp(key + strlen(key) - 2, "/R") == 0;
}

/* Checks for equal keys, but for kinds, which have a row for each save. */
static void same_keys(const struct kv *kv, weir_graph *g)
{
    struct kv whole = {0};
    weir_graph *copy = dup(g);

    save(&whole, copy, false);
    for (uint32_t i = 0; i < kv->n; i++) {
        const struct row *e = &kv->list[i], *same = find(&whole, e->key);
        if (strncmp(e->key, "kinds/", 6) != 0 && strcmp(e->key, "meta") != 0 && !is_rset(e->key))
            CHECK(same && strcmp(same->text, e->text) == 0, "[L8] %s is as after a whole save", e->key);
    }
    for (uint32_t i = 0; i < whole.n; i++)
        CHECK(is_rset(whole.list[i].key) || find((struct kv *)kv, whole.list[i].key), "[L8] %s is there",
              whole.list[i].key);
    weir_graph_free(copy);
    clear(&whole);
}

/* Continues with the loaded graph now and then. */
static void changes(void)
{
    for (int64_t i = 1; i <= scaled(30); i++) {
        struct kv kv = {0};
        weir_graph *g = random_graph((uint64_t)(1000 + i), 30), *back;
        for (int round = 0; round < 12; round++) {
            for (uint32_t k = dice(30); k-- > 0;) {
                step(g);
                another_step(g);
            }
            save(&kv, g, dice(10) > 0);
            back = load(&kv);
            if (!back)
                break;
            same_all(g, back);
            if (round % 6 == 5)
                same_keys(&kv, g);
            if (dice(2)) {
                weir_graph *other = g;
                g = back;
                back = other;
            }
            weir_graph_free(back);
        }
        weir_graph_free(g);
        clear(&kv);
    }
}

static void only_what_changed(void)
{
    struct kv kv = {0};
    weir_graph *g = parse("cluster:1 node:100 core:70", "synthetic"), *back;
    weir_vertex last = weir_graph_limit(g) - 1;
    weir_pieces *p = NULL;

    save(&kv, g, false);
    CHECK(kv.written == 29 + 1, "7101 vertices in blocks of 256, kinds and meta: %u", kv.written);
    save(&kv, g, true);
    CHECK(kv.written == 1, "[L8] nothing changed but the stamp");
    CHECK(weir_vertex_set(g, last, WEIR_TAGS, "t", "", NULL) == WEIR_OK, "a tag");
    save(&kv, g, true);
    CHECK(kv.written == 2, "[L8] a block");
    CHECK(weir_vertex_allocate(g, 1, 7, 1, 0, 50, NULL) == WEIR_OK, "a job");
    save(&kv, g, true);
    CHECK(kv.written == 3 && find(&kv, "jobs/7/0") && find(&kv, "jobs/7/R"), "[L8] a job, and its R");
    CHECK(weir_release(g, 7, NULL) == WEIR_OK, "its end");
    save(&kv, g, true);
    CHECK(kv.written == 1 && !find(&kv, "jobs/7/0") && !find(&kv, "jobs/7/R"), "[L8] and they are gone");
    CHECK(weir_graph_pieces(g, kv.stamp, &p, NULL) == WEIR_OK, "pieces");
    CHECK(weir_vertex_set_state(g, last, WEIR_DOWN, NULL) == WEIR_OK, "a change meanwhile");
    CHECK(weir_pieces_stored(p, g, NULL) == WEIR_EINVAL, "what has changed since was not stored");
    weir_pieces_free(p);
    save(&kv, g, true);
    back = load(&kv);
    same_all(g, back);
    weir_graph_free(back);
    weir_graph_free(g);
    clear(&kv);
}

/* invalid values */

static const struct {
    const char *key, *text, *why;
} bad[] = {
    {"meta", "", "meta"},
    {"meta", "{}", "meta: expected a list of rows"},
    {"meta", "[1]", "meta: expected a list of rows"},
    {"meta", "[[]]", "meta: a row begins with the name of its table"},
    {"meta", "[[\"nope\",1]]", "meta: there is no such table"},
    {"meta", "[[\"number\",1]]", "meta: there is no such table"},
    {"meta", "[[\"meta\",\"now\"]]", "meta: a row has texts, whole numbers and null"},
    {"meta", "[[\"meta\",\"now\",1,2]]", "meta: a row is longer than its table"},
    {"meta", "[[\"meta\",\"now\",true]]", "meta: a row has texts, whole numbers and null"},
    {"meta", "[[\"meta\",\"now\",99999999999999999999]]", "more than 64 bits"},
    {"meta", "[] []", "meta"},
    {"meta", "[[\"meta\",\"now\",-5]]", "table meta"},
    {"block/0/1", "[[\"run\",0,1,0,null,0,0,0,null]]", "block/0/1: a row comes twice, or lacks something"},
    {"block/9/0", "[[\"run\",9999,1,0,null,0,0,0,null]]", "table run"},
    {"block/0/1", "[[\"state\",77777,\"down\"]]", "table state"},
    {"jobs/3/0", "[[\"job\",3,0,null,null,\"\"],[\"pick\",3,0,1,null,1,1],[\"pick\",3,1,1,null,1,1]]", "twice"},
    {"jobs/3/0", "[[\"pick\",3,0,1,null,1,1]]", "table pick"},
    {"jobs/3/0", "[[\"job\",3,0,null,null,\"\"],[\"pick\",3,0,1,null,99,0]]", "more of it"},
};

static void refuses(void)
{
    struct kv kv = {0};
    weir_graph *g = parse("cluster:1 node:4 core:2", "synthetic"), *out = NULL;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        weir_err err = {0};
        save(&kv, g, false);
        put(&kv, bad[i].key, bad[i].text, strlen(bad[i].text));
        CHECK(read(&kv, &out, &err) == WEIR_EPARSE, "%s %s", bad[i].key, bad[i].text);
        CHECK(strstr(err.text, bad[i].why) || strstr(err.source, bad[i].why), "%s: %s, %s", bad[i].text, err.source,
              err.text);
        clear(&kv);
    }
    CHECK(read(&kv, &out, NULL) == WEIR_EPARSE || weir_graph_count(out) == 0, "nothing is no graph, or an empty one");
    weir_graph_free(out);
    weir_graph_free(g);
}

/* ---- memory ---- */

static int make_once(void *g)
{
    weir_pieces *p = NULL;
    int rc = weir_graph_pieces(g, NULL, &p, NULL);

    weir_pieces_free(p);
    return rc;
}

static int read_once(void *kv)
{
    weir_graph *g = NULL;
    weir_pieces *p = weir_pieces_new();
    int rc = p ? WEIR_OK : WEIR_ENOMEM;

    for (uint32_t i = 0; !rc && i < ((struct kv *)kv)->n; i++) {
        const struct row *e = &((struct kv *)kv)->list[i];
        rc = weir_pieces_put(p, e->key, e->text, e->len, NULL);
    }
    rc = rc ? rc : weir_pieces_graph(p, &g, NULL);
    weir_pieces_free(p);
    weir_graph_free(g);
    return rc;
}

static void memory(void)
{
    struct kv kv = {0};
    weir_graph *g = random_graph(5, 40);

    save(&kv, g, false);
    check_nomem(make_once, g, "making pieces");
    check_nomem(read_once, &kv, "a graph from pieces");
    weir_graph_free(g);
    clear(&kv);
}

int main(void)
{
    round_trips();
    changes();
    only_what_changed();
    refuses();
    memory();
    return check_report();
}
