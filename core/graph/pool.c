/* pool.c - data of single pools: names, ranks, UUIDs, properties, tags, extended data. Invariant: the keys of a map
 * are unique and in order of the first set. */
#include "graph/observer.h"

#include <string.h>

#include "graph/journal.h"

uint32_t weir_pool_new(weir_graph *g)
{
    uint32_t i = g->free.pools;

    if (i != WEIR_NONE) {
        g->free.pools = g->pools[i].edges_out;
    } else {
        if (weir_array_reserve(&g->pools, &g->cap.pools, (size_t)g->npools + 1, sizeof *g->pools))
            return WEIR_NONE;
        i = g->npools++;
    }
    memset(&g->pools[i], 0, sizeof g->pools[i]);
    g->pools[i].name = WEIR_NO_NAME;
    g->pools[i].rank = WEIR_NO_RANK;
    g->pools[i].edges_out = g->pools[i].edges_in = WEIR_NONE;
    g->pools[i].last_out = g->pools[i].last_in = WEIR_NONE;
    g->pools[i].used = true;
    return i;
}

struct pool *weir_pool_get(weir_graph *g, weir_vertex v)
{
    uint32_t i = vertex_at(g, v)->pool;

    if (i != WEIR_NONE)
        return &g->pools[i];
    i = weir_pool_new(g);
    if (i == WEIR_NONE)
        return NULL;
    vertex_at(g, v)->pool = i;
    return &g->pools[i];
}

/* Larger maps are worth an index. */
#define SHORT_MAP 64

struct map_index *weir_map_index_new(void)
{
    struct map_index *x = weir_mem_zalloc(1, sizeof *x);

    if (x)
        x->pool = WEIR_NONE;
    return x;
}

static void index_forget(struct map_index *x)
{
    weir_map32_free(&x->places);
    x->pool = WEIR_NONE;
}

void weir_map_index_free(struct map_index *x)
{
    if (x)
        index_forget(x);
    weir_mem_free(x);
}

void weir_map_clear(struct map *m)
{
    weir_mem_free(m->entries);
    memset(m, 0, sizeof *m);
}

void weir_pool_drop(weir_graph *g, weir_vertex v)
{
    struct pool *p = pool_of(g, v);

    if (!p)
        return;
    index_forget(g->map_index);
    for (int m = 0; m < 3; m++)
        weir_map_clear(&p->maps[m]);
    memset(p, 0, sizeof *p);
    p->edges_out = g->free.pools;
    g->free.pools = (uint32_t)(p - g->pools);
    vertex_at(g, v)->pool = WEIR_NONE;
}

/* ---- maps ---- */

static const struct map *map_of(const weir_graph *g, weir_vertex v, int map)
{
    const struct pool *p = pool_of(g, v);
    return p && map >= 0 && map < 3 ? &p->maps[map] : NULL;
}

/* Fills the index with the keys of a map. Where out of memory, the index stays empty and lookups scan the map. */
static void index_fill(struct map_index *x, const struct map *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (weir_map32_add(&x->places, m->entries[i].key, i)) {
            index_forget(x);
            return;
        }
}

/* Whether the index is of the map now. A second search in a row of the same map moves the index there. */
static bool index_serves(const weir_graph *g, const struct pool *p, int map)
{
    struct map_index *x = g->map_index;
    uint32_t pool = (uint32_t)(p - g->pools);

    if (x->pool != pool || x->map != map) {
        index_forget(x);
        x->pool = pool;
        x->map = map;
        return false;
    }
    if (x->places.count == 0)
        index_fill(x, &p->maps[map]);
    return x->places.count == p->maps[map].count;
}

static struct entry *entry_scan(const struct map *m, weir_name key)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (m->entries[i].key == key)
            return &m->entries[i];
    return NULL;
}

static struct entry *entry_find(const weir_graph *g, const struct pool *p, int map, weir_name key)
{
    const struct map *m = &p->maps[map];
    uint32_t at;

    if (m->count <= SHORT_MAP || !index_serves(g, p, map))
        return entry_scan(m, key);
    at = weir_map32_get(&g->map_index->places, key);
    return at == WEIR_NONE ? NULL : &m->entries[at];
}

/* Adds the entry at the end of a map to the index of the map. */
static void index_follow(const weir_graph *g, const struct pool *p, int map)
{
    struct map_index *x = g->map_index;
    uint32_t last = p->maps[map].count - 1;

    if (x->pool == (uint32_t)(p - g->pools) && x->map == map && x->places.count == last && last > 0 &&
        weir_map32_add(&x->places, p->maps[map].entries[last].key, last))
        index_forget(x);
}

const char *weir_vertex_get(const weir_graph *g, weir_vertex v, int map, const char *key)
{
    const struct map *m = map_of(g, v, map);
    const struct entry *e;
    weir_name n;

    if (!m || m->count == 0)
        return NULL;
    n = weir_strtab_find(&g->names, key, strlen(key));
    e = n == WEIR_NO_NAME ? NULL : entry_find(g, pool_of(g, v), map, n);
    return e ? weir_strtab_text(&g->names, e->value) : NULL;
}

