/* svg_write.c - a picture of a machine and of the jobs that now use the machine. The files of the picture writer are
 * listed in svg.h.
 *
 * Main invariant: a picture has at most SVG_BYTES_MAX bytes, however large the machine and however long the names: a
 * larger picture is drawn anew with half as many boxes. Equal graphs give equal bytes.
 */
#include "draw/svg.h"

#include <string.h>

#define MARGIN      24
#define LEAST_WIDTH 520
#define LINE        20 /* height of a line of the legend */
#define HEAD_ROOM   6000 /* bytes reserved for the head of the picture */

/* ---- what colours stand for ----------------------------------------------------------------------------------- */

static int choose_by(struct svg *s, const char *by, weir_err *err)
{
    static const struct {
        const char *prefix;
        int map;
    } maps[] = {{"property.", WEIR_PROPERTIES}, {"tag.", WEIR_TAGS}};
    static const char *const words[] = {"job", "state", "type"};

    for (int i = 0; by && i < 3; i++)
        if (strcmp(by, words[i]) == 0) {
            s->by = (enum svg_by)i;
            return WEIR_OK;
        }
    for (size_t i = 0; by && i < 2; i++) {
        size_t n = strlen(maps[i].prefix);
        if (strncmp(by, maps[i].prefix, n) != 0 || !by[n])
            continue;
        s->by = SVG_BY_MAP;
        s->map = maps[i].map;
        s->key = by + n;
        return WEIR_OK;
    }
    return by ? weir_fail(err, WEIR_EINVAL,
                          "colours by \"%.64s\": one of job, state, type, property.KEY, tag.KEY is wanted", by)
              : WEIR_OK;
}

/* ---- title ---------------------------------------------------------------------------------------------------- */

/* Puts the names of the roots, or the path of the start, into s->text. */
static void put_heading(struct svg *s)
{
    uint32_t n, named = 0;
    const weir_vertex *tops = weir_write_tops(s->g, s->o, &n);
    char path[256];

    s->text.len = 0;
    if (s->o->start != WEIR_NONE) {
        weir_vertex_path(s->g, s->o->start, path, sizeof path);
        weir_buf_puts(&s->text, path);
        return;
    }
    for (uint32_t i = 0; i < n && named < 4; i++) {
        if (tops[i] == WEIR_NONE)
            continue;
        if (named++)
            WEIR_WRITE(&s->text, ", ");
        if (named == 4)
            WEIR_WRITE(&s->text, "\xe2\x80\xa6");
        else
            weir_write_name(&s->text, s->g, tops[i]);
    }
    if (named == 0)
        WEIR_WRITE(&s->text, "nothing");
}

/* Texts that are joined into lines of a limited width. */
struct parts {
    weir_buf line;
    int32_t y, room;
};

static void end_line(struct svg *s, struct parts *p)
{
    weir_buf text = s->text;

    s->failed |= p->line.failed;
    if (p->line.len == 0 || s->failed)
        return;
    s->text = p->line;
    weir_svg_text(s, "m", MARGIN, p->y, 12, p->room);
    s->text = text;
    p->line.len = 0;
    p->y += 18;
}

/* Moves s->text to the end of the line, or to a new line. */
static void put_part(struct svg *s, struct parts *p)
{
    weir_buf *t = &s->text;

    s->failed |= t->failed;
    if (s->failed || t->len == 0)
        return;
    if (p->line.len && weir_svg_text_width(p->line.data, p->line.len, 12) + weir_svg_text_width(t->data, t->len, 12) >
                           p->room - 16)
        end_line(s, p);
    if (p->line.len)
        WEIR_WRITE(&p->line, " \xc2\xb7 ");
    weir_buf_add(&p->line, t->data, t->len);
    t->len = 0;
}

/* Returns the common unit of all pools of a type, or "". */
static const char *unit_of(const weir_graph *g, weir_type t)
{
    const char *unit = NULL;

    for (uint32_t i = 0; i < g->nkinds; i++) {
        const char *text = weir_strtab_text(&g->names, g->kinds[i].unit);
        if (g->kinds[i].type != t)
            continue;
        if (unit && strcmp(unit, text) != 0)
            return "";
        unit = text;
    }
    return unit ? unit : "";
}

/* Puts a total such as "40,960 core, 62 % in use" into s->text. */
static void put_total(struct svg *s, weir_type t, int64_t total)
{
    const char *unit = unit_of(s->g, t);

    weir_svg_number(&s->text, total);
    WEIR_WRITE(&s->text, " ");
    if (*unit) {
        weir_buf_puts(&s->text, unit);
        WEIR_WRITE(&s->text, " ");
    }
    weir_buf_puts(&s->text, type_text(s->g, t));
    for (uint32_t i = 0; i < s->nentries && t != s->node; i++)
        if (s->entries[i].type == t && s->entries[i].units > 0) {
            WEIR_WRITE(&s->text, ", ");
            weir_svg_percent(&s->text, (double)s->entries[i].units / (double)total);
            WEIR_WRITE(&s->text, " in use");
        }
}

