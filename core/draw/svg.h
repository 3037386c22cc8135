/* svg.h - the scene of an SVG picture, and the functions that its files share. Private to the core.
 *
 *   svg_write.c   level of detail; page, title and legend
 *   svg_scene.c   choice of the boxes
 *   svg_layout.c  size and position of boxes
 *   svg_use.c     use, reservations and states of a cell
 *   svg_colour.c  choice of colours
 *   svg_paint.c   drawing of boxes
 *   svg_text.c    texts: width, cutting, escaping
 *
 * A picture is a tree of boxes that follows containment. A box without child boxes is a cell: a vertex with its
 * subtree, or some consecutive siblings with their subtrees. A box with child boxes is a block. All lengths are whole
 * pixels.
 */
#ifndef WEIR_SVG_H
#define WEIR_SVG_H

#include "format/output.h"
#include "time/job_table.h"

#define SVG_BYTES_MAX 2000000 /* limit for a picture; a larger picture is drawn anew with less detail */
#define SVG_BOXES_MAX 8000    /* limit for boxes */
#define SVG_FINE_MAX  1500    /* limit for boxes if a level inside nodes is drawn */
#define SVG_CELLS_FEW 400     /* below this number of cells, a level that is too large is drawn in groups of siblings */
#define SVG_NODES_FEW 32      /* as SVG_CELLS_FEW, for levels inside nodes */
#define SVG_GROUPS    2000    /* limit for such groups */
#define SVG_SHARES    6       /* jobs shown in one cell */
#define SVG_LISTED    30      /* entries of a legend */
#define SVG_WIDTH     1200
#define SVG_HUES      12
#define SVG_SHADES    3
#define SVG_TEXT_MAX  120 /* bytes of a name in the picture */

struct svg_box {
    weir_vertex v;                 /* WEIR_NONE: the page, if there are several roots */
    uint32_t members;              /* number of siblings in a cell; v is the first */
    uint32_t parent, first, count; /* child boxes are consecutive; count 0: a cell */
    uint32_t over;                 /* the cell above in the grid; WEIR_NONE: none */
    int32_t x, y, w, h;
    uint32_t holder; /* index of the job that now has v or an ancestor exclusively; WEIR_NONE: none */
    uint32_t next;   /* index of the job that has reserved v or an ancestor exclusively; WEIR_NONE: none */
    uint32_t main;   /* index of the job with the largest part of a cell; WEIR_NONE: none */
    int32_t label;   /* width of the name at the larger size */
    uint8_t state;   /* state of v, or of the nearest ancestor if v is "up" */
    bool fine;       /* v is a node, or inside a node */
    bool heat;       /* a cell of several nodes, coloured by the part in use */
};

enum svg_by { SVG_BY_JOB, SVG_BY_STATE, SVG_BY_TYPE, SVG_BY_MAP };

struct svg_entry { /* units of a type in use by a job in the current cell */
    uint32_t job;
    weir_type type;
    int64_t units;
};

struct svg_word { /* a value with a colour */
    const char *text;
    uint32_t cells;
};

struct svg {
    const weir_graph *g;
    const weir_format_options *o;
    weir_buf *b;
    enum svg_by by;
    int map; /* SVG_BY_MAP: the map, and the key in the map */
    const char *key;
    struct svg_box *boxes;
    uint32_t n, cap;
    weir_type node;        /* WEIR_NO_TYPE: the graph has no nodes */
    weir_type primary;     /* most frequent type of cells inside nodes; drawn as small squares */
    bool heat;             /* some cell is a heat cell */
    bool states;           /* some vertex of the graph is not "up" */
    int32_t unit;          /* side of a small cell */
    int32_t width, height; /* of all boxes together */
    uint8_t *shades;       /* by index of a job: 0, or shade + 1 of a job in the picture */
    double *weights;       /* by index of a job: number of cells in use by the job */
    struct svg_word *words;
    uint32_t nwords, words_cap;
    struct svg_entry *entries; /* scratch of svg_use.c */
    uint32_t nentries, entries_cap;
    weir_buf text, plain; /* scratch: a text, and the text without characters that XML forbids */
    bool used_states[WEIR_STATES], used_next, used_several;
    bool failed; /* out of memory */
};

/* ---- svg_scene.c ---- */

/* Chooses the boxes, at most `limit`. */
void weir_svg_scene(struct svg *s, uint32_t limit);
/* Returns the next sibling of v in the graph, or WEIR_NONE. */
weir_vertex weir_svg_sibling(const weir_graph *g, weir_vertex v);

/* ---- svg_layout.c ---- */

