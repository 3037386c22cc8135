/* uuid.c - UUIDs of pools, given or derived. A derived UUID is a number of a vertex, encrypted with the UUID of
 * the graph: no memory is needed, no two vertices of a graph have the same, and the vertex is found by decryption.
 * Invariant: all UUIDs of a graph differ, given and derived. The hash table holds each vertex with a given UUID once,
 * or is empty after a load, until a UUID is given: few machines get any UUID after their load, and the table would be
 * as large as the UUIDs. */
#include "graph/journal.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t none[16];

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool weir_uuid_parse(const char *text, uint8_t out[16])
{
    uint32_t digits = 0;

    memset(out, 0, 16);
    for (uint32_t i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        int value = hex_value(text[i]);
        if (dash ? text[i] != '-' : value < 0)
            return false;
        if (!dash) {
            out[digits / 2] = (uint8_t)(digits % 2 ? out[digits / 2] | value : value << 4);
            digits++;
        }
    }
    return text[36] == '\0' && memcmp(out, none, 16) != 0;
}

/* Writes four bytes as eight hexadecimal digits, eight at once in one integer: each half of a byte becomes a byte,
 * first digit lowest. */
static void put_digits(const uint8_t u[4], char out[8])
{
    uint64_t x = u[0] | (uint64_t)u[1] << 16 | (uint64_t)u[2] << 32 | (uint64_t)u[3] << 48, letters;

    x = (x >> 4 | x << 8) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    x = htole64(x + UINT64_C(0x3030303030303030) + letters * ('a' - '0' - 10));
    memcpy(out, &x, 8);
}

static void uuid_text(const uint8_t u[16], char out[37])
{
    char digits[32];

    for (uint32_t i = 0; i < 4; i++)
        put_digits(u + 4 * i, digits + 8 * i);
    memcpy(out, digits, 8);
    for (uint32_t i = 0; i < 3; i++) {
        out[8 + 5 * i] = '-';
        memcpy(out + 9 + 5 * i, digits + 8 + 4 * i, 4);
    }
    out[23] = '-';
    memcpy(out + 24, digits + 20, 12);
    out[36] = '\0';
}

static uint32_t hash_of(const weir_graph *g, const uint8_t uuid[16])
{
    uint64_t half[2];

    memcpy(half, uuid, 16);
    return (uint32_t)hash_add(hash_add(g->names.seed, half[0]), half[1]);
}

/* ---- derived UUIDs ---- */

/* A derived UUID has, in the layout of version 8, a number of 62 bits and a check of 60 bits. */
#define NUMBER_MASK ((UINT64_C(1) << 62) - 1)
#define HALF_MASK   ((UINT32_C(1) << 31) - 1)

struct uuid_key {
    uint64_t number, check;
};

static struct uuid_key key_of(const weir_graph *g)
{
    uint64_t half[2];

    memcpy(half, g->uuids.graph, 16);
    return (struct uuid_key){hash_add(le64toh(half[0]), le64toh(half[1])),
                             hash_add(le64toh(half[1]), le64toh(half[0]))};
}

static uint32_t scramble(uint64_t key, uint32_t round, uint32_t half)
{
    return (uint32_t)(hash_add(key + round, half) >> 32) & HALF_MASK;
}

/* A permutation of the numbers of 62 bits: a Feistel network of four rounds. */
static uint64_t encrypt(uint64_t key, uint64_t n)
{
    uint32_t left = (uint32_t)(n >> 31) & HALF_MASK, right = (uint32_t)n & HALF_MASK;

    for (uint32_t i = 0; i < 4; i++) {
        uint32_t next = left ^ scramble(key, i, right);
        left = right;
        right = next;
    }
    return (uint64_t)left << 31 | right;
}

static uint64_t decrypt(uint64_t key, uint64_t n)
{
    uint32_t left = (uint32_t)(n >> 31) & HALF_MASK, right = (uint32_t)n & HALF_MASK;

    for (uint32_t i = 4; i-- > 0;) {
        uint32_t last = right ^ scramble(key, i, left);
        right = left;
        left = last;
    }
    return (uint64_t)left << 31 | right;
}

static void derive(const weir_graph *g, weir_vertex v, uint8_t out[16])
{
    struct uuid_key key = key_of(g);
    uint64_t n = encrypt(key.number, (uint64_t)vertex_at(g, v)->generation << 32 | v);
    uint64_t check = hash_add(key.check, n), half[2];

    half[0] = htobe64((check & ~UINT64_C(0xF000)) | 0x8000);
    half[1] = htobe64(n | UINT64_C(1) << 63);
    memcpy(out, half, 16);
}

/* Whether a UUID may be derived in this graph; if so, *number is what it is derived from. */
static bool decode_number(const weir_graph *g, const uint8_t uuid[16], uint64_t *number)
{
    struct uuid_key key = key_of(g);
    uint64_t half[2], n;

    memcpy(half, uuid, 16);
    n = be64toh(half[1]);
    if (n >> 62 != 2)
        return false;
    n &= NUMBER_MASK;
    if (be64toh(half[0]) != ((hash_add(key.check, n) & ~UINT64_C(0xF000)) | 0x8000))
        return false;
    *number = decrypt(key.number, n);
    return true;
}

