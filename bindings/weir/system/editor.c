/* editor.c - lines from a terminal, edited with libedit: history, completion, reverse search, pasting of several lines.
 * Invariant: between two reads the terminal has the settings found at the start; from making to closing an editor
 * handles Ctrl-C.
 *
 *   ed = editor{history = path or nil, size = 1000, complete = function(line, at) -> insert, list}
 *   ed:read(prompt)    a line without line end; nil, "end" at Ctrl-D; nil, "interrupted" at Ctrl-C
 *   ed:remember(text)  appends to the history unless equal to the last entry, and saves the file: true, or nil, message
 *   ed:close()
 *
 * `complete` gets the line and the number of bytes left of the cursor; `insert` is inserted at the cursor, `list` (a
 * text of whole lines) is shown below. */
#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "handle/support.h"
#include "system/editor.h"
#include "system/interrupt.h"

#define EDITOR "weir.editor"

#define PASTE_ON   "\033[?2004h" /* the terminal marks pasted text */
#define PASTE_OFF  "\033[?2004l"
#define PASTE_END  "\033[201~"
#define PASTE_MOST (1u << 20) /* bytes */

/* User values of the handle. */
enum { COMPLETE = 1, USER_VALUES = COMPLETE };

struct signals {
    struct sigaction interrupt, resize;
};

struct editor {
    EditLine *el;
    History *history;
    char *path;   /* of the history; NULL: no file */
    lua_State *L; /* while a line is read */
    const char *prompt;
    struct signals before; /* the signal handlers before the editor was made */
    bool has_signals;
};

static volatile sig_atomic_t interrupted, resized;

/* Returns whether Ctrl-C came since the last line was read, and resets the mark: such a Ctrl-C is meant for the code
 * about to run. */
bool weirlua_editor_interrupted(void)
{
    bool was = interrupted != 0;

    interrupted = 0;
    return was;
}

static void on_signal(int signal_number)
{
    if (signal_number == SIGINT)
        interrupted = 1;
    else
        resized = 1;
}

/* ---- what libedit calls ---- */

static struct editor *editor_of(EditLine *el)
{
    void *p = NULL;

    el_get(el, EL_CLIENTDATA, &p);
    return p;
}

static char *prompt_of(EditLine *el)
{
    static char text[256];

    snprintf(text, sizeof text, "%s", editor_of(el)->prompt);
    return text;
}

/* Reads a byte. Returns 1; 0 at the end of input; -1 when interrupted. */
static int read_byte(EditLine *el, char *byte)
{
    for (;;) {
        struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
        ssize_t n;
        if (interrupted)
            return -1;
        if (weirlua_ending())
            return 0;
        if (resized) {
            resized = 0;
            el_resize(el);
        }
        if (poll(&in, 1, -1) < 0)
            continue;
        n = read(STDIN_FILENO, byte, 1);
        if (n == 1)
            return 1;
        if (n == 0 || (errno != EINTR && errno != EAGAIN))
            return 0;
    }
}

/* Reads a character, maybe of several bytes. A malformed character is read byte by byte. */
static int read_character(EditLine *el, wchar_t *c)
{
    mbstate_t state;
    char byte;
    int rc;

    memset(&state, 0, sizeof state);
    while ((rc = read_byte(el, &byte)) == 1) {
        size_t n = mbrtowc(c, &byte, 1, &state);
        if (n == (size_t)-2)
            continue;
        if (n == (size_t)-1)
            *c = (unsigned char)byte;
        return 1;
    }
    return rc;
}

/* (complete, line, at): insert, list. Runs under lua_pcall. */
static int call_complete(lua_State *L)
{
    lua_call(L, 2, 2);
    if (!lua_isnil(L, 1))
        luaL_checkstring(L, 1);
    if (!lua_isnil(L, 2))
        luaL_checkstring(L, 2);
    return 2;
}

static unsigned char show_completions(struct editor *ed, const char *insert, const char *list)
{
    if (insert && *insert)
        el_insertstr(ed->el, insert);
    if (list && *list) {
        fprintf(stdout, "\n%s", list);
        return CC_REDISPLAY;
    }
    return insert && *insert ? CC_REFRESH : CC_REFRESH_BEEP;
}

static unsigned char on_tab(EditLine *el, int key)
{
    struct editor *ed = editor_of(el);
    lua_State *L = ed->L;
    const LineInfo *line = el_line(el);
    unsigned char result = CC_REFRESH_BEEP;
    int top = lua_gettop(L);

    (void)key;
    if (!lua_checkstack(L, 8))
        return result;
    lua_pushcfunction(L, call_complete);
    lua_getiuservalue(L, 1, COMPLETE);
    lua_pushlstring(L, line->buffer, (size_t)(line->lastchar - line->buffer));
    lua_pushinteger(L, line->cursor - line->buffer);
    if (lua_toboolean(L, -3) && lua_pcall(L, 3, 2, 0) == LUA_OK)
        result = show_completions(ed, lua_tostring(L, -2), lua_tostring(L, -1));
    lua_settop(L, top);
    return result;
}