#define TYPES_TOLD 5

static void write_totals(struct svg *s, struct parts *p)
{
    int64_t total = s->node == WEIR_NO_TYPE ? 0 : weir_svg_total(s, s->node);
    uint32_t told = 0;

    weir_svg_sums(s);
    if (total > 0)
        put_total(s, s->node, total);
    put_part(s, p);
    for (uint32_t t = 0; t < s->g->ntypes && told < TYPES_TOLD; t++) {
        if (t == s->node || (s->g->types[t].flags & TYPE_HAS_KIDS))
            continue;
        total = weir_svg_total(s, (weir_type)t);
        if (total <= 0)
            continue;
        put_total(s, (weir_type)t, total);
        put_part(s, p);
        told++;
    }
}

static void write_states(struct svg *s, struct parts *p)
{
    uint64_t counts[WEIR_STATES] = {0};

    if (s->states)
        weir_svg_states(s, counts);
    for (int i = 0; i < WEIR_STATES; i++) {
        if (i == WEIR_UP || counts[i] == 0)
            continue;
        weir_svg_number(&s->text, (int64_t)counts[i]);
        weir_buf_printf(&s->text, " %s%s", s->node == WEIR_NO_TYPE ? "" : "node ", weir_state_name(i));
        put_part(s, p);
    }
}

/* Counts the jobs with a colour, or, if jobs are not told apart, all jobs. */
static uint32_t count_jobs(const struct svg *s)
{
    uint32_t jobs = 0;

    if (s->heat)
        return weir_job_count(s->g);
    for (uint32_t j = 0; j < job_records(s->g); j++)
        jobs += s->shades[j] && s->g->jobs->list[j].used;
    return jobs;
}

static void write_subtitle(struct svg *s, struct parts *p)
{
    uint32_t jobs = count_jobs(s);

    s->text.len = 0;
    write_totals(s, p);
    write_states(s, p);
    if (jobs) {
        weir_svg_number(&s->text, jobs);
        weir_buf_puts(&s->text, jobs == 1 ? " job" : " jobs");
        put_part(s, p);
    }
    if (weir_graph_now(s->g) > 0) {
        WEIR_WRITE(&s->text, "at ");
        weir_svg_number(&s->text, weir_graph_now(s->g) / 1000000);
        WEIR_WRITE(&s->text, " s");
        put_part(s, p);
    }
    end_line(s, p);
}

/* ---- legend --------------------------------------------------------------------------------------------------- */

/* The entries of a legend, in columns. A first pass without drawing measures the widest entry. */
struct legend {
    bool draw;
    uint32_t n, columns;
    int32_t y, wide;
};

enum mark { MARK_FILL, MARK_STATE, MARK_CORNER };

/* Adds an entry with the text s->text. */
static void add_entry(struct svg *s, struct legend *l, enum mark mark, int state, const char *class)
{
    int32_t x, y, width = weir_svg_text_width(s->text.data, s->text.len, 12) + 40;

    s->failed |= s->text.failed;
    if (!l->draw) {
        l->wide = width > l->wide ? width : l->wide;
        l->n++;
        return;
    }
    x = MARGIN + (int32_t)(l->n % l->columns) * l->wide;
    y = l->y + (int32_t)(l->n / l->columns) * LINE;
    l->n++;
    if (class)
        weir_svg_rect(s, mark == MARK_CORNER ? "f" : class, x, y, 14, 14);
    if (mark == MARK_STATE)
        weir_svg_state(s, state, x, y, 14, 14);
    if (mark == MARK_CORNER)
        weir_svg_corner(s, class, x + 14, y, 8);
    weir_svg_text(s, "t", x + 22, y + 11, 12, l->wide - 24);
}

static void set_text(struct svg *s, const char *text)
{
    s->text.len = 0;
    weir_buf_puts(&s->text, text);
}

static void add_states(struct svg *s, struct legend *l)
{
    char class[3] = "s0";

    for (int i = 0; i < WEIR_STATES; i++) {
        if (!s->used_states[i] || (i == WEIR_UP && s->by != SVG_BY_STATE))
            continue;
        class[1] = (char)('0' + i);
        set_text(s, weir_state_name(i));
        if (s->by == SVG_BY_STATE)
            add_entry(s, l, MARK_FILL, i, class);
        else
            add_entry(s, l, MARK_STATE, i, i == WEIR_DEGRADED ? "f" : "x");
    }
}

