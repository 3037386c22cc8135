/* svg_paint.c - draws the boxes of a picture. Invariant: a box is drawn before its child boxes, and each cell is one
 * <g> of the class "cell", with a <title> that describes the cell in words.
 */
#include "draw/svg.h"

#include <string.h>

#define SLIVER 0.05 /* smallest drawn part of a job, so that each job is visible */
#define WHOLE  0.999
#define LETTERS_MIN 7

/* ---- shapes --------------------------------------------------------------------------------------------------- */

static void write_box(weir_buf *b, int32_t x, int32_t y, int32_t w, int32_t h)
{
    WEIR_WRITE(b, " x=\"");
    weir_write_int(b, x);
    WEIR_WRITE(b, "\" y=\"");
    weir_write_int(b, y);
    WEIR_WRITE(b, "\" width=\"");
    weir_write_int(b, w);
    WEIR_WRITE(b, "\" height=\"");
    weir_write_int(b, h);
    WEIR_WRITE(b, "\"");
}

void weir_svg_rect(struct svg *s, const char *class, int32_t x, int32_t y, int32_t w, int32_t h)
{
    if (w <= 0 || h <= 0)
        return;
    WEIR_WRITE(s->b, "<rect class=\"");
    weir_buf_puts(s->b, class);
    WEIR_WRITE(s->b, "\"");
    write_box(s->b, x, y, w, h);
    WEIR_WRITE(s->b, "/>");
}

static void write_pattern(struct svg *s, const char *id, int32_t x, int32_t y, int32_t w, int32_t h)
{
    WEIR_WRITE(s->b, "<rect fill=\"url(#p-");
    weir_buf_puts(s->b, id);
    WEIR_WRITE(s->b, ")\"");
    write_box(s->b, x, y, w, h);
    WEIR_WRITE(s->b, "/>");
}

void weir_svg_state(struct svg *s, int state, int32_t x, int32_t y, int32_t w, int32_t h)
{
    if (w <= 0)
        return;
    if (state == WEIR_DEGRADED && w > 4)
        weir_svg_rect(s, "q", x + 1, y + 1, w - 2, h - 2);
    else if (!state_available(state))
        write_pattern(s, weir_state_name(state), x, y, w, h);
}

void weir_svg_corner(struct svg *s, const char *class, int32_t right, int32_t y, int32_t side)
{
    weir_buf_printf(s->b, "<path class=\"%s e\" d=\"M%d %dh%dv%dz\"/>", class, (int)(right - side), (int)y, (int)side,
                    (int)side);
}

/* ---- what a cell says ----------------------------------------------------------------------------------------- */

/* Appends the path of v to s->text. */
static void put_path(struct svg *s, weir_vertex v)
{
    char small[512], *large;
    size_t n = weir_vertex_path(s->g, v, small, sizeof small);

    if (n < sizeof small) {
        weir_buf_add(&s->text, small, n);
        return;
    }
    large = weir_mem_alloc(n + 1);
    s->failed |= !large;
    if (!large)
        return;
    weir_vertex_path(s->g, v, large, n + 1);
    weir_buf_add(&s->text, large, n);
    weir_mem_free(large);
}

/* Writes s->text as a line of a title. */
static void tell(struct svg *s, bool first)
{
    s->failed |= s->text.failed;
    if (s->failed || s->text.len == 0)
        return;
    if (!first)
        WEIR_WRITE(s->b, "\n");
    weir_svg_escape(s, s->text.data, s->text.len, SVG_TEXT_MAX);
    s->text.len = 0;
}

static void tell_where(struct svg *s, const struct svg_box *box)
{
    weir_vertex last = box->v;

    s->text.len = 0;
    put_path(s, box->v);
    tell(s, true);
    if (box->members == 1)
        return;
    for (uint32_t i = 1; i < box->members; i++)
        last = weir_svg_sibling(s->g, last);
    WEIR_WRITE(&s->text, "to ");
    weir_write_name(&s->text, s->g, last);
    weir_buf_printf(&s->text, " (%u)", box->members);
    tell(s, false);
}

