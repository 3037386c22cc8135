/* keyset.c - see keyset.h. Invariant: below an element only elements of lower priority, smaller keys to the left. */
#include "base/keyset.h"

#include <string.h>

int weir_keyset_make(struct weir_keyset *s, uint32_t n)
{
    size_t count = (size_t)n + 1;

    s->keys = weir_mem_alloc(count * sizeof *s->keys);
    s->left = weir_mem_alloc(count * sizeof *s->left);
    s->right = weir_mem_alloc(count * sizeof *s->right);
    s->root = WEIR_NONE;
    if (!s->keys || !s->left || !s->right)
        return WEIR_ENOMEM;
    memset(s->keys, 0xff, count * sizeof *s->keys); /* KEYSET_OUT */
    return WEIR_OK;
}

void weir_keyset_free(struct weir_keyset *s)
{
    WEIR_FREE(s->keys, s->left, s->right);
    *s = (struct weir_keyset){.root = WEIR_NONE};
}

/* A permutation of the numbers: no two elements have equal priority. */
static uint32_t priority(uint32_t element)
{
    element ^= element >> 16;
    element *= 0x7feb352dU;
    element ^= element >> 15;
    element *= 0x846ca68bU;
    return element ^ element >> 16;
}

/* Splits the elements below `node` at a key: into the elements before the key and the elements behind. */
static void split(struct weir_keyset *s, uint32_t node, uint64_t key, uint32_t *before, uint32_t *behind)
{
    while (node != WEIR_NONE)
        if (s->keys[node] < key) {
            *before = node;
            before = &s->right[node];
            node = *before;
        } else {
            *behind = node;
            behind = &s->left[node];
            node = *behind;
        }
    *before = *behind = WEIR_NONE;
}

/* Puts two subtrees in the place of a link; all keys of `before` are smaller. */
static void join(struct weir_keyset *s, uint32_t before, uint32_t behind, uint32_t *link)
{
    while (before != WEIR_NONE && behind != WEIR_NONE)
        if (priority(before) > priority(behind)) {
            *link = before;
            link = &s->right[before];
            before = *link;
        } else {
            *link = behind;
            link = &s->left[behind];
            behind = *link;
        }
    *link = before != WEIR_NONE ? before : behind;
}

static void take_out(struct weir_keyset *s, uint32_t element)
{
    uint64_t key = s->keys[element];
    uint32_t *link = &s->root;

    while (*link != element)
        link = key < s->keys[*link] ? &s->left[*link] : &s->right[*link];
    join(s, s->left[element], s->right[element], link);
    s->keys[element] = KEYSET_OUT;
}

void weir_keyset_put(struct weir_keyset *s, uint32_t element, uint64_t key)
{
    uint32_t *link = &s->root;

    if (s->keys[element] == key)
        return;
    if (s->keys[element] != KEYSET_OUT)
        take_out(s, element);
    if (key == KEYSET_OUT)
        return;
    while (*link != WEIR_NONE && priority(*link) > priority(element))
        link = key < s->keys[*link] ? &s->left[*link] : &s->right[*link];
    split(s, *link, key, &s->left[element], &s->right[element]);
    *link = element;
    s->keys[element] = key;
}

uint32_t weir_keyset_from(const struct weir_keyset *s, uint64_t key)
{
    uint32_t found = WEIR_NONE;

    for (uint32_t node = s->root; node != WEIR_NONE;)
        if (s->keys[node] >= key) {
            found = node;
            node = s->left[node];
        } else {
            node = s->right[node];
        }
    return found;
}

uint32_t weir_keyset_below(const struct weir_keyset *s, uint64_t key)
{
    uint32_t found = WEIR_NONE;

    for (uint32_t node = s->root; node != WEIR_NONE;)
        if (s->keys[node] < key) {
            found = node;
            node = s->right[node];
        } else {
            node = s->left[node];
        }
    return found;
}
