/* query.h - compiled conditions on pools. Private to the core.
 *
 * A condition is an array of tests. Each names the test to go on with when it holds and when it does not; both come
 * later in the array, or are QUERY_YES or QUERY_NO. So one pass decides, `not` costs nothing, and what a condition can
 * come to on vertices of some type or path is found by one pass as well.
 */
#ifndef WEIR_QUERY_H
#define WEIR_QUERY_H

#include "graph/graph.h"
#include "idset/idset.h"

#define QUERY_BYTES   65536 /* of an expression */
#define QUERY_DEPTH   64    /* "not" and "(" within each other */
#define QUERY_PATTERN 65536 /* longer names and paths match no pattern */

#define QUERY_NO  (UINT32_MAX - 2)
#define QUERY_YES (UINT32_MAX - 1)

enum query_field {
    QUERY_TYPE,
    QUERY_NAME,
    QUERY_BASENAME,
    QUERY_PATH, /* text, or a pattern */
    QUERY_UUID,
    QUERY_UNIT,
    QUERY_STATE, /* text; number of a state */
    QUERY_ID,
    QUERY_RANK,
    QUERY_JOB, /* lo to hi, or a set */
    QUERY_SIZE,
    QUERY_FREE,
    QUERY_IDLE,
    QUERY_ALLOCATED, /* lo to hi */
    QUERY_EXCLUSIVE,
    QUERY_LEAF, /* flags */
    QUERY_PROPERTY,
    QUERY_TAG,
    QUERY_DATA /* maps, in the order of enum weir_map */
};

/* != is = with yes and no exchanged. QUERY_HAS: the key is there, or the flag is set. */
enum query_op { QUERY_EQ, QUERY_LT, QUERY_LE, QUERY_GT, QUERY_GE, QUERY_HAS };

/* A decimal number. Whole ones compare exactly. */
struct query_number {
    bool whole;
    int64_t integer; /* when whole */
    double value;
};

enum query_piece_kind {
    PIECE_TEXT, /* these bytes */
    PIECE_ONE,  /* any one character */
    PIECE_ANY,  /* any text */
    PIECE_SET,  /* digits: one of the runs [first, first + len) */
    PIECE_OR    /* between two patterns of a list */
};

struct query_piece {
    enum query_piece_kind kind;
    uint32_t len, first;
    const char *text;
};

/* Numbers written with exactly that many digits. The runs of a piece ascend and do not touch each other. */
struct query_run {
    uint32_t digits;
    uint64_t lo, hi;
};

struct query_test {
    uint8_t field, op;
    bool numeric; /* maps: the value is a number */
    bool quoted;  /* maps: a value in quotes has a place in the order of texts */
    uint32_t yes, no;
    const char *key;
    const char *text; /* the value; a pattern where npieces > 0 */
    uint32_t len;
    uint32_t first_piece, npieces;
    int64_t lo, hi; /* both inside; lo > hi: nothing */
    weir_idset *set;
    struct query_number number;
};

struct weir_query {
    struct query_test *tests;
    uint32_t ntests, tests_cap;
    struct query_piece *pieces;
    uint32_t npieces, pieces_cap;
    struct query_run *runs;
    uint32_t nruns, runs_cap;
    char *text; /* all keys and values */
    bool paths; /* there is a test of the path */
};

/* ---- values (query_value.c): err->column is the place in the value, from 1 on ---- */

struct query_value {
    const char *text; /* terminated */
    size_t len;
    bool quoted;
};

bool weir_query_number(const char *s, size_t len, struct query_number *out); /* false: no number */
/* -1, 0, 1 */
int weir_query_number_compare(const struct query_number *a, const struct query_number *b);
/* Fills the value of a test whose field and op are set; `field` names it in errors. */
int weir_query_value(weir_query *q, struct query_test *t, const char *field, const struct query_value *v,
                     weir_err *err) WEIR_CHECKED;

/* ---- matching (query_match.c) ---- */

/* The vertex at hand, and what was computed of it. Zero but for g and v at first. */
struct query_subject {
    const weir_graph *g;
    weir_vertex v;
    const uint32_t *bound; /* by test: the number of its type or key in g; NULL: looked up when it is needed */
    const char *name;      /* NULL: not computed yet */
    size_t name_len;
    bool has_path;
    weir_vertex above; /* path[0, stem) is the path of this one, where stem > 0 */
    size_t stem;
    weir_buf name_text, path; /* `failed`: out of memory, and the answer may be wrong */
    char small[128];
};

void weir_query_move(struct query_subject *s, weir_vertex v);
bool weir_query_holds(const weir_query *q, struct query_subject *s);
/* False: out of memory. Until the next move. */
bool weir_query_path(struct query_subject *s, const char **path, size_t *len);
void weir_query_subject_clear(struct query_subject *s);
/* Looks types and keys up; bound has room for a number a test. */
void weir_query_bind(const weir_query *q, const weir_graph *g, uint32_t *bound);

/* What is known of some vertices: their type, or a path that they are below. NULL: not known. */
struct query_outlook {
    const char *type, *below;
    size_t below_len;
};
enum { OUTLOOK_NO = 1, OUTLOOK_YES = 2 };
/* What the condition may come to: OUTLOOK_NO | OUTLOOK_YES. `reach` has room for a byte a test. */
unsigned weir_query_outlook(const weir_query *q, const struct query_outlook *o, uint8_t *reach);

#endif