static void put_job(struct svg *s, uint32_t job)
{
    if (job == SVG_OTHERS) {
        WEIR_WRITE(&s->text, "other jobs");
        return;
    }
    WEIR_WRITE(&s->text, "job ");
    weir_write_int(&s->text, s->g->jobs->list[job].a.job);
}

static void tell_states(struct svg *s, const struct svg_use *u)
{
    for (int i = 0; i < WEIR_STATES; i++) {
        if (i == WEIR_UP || u->states[i] <= 0)
            continue;
        if (u->states[i] < 1) {
            weir_svg_percent(&s->text, u->states[i]);
            WEIR_WRITE(&s->text, " ");
        }
        weir_buf_puts(&s->text, weir_state_name(i));
        tell(s, false);
    }
}

static void tell_jobs(struct svg *s, const struct svg_box *box, const struct svg_use *u)
{
    if (box->heat && u->used > 0) {
        weir_svg_percent(&s->text, u->used);
        WEIR_WRITE(&s->text, " in use");
        tell(s, false);
    }
    for (uint32_t i = 0; i < u->n && !box->heat; i++) {
        put_job(s, u->list[i].job);
        if (u->list[i].part < 1) {
            WEIR_WRITE(&s->text, ": ");
            weir_svg_percent(&s->text, u->list[i].part);
        }
        tell(s, false);
    }
    if (u->next == WEIR_NONE)
        return;
    WEIR_WRITE(&s->text, "reserved for ");
    put_job(s, u->next);
    tell(s, false);
}

static void tell_word(struct svg *s, const struct svg_box *box)
{
    const char *word = s->by == SVG_BY_MAP ? weir_svg_word(s, box) : NULL;

    if (!word)
        return;
    weir_buf_puts(&s->text, s->key);
    if (*word) {
        WEIR_WRITE(&s->text, ": ");
        weir_buf_puts(&s->text, word);
    }
    tell(s, false);
}

static void put_size(struct svg *s, weir_vertex v)
{
    const char *unit = weir_vertex_unit(s->g, v);

    weir_svg_number(&s->text, weir_vertex_size(s->g, v));
    if (*unit) {
        WEIR_WRITE(&s->text, " ");
        weir_buf_puts(&s->text, unit);
    }
}

static bool is_pool(const struct svg *s, const struct svg_box *box)
{
    return box->members == 1 && !inner_of(s->g, box->v) &&
           (weir_vertex_size(s->g, box->v) != 1 || *weir_vertex_unit(s->g, box->v));
}

static void write_title(struct svg *s, const struct svg_box *box, const struct svg_use *u)
{
    WEIR_WRITE(s->b, "<title>");
    tell_where(s, box);
    if (is_pool(s, box)) {
        put_size(s, box->v);
        tell(s, false);
    }
    tell_states(s, u);
    tell_jobs(s, box, u);
    tell_word(s, box);
    WEIR_WRITE(s->b, "</title>");
}

/* ---- fills ---------------------------------------------------------------------------------------------------- */

/* Returns the x coordinate for a part, from 0 to 1, of the width of a box. */
static int32_t at(const struct svg_box *box, double part)
{
    return box->x + (int32_t)(part * box->w + 0.5);
}

static void fill_jobs(struct svg *s, const struct svg_box *box, const struct svg_use *u)
{
    double sum = 0, from = 0, scale;

    for (uint32_t i = 0; i < u->n; i++)
        sum += u->list[i].part > SLIVER ? u->list[i].part : SLIVER;
    scale = sum > 1 ? 1 / sum : 1;
    for (uint32_t i = 0; i < u->n; i++) {
        double part = (u->list[i].part > SLIVER ? u->list[i].part : SLIVER) * scale;
        int32_t x = at(box, from), end = at(box, from + part);
        if (end == x && x < box->x + box->w)
            end++;
        weir_svg_rect(s, weir_svg_job_paint(s, u->list[i].job).class, x, box->y, end - x, box->h);
        from += part;
    }
}

static void fill_states(struct svg *s, const struct svg_box *box, const struct svg_use *u)
{
    double from = 0;
    char class[3] = "s0";

    for (int i = 0; i < WEIR_STATES; i++) {
        class[1] = (char)('0' + i);
        weir_svg_rect(s, class, at(box, from), box->y, at(box, from + u->states[i]) - at(box, from), box->h);
        from += u->states[i];
    }
}

