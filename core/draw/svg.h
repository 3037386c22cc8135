/* svg.h - the parts of the picture writer. Private to the core.
 *
 *   svg_write.c   how much detail fits; the page, its title and its legend
 *   svg_scene.c   which vertices are boxes
 *   svg_layout.c  where the boxes are
 *   svg_use.c     which part of a cell jobs have, and in which states it is
 *   svg_colour.c  which colour stands for what
 *   svg_paint.c   draws the boxes
 *   svg_text.c    texts that fit, escaped
 *
 * A picture is a tree of boxes that follows containment. A box without boxes in it is a cell: a vertex with all that is
 * below it, or some siblings in a row, each with all that is below it. All lengths are whole pixels.
 */
#ifndef WEIR_SVG_H
#define WEIR_SVG_H

#include "format/output.h"
#include "time/job_table.h"

#define SVG_BYTES_MAX 2000000 /* of a picture; one with less detail is made until it fits */
#define SVG_BOXES_MAX 8000    /* more are not drawn */
#define SVG_FINE_MAX  1500    /* what is inside nodes is drawn up to this many boxes */
#define SVG_CELLS_FEW 400     /* fewer cells than this are split into groups of siblings, where there are too many kids */
#define SVG_NODES_FEW 32      /* the same for nodes, and what is inside them */
#define SVG_GROUPS    2000    /* ... so many at most */
#define SVG_SHARES    6       /* jobs that are told apart in one cell */
#define SVG_LISTED    30      /* entries of a legend */
#define SVG_WIDTH     1200
#define SVG_HUES      12
#define SVG_SHADES    3
#define SVG_TEXT_MAX  120 /* bytes of a name in the picture */

struct svg_box {
    weir_vertex v;                 /* WEIR_NONE: the page, over several roots */
    uint32_t members;              /* siblings, v the first of them, that a cell stands for: 1, or more */
    uint32_t parent, first, count; /* the boxes in it, one after the other; count 0: a cell */
    uint32_t over;                 /* the cell above it on the page, WEIR_NONE: none */
    int32_t x, y, w, h;
    uint32_t holder; /* number of the job that has it now as a whole, or all above it; WEIR_NONE: none */
    uint32_t next;   /* ... that has reserved it as a whole, or all above it */
    uint32_t main;   /* the job that has most of a cell; WEIR_NONE */
    int32_t label;   /* width of its name in the larger type */
    uint8_t state;   /* its own, unless it is "up"; else that of what is above */
    bool fine;       /* a node, or in one */
    bool heat;       /* a cell of several nodes: drawn by how much of it is in use */
};

enum svg_by { SVG_BY_JOB, SVG_BY_STATE, SVG_BY_TYPE, SVG_BY_MAP };

struct svg_entry { /* units of a type that a job has in the cell at hand */
    uint32_t job;
    weir_type type;
    int64_t units;
};

struct svg_word { /* a value that a colour stands for */
    const char *text;
    uint32_t cells;
};

struct svg {
    const weir_graph *g;
    const weir_format_options *o;
    weir_buf *b;
    enum svg_by by;
    int map;         /* SVG_BY_MAP: which, and the key in it */
    const char *key;
    struct svg_box *boxes;
    uint32_t n, cap;
    weir_type node;    /* WEIR_NO_TYPE: there are none */
    weir_type primary; /* of most cells inside nodes: they are small squares */
    bool heat;         /* there are heat cells */
    bool states;       /* some vertex of the graph is not up */
    int32_t unit;      /* side of a small cell */
    int32_t width, height; /* of the boxes together */
    uint8_t *shades;       /* by number of a job: 0: not met, else its shade + 1 */
    double *weights;       /* by number of a job: cells that it has */
    struct svg_word *words;
    uint32_t nwords, words_cap;
    struct svg_entry *entries; /* scratch of svg_use.c */
    uint32_t nentries, entries_cap;
    weir_buf text, plain; /* scratch: a text as it is composed, and what XML may have of it */
    bool used_states[WEIR_STATES], used_next, used_several;
    bool failed; /* out of memory */
};

/* ---- svg_scene.c ---- */

/* Chooses the boxes, `limit` of them at most. */
void weir_svg_scene(struct svg *s, uint32_t limit);
/* The live sibling behind `v`; WEIR_NONE: none. */
weir_vertex weir_svg_sibling(const weir_graph *g, weir_vertex v);

