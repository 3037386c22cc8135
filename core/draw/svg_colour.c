/* svg_colour.c - the colours of a picture.
 *
 * The id of a job gives its hue and its shade, so that a job looks alike in all pictures. Jobs with consecutive ids
 * often lie side by side: consecutive hues differ much, for any kind of colour vision. If two jobs with equal hue and
 * shade meet, the second job gets a different shade.
 */
#include "draw/svg.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *fill[SVG_SHADES];
    const char *dark; /* 'y' for each dark shade */
} hues[SVG_HUES] = {
    {{"#ee8866", "#8f523d", "#ffb896"}, "nyn"}, {{"#4477aa", "#9ab9d8", "#294766"}, "yny"},
    {{"#ddaa33", "#85661f", "#ffdb70"}, "nyn"}, {{"#88ccee", "#527a8f", "#2f5163"}, "nyy"},
    {{"#cc6677", "#e6a9b4", "#7a3d47"}, "yny"}, {{"#332288", "#a39cc9", "#6659a6"}, "yny"},
    {{"#44aa99", "#29665c", "#7fd8c6"}, "nyn"}, {{"#999933", "#5c5c1f", "#d6d65c"}, "nyn"},
    {{"#aa4499", "#d89fce", "#66295c"}, "yny"}, {{"#117733", "#7dbd92", "#0a471f"}, "yny"},
    {{"#ee99aa", "#8f5c66", "#6b3040"}, "nyy"}, {{"#882255", "#c987aa", "#e0609f"}, "yny"},
};

/* Colours from a tenth in use to all in use, ever further from the colour of the page. */
enum { HEATS = 10, DARK_HEAT = 6 };
static const char *const heats[HEATS] = {"#d3e3f0", "#bcd5e9", "#a3c6e1", "#88b6d8", "#6ba4ce",
                                         "#5092c2", "#3a7fb4", "#296ba2", "#1b568c", "#0f4070"};
static const char *const dark_heats[HEATS] = {"#1b3346", "#1f3f58", "#244b6b", "#29587e", "#2f6692",
                                              "#3776a6", "#4688b9", "#5d9bca", "#7ab0da", "#9cc8ea"};

/* ---- jobs ----------------------------------------------------------------------------------------------------- */

static uint32_t hue_of(const struct svg *s, uint32_t job)
{
    return (uint32_t)(s->g->jobs->list[job].a.job % SVG_HUES);
}

/* Returns true if `other`, the job of a neighbour, is a different job with the hue of `job` and the given shade. */
static bool clashes(const struct svg *s, uint32_t job, uint32_t other, uint32_t shade)
{
    return other != WEIR_NONE && other != SVG_OTHERS && other != job && hue_of(s, other) == hue_of(s, job) &&
           s->shades[other] == shade + 1;
}

static void choose_shade(struct svg *s, const struct svg_box *box, uint32_t job, uint32_t before)
{
    uint32_t i = (uint32_t)(box - s->boxes), shade = (uint32_t)(s->g->jobs->list[job].a.job / SVG_HUES % SVG_SHADES),
             tries = 1;
    uint32_t beside = i > 0 && s->boxes[i - 1].parent == box->parent ? s->boxes[i - 1].main : WEIR_NONE;
    uint32_t over = box->over != WEIR_NONE ? s->boxes[box->over].main : WEIR_NONE;

    for (; tries < SVG_SHADES; tries++) {
        if (!clashes(s, job, beside, shade) && !clashes(s, job, over, shade) && !clashes(s, job, before, shade))
            break;
        shade = (shade + 1) % SVG_SHADES;
    }
    s->shades[job] = (uint8_t)(shade + 1);
}

static void colour_cell(struct svg *s, struct svg_box *box)
{
    struct svg_use u;
    double most = -1;

    weir_svg_use(s, box, &u);
    for (uint32_t i = 0; i < u.n; i++) {
        uint32_t job = u.list[i].job;
        if (u.list[i].part > most) {
            most = u.list[i].part;
            box->main = job;
        }
        if (job == SVG_OTHERS)
            continue;
        s->weights[job] += u.list[i].part + 1e-6;
        if (!s->shades[job])
            choose_shade(s, box, job, i ? u.list[i - 1].job : WEIR_NONE);
    }
    if (u.next != WEIR_NONE) {
        s->used_next = true;
        if (!s->shades[u.next])
            choose_shade(s, box, u.next, WEIR_NONE);
    }
    for (int i = 0; i < WEIR_STATES; i++)
        s->used_states[i] = s->used_states[i] || u.states[i] > 0;
}

struct svg_paint weir_svg_job_paint(const struct svg *s, uint32_t job)
{
    struct svg_paint p = {"o", true};
    uint32_t shade;

