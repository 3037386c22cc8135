/* journal.h - what changed since the last save, so that the next save writes changes only. Private to the core.
 *
 * A graph gets a journal when saved to a database or loaded from one. From then on each change adds the number of the
 * vertex, the edge or the job to a list. A list of JOURNAL_MAX numbers is given up and means `all`, which bounds the
 * memory. `revision` of the graph counts all changes, with or without a journal. Followers, such as the views of
 * hierarchies, have such lists of their own.
 *
 * Invariant: every vertex, edge and job that differs from the last save is in a list, or the list is `all`.
 */
#ifndef WEIR_JOURNAL_H
#define WEIR_JOURNAL_H

#include "graph/graph.h"

#define JOURNAL_MAX 65536 /* numbers in one list */
#define STAMP_SIZE  33    /* 32 hexadecimal digits */

struct journal {
    int64_t *list; /* in order of time, with repetitions */
    uint32_t n, cap;
    bool all; /* list given up: any number may have changed */
};

/* Identity of a file at the time of a save. */
struct weir_file_id {
    char *path;
    uint64_t device, inode, size;
    int64_t modified; /* nanoseconds */
};

struct weir_journal {
    struct journal vertices; /* added, removed, or changed */
    struct journal edges;    /* serials of removed edges; added edges have serials above `edge_serial` */
    struct journal jobs;     /* ids of added, changed and removed jobs */
    uint32_t nkinds;         /* kinds in the file */
    uint64_t edge_serial;    /* serial of the last edge in the file */
    char stamp[STAMP_SIZE];  /* of the save; unique */
    char unsure[STAMP_SIZE]; /* of a later save that may be in the file; "" if there is none */
    struct weir_file_id file;
};

/* A list of what changed since the follower last looked, in addition to the journal. The follower owns the record. */
struct weir_follower {
    struct journal vertices;
    struct journal jobs; /* ids of jobs, minus the numbers of stages */
    struct weir_follower *next;
};

/* The last save as text: needless to repeat while `revision` and the file are unchanged. */
struct weir_text_save {
    struct weir_file_id file;
    char format[16];
    uint64_t revision;
};

void weir_journal_grow(struct journal *j); /* reserves one more number, or sets `all` */
void weir_journal_sort(struct journal *j); /* ascending, without repetitions */
/* An empty journal of a graph equal to the file with a stamp. `path` may be NULL. Returns NULL where out of memory. */
struct weir_journal *weir_journal_new(const weir_graph *g, const char *path, const char *stamp) WEIR_CHECKED;
void weir_journal_set(weir_graph *g, struct weir_journal *c); /* replaces the journal; c may be NULL */
void weir_journal_drop(struct weir_journal *c);               /* c may be NULL */
void weir_text_save_set(weir_graph *g, struct weir_text_save *s);
/* Fills in the identity of the file but for `path`. False where stat fails. */
bool weir_file_look(const char *path, struct weir_file_id *out);
void weir_follow(weir_graph *g, struct weir_follower *f);     /* begins a list; f->next and the lists are overwritten */
void weir_follow_end(weir_graph *g, struct weir_follower *f); /* ends and frees the lists, where f is known */
void weir_follow_clear(struct weir_follower *f);              /* empties the lists */

/* Adds a number to a list, unless equal to the last. */
static inline void journal_note(struct journal *j, int64_t number)
{
    if (j->all || (j->n && j->list[j->n - 1] == number))
        return;
    if (j->n == j->cap)
        weir_journal_grow(j);
    if (!j->all)
        j->list[j->n++] = number;
}

/* Records a change of v. */
static inline void note_vertex(weir_graph *g, weir_vertex v)
{
    g->saves.revision++;
    if (g->saves.journal)
        journal_note(&g->saves.journal->vertices, v);
    for (struct weir_follower *f = g->saves.followers; f; f = f->next)
        journal_note(&f->vertices, v);
}

/* Records a change of the state of v. */
static inline void note_state(weir_graph *g, weir_vertex v)
{
    g->state_changes++;
    note_vertex(g, v);
}

/* Records a change of vertices [first, first + count). */
static inline void note_vertices(weir_graph *g, weir_vertex first, uint32_t count)
{
    g->saves.revision++;
    for (uint32_t i = 0; g->saves.journal && i < count; i++)
        journal_note(&g->saves.journal->vertices, (int64_t)first + i);
    for (struct weir_follower *f = g->saves.followers; f; f = f->next)
        for (uint32_t i = 0; i < count; i++)
            journal_note(&f->vertices, (int64_t)first + i);
}

/* Records the removal of an edge. */
static inline void note_edge(weir_graph *g, uint64_t serial)
{
    g->saves.revision++;
    if (g->saves.journal && serial <= g->saves.journal->edge_serial)
        journal_note(&g->saves.journal->edges, (int64_t)serial);
}

/* Records a change of a job. */
static inline void note_job(weir_graph *g, int64_t id)
{
    g->saves.revision++;
    if (g->saves.journal && id > 0) /* stages are not saved */
        journal_note(&g->saves.journal->jobs, id);
    for (struct weir_follower *f = g->saves.followers; f; f = f->next)
        journal_note(&f->jobs, id);
}

#endif