/* Returns the most frequent state of a cell, "up" aside; WEIR_UP if the whole cell is up. */
static int worst_state(const struct svg_use *u)
{
    int worst = WEIR_UP;

    for (int i = 0; i < WEIR_STATES; i++)
        if (i != WEIR_UP && u->states[i] > 0 && (worst == WEIR_UP || u->states[i] > u->states[worst]))
            worst = i;
    return worst;
}

/* Draws the marks of states over the whole cell, or over the share of the state at the right end. */
static void mark_states(struct svg *s, const struct svg_box *box, const struct svg_use *u)
{
    int worst = worst_state(u);
    double part = worst == WEIR_UP ? 0 : u->states[worst];
    int32_t x = at(box, 1 - part);

    if (part <= 0 || s->by == SVG_BY_STATE)
        return;
    if (part >= WHOLE) {
        weir_svg_state(s, worst, box->x, box->y, box->w, box->h);
        return;
    }
    if (worst == WEIR_DEGRADED)
        return;
    if (x > box->x + box->w - 3)
        x = box->x + box->w - 3;
    x = x < box->x ? box->x : x;
    weir_svg_rect(s, "x", x, box->y, box->x + box->w - x, box->h);
    weir_svg_state(s, worst, x, box->y, box->x + box->w - x, box->h);
}

static void fill_word(struct svg *s, const struct svg_box *box)
{
    weir_svg_rect(s, weir_svg_value_paint(s, weir_svg_word(s, box)).class, box->x, box->y, box->w, box->h);
}

static void fill_use(struct svg *s, const struct svg_box *box, const struct svg_use *u)
{
    bool out = worst_state(u) != WEIR_UP && !state_available(worst_state(u)) && u->states[worst_state(u)] >= WHOLE;

    if (u->used < WHOLE || (box->heat && u->used <= 0))
        weir_svg_rect(s, out ? "x" : "f", box->x, box->y, box->w, box->h);
    if (box->heat && u->used > 0)
        weir_svg_rect(s, weir_svg_heat_paint(u->used).class, box->x, box->y, box->w, box->h);
    else
        fill_jobs(s, box, u);
}

/* ---- letters -------------------------------------------------------------------------------------------------- */

/* Returns the class of the letters on a cell: light on dark colours, with an outline on several colours. */
static const char *letters_on(const struct svg *s, const struct svg_box *box, const struct svg_use *u)
{
    const char *word;

    if (s->by == SVG_BY_STATE)
        return box->state == WEIR_DOWN || box->state == WEIR_FAILING ? "w c" : "k c";
    if (s->by != SVG_BY_JOB) {
        word = weir_svg_word(s, box);
        return !word || word == weir_svg_several ? "t c" : weir_svg_value_paint(s, word).dark ? "w c" : "k c";
    }
    if (worst_state(u) != WEIR_UP)
        return "t c g";
    if (box->heat && u->used > 0)
        return weir_svg_heat_paint(u->used).dark ? "hd c" : "hl c";
    if (u->n == 0)
        return "t c";
    if (u->n == 1 && u->used >= WHOLE)
        return weir_svg_job_paint(s, u->list[0].job).dark ? "w c" : "k c";
    return "t c g";
}

/* Puts the name of a cell, or, if the name is too wide, the id, into s->text. Returns the font size. */
static int32_t put_name(struct svg *s, const struct svg_box *box, int32_t size)
{
    int64_t id = vertex_at(s->g, box->v)->id;

    s->text.len = 0;
    weir_write_name(&s->text, s->g, box->v);
    s->failed |= s->text.failed;
    if (s->failed || id == WEIR_NO_ID || weir_svg_text_width(s->text.data, s->text.len, size) <= box->w - 2)
        return size;
    if (size > LETTERS_MIN + 1 && weir_svg_text_width(s->text.data, s->text.len, size - 1) <= box->w - 1)
        return size - 1;
    s->text.len = 0;
    weir_write_int(&s->text, id);
    while (size > LETTERS_MIN && weir_svg_text_width(s->text.data, s->text.len, size) > box->w - 2)
        size--;
    if (weir_svg_text_width(s->text.data, s->text.len, size) > box->w)
        s->text.len = 0;
    return size;
}

