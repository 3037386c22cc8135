/* search.h - the candidates of one type below a vertex, in the order of the policy: a best-first descent over rows.
 *
 * The heap holds vertices and rows, keyed by the first candidate in or below them, so that what is taken from it is
 * always the next in order. Rows that cannot hold what is needed, by their aggregates, are never opened. Taking k
 * candidates costs O(k d f) row visits, however large the machine is.
 */
#ifndef WEIR_SEARCH_H
#define WEIR_SEARCH_H

#include "listing.h"

struct match;

#define SEARCH_NEEDS 16 /* types looked at when a row is weighed; more needs only prune less */

/* As a type of hosts: the vertices right below which all stands that a slot holds. */
#define SEARCH_PARENT ((weir_type)(WEIR_NO_TYPE - 1))

enum item_kind { ITEM_VERTEX, ITEM_BELOW, ITEM_ROW, ITEM_AGAIN };

struct item {
    weir_vertex key;    /* the first candidate in it */
    weir_vertex vertex; /* the vertex, or the one whose rows these are */
    uint32_t row;
    uint8_t kind, level;
};

/* What there is too little of, where something was cut. */
struct lack {
    const char *type; /* as the request calls it */
    int64_t need, have;
};

struct search {
    struct match *m;
    const weir_resource *r;
    const weir_resource *slot; /* of hosts; NULL */
    uint32_t nslots;           /* alternatives of it, each of which makes a host */
    weir_type type;
    weir_type outer; /* the needs are those of one vertex of this type: `type`, or the host */
    weir_type host;  /* vertices of this type are the candidates, in the order of what is below; WEIR_NO_TYPE: none */
    weir_type spare[WEIR_DESCEND_TYPES]; /* the policy descends to where most of this is free */
    uint32_t nspare;                     /* 0: it has an order */
    bool by_tag;                         /* ... or to where `tag_key` has the greatest number */
    weir_name tag_key;                   /* WEIR_NO_NAME: nothing has such a tag */
    weir_vertex key; /* of the candidate found last: where it stands in the order */
    uint32_t tag;    /* of the candidate found last; WEIR_NONE the first time */
    bool idle; /* only vertices that can be taken as a whole */
    bool close; /* only the kids of where it starts */
    const weir_resource *beside; /* resources in whose vertices, or those of what they hold, the search does not look */
    uint32_t nbeside;
    const struct index *index;
    struct item *heap;
    uint32_t n, cap;
    struct {
        weir_type type;
        const char *name;
        int64_t amount;
    } needs[SEARCH_NEEDS];
    uint32_t nneeds;
    struct lack lack; /* why something was cut last */
    struct listing listing; /* of candidates that a calendar knows, instead of the heap */
    enum { FENCE_UNKNOWN, FENCE_IDLE, FENCE_ACTIVE } fence; /* whether the nodes that the constraint allows matter here */
};

/* Starts at the kids of `under`; WEIR_NONE: at the roots. On failure there is nothing to end. */
int weir_search_begin(struct search *s, struct match *m, weir_vertex under, const weir_resource *r, bool idle);
/* The hosts, vertices of a type above r or SEARCH_PARENT, that may hold a slot: in the order of the first r that each has. */
int weir_search_hosts(struct search *s, struct match *m, weir_vertex under, const weir_resource *slot,
                      const weir_resource *r, weir_type host);
/* Puts a host back, to be found again where `key`, something below it, stands in the order; s->tag then tells the tag. */
int weir_search_again(struct search *s, weir_vertex host, weir_vertex key, uint32_t tag);
/* The next candidate; 1, 0 at the end, or negative. */
int weir_search_next(struct search *s, weir_vertex *v);
/* The last candidate did not fit: what is below it may (a type inside the same type). */
int weir_search_rejected(struct search *s, weir_vertex v);
void weir_search_end(struct search *s);

/* Whether the whole of what is below `under` can hold `times` of r, as far as aggregates tell; where it cannot, that is
 * counted as pruned. */
bool weir_search_hopeful(struct match *m, weir_vertex under, const weir_resource *r, int64_t times, bool idle);

#endif
