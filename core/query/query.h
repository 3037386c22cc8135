/* query.h - compiled queries: conditions on vertices. Private to the core.
 *
 * A query is an array of tests, with test 0 first. A test names the next test if it holds (`yes`) and if it fails
 * (`no`); both are later in the array, or are QUERY_YES or QUERY_NO, the result. A single pass from front to back
 * therefore decides a query, `not` costs nothing, and a single pass also finds the possible results if only the type
 * or path of a vertex is known.
 */
#ifndef WEIR_QUERY_H
#define WEIR_QUERY_H

#include "graph/graph.h"
#include "idset/idset.h"

#define QUERY_BYTES   65536 /* length of an expression */
#define QUERY_DEPTH   64    /* nested "not" and "(" */
#define QUERY_PATTERN 65536 /* a text of this length or more matches no pattern */

#define QUERY_NO  (UINT32_MAX - 2)
#define QUERY_YES (UINT32_MAX - 1)

enum query_field {
    QUERY_TYPE,
    QUERY_NAME,
    QUERY_BASENAME,
    QUERY_PATH, /* up to here: a text or a pattern */
    QUERY_UUID,
    QUERY_UNIT,
    QUERY_STATE, /* up to here: a text; STATE: the number of a state in `lo` */
    QUERY_ID,
    QUERY_RANK,
    QUERY_JOB, /* up to here: an interval lo to hi, or a set */
    QUERY_SIZE,
    QUERY_FREE,
    QUERY_IDLE,
    QUERY_ALLOCATED, /* up to here: an interval lo to hi */
    QUERY_EXCLUSIVE,
    QUERY_LEAF,
    QUERY_STAGED, /* up to here: flags */
    QUERY_PROPERTY,
    QUERY_TAG,
    QUERY_DATA /* up to here: maps, in the order of enum weir_map */
};

/* The operator of a test; != is QUERY_EQ with `yes` and `no` exchanged. QUERY_HAS: the key is present, or the flag
 * is set. */
enum query_op { QUERY_EQ, QUERY_LT, QUERY_LE, QUERY_GT, QUERY_GE, QUERY_HAS };

/* A decimal number. Two numbers compare exactly if both are whole. */
struct query_number {
    bool whole;
    int64_t integer; /* valid if whole */
    double value;
};

enum query_piece_kind {
    PIECE_TEXT, /* the bytes of `text` */
    PIECE_ONE,  /* any single character */
    PIECE_ANY,  /* any text, also empty */
    PIECE_SET,  /* a number in one of the runs [first, first + len) */
    PIECE_OR    /* separates the patterns of a list */
};

/* A piece of a compiled pattern. */
struct query_piece {
    enum query_piece_kind kind;
    uint32_t len, first;
    const char *text;
};

/* The numbers lo to hi, both inclusive, written with exactly `digits` digits. The runs of a piece are sorted and do
 * not touch. */
struct query_run {
    uint32_t digits;
    uint64_t lo, hi;
};

struct query_test {
    uint8_t field, op;
    bool numeric;     /* maps: the value is a number */
    bool quoted;      /* maps: the value is quoted, so texts are ordered by bytes */
    uint32_t yes, no; /* index of the next test, or QUERY_YES or QUERY_NO */
    const char *key;  /* maps: the key; NULL for all other fields */
    const char *text; /* the value; the source of a pattern if npieces > 0 */
    uint32_t len;
    uint32_t first_piece, npieces;
    int64_t lo, hi; /* inclusive; lo > hi: empty */
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
    char *text; /* storage of all keys and values */
    bool paths; /* a test of the path is present */
};

/* ---- values (query_value.c): err->column is the place in the value, from 1 on ---- */

struct query_value {
    const char *text; /* NUL-terminated */
    size_t len;
    bool quoted;
};

/* Read a decimal number. Returns false if the text is not a number. */
bool weir_query_number(const char *s, size_t len, struct query_number *out);
/* Compare two numbers. Returns -1, 0 or 1. */
int weir_query_number_compare(const struct query_number *a, const struct query_number *b);
/* Compile a value into test `t`, whose field and op are set. `field` names the field in errors. */
int weir_query_value(weir_query *q, struct query_test *t, const char *field, const struct query_value *v,
                     weir_err *err) WEIR_CHECKED;

/* ---- matching (query_match.c) ---- */

/* The vertex being matched, with a cache of its name and path. Set g and v, and zero the rest before first use; free
 * with weir_query_subject_clear(). */
struct query_subject {
    const weir_graph *g;
    weir_vertex v;
    const uint32_t *bound; /* from weir_query_bind(); NULL: types and keys are looked up by each test */
    const char *name;      /* NULL: not yet formatted */
    size_t name_len;
    bool has_path;
    weir_vertex above; /* if stem > 0: path[0, stem) is the path of `above`, the parent, with a slash */
    size_t stem;
    weir_buf name_text, path; /* if either buffer failed, memory ran out and the result is not valid */
    char small[128];
};

/* Make v the current vertex. */
void weir_query_move(struct query_subject *s, weir_vertex v);
/* Whether the query holds for the current vertex. */
bool weir_query_holds(const weir_query *q, struct query_subject *s);
/* The path of the current vertex, valid until the next move. Returns false if out of memory. */
bool weir_query_path(struct query_subject *s, const char **path, size_t *len);
/* Free the cached name and path. */
void weir_query_subject_clear(struct query_subject *s);
/* Look up the types and keys of a query in a graph. bound[i] is for test i. */
void weir_query_bind(const weir_query *q, const weir_graph *g, uint32_t *bound);

/* The facts known of a set of vertices: the type, or a path that all vertices are below. NULL: unknown. */
struct query_facts {
    const char *type, *below;
    size_t below_len;
};
enum { RESULT_NO = 1, RESULT_YES = 2 };
/* The results that a query may have for a vertex with the facts in `o`: RESULT_NO | RESULT_YES. `reach` is
 * scratch, a byte for each test. O(tests) */
unsigned weir_query_results(const weir_query *q, const struct query_facts *o, uint8_t *reach);

#endif