/* Puts the second line of a cell into s->text: the job, the size, or the part in use. */
static void put_detail(struct svg *s, const struct svg_box *box, const struct svg_use *u)
{
    s->text.len = 0;
    if (box->heat)
        weir_svg_percent(&s->text, u->used);
    else if (s->by == SVG_BY_JOB && u->n == 1 && u->used >= WHOLE)
        put_job(s, u->list[0].job);
    else if (is_pool(s, box))
        put_size(s, box->v);
}

static void write_letters(struct svg *s, const struct svg_box *box, const struct svg_use *u)
{
    int32_t size = s->unit >= 36 ? 11 : s->unit >= 30 ? 10 : s->unit >= 18 ? 9 : s->unit >= 13 && box->heat ? 8 : 0;
    int32_t x = box->x + box->w / 2, y = box->y + box->h / 2, fit;
    const char *class;
    bool two;

    if (size == 0 || s->failed)
        return;
    class = letters_on(s, box, u);
    put_detail(s, box, u);
    two = box->h >= 2 * size + 8 && s->text.len &&
          weir_svg_text_width(s->text.data, s->text.len, size - 1) <= box->w - 2;
    if (two)
        weir_svg_text(s, class, x, y + size, size - 1, box->w);
    fit = put_name(s, box, size);
    weir_svg_text(s, class, x, two ? y - 2 : y + fit / 3 + 1, fit, box->w);
}

/* ---- boxes ---------------------------------------------------------------------------------------------------- */

static void paint_cell(struct svg *s, const struct svg_box *box)
{
    struct svg_use u;
    int32_t side = box->h < 16 ? (box->h + 1) / 2 : box->h < 36 ? (box->h + 2) / 3 : 12;

    weir_svg_use(s, box, &u);
    WEIR_WRITE(s->b, "<g class=\"cell\">");
    write_title(s, box, &u);
    if (s->by == SVG_BY_STATE)
        fill_states(s, box, &u);
    else if (s->by != SVG_BY_JOB)
        fill_word(s, box);
    else
        fill_use(s, box, &u);
    mark_states(s, box, &u);
    if (u.next != WEIR_NONE && s->by == SVG_BY_JOB)
        weir_svg_corner(s, box->heat ? "t" : weir_svg_job_paint(s, u.next).class, box->x + box->w, box->y, side);
    write_letters(s, box, &u);
    WEIR_WRITE(s->b, "</g>\n");
}

static void paint_block(struct svg *s, const struct svg_box *box)
{
    int32_t head = weir_svg_head(s, box), pad = weir_svg_pad(s);

    WEIR_WRITE(s->b, "<g class=\"block\"><title>");
    tell_where(s, box);
    if (box->state != WEIR_UP) {
        weir_buf_puts(&s->text, weir_state_name(box->state));
        tell(s, false);
    }
    WEIR_WRITE(s->b, "</title><rect class=\"b\" rx=\"3\"");
    write_box(s->b, box->x, box->y, box->w, box->h);
    WEIR_WRITE(s->b, "/>");
    if (head) {
        int32_t size = head >= 16 ? 11 : head >= 14 ? 10 : 9;
        s->text.len = 0;
        weir_write_name(&s->text, s->g, box->v);
        weir_svg_text(s, "m", box->x + pad, box->y + head - 4, size, box->w - 2 * pad);
    }
    WEIR_WRITE(s->b, "</g>\n");
}

void weir_svg_paint(struct svg *s, int32_t x, int32_t y)
{
    weir_buf_printf(s->b, "<g transform=\"translate(%d %d)\">\n", (int)x, (int)y);
    for (uint32_t i = 0; i < s->n && !s->failed && !s->b->failed && s->b->len <= SVG_BYTES_MAX; i++) {
        if (s->boxes[i].count && i > 0)
            paint_block(s, &s->boxes[i]);
        else if (s->boxes[i].count == 0 && s->boxes[i].v != WEIR_NONE)
            paint_cell(s, &s->boxes[i]);
    }
    WEIR_WRITE(s->b, "</g>\n");
}
