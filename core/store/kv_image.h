/* kv_image.h - a graph with its jobs as texts under keys, for key-value stores. Private to the core.
 *
 * Each text (a piece) is a JSON list of rows of the tables in sqlite_schema.c. Keys: meta, kinds/N/N, block/N/N
 * (vertices and tags, properties, names), data/VERTEX/N (extended data), edges/N/N, jobs/ID/N, and jobs/ID/R for
 * other programs.
 */
#ifndef WEIR_PIECES_H
#define WEIR_PIECES_H

#include "store/sqlite.h"

#define PIECE_BLOCK 256 /* vertices or edges stored under one prefix */
/* Size in bytes at which a piece is complete. The last row may exceed the size by at most 6 * WEIR_NAME_MAX for each
 * text. */
#define PIECE_FULL  (1 << 18)
#define PIECES_TEXT (1 << 24)  /* largest text to be read, in bytes */
#define PIECES_MAX  (1u << 24) /* most pieces to be read */

/* A text under a key. */
struct weir_piece {
    char *key, *text; /* text NULL: remove all keys with the prefix `key` */
    size_t len;
};

/* The pieces of a graph, or of the changes since the last save. */
struct weir_pieces {
    struct weir_piece *list;
    uint32_t n, cap;
    char stamp[STAMP_SIZE];
    struct weir_journal *next; /* the graph's journal once the pieces are stored; NULL: pieces read, or stored */
    uint64_t revision;         /* of the graph when the pieces were made */
};

#endif