/* ---- svg_layout.c ---- */

/* Places the boxes on a page `width` wide. */
void weir_svg_layout(struct svg *s, int32_t width);
/* The height of the line on which the name of a block stands; 0: no name. */
int32_t weir_svg_head(const struct svg *s, const struct svg_box *box);
int32_t weir_svg_pad(const struct svg *s);

/* ---- svg_use.c ---- */

#define SVG_OTHERS (UINT32_MAX - 1) /* the number of "other jobs" */

struct svg_use {
    struct {
        uint32_t job; /* its number; SVG_OTHERS */
        double part;
    } list[SVG_SHARES]; /* ascending ids */
    uint32_t n;
    double used; /* the part that all jobs have, from 0 to 1 */
    uint32_t next; /* the job of the first reservation of something in it; WEIR_NONE */
    double states[WEIR_STATES]; /* parts of the vertices in it */
};

/* A job's part of a cell is the largest of its parts by type: of the cores, the gpus, the memory. Only cells of one
 * vertex without `heat` tell jobs apart. Costs the vertices in use, and all where some are not up. */
void weir_svg_use(struct svg *s, const struct svg_box *box, struct svg_use *out);
/* Units of each type that jobs have now at and below the top: fills s->entries. */
void weir_svg_sums(struct svg *s);
/* Units of a type at and below the top. */
int64_t weir_svg_total(const struct svg *s, weir_type t);
/* Counts the nodes (all vertices, where there are none) at and below the top by state. */
void weir_svg_states(const struct svg *s, uint64_t counts[WEIR_STATES]);

/* ---- svg_colour.c ---- */

/* Gives each job, or each value, its colour: jobs keep their hue from picture to picture, and cells side by side differ. */
void weir_svg_colours(struct svg *s);
/* The value that a cell stands for in SVG_BY_TYPE and SVG_BY_MAP: its own, or that of what is above it, or else of all that
 * is below; NULL: none; weir_svg_several: not the same all over. */
extern const char weir_svg_several[];
const char *weir_svg_word(const struct svg *s, const struct svg_box *box);
/* Its place among the words. */
uint32_t weir_svg_word_place(const struct svg *s, const char *word);
/* The style sheet and the patterns. */
void weir_svg_styles(struct svg *s);

struct svg_paint {
    char class[8];
    bool dark; /* white letters are read well on it */
};
struct svg_paint weir_svg_job_paint(const struct svg *s, uint32_t job);
struct svg_paint weir_svg_word_paint(uint32_t place);
struct svg_paint weir_svg_value_paint(const struct svg *s, const char *word); /* ... of what weir_svg_word() gives */
struct svg_paint weir_svg_heat_paint(double part);

/* ---- svg_paint.c ---- */

/* Draws all boxes, with the page at (x, y). */
void weir_svg_paint(struct svg *s, int32_t x, int32_t y);
void weir_svg_rect(struct svg *s, const char *class, int32_t x, int32_t y, int32_t w, int32_t h);
/* What marks a state that is not "up". */
void weir_svg_state(struct svg *s, int state, int32_t x, int32_t y, int32_t w, int32_t h);
/* What marks a reservation. */
void weir_svg_corner(struct svg *s, const char *class, int32_t right, int32_t y, int32_t side);

/* ---- svg_text.c ---- */

/* The width of a text of `n` bytes in pixels, rather too wide than too narrow. */
int32_t weir_svg_text_width(const char *text, size_t n, int32_t size);
/* Adds a text, escaped, with no control characters and nothing but UTF-8 in it. Of one that is longer than `most` bytes,
 * begin and end are left. */
void weir_svg_escape(struct svg *s, const char *text, size_t n, size_t most);
/* Writes s->text as a <text> element, cut so that it is at most `room` wide; nothing where that leaves too little. */
bool weir_svg_text(struct svg *s, const char *class, int32_t x, int32_t y, int32_t size, int32_t room);
/* "12,345"; "62 %", where only nothing is 0 and only all is 100. */
void weir_svg_number(weir_buf *b, int64_t n);
void weir_svg_percent(weir_buf *b, double part);

weir_writer weir_svg_write;

#endif