/* Whether a UUID may be derived in this graph; if so, *v is the vertex with the number, or WEIR_NONE without one. */
static bool decode(const weir_graph *g, const uint8_t uuid[16], weir_vertex *v)
{
    uint64_t n;

    if (!decode_number(g, uuid, &n))
        return false;
    *v = (weir_vertex)n;
    if (!vertex_valid(g, *v) || vertex_at(g, *v)->generation != n >> 32)
        *v = WEIR_NONE;
    return true;
}

void weir_uuid_get(const weir_graph *g, weir_vertex v, uint8_t out[16])
{
    if (weir_uuid_given(g, v))
        memcpy(out, g->uuids.list[v], 16);
    else
        derive(g, v, out);
}

/* The vertex with a given UUID, other than `but`; WEIR_NONE: none. */
static weir_vertex find_given(const weir_graph *g, const uint8_t uuid[16], weir_vertex but)
{
    if (g->uuids.packed) {
        for (weir_vertex v = 0; v < g->uuids.cap; v++)
            if (v != but && memcmp(g->uuids.list[v], uuid, 16) == 0)
                return v;
        return WEIR_NONE;
    }
    WEIR_MAP32_EACH (&g->uuids.vertices, hash_of(g, uuid), v)
        if (v != but && memcmp(g->uuids.list[v], uuid, 16) == 0)
            return v;
    return WEIR_NONE;
}

/* The vertex with a UUID, other than `but`. */
static weir_vertex find_other(const weir_graph *g, const uint8_t uuid[16], weir_vertex but)
{
    weir_vertex v;

    if (decode(g, uuid, &v) && v != WEIR_NONE && v != but && !weir_uuid_given(g, v))
        return v;
    return find_given(g, uuid, but);
}

weir_vertex weir_uuid_find(const weir_graph *g, const uint8_t uuid[16])
{
    return find_other(g, uuid, WEIR_NONE);
}

void weir_uuid_fresh(weir_graph *g, weir_vertex v)
{
    uint8_t uuid[16];

    if (!g->uuids.own)
        return;
    for (derive(g, v, uuid); find_given(g, uuid, v) != WEIR_NONE; derive(g, v, uuid))
        vertex_at(g, v)->generation++;
}

/* ---- given UUIDs ---- */

/* Widens `list` by an eighth only: new elements must be cleared. */
static int widen(weir_graph *g, uint32_t need)
{
    size_t want = (size_t)need + need / 8 + 16;
    uint32_t had = g->uuids.cap;

    if (weir_array_exact(&g->uuids.list, &g->uuids.cap, want < UINT32_MAX ? want : UINT32_MAX, sizeof *g->uuids.list))
        return WEIR_ENOMEM;
    memset(g->uuids.list + had, 0, (size_t)(g->uuids.cap - had) * sizeof *g->uuids.list);
    return WEIR_OK;
}

int weir_uuid_index(weir_graph *g)
{
    struct weir_map32 all = {0};

    if (!g->uuids.packed)
        return WEIR_OK;
    for (weir_vertex v = 0; v < g->uuids.cap; v++)
        if (weir_uuid_given(g, v) && weir_map32_add(&all, hash_of(g, g->uuids.list[v]), v)) {
            weir_map32_free(&all);
            return WEIR_ENOMEM;
        }
    g->uuids.vertices = all;
    g->uuids.packed = false;
    return WEIR_OK;
}

void weir_uuid_pack(weir_graph *g)
{
    g->uuids.packed = g->uuids.vertices.count > 0;
    weir_map32_free(&g->uuids.vertices);
    if (g->uuids.packed)
        return;
    weir_mem_free(g->uuids.list);
    g->uuids.list = NULL;
    g->uuids.cap = 0;
}

/* Gives v the UUID of `other`; WEIR_NONE: a UUID that no pool has. */
static int give(weir_graph *g, weir_vertex v, const uint8_t uuid[16], weir_vertex other, weir_err *err)
{
    uint32_t hash = hash_of(g, uuid);
    uint8_t derived[16];
    weir_vertex own;
    char text[37];

    if (other != WEIR_NONE) {
        uuid_text(uuid, text);
        return weir_fail(err, WEIR_EEXIST, "another pool has the UUID %s", text);
    }
    if ((v >= g->uuids.cap && widen(g, v + 1)) ||
        weir_map32_reserve(&g->uuids.vertices, (size_t)g->uuids.vertices.count + 1))
        return weir_fail_nomem(err);
    weir_uuid_drop(g, v);
    derive(g, v, derived);
    note_vertex(g, v);
    if (memcmp(uuid, derived, 16) == 0)
        return WEIR_OK;
    if (weir_map32_add(&g->uuids.vertices, hash, v))
        return weir_fail_nomem(err);
    memcpy(g->uuids.list[v], uuid, 16);
    g->uuids.own |= decode(g, uuid, &own);
    return WEIR_OK;
}