/* Lists the coloured jobs with most cells, by id. Returns the number of all coloured jobs. */
static uint32_t largest_jobs(const struct svg *s, uint32_t list[SVG_LISTED], uint32_t *n)
{
    uint32_t all = 0;

    *n = 0;
    for (uint32_t j = 0; j < job_records(s->g); j++) {
        uint32_t k = *n;
        if (!s->shades[j] || !s->g->jobs->list[j].used)
            continue;
        all++;
        if (k == SVG_LISTED && s->weights[list[k - 1]] >= s->weights[j])
            continue;
        *n += k < SVG_LISTED;
        for (k = *n - 1; k > 0 && s->weights[list[k - 1]] < s->weights[j]; k--)
            list[k] = list[k - 1];
        list[k] = j;
    }
    for (uint32_t i = 1; i < *n; i++)
        for (uint32_t k = i; k > 0 && s->g->jobs->list[list[k]].a.job < s->g->jobs->list[list[k - 1]].a.job; k--) {
            uint32_t swap = list[k];
            list[k] = list[k - 1];
            list[k - 1] = swap;
        }
    return all;
}

#define JOB_TYPES 3

/* Appends the resources of a job by type, such as "24 node, 3 GB memory", to s->text. */
static void put_picks(struct svg *s, const weir_allocation *a)
{
    struct {
        weir_type type;
        int64_t amount;
    } sums[JOB_TYPES];
    uint32_t n = 0, k;

    for (uint32_t i = 0; i < a->npicks; i++) {
        weir_type t = kind_of(s->g, a->picks[i].vertex)->type;
        for (k = 0; k < n && sums[k].type != t; k++)
            ;
        if (k == JOB_TYPES)
            continue;
        if (k == n) {
            sums[n].type = t;
            sums[n++].amount = 0;
        }
        sums[k].amount += a->picks[i].amount;
    }
    for (k = 0; k < n; k++) {
        const char *unit = unit_of(s->g, sums[k].type);
        weir_buf_puts(&s->text, k ? ", " : ": ");
        weir_svg_number(&s->text, sums[k].amount);
        weir_buf_printf(&s->text, " %s%s", unit, *unit ? " " : "");
        weir_buf_puts(&s->text, type_text(s->g, sums[k].type));
    }
}

static void add_jobs(struct svg *s, struct legend *l)
{
    uint32_t list[SVG_LISTED], n, all = largest_jobs(s, list, &n);

    for (uint32_t i = 0; i < n; i++) {
        const weir_allocation *a = &s->g->jobs->list[list[i]].a;
        set_text(s, "job ");
        weir_write_int(&s->text, a->job);
        put_picks(s, a);
        add_entry(s, l, a->state == WEIR_RESERVED ? MARK_CORNER : MARK_FILL, 0, weir_svg_job_paint(s, list[i]).class);
    }
    if (all == n)
        return;
    set_text(s, "and ");
    weir_svg_number(&s->text, all - n);
    weir_buf_puts(&s->text, all - n == 1 ? " more job" : " more jobs");
    add_entry(s, l, MARK_FILL, 0, NULL);
}

static void add_words(struct svg *s, struct legend *l)
{
    for (uint32_t i = 0; i < s->nwords && i < SVG_LISTED; i++) {
        set_text(s, "");
        if (s->by == SVG_BY_MAP)
            weir_buf_puts(&s->text, s->key);
        if (s->by == SVG_BY_MAP && *s->words[i].text)
            WEIR_WRITE(&s->text, ": ");
        weir_buf_puts(&s->text, s->words[i].text);
        add_entry(s, l, MARK_FILL, 0, weir_svg_word_paint(i).class);
    }
    if (s->nwords <= SVG_LISTED)
        return;
    set_text(s, "and ");
    weir_svg_number(&s->text, s->nwords - SVG_LISTED);
    WEIR_WRITE(&s->text, " more values");
    add_entry(s, l, MARK_FILL, 0, NULL);
}

static void add_entries(struct svg *s, struct legend *l)
{
    if (s->by == SVG_BY_JOB || s->by == SVG_BY_MAP) {
        set_text(s, s->by == SVG_BY_JOB ? "free" : "none");
        add_entry(s, l, MARK_FILL, 0, "f");
    }
    if (s->used_several) {
        set_text(s, weir_svg_several);
        add_entry(s, l, MARK_FILL, 0, "x");
    }
    if (s->by == SVG_BY_JOB && s->used_next) {
        set_text(s, "reserved");
        add_entry(s, l, MARK_CORNER, 0, "t");
    }
    add_states(s, l);
    if (s->by == SVG_BY_JOB)
        add_jobs(s, l);
    else if (s->by != SVG_BY_STATE)
        add_words(s, l);
}