/* Inserts pasted text unchanged, line ends included. */
static unsigned char on_paste(EditLine *el, int key)
{
    const size_t end = strlen(PASTE_END);
    size_t n = 0, cap = 256;
    char *text = malloc(cap), c;

    (void)key;
    while (text && n < PASTE_MOST && read_byte(el, &c) == 1) {
        text[n++] = c == '\r' ? '\n' : c;
        if (n >= end && memcmp(text + n - end, PASTE_END, end) == 0) {
            n -= end;
            break;
        }
        if (n + 1 == cap) {
            char *more = realloc(text, cap *= 2);
            if (!more)
                break;
            text = more;
        }
    }
    if (text) {
        while (n > 0 && text[n - 1] == '\n')
            n--;
        text[n] = '\0';
        el_insertstr(el, text);
    }
    free(text);
    return CC_REFRESH;
}

/* ---- making an editor ---- */

static void take_signals(struct editor *ed)
{
    struct sigaction action = {.sa_handler = on_signal};

    sigemptyset(&action.sa_mask);
    interrupted = resized = 0;
    sigaction(SIGINT, &action, &ed->before.interrupt);
    sigaction(SIGWINCH, &action, &ed->before.resize);
    ed->has_signals = true;
}

static void give_signals_back(struct editor *ed)
{
    if (!ed->has_signals)
        return;
    sigaction(SIGINT, &ed->before.interrupt, NULL);
    sigaction(SIGWINCH, &ed->before.resize, NULL);
}

/* libedit never frees the names of added functions. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#else
#define __lsan_disable() ((void)0)
#define __lsan_enable()  ((void)0)
#endif

static void add_functions(EditLine *el)
{
    __lsan_disable();
    el_set(el, EL_ADDFN, "weir-complete", "completes what is left of the cursor", on_tab);
    el_set(el, EL_ADDFN, "weir-paste", "takes what is pasted", on_paste);
    __lsan_enable();
}

static void bind_keys(EditLine *el)
{
    add_functions(el);
    el_set(el, EL_EDITOR, "emacs");
    el_set(el, EL_BIND, "^I", "weir-complete", NULL);
    el_set(el, EL_BIND, "\\e[200~", "weir-paste", NULL);
    el_set(el, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_set(el, EL_BIND, "\\e[1;5C", "em-next-word", NULL);
    el_set(el, EL_BIND, "\\e[1;5D", "ed-prev-word", NULL);
    el_set(el, EL_BIND, "\\e[3~", "ed-delete-next-char", NULL);
    el_set(el, EL_BIND, "\\e[H", "ed-move-to-beg", NULL);
    el_set(el, EL_BIND, "\\e[F", "ed-move-to-end", NULL);
}

static bool open_editor(struct editor *ed)
{
    setlocale(LC_CTYPE, ""); /* without a locale libedit knows only ASCII */
    ed->el = el_init("weir", stdin, stdout, stderr);
    if (!ed->el)
        return false;
    el_set(ed->el, EL_CLIENTDATA, ed);
    el_set(ed->el, EL_SIGNAL, 0);
    el_set(ed->el, EL_GETCFN, read_character);
    el_set(ed->el, EL_PROMPT_ESC, prompt_of, '\1');
    el_set(ed->el, EL_HIST, history, ed->history);
    bind_keys(ed->el);
    el_source(ed->el, NULL); /* ~/.editrc, with key bindings of the user */
    return true;
}

static bool open_history(struct editor *ed, int size)
{
    HistEvent event;

    ed->history = history_init();
    if (!ed->history)
        return false;
    history(ed->history, &event, H_SETSIZE, size);
    history(ed->history, &event, H_SETUNIQUE, 1);
    if (ed->path && history(ed->history, &event, H_LOAD, ed->path) < 0) {
        int fd = open(ed->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600); /* readable by the owner only */
        if (fd >= 0)
            close(fd);
    }
    return true;
}

static void close_editor(struct editor *ed)
{
    give_signals_back(ed);
    if (ed->el)
        el_end(ed->el);
    if (ed->history)
        history_end(ed->history);
    free(ed->path);
    *ed = (struct editor){0};
}