/* Gives the boxes sizes and positions on a page of a width. */
void weir_svg_layout(struct svg *s, int32_t width);
/* Returns the height of the line with the name of a block, or 0 if the block shows no name. */
int32_t weir_svg_head(const struct svg *s, const struct svg_box *box);
/* Returns the padding inside a block. */
int32_t weir_svg_pad(const struct svg *s);

/* ---- svg_use.c ---- */

#define SVG_OTHERS (UINT32_MAX - 1) /* stands for "other jobs" in place of the index of a job */

struct svg_use {
    struct {
        uint32_t job; /* index of the job, or SVG_OTHERS */
        double part;
    } list[SVG_SHARES]; /* by ascending id of the job */
    uint32_t n;
    double used;                /* part in use by all jobs, from 0 to 1 */
    uint32_t next;              /* index of the job of the first reservation in the cell; WEIR_NONE: none */
    double states[WEIR_STATES]; /* part of the vertices of the cell in each state */
};

/* Finds the parts of jobs in a cell. A job's part is the largest of the job's parts by type (of cores, of gpus, of
 * memory). Jobs are told apart only in cells without `heat`. Costs O(vertices in use), and O(all vertices of the cell)
 * if some vertex of the graph is not "up". */
void weir_svg_use(struct svg *s, const struct svg_box *box, struct svg_use *out);
/* Fills s->entries with the units of each type in use by all jobs in the whole picture. */
void weir_svg_sums(struct svg *s);
/* Returns the units of a type in the whole picture. */
int64_t weir_svg_total(const struct svg *s, weir_type t);
/* Counts the nodes in the whole picture (all vertices, if the graph has no nodes) by state. */
void weir_svg_states(const struct svg *s, uint64_t counts[WEIR_STATES]);

/* ---- svg_colour.c ---- */

/* Gives each job, or each value, a colour. A job keeps its hue from picture to picture, and adjacent cells of different
 * jobs differ in colour where possible. */
void weir_svg_colours(struct svg *s);
/* The word for a cell whose vertices have different values. */
extern const char weir_svg_several[];
/* Returns the value of a cell in SVG_BY_TYPE and SVG_BY_MAP: of the vertex, or else of the nearest ancestor with a
 * value, or else the common value of the subtree; weir_svg_several if the values differ, or NULL if there is no value.
 * Words are interned: equal words have equal pointers. */
const char *weir_svg_word(const struct svg *s, const struct svg_box *box);
/* Returns the index of a word in s->words, or 0 if missing. */
uint32_t weir_svg_word_place(const struct svg *s, const char *word);
/* Writes the style sheet and the patterns. */
void weir_svg_styles(struct svg *s);

struct svg_paint {
    char class[8];
    bool dark; /* white letters are legible on the colour */
};
/* Return the colour of a job, of the word with an index, of a word as weir_svg_word() returns, and of a part in use. */
struct svg_paint weir_svg_job_paint(const struct svg *s, uint32_t job);
struct svg_paint weir_svg_word_paint(uint32_t place);
struct svg_paint weir_svg_value_paint(const struct svg *s, const char *word);
struct svg_paint weir_svg_heat_paint(double part);

/* ---- svg_paint.c ---- */

/* Draws all boxes, with the upper left corner of the page at (x, y). */
void weir_svg_paint(struct svg *s, int32_t x, int32_t y);
void weir_svg_rect(struct svg *s, const char *class, int32_t x, int32_t y, int32_t w, int32_t h);
/* Draws the mark of a state other than "up". */
void weir_svg_state(struct svg *s, int state, int32_t x, int32_t y, int32_t w, int32_t h);
/* Draws the mark of a reservation: a corner at the upper right. */
void weir_svg_corner(struct svg *s, const char *class, int32_t right, int32_t y, int32_t side);

/* ---- svg_text.c ---- */

/* Returns an upper estimate in pixels for the width of a text of n bytes. */
int32_t weir_svg_text_width(const char *text, size_t n, int32_t size);
/* Writes a text, escaped, as valid UTF-8 without control characters. A text of more than `most` bytes is cut in the
 * middle. */
void weir_svg_escape(struct svg *s, const char *text, size_t n, size_t most);
/* Writes s->text as a <text> element, cut to the width `room`. Returns false, and writes nothing, if too little of the
 * text would be left. */
bool weir_svg_text(struct svg *s, const char *class, int32_t x, int32_t y, int32_t size, int32_t room);
/* Write a number as "12,345", and a part as "62 %"; 0 % is only written for 0, and 100 % only for 1. */
void weir_svg_number(weir_buf *b, int64_t n);
void weir_svg_percent(weir_buf *b, double part);

weir_writer weir_svg_write;

#endif