/* Writes the scale of heat cells, "0 % [][][] 100 % in use", and returns the lower end. */
static int32_t write_scale(struct svg *s, int32_t y)
{
    set_text(s, "in use: 1 %");
    weir_svg_text(s, "t", MARGIN, y + 11, 12, 100);
    for (int i = 1; i <= 10; i++)
        weir_svg_rect(s, weir_svg_heat_paint(i / 10.0).class, MARGIN + 60 + 22 * i, y, 22, 14);
    set_text(s, "all");
    weir_svg_text(s, "t", MARGIN + 60 + 22 * 11 + 8, y + 11, 12, 100);
    return y + LINE;
}

/* Writes the legend, and returns the lower end. */
static int32_t write_legend(struct svg *s, int32_t y, int32_t width)
{
    struct legend l = {.wide = 100};

    if (s->heat && s->by == SVG_BY_JOB)
        y = write_scale(s, y);
    add_entries(s, &l);
    l.wide = l.wide < width ? l.wide : width;
    l.columns = (uint32_t)(width / l.wide);
    l.y = y;
    y += (int32_t)((l.n + l.columns - 1) / l.columns) * LINE;
    l.n = 0;
    l.draw = true;
    add_entries(s, &l);
    return y;
}

/* ---- the page ------------------------------------------------------------------------------------------------- */

/* Writes the page without the frame, and returns the height; *width is the width of the page. */
static int32_t write_page(struct svg *s, int32_t *width)
{
    struct parts p = {.y = MARGIN + 40};
    int32_t y;

    *width = (s->width > LEAST_WIDTH ? s->width : LEAST_WIDTH) + 2 * MARGIN;
    if (s->o->width && *width > (int32_t)s->o->width)
        *width = s->width + 2 * MARGIN > (int32_t)s->o->width ? s->width + 2 * MARGIN : (int32_t)s->o->width;
    p.room = *width - 2 * MARGIN;
    put_heading(s);
    weir_svg_text(s, "t s", MARGIN, MARGIN + 16, 20, p.room * 7 / 8); /* bold letters are wider */
    write_subtitle(s, &p);
    weir_buf_free(&p.line);
    y = p.y;
    weir_svg_paint(s, MARGIN, y);
    return write_legend(s, y + s->height + MARGIN, p.room) + MARGIN - 6;
}

static void write_frame(struct svg *s, weir_buf *b, int32_t width, int32_t height, const weir_buf *body)
{
    s->b = b;
    weir_buf_printf(b,
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
                    "height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n<title>",
                    (int)width, (int)height, (int)width, (int)height);
    put_heading(s);
    s->failed |= s->text.failed;
    if (!s->failed)
        weir_svg_escape(s, s->text.data, s->text.len, SVG_TEXT_MAX);
    WEIR_WRITE(b, "</title>\n");
    weir_svg_styles(s);
    weir_svg_rect(s, "bg", 0, 0, width, height);
    WEIR_WRITE(b, "\n");
    weir_buf_add(b, body->data ? body->data : "", body->len);
    WEIR_WRITE(b, "</svg>\n");
}

/* Draws the picture, with ever fewer boxes until the picture is small enough. */
static void draw(struct svg *s, weir_buf *b)
{
    weir_buf body = {0};
    uint32_t limit = SVG_BOXES_MAX;
    int32_t width = 0, height = 0, most = (int32_t)(s->o->width ? s->o->width : SVG_WIDTH) - 2 * MARGIN;

    do {
        body.len = 0;
        s->b = &body;
        weir_svg_scene(s, limit);
        if (!s->failed)
            weir_svg_layout(s, most);
        if (!s->failed)
            weir_svg_colours(s);
        if (!s->failed)
            height = write_page(s, &width);
        limit /= 2;
    } while (!s->failed && !body.failed && body.len > SVG_BYTES_MAX - HEAD_ROOM && limit > 0);
    if (!s->failed)
        write_frame(s, b, width, height, &body);
    s->failed |= body.failed;
    weir_buf_free(&body);
}

/* Returns true if the state of some vertex is not "up"; "degraded" counts, although jobs can have the vertex. */
static bool has_states(const weir_graph *g)
{
    for (weir_vertex v = 0; v < g->limit; v++)
        if (vertex_valid(g, v) && vertex_at(g, v)->state != WEIR_UP)
            return true;
    return false;
}

int weir_svg_write(const struct weir_written *in, weir_buf *b, weir_err *err)
{
    struct svg s = {.g = in->g, .o = in->o, .node = WEIR_NO_TYPE};
    int rc = choose_by(&s, in->o->by, err);

    if (rc < 0)
        return rc;
    s.states = has_states(in->g);
    draw(&s, b);
    weir_mem_free(s.boxes);
    weir_mem_free(s.shades);
    weir_mem_free(s.weights);
    weir_mem_free(s.words);
    weir_mem_free(s.entries);
    weir_buf_free(&s.text);
    weir_buf_free(&s.plain);
    return s.failed || b->failed ? weir_fail_nomem(err) : WEIR_OK;
}
