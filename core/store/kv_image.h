/* kv_image.h - a graph with its books as texts under keys, for key-value stores. Private to the core. */
#ifndef WEIR_PIECES_H
#define WEIR_PIECES_H

#include "store/sqlite.h"

#define PIECE_BLOCK 256 /* vertices or edges that are stored together */
#define PIECE_FULL                                                                                                     \
    (1 << 18) /* bytes from which on the next row begins another piece; a row has at most 6 * WEIR_NAME_MAX            \
               * more for each of its texts */
#define PIECES_TEXT (1 << 24) /* bytes of a text that is read */
#define PIECES_MAX  (1u << 24)

struct weir_piece {
    char *key, *text; /* text: NULL where all below the key is meant */
    size_t len;
};

struct weir_pieces {
    struct weir_piece *list;
    uint32_t n, cap;
    char stamp[STAMP_SIZE];
    struct weir_changes *next; /* what the graph has once they are stored; NULL: they are from elsewhere, or stored */
    uint64_t revision;         /* of the graph that they are of */
};

#endif