int weir_entry_fault(int map, size_t key_len, size_t value_len)
{
    if (key_len == 0)
        return ENTRY_EMPTY;
    return key_len > WEIR_NAME_MAX || (map != WEIR_EXTENDED && value_len > WEIR_NAME_MAX) ? ENTRY_LONG : ENTRY_FINE;
}

int weir_entry_fail(int fault, weir_err *err)
{
    switch (fault) {
    case ENTRY_EMPTY: return weir_fail(err, WEIR_EINVAL, "a key must not be empty");
    case ENTRY_LONG: return weir_fail(err, WEIR_ELIMIT, "a key or value is longer than %d bytes", WEIR_NAME_MAX);
    case ENTRY_MANY:
        return weir_fail(err, WEIR_ELIMIT, "a pool has more than %d properties, tags or extended data",
                         WEIR_ENTRIES_MAX);
    default: return WEIR_OK;
    }
}

static int check_entry(const weir_graph *g, weir_vertex v, int map, const char *key, const char *value, weir_err *err)
{
    int rc;

    if (!vertex_valid(g, v))
        return weir_fail(err, WEIR_ENOENT, "there is no vertex %u", v);
    if (map < 0 || map > WEIR_EXTENDED)
        return weir_fail(err, WEIR_EINVAL, "there is no map %d", map);
    rc = weir_entry_fail(weir_entry_fault(map, key ? strlen(key) : 0, strlen(value)), err);
    return rc ? rc : weir_graph_writable(g, err);
}

int weir_map_reserve(struct map *m, uint32_t n)
{
    struct entry *entries = m->cap ? NULL : weir_mem_alloc(n * sizeof *entries);

    if (m->cap)
        return weir_array_reserve(&m->entries, &m->cap, n, sizeof *entries);
    if (!entries)
        return WEIR_ENOMEM;
    m->entries = entries;
    m->cap = n;
    return WEIR_OK;
}

int weir_map_set(weir_graph *g, struct pool *p, int map, weir_name key, weir_name value)
{
    struct map *m = &p->maps[map];
    struct entry *e = entry_find(g, p, map, key);

    if (e) {
        e->value = value;
        return WEIR_OK;
    }
    if (m->count >= WEIR_ENTRIES_MAX)
        return WEIR_ELIMIT;
    if (WEIR_ARRAY_ADD(m->entries, m->count, m->cap, (struct entry){key, value}))
        return WEIR_ENOMEM;
    index_follow(g, p, map);
    return WEIR_OK;
}

int weir_vertex_set(weir_graph *g, weir_vertex v, int map, const char *key, const char *value, weir_err *err)
{
    int rc = check_entry(g, v, map, key, value ? value : "", err);
    struct pool *p;
    weir_name k, val;

    if (rc)
        return rc;
    k = weir_strtab_add(&g->names, key, strlen(key));
    val = weir_strtab_add(&g->names, value ? value : "", value ? strlen(value) : 0);
    p = k == WEIR_NO_NAME || val == WEIR_NO_NAME ? NULL : weir_pool_get(g, v);
    rc = p ? weir_map_set(g, p, map, k, val) : WEIR_ENOMEM;
    if (rc)
        return rc == WEIR_ENOMEM ? weir_fail_nomem(err) : weir_entry_fail(ENTRY_MANY, err);
    note_vertex(g, v);
    WEIR_TELL(g, described, g, v, map, k);
    return WEIR_OK;
}

int weir_vertex_unset(weir_graph *g, weir_vertex v, int map, const char *key)
{
    struct pool *p = vertex_valid(g, v) ? pool_of(g, v) : NULL;
    weir_name k = weir_strtab_find(&g->names, key, strlen(key));
    struct map *m = p && map >= 0 && map < 3 ? &p->maps[map] : NULL;
    struct entry *e = k == WEIR_NO_NAME || !m ? NULL : entry_scan(m, k);

    if (!e)
        return WEIR_ENOENT;
    index_forget(g->map_index);
    memmove(e, e + 1, (size_t)(m->entries + m->count - e - 1) * sizeof *e);
    m->count--;
    note_vertex(g, v);
    WEIR_TELL(g, described, g, v, map, k);
    return WEIR_OK;
}

uint32_t weir_vertex_count(const weir_graph *g, weir_vertex v, int map)
{
    const struct map *m = map_of(g, v, map);
    return m ? m->count : 0;
}

bool weir_vertex_entry(const weir_graph *g, weir_vertex v, int map, uint32_t i, const char **key, const char **value)
{
    const struct map *m = map_of(g, v, map);

    if (!m || i >= m->count)
        return false;
    *key = weir_strtab_text(&g->names, m->entries[i].key);
    *value = weir_strtab_text(&g->names, m->entries[i].value);
    return true;
}