int weir_uuid_put(weir_graph *g, weir_vertex v, const uint8_t uuid[16], weir_err *err)
{
    if (weir_uuid_index(g))
        return weir_fail_nomem(err);
    return give(g, v, uuid, find_other(g, uuid, v), err);
}

int weir_uuid_set(weir_graph *g, weir_vertex v, const char *text, weir_err *err)
{
    uint8_t uuid[16];

    if (!weir_uuid_parse(text, uuid))
        return weir_fail(err, WEIR_EINVAL, "'%.60s' is not a UUID: expected 8-4-4-4-12 hexadecimal digits, not all 0",
                         text);
    return weir_uuid_put(g, v, uuid, err);
}

int weir_uuid_restore(weir_graph *g, weir_vertex v, const char *text, weir_err *err)
{
    uint8_t uuid[16];
    uint64_t n;

    if (!weir_uuid_parse(text, uuid))
        return weir_uuid_set(g, v, text, err);
    if (!decode_number(g, uuid, &n) || (weir_vertex)n != v || n >> 32 > WEIR_GENERATION_MAX) {
        if (weir_uuid_index(g))
            return weir_fail_nomem(err);
        return give(g, v, uuid, find_given(g, uuid, v), err);
    }
    vertex_at(g, v)->generation = (uint16_t)(n >> 32);
    return WEIR_OK;
}

bool weir_uuid_given(const weir_graph *g, weir_vertex v)
{
    return v < g->uuids.cap && memcmp(g->uuids.list[v], none, 16) != 0;
}

void weir_uuid_drop(weir_graph *g, weir_vertex v)
{
    if (!weir_uuid_given(g, v))
        return;
    if (!g->uuids.packed)
        weir_map32_remove(&g->uuids.vertices, hash_of(g, g->uuids.list[v]), v);
    memset(g->uuids.list[v], 0, 16);
}

void weir_uuid_write(const weir_graph *g, weir_vertex v, char out[37])
{
    uint8_t u[16];

    weir_uuid_get(g, v, u);
    uuid_text(u, out);
}

void weir_vertex_uuid(const weir_graph *g, weir_vertex v, char out[37])
{
    weir_uuid_write(g, v, out);
}

/* ---- the UUID of the graph ---- */

void weir_uuid_begin(weir_graph *g)
{
    const char *fixed = getenv("WEIR_UUID");
    uint64_t half[2] = {weir_hash_seed(), weir_hash_seed()};

    if (fixed && weir_uuid_parse(fixed, g->uuids.graph))
        return;
    half[1] = hash_add(half[1], (uint64_t)(uintptr_t)g);
    memcpy(g->uuids.graph, half, 16);
    g->uuids.graph[6] = (uint8_t)((g->uuids.graph[6] & 0x0F) | 0x40);
    g->uuids.graph[8] = (uint8_t)((g->uuids.graph[8] & 0x3F) | 0x80);
}

void weir_graph_uuid(const weir_graph *g, char out[37])
{
    uuid_text(g->uuids.graph, out);
}

int weir_graph_set_uuid(weir_graph *g, const char *text, weir_err *err)
{
    uint8_t was[16], uuid[16];
    int rc = weir_graph_writable(g, err);

    if (rc)
        return rc;
    if (!weir_uuid_parse(text, uuid))
        return weir_fail(err, WEIR_EINVAL, "'%.60s' is not a UUID: expected 8-4-4-4-12 hexadecimal digits, not all 0",
                         text);
    memcpy(was, g->uuids.graph, 16);
    memcpy(g->uuids.graph, uuid, 16);
    rc = weir_uuid_check(g, err);
    if (rc) {
        memcpy(g->uuids.graph, was, 16);
        return rc;
    }
    note_vertices(g, 0, g->limit);
    return WEIR_OK;
}

int weir_uuid_check(weir_graph *g, weir_err *err)
{
    char text[37];

    g->uuids.own = false;
    for (weir_vertex v = 0; v < g->uuids.cap; v++) {
        weir_vertex other;
        if (!weir_uuid_given(g, v) || !decode(g, g->uuids.list[v], &other))
            continue;
        g->uuids.own = true;
        if (other == WEIR_NONE || other == v || weir_uuid_given(g, other))
            continue;
        uuid_text(g->uuids.list[v], text);
        return weir_fail(err, WEIR_EEXIST, "two pools have the UUID %s", text);
    }
    return WEIR_OK;
}

weir_vertex weir_graph_find_uuid(const weir_graph *g, const char *text)
{
    uint8_t uuid[16];

    return weir_uuid_parse(text, uuid) ? weir_uuid_find(g, uuid) : WEIR_NONE;
}