    if (job == SVG_OTHERS)
        return p;
    shade = s->shades[job] ? s->shades[job] - 1u : 0;
    p = weir_svg_word_paint(hue_of(s, job) + SVG_HUES * shade);
    return p;
}

/* ---- values --------------------------------------------------------------------------------------------------- */

const char weir_svg_several[] = "several values";

/* Returns the value of v, or else the common value of its subtree. */
static const char *word_below(const struct svg *s, weir_vertex v)
{
    const char *word = weir_vertex_get(s->g, v, s->map, s->key), *below;
    uint32_t n;
    const weir_vertex *kids = kids_of(s->g, v, &n);
    bool first = true;

    if (word)
        return word;
    for (uint32_t i = 0; i < n && word != weir_svg_several; i++) {
        if (kids[i] == WEIR_NONE)
            continue;
        below = word_below(s, kids[i]);
        word = first || below == word ? below : weir_svg_several;
        first = false;
    }
    return word;
}

static const char *word_of_vertex(const struct svg *s, weir_vertex v)
{
    const char *word = NULL;

    if (s->by == SVG_BY_TYPE)
        return weir_vertex_type(s->g, v);
    for (weir_vertex up = v; up != WEIR_NONE && !word; up = vertex_at(s->g, up)->parent)
        word = weir_vertex_get(s->g, up, s->map, s->key);
    return word ? word : word_below(s, v);
}

const char *weir_svg_word(const struct svg *s, const struct svg_box *box)
{
    weir_vertex v = box->v;
    const char *word = word_of_vertex(s, v);

    for (uint32_t i = 1; i < box->members && (v = weir_svg_sibling(s->g, v)) != WEIR_NONE; i++)
        if (word_of_vertex(s, v) != word)
            return weir_svg_several;
    return word;
}

/* Compares numbers by size, and sorts numbers before words. */
static int compare_texts(const char *a, const char *b)
{
    char *end_a, *end_b;
    double x = weir_number_read(a, &end_a), y = weir_number_read(b, &end_b);
    bool number_a = *a && !*end_a && x == x, number_b = *b && !*end_b && y == y;

    if (number_a && number_b && x != y)
        return x < y ? -1 : 1;
    return number_a != number_b ? (number_a ? -1 : 1) : strcmp(a, b);
}

static int compare_words(const void *a, const void *b)
{
    const struct svg_word *x = a, *y = b;
    return compare_texts(x->text, y->text);
}

uint32_t weir_svg_word_place(const struct svg *s, const char *word)
{
    struct svg_word key = {word, 0}, *found = NULL;

    if (s->nwords)
        found = bsearch(&key, s->words, s->nwords, sizeof *s->words, compare_words);
    return found ? (uint32_t)(found - s->words) : 0;
}

static void add_word(struct svg *s, const char *word)
{
    s->used_several |= word == weir_svg_several;
    if (!word || word == weir_svg_several || s->failed)
        return;
    if (weir_array_reserve(&s->words, &s->words_cap, (size_t)s->nwords + 1, sizeof *s->words) < 0)
        s->failed = true;
    else
        s->words[s->nwords++] = (struct svg_word){word, 1};
}

static void settle_words(struct svg *s)
{
    uint32_t kept = 0;

    if (s->nwords)
        qsort(s->words, s->nwords, sizeof *s->words, compare_words);
    for (uint32_t i = 0; i < s->nwords; i++)
        if (kept && compare_words(&s->words[kept - 1], &s->words[i]) == 0)
            s->words[kept - 1].cells++;
        else
            s->words[kept++] = s->words[i];
    s->nwords = kept;
}

struct svg_paint weir_svg_word_paint(uint32_t place)
{
    struct svg_paint p;
    uint32_t hue = place % SVG_HUES, shade = place / SVG_HUES % SVG_SHADES;

    p.class[0] = 'j';
    p.class[1] = (char)('a' + hue);
    p.class[2] = (char)('0' + shade);
    p.class[3] = '\0';
    p.dark = hues[hue].dark[shade] == 'y';
    return p;
}

struct svg_paint weir_svg_value_paint(const struct svg *s, const char *word)
{
    static const struct svg_paint none = {"f", false}, several = {"x", false};

    if (!word)
        return none;
    return word == weir_svg_several ? several : weir_svg_word_paint(weir_svg_word_place(s, word));
}

struct svg_paint weir_svg_heat_paint(double part)
{
    struct svg_paint p = {"h0", false};
    int level = (int)(part * HEATS + 0.5);

    level = level < 1 ? 1 : level > HEATS ? HEATS : level;
    p.class[1] = (char)('0' + level - 1);
    p.dark = level > DARK_HEAT;
    return p;
}

/* ---- the picture ---------------------------------------------------------------------------------------------- */

