/* uuid.c - UUIDs of pools (P2), given or derived from the position of a pool. Invariant: no two vertices have
 * equal given UUIDs. The hash table holds each vertex with a given UUID once, or is empty after a load, until a UUID is
 * given: few machines get any UUID after their load, and the table would be as large as the UUIDs. */
#include "graph/journal.h"

#include <endian.h>
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

/* Makes the hash table, unless the table is there. */
static int make_table(weir_graph *g)
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

int weir_uuid_put(weir_graph *g, weir_vertex v, const uint8_t uuid[16], weir_err *err)
{
    uint32_t hash = hash_of(g, uuid);
    char text[37];

    if (make_table(g))
        return weir_fail_nomem(err);
    WEIR_MAP32_EACH(&g->uuids.vertices, hash, other)
        if (other != v && memcmp(g->uuids.list[other], uuid, 16) == 0) {
            uuid_text(uuid, text);
            return weir_fail(err, WEIR_EEXIST, "another pool has the UUID %s", text);
        }
    if ((v >= g->uuids.cap && widen(g, v + 1)) ||
        weir_map32_reserve(&g->uuids.vertices, (size_t)g->uuids.vertices.count + 1))
        return weir_fail_nomem(err);
    weir_uuid_drop(g, v);
    if (weir_map32_add(&g->uuids.vertices, hash, v))
        return weir_fail_nomem(err);
    memcpy(g->uuids.list[v], uuid, 16);
    note_vertex(g, v);
    return WEIR_OK;
}

int weir_uuid_set(weir_graph *g, weir_vertex v, const char *text, weir_err *err)
{
    uint8_t uuid[16];

    if (!weir_uuid_parse(text, uuid))
        return weir_fail(err, WEIR_EINVAL,
                         "'%.60s' is not a UUID: 8-4-4-4-12 hexadecimal digits, not all 0, are wanted", text);
    return weir_uuid_put(g, v, uuid, err);
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

static uint64_t mix(uint64_t h, const char *s)
{
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 0x100000001B3u;
    h ^= h >> 29;
    return h * 0xBF58476D1CE4E5B9u;
}

/* The name of u, i levels above the vertex; from the cache `above`, or written to `own`. */
static const char *name_of(const weir_graph *g, weir_vertex u, uint32_t i, struct weir_uuid_names *above, char own[64])
{
    bool kept = above && i > 0 && i <= WEIR_UUID_NAMES;
    struct weir_uuid_name *name = kept ? &above->levels[i - 1] : NULL;

    if (name && name->of == u + 1)
        return name->text;
    if (name)
        name->of = u + 1;
    own = name ? name->text : own;
    weir_vertex_name(g, u, own, 64);
    return own;
}

/* Derives a UUID from the names, types and positions on the path to the vertex: equal after a save and a load, and
 * in every run. Version 8: made by the application. */
static void uuid_derive(const weir_graph *g, weir_vertex v, struct weir_uuid_names *above, uint8_t out[16])
{
    uint64_t a = 0x9E3779B97F4A7C15u, b = 0xD1B54A32D192ED03u;
    char own[64];
    uint32_t i = 0;

    for (weir_vertex u = v; u != WEIR_NONE; u = vertex_at(g, u)->parent) {
        a = mix(a, name_of(g, u, i++, above, own)) + vertex_at(g, u)->pos;
        b = mix(b ^ a, weir_vertex_type(g, u)) + (vertex_at(g, u)->parent == WEIR_NONE);
    }
    memcpy(out, &a, 8);
    memcpy(out + 8, &b, 8);
    out[6] = (uint8_t)((out[6] & 0x0F) | 0x80);
    out[8] = (uint8_t)((out[8] & 0x3F) | 0x80);
}

void weir_uuid_get(const weir_graph *g, weir_vertex v, struct weir_uuid_names *above, uint8_t out[16])
{
    if (weir_uuid_given(g, v))
        memcpy(out, g->uuids.list[v], 16);
    else
        uuid_derive(g, v, above, out);
}

void weir_uuid_write(const weir_graph *g, weir_vertex v, struct weir_uuid_names *above, char out[37])
{
    uint8_t u[16];

    weir_uuid_get(g, v, above, u);
    uuid_text(u, out);
}

void weir_vertex_uuid(const weir_graph *g, weir_vertex v, char out[37])
{
    weir_uuid_write(g, v, NULL, out);
}
