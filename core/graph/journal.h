/* journal.h - what changed since the last save, so that the next one can leave out the rest (L8). Private to the core.
 *
 * Nothing is noted before a graph was saved to a database or loaded from one. From then on each change notes the number
 * of the vertex, the edge or the job in a journal; one that grows too long stands for everything, so that the memory is
 * bounded. `revision` of the graph counts all changes, noted or not.
 *
 * Invariant: what a save would write otherwise than the last one did is in a journal, or its journal is `all`.
 */
#ifndef WEIR_JOURNAL_H
#define WEIR_JOURNAL_H

#include "graph/graph.h"

#define JOURNAL_MAX 65536 /* numbers in one journal */
#define STAMP_SIZE  33    /* 32 hexadecimal digits */

struct journal {
    int64_t *list; /* with repeats, in order of time */
    uint32_t n, cap;
    bool all; /* too many to keep: any number may have changed */
};

/* The file that something was saved to. */
struct weir_file_id {
    char *path;
    uint64_t device, inode, size;
    int64_t modified; /* nanoseconds */
};

struct weir_journal {
    struct journal vertices; /* added, removed, or with other data */
    struct journal edges;    /* serials of edges that are gone; those added have serials above `edge_serial` */
    struct journal jobs;     /* ids of jobs that came, changed or went */
    uint32_t nkinds;         /* that the file has */
    uint64_t edge_serial;    /* of the last edge that the file may have */
    char stamp[STAMP_SIZE];  /* of the save: no two have the same */
    struct weir_file_id file;
};

/* The last save as text: it need not be done again while nothing changes. */
struct weir_text_save {
    struct weir_file_id file;
    char format[16];
    uint64_t revision;
};

void weir_journal_grow(struct journal *j); /* room for one more, or `all` */
void weir_journal_sort(struct journal *j); /* ascending, each number once */
/* Changes from now on, none yet: the graph is what a file with that stamp holds. `path` may be NULL. NULL: out of
 * memory. */
struct weir_journal *weir_journal_new(const weir_graph *g, const char *path, const char *stamp) WEIR_CHECKED;
void weir_journal_set(weir_graph *g, struct weir_journal *c); /* instead of those it had; c may be NULL */
void weir_journal_drop(struct weir_journal *c);               /* NULL is fine */
void weir_text_save_set(weir_graph *g, struct weir_text_save *s);
/* Fills in all but the path of a file; false: it is not there. */
bool weir_file_look(const char *path, struct weir_file_id *out);

static inline void journal_note(struct journal *j, int64_t number)
{
    if (j->all || (j->n && j->list[j->n - 1] == number))
        return;
    if (j->n == j->cap)
        weir_journal_grow(j);
    if (!j->all)
        j->list[j->n++] = number;
}

static inline void note_vertex(weir_graph *g, weir_vertex v)
{
    g->revision++;
    if (g->journal)
        journal_note(&g->journal->vertices, v);
}

static inline void note_vertices(weir_graph *g, weir_vertex first, uint32_t count)
{
    g->revision++;
    for (uint32_t i = 0; g->journal && i < count; i++)
        journal_note(&g->journal->vertices, (int64_t)first + i);
}

/* An edge goes. */
static inline void note_edge(weir_graph *g, uint64_t serial)
{
    g->revision++;
    if (g->journal && serial <= g->journal->edge_serial)
        journal_note(&g->journal->edges, (int64_t)serial);
}

static inline void note_job(weir_graph *g, int64_t id)
{
    g->revision++;
    if (g->journal)
        journal_note(&g->journal->jobs, id);
}

#endif