static int start_colours(struct svg *s)
{
    size_t njobs = (size_t)job_records(s->g) + 1;

    weir_mem_free(s->shades);
    weir_mem_free(s->weights);
    s->nwords = 0;
    s->used_next = s->used_several = false;
    memset(s->used_states, 0, sizeof s->used_states);
    s->shades = weir_mem_zalloc(njobs, sizeof *s->shades);
    s->weights = weir_mem_zalloc(njobs, sizeof *s->weights);
    s->failed |= !s->shades || !s->weights;
    return s->failed ? WEIR_ENOMEM : WEIR_OK;
}

void weir_svg_colours(struct svg *s)
{
    if (start_colours(s) < 0)
        return;
    for (uint32_t i = 0; i < s->n && !s->failed; i++) {
        struct svg_box *box = &s->boxes[i];
        box->main = WEIR_NONE;
        if (box->count || box->v == WEIR_NONE)
            continue;
        colour_cell(s, box);
        if (s->by == SVG_BY_TYPE || s->by == SVG_BY_MAP)
            add_word(s, weir_svg_word(s, box));
    }
    settle_words(s);
}

static const char light[] = ".bg{fill:#fff}.t{fill:#1f2328}.m{fill:#59636e}.w{fill:#fff}.k{fill:#1f2328}"
                            ".b{fill:#f5f7f9;stroke:#d1d9e0}.f{fill:#e0e5ea}.x{fill:#b4bcc4}.o{fill:#6e7781}"
                            ".l{fill:none;stroke:#3d4752;stroke-width:1.2}.bad{stroke:#b3382c;stroke-width:2}"
                            ".hd{fill:#fff}.hl{fill:#1f2328}.e{stroke:#fff}"
                            ".g{paint-order:stroke;stroke:#fff;stroke-width:2px;stroke-linejoin:round}";
static const char dark[] = "@media(prefers-color-scheme:dark){.bg{fill:#0d1117}.t{fill:#e6edf3}.m{fill:#9198a1}"
                           ".b{fill:#11161d;stroke:#30363d}.f{fill:#252b33}.x{fill:#59626c}.o{fill:#8b949e}"
                           ".hd{fill:#1f2328}.hl{fill:#e6edf3}.l{stroke:#c4ccd4}.bad{stroke:#ff8a7a}"
                           ".e{stroke:#0d1117}.g{stroke:#0d1117}";
static const char fixed[] = "text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,"
                            "sans-serif}.s{font-weight:600}.r{text-anchor:end}.c{text-anchor:middle}"
                            ".cell:hover{opacity:.7}.q{fill:none;stroke:#b7791f;stroke-width:2}"
                            ".z{fill:none;stroke:#6e7781;stroke-dasharray:2 2}";
/* up, down, degraded, failing, unknown, null, draining */
static const char *const state_fills[WEIR_STATES] = {"#9fd3c1", "#4d5661", "#e3c34a", "#b3382c",
                                                     "#b9aed6", "#cfd6dd", "#ee8866"};

static void write_pattern(weir_buf *b, int state, const char *path)
{
    weir_buf_printf(b,
                    "<pattern id=\"p-%s\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><path class=\"%s\" "
                    "d=\"%s\"/></pattern>",
                    weir_state_name(state), state == WEIR_FAILING ? "l bad" : "l", path);
}

#define STRIPES "M-1 1l2-2M0 6l6-6M5 7l2-2"

void weir_svg_styles(struct svg *s)
{
    weir_buf *b = s->b;

    WEIR_WRITE(b, "<style>");
    weir_buf_puts(b, fixed);
    weir_buf_puts(b, light);
    for (uint32_t i = 0; i < SVG_HUES * SVG_SHADES; i++)
        weir_buf_printf(b, ".%s{fill:%s}", weir_svg_word_paint(i).class, hues[i % SVG_HUES].fill[i / SVG_HUES]);
    for (int i = 0; i < HEATS; i++)
        weir_buf_printf(b, ".h%d{fill:%s}", i, heats[i]);
    for (int i = 0; i < WEIR_STATES; i++)
        weir_buf_printf(b, ".s%d{fill:%s}", i, state_fills[i]);
    weir_buf_puts(b, dark);
    for (int i = 0; i < HEATS; i++)
        weir_buf_printf(b, ".h%d{fill:%s}", i, dark_heats[i]);
    WEIR_WRITE(b, "}</style>\n<defs>");
    write_pattern(b, WEIR_DOWN, STRIPES "M-1 5l2 2M0 0l6 6M5-1l2 2");
    write_pattern(b, WEIR_DRAINING, STRIPES);
    write_pattern(b, WEIR_FAILING, STRIPES);
    write_pattern(b, WEIR_UNKNOWN, "M2 3h2");
    write_pattern(b, WEIR_NULL, "M0 3h6");
    WEIR_WRITE(b, "</defs>\n");
}