int weirlua_editor_new(lua_State *L)
{
    static const char *const known[] = {"history", "size", "complete", NULL};
    struct editor *ed;
    const char *path;
    int64_t size;

    weirlua_options(L, 1, known);
    path = weirlua_field_string(L, 1, "history", NULL);
    size = weirlua_field_integer(L, 1, "size", 1000);
    luaL_argcheck(L, size > 0 && size <= 1000000, 1, "field 'size': 1 to 1000000 expected");
    ed = lua_newuserdatauv(L, sizeof *ed, USER_VALUES);
    *ed = (struct editor){0};
    luaL_setmetatable(L, EDITOR);
    lua_getfield(L, 1, "complete");
    lua_setiuservalue(L, -2, COMPLETE);
    if (path && !(ed->path = strdup(path)))
        return luaL_error(L, "out of memory");
    if (!open_history(ed, (int)size) || !open_editor(ed))
        return luaL_error(L, "the terminal cannot be set up for editing");
    take_signals(ed);
    return 1;
}

/* ---- methods ---- */

static struct editor *check_editor(lua_State *L)
{
    struct editor *ed = luaL_checkudata(L, 1, EDITOR);

    luaL_argcheck(L, ed->el, 1, "the editor is closed");
    return ed;
}

static const char *get_line(struct editor *ed, lua_State *L, int *n)
{
    const char *line;

    interrupted = 0;
    ed->L = L;
    fputs(PASTE_ON, stdout);
    fflush(stdout);
    el_set(ed->el, EL_PREP_TERM, 1); /* before the prompt: characters typed early would be echoed twice */
    line = el_gets(ed->el, n);
    fputs(PASTE_OFF, stdout);
    fflush(stdout);
    ed->L = NULL;
    return line;
}

static int editor_read(lua_State *L)
{
    struct editor *ed = check_editor(L);
    const char *line;
    int n = 0;

    ed->prompt = luaL_checkstring(L, 2);
    luaL_argcheck(L, !ed->L, 1, "a line is being read");
    lua_settop(L, 2);
    line = get_line(ed, L, &n);
    if (line && n > 0) { /* a later Ctrl-C is meant for the code that runs the line */
        lua_pushlstring(L, line, (size_t)n - (line[n - 1] == '\n'));
        return 1;
    }
    if (interrupted) {
        fputs("^C\n", stdout);
        el_reset(ed->el);
    }
    lua_pushnil(L);
    lua_pushstring(L, weirlua_editor_interrupted() ? "interrupted" : "end");
    return 2;
}

/* Returns the content of a file, to be freed; NULL when the file cannot be read. */
static char *text_of(FILE *f, size_t *len)
{
    long end = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    char *text = end >= 0 ? malloc((size_t)end + 1) : NULL;

    rewind(f);
    *len = text ? fread(text, 1, (size_t)end, f) : 0;
    if (text && *len == (size_t)end)
        return text;
    free(text);
    return NULL;
}

/* Saves the history, replacing the file as a whole. libedit can write to a file only, and does not report write errors,
 * so the text is written to a temporary file and read back. */
static int save_history(struct editor *ed, weir_err *err)
{
    HistEvent event;
    FILE *f = tmpfile();
    bool saved = f && history(ed->history, &event, H_SAVE_FP, f) >= 0 && fflush(f) == 0;
    size_t len = 0;
    char *text = saved ? text_of(f, &len) : NULL;
    int rc = WEIR_EIO;

    if (text)
        rc = weir_file_write(ed->path, text, len, 0, err);
    else
        snprintf(err->text, sizeof err->text, "%s: %s", ed->path, strerror(errno));
    if (f)
        fclose(f);
    free(text);
    return rc;
}

/* Removes earlier entries equal to the text, so that the history has each text once. */
static void forget_earlier(History *h, const char *text)
{
    HistEvent event, deleted;

    for (int rc = history(h, &event, H_FIRST); rc >= 0; rc = history(h, &event, H_NEXT))
        if (strcmp(event.str, text) == 0) {
            history(h, &deleted, H_DEL, event.num);
            return;
        }
}

static int editor_remember(lua_State *L)
{
    struct editor *ed = check_editor(L);
    const char *text = luaL_checkstring(L, 2);
    HistEvent event;
    weir_err err = {0};
    int rc;

    forget_earlier(ed->history, text);
    history(ed->history, &event, H_ENTER, text);
    rc = ed->path ? save_history(ed, &err) : WEIR_OK;
    return weirlua_status(L, rc, &err);
}

static int editor_close(lua_State *L)
{
    close_editor(luaL_checkudata(L, 1, EDITOR));
    return 0;
}

static const luaL_Reg methods[] = {
    {"read", editor_read}, {"remember", editor_remember}, {"close", editor_close}, {NULL, NULL}};
static const luaL_Reg meta[] = {{"__gc", editor_close}, {"__close", editor_close}, {NULL, NULL}};

void weirlua_editor_open(lua_State *L, struct weirlua *s)
{
    weirlua_class(L, s, EDITOR, methods, meta);
}
