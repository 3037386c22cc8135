/* output.h - services for writers of machines and allocations, and the writers of this folder. Private to the core.
 *
 * Every writer adds to a single weir_buf, and tests `failed` of the buffer once, at the end. Nothing is allocated for
 * single vertices: a writer keeps its state in a few growing arrays.
 */
#ifndef WEIR_WRITE_H
#define WEIR_WRITE_H

#include "base/json_write.h"
#include "graph/graph.h"

/* A vertex in the tree of an allocation: picked, or above a pick. Vertices below a vertex picked as a whole belong to
 * the allocation, too, but have an entry only if picked once more. Entries are in no order; the chains are in the order
 * of the graph. */
struct weir_pick_entry {
    weir_vertex v;
    uint32_t above;             /* number of the parent's entry, WEIR_NONE for a root */
    uint32_t first, last, next; /* the chain of the children's entries; WEIR_NONE: ends */
    int64_t amount;             /* units taken, 0 for shared use and for vertices without a pick */
    bool picked, whole;
};

/* The picks of an allocation with all vertices above, in the form of the containment tree. */
struct weir_pick_tree {
    struct weir_pick_entry *entries;
    uint32_t count, cap;
    uint32_t first, last; /* the roots */
    struct weir_map32 numbers;
    bool unsorted;
};

/* Builds the tree of an allocation. WEIR_EINVAL: a picked vertex is not in the graph. O(picks d + n log n for n
 * entries). */
int weir_pick_tree_build(const weir_graph *g, const weir_allocation *a, struct weir_pick_tree *out,
                         weir_err *err) WEIR_CHECKED;
void weir_pick_tree_free(struct weir_pick_tree *p);

void weir_write_name(weir_buf *b, const weir_graph *g, weir_vertex v);

/* The vertices at which a picture or table begins, with holes: the start in the options, or the roots. Sets *n. */
const weir_vertex *weir_write_tops(const weir_graph *g, const weir_format_options *o, uint32_t *n);

/* The children of v with their holes; NULL: no children. Sets *n. */
static inline const weir_vertex *kids_of(const weir_graph *g, weir_vertex v, uint32_t *n)
{
    const struct inner *in = inner_of(g, v);
    *n = in ? in->nkids : 0;
    return in ? in->kids : NULL;
}

/* Whether a vertex is a leaf with nothing of its own but its id. */
static inline bool is_plain(const struct vertex *x)
{
    return x->inner == WEIR_NONE && x->pool == WEIR_NONE && x->id >= 0 && x->id < UINT32_MAX;
}

/* The end of the run that starts at child i: plain leaves of one kind and state with consecutive ids. */
static inline uint32_t run_of_kids(const weir_graph *g, const weir_vertex *kids, uint32_t n, uint32_t i)
{
    const struct vertex *first = vertex_at(g, kids[i]);
    int64_t id = first->id;

    i++;
    if (!is_plain(first) || id > (int64_t)UINT32_MAX - n)
        return i;
    for (; i < n && kids[i] != WEIR_NONE; i++) {
        const struct vertex *x = vertex_at(g, kids[i]);
        if (x->id != ++id || x->kind != first->kind || x->inner != WEIR_NONE || x->pool != WEIR_NONE ||
            x->state != first->state)
            break;
    }
    return i;
}

/* Arguments of a writer: a graph, or a graph with the tree of an allocation. */
struct weir_written {
    const weir_graph *g;
    const struct weir_pick_tree *tree;
    const weir_allocation *a;     /* NULL without a tree */
    const weir_format_options *o; /* NULL with an allocation */
    weir_sink sink;               /* NULL: all of the text stays in the buffer */
    void *sink_data;
};

/* Empties the buffer into the sink, if any, once the buffer has WEIR_FLUSH bytes, or with `all`. */
#define WEIR_FLUSH 65536
int weir_write_flush(const struct weir_written *w, weir_buf *b, bool all, weir_err *err) WEIR_CHECKED;

/* A writer adds to the buffer; the run reports a failed buffer and empties it into the sink. */
typedef int weir_writer(const struct weir_written *w, weir_buf *b, weir_err *err);
int weir_write_run(weir_writer *writer, const struct weir_written *w, weir_buf *b, weir_err *err) WEIR_CHECKED;
/* The whole text, to be freed with weir_mem_free(); NULL: failed. */
char *weir_write_text(weir_writer *writer, const struct weir_written *w, weir_err *err) WEIR_CHECKED;
char *weir_write_allocation(weir_writer *writer, const weir_graph *g, const weir_allocation *a,
                            weir_err *err) WEIR_CHECKED;

/* How much of an allocation is written as a graph: nothing; all but the vertices below exclusive vertices; all. */
enum weir_detail { WEIR_NO_GRAPH, WEIR_SHORTHAND, WEIR_FULL_GRAPH };

/* Writes members of an object: "graph": {...} and, where a shorthand left something out, "writer":
 * WEIR_JGF_SHORTHAND. */
int weir_jgf_write(const struct weir_written *w, enum weir_detail detail, weir_buf *b, weir_err *err) WEIR_CHECKED;

/* Numbers the vertices of a graph in preorder, as a document names them. To be freed with weir_mem_free(); NULL: out of
 * memory. */
uint32_t *weir_jgf_numbers(const weir_graph *g) WEIR_CHECKED;
/* Writes the member "metadata" of the graph of a document, with a comma behind; `numbers` are those of vertices. */
int weir_jgf_write_metadata(const struct weir_written *w, const uint32_t *numbers, weir_buf *b,
                            weir_err *err) WEIR_CHECKED;
/* WEIR_EINVAL: some text of the graph is no UTF-8, so no document can hold it; the error names the place. */
int weir_jgf_check_texts(const weir_graph *g, weir_err *err) WEIR_CHECKED;
/* Whether an entry of the extended data of v is written at an edge or at the graph, and not in the element of v. */
bool weir_jgf_is_foreign_outside(const weir_graph *g, weir_vertex v, const char *key, const char *value);
/* Writes the member "shares" of an entry that has units, with a comma in front (jgf_write.c); nothing
 * if the job has all units of the vertex and none is for a flow. */
void weir_jgf_write_shares(const struct weir_written *w, const struct weir_pick_entry *p, weir_buf *b);
/* Writes a job of a document, with the fields of jgf_metadata.c. */
struct job;
void weir_jgf_write_job(const weir_graph *g, const struct job *j, const uint32_t *numbers, weir_buf *b);
/* Writes the fields of graph.metadata.weir before the jobs. */
void weir_jgf_write_clock(const weir_graph *g, weir_buf *b);
/* Lists the jobs by ascending ids. To be freed with weir_mem_free(); NULL: out of memory. */
const struct job **weir_jgf_jobs(const weir_graph *g) WEIR_CHECKED;

weir_writer weir_jgf_write_graph, weir_jgf_write_shorthand, weir_jgf_write_document, weir_csv_write;

#endif
