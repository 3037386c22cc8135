/* sandbox.c - the lua_State of a policy from a file, or of a file that describes data: budgets of memory and
 * instructions. Invariant: code of the policy runs only under lua_pcall with the count hook set; outside of lua_pcall
 * no function that can raise is called on S.
 *
 * A match may spend the budget of instructions, and SHARE more for each call of a hook, so that large machines do not
 * exhaust an honest policy. C functions are charged too: memory by the allocator, loops by sandbox_lib.c. As the last
 * resort, a match is limited to a budget of seconds. The count hook checks budget, clock and signals every COUNT
 * instructions, and every HASTE instructions once the state has had a string of LONG_TEXT bytes, because an instruction
 * on such a string takes as long as hundreds of instructions on short strings. */
#include "handle/support.h"
#include "policy/charge.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define COUNT  1000  /* instructions between two checks of the budget */
#define SAMPLE 100   /* instructions between two checks while lines are sampled */
#define HASTE  20    /* instructions between two checks with few seconds or long strings */
#define SHARE  10000 /* instructions added by each call of a hook */
#define BYTES  8     /* bytes of allocated memory charged as one instruction */
#define LARGE                                                                                                          \
    65536                    /* bytes refused once the budget is used up: the next run of the count hook may be far    \
                              * away */
#define LONG_TEXT  (1 << 15) /* bytes of a string that make the count hook run more often */
#define LOOK_STEPS 10000     /* steps of C functions between two looks at the clock */
#define STEPS      16        /* steps of a C function charged as one instruction */
#define COLLECTED  8         /* bytes examined by a full collection in the time of one instruction */

const char *const weirlua_hook_names[HOOKS] = {"order",  "prune",    "evaluate",          "select", "admit", "init",
                                               "placed", "finished", "evaluate_siblings", "group"};

static const char anchor_key = 0;

struct sandbox *weirlua_sandbox_of(lua_State *S)
{
    return *(struct sandbox **)lua_getextraspace(S);
}

static void *refuse(struct sandbox *sb);
static void hurry(struct sandbox *sb);

static void *allocate(void *ud, void *p, size_t old, size_t size)
{
    struct sandbox *sb = ud;
    bool text = !p && old == LUA_TSTRING; /* for a new block, Lua passes the type as old size */
    void *q;

    old = p ? old : 0;
    if (size == 0) {
        free(p);
        sb->used -= old;
        return NULL;
    }
    if (text && size > SANDBOX_TEXT_MAX) {
        sb->long_text = true;
        return refuse(sb);
    }
    if (text && size > LONG_TEXT && !sb->haste)
        hurry(sb);
    if (size > old && (sb->starved || size - old > sb->limit - sb->used || (sb->left < 0 && size > LARGE)))
        return refuse(sb);
    q = realloc(p, size);
    if (q) {
        sb->used = sb->used - old + size;
        sb->left -= (int64_t)(size / BYTES);
    }
    return q;
}

/* ---- budgets ---- */

int64_t weirlua_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Returns whether the turn exceeds the seconds. The clock of a turn starts at the first call. Time between two calls
 * during a single hook call is charged to the script (`inside`); any further time may be the core's. */
static bool overtime(struct sandbox *sb)
{
    int64_t now = weirlua_clock();

    if (sb->since && sb->calls == sb->looked_calls)
        sb->inside += (double)(now - sb->looked) / 1e9;
    sb->since = sb->since ? sb->since : now;
    sb->looked = now;
    sb->looked_calls = sb->calls;
    return (double)(now - sb->since) > sb->seconds * 1e9;
}

bool weirlua_sandbox_due(const struct sandbox *sb)
{
    return sb->pause && weirlua_clock() >= sb->pause;
}

static int interval(const struct sandbox *sb)
{
    return sb->sample ? SAMPLE : sb->seconds < SANDBOX_QUICK || sb->haste ? HASTE : COUNT;
}

static void look(lua_State *S, lua_Debug *ar);

/* Makes the count hook run soon, after the first long string: before the next check, a thousand instructions may each
 * compare the string. */
static void hurry(struct sandbox *sb)
{
    sb->haste = true;
    if (sb->thread && !sb->exhausted)
        lua_sethook(sb->thread, look, LUA_MASKCOUNT, interval(sb));
}

/* Finds the innermost running Lua function of the script, not of SANDBOX_PRELUDE. Returns false without such a
 * function. */
static bool find_place(lua_State *S, lua_Debug *ar)
{
    for (int level = 0; lua_getstack(S, level, ar); level++) {
        lua_getinfo(S, "Sl", ar);
        if (ar->currentline >= 0 && strcmp(ar->short_src, SANDBOX_PRELUDE) != 0)
            return true;
    }
    return false;
}

void weirlua_sandbox_place(lua_State *S, char *buf, size_t size)
{
    lua_Debug ar;

    buf[0] = '\0';
    if (find_place(S, &ar))
        snprintf(buf, size, "%s:%d: ", ar.short_src, ar.currentline);
}

/* Called when memory is refused. Lua then collects all garbage and tries again, at a cost proportional to the memory in
 * use: the collection is charged, so that the budget ends a script with full memory. Notes the place, since errors of
 * memory have no place. */
static void *refuse(struct sandbox *sb)
{
    sb->left -= (int64_t)(sb->used / COLLECTED);
    sb->starved = sb->starved || sb->left < 0 || overtime(sb) || weir_interrupted();
    sb->place[0] = sb->trace[0] = '\0';
    if (sb->S)
        weirlua_sandbox_place(sb->S, sb->place, sizeof sb->place);
    return NULL;
}

static bool over(struct sandbox *sb, bool clock)
{
    return sb->exhausted || sb->left < 0 || weir_interrupted() || (clock && overtime(sb));
}

/* Raises "budget used up". From now on each instruction raises, so that no handler of the script can go on. */
static void end(lua_State *S)
{
    struct sandbox *sb = weirlua_sandbox_of(S);
    bool spent = sb->left < 0;
    lua_Debug ar;

    sb->exhausted = true;
    lua_sethook(S, look, LUA_MASKCOUNT, 1);
    lua_pushliteral(S, "");
    if (find_place(S, &ar))
        lua_pushfstring(S, "%s:%d: ", ar.short_src, ar.currentline);
    if (weir_interrupted())
        lua_pushliteral(S, "interrupted");
    else if (overtime(sb) || !spent)
        lua_pushfstring(S, "it took more than its %f seconds", sb->seconds);
    else
        lua_pushfstring(S, "it used up its budget of %I instructions", (LUAI_UACINT)sb->budget);
    lua_concat(S, 2);
    lua_error(S);
}

static void look(lua_State *S, lua_Debug *ar)
{
    struct sandbox *sb = weirlua_sandbox_of(S);

    sb->left -= lua_gethookcount(S);
    if (sb->sample) {
        lua_getinfo(S, "Sl", ar);
        sb->sample(sb->sampler, ar);
    }
    if (over(sb, true))
        end(S);
    if (lua_gethookcount(S) != interval(sb))
        lua_sethook(S, look, LUA_MASKCOUNT, interval(sb));
    if (weirlua_sandbox_due(sb) && lua_isyieldable(S))
        lua_yield(S, 0);
}

void weirlua_sandbox_begin(struct sandbox *sb)
{
    sb->left = sb->budget;
    sb->exhausted = false;
    sb->thread = sb->S;
    sb->turn++;
    sb->since = 0;
    sb->inside = 0;
    sb->unseen = 0;
    sb->long_text = sb->starved = false;
    sb->place[0] = '\0';
    lua_sethook(sb->S, look, LUA_MASKCOUNT, interval(sb));
}

void weirlua_sandbox_end(struct sandbox *sb)
{
    sb->overran = sb->exhausted && sb->inside > SANDBOX_OVERRUN * sb->seconds ? sb->inside : 0;
}

void weirlua_sandbox_call(struct sandbox *sb)
{
    sb->calls++;
    sb->left += sb->left < sb->budget ? SHARE : 0;
}

void weirlua_sandbox_spend(lua_State *S, int64_t steps)
{
    struct sandbox *sb = weirlua_sandbox_of(S);

    sb->left -= steps / STEPS;
    sb->unseen += steps;
    if (!over(sb, sb->unseen >= LOOK_STEPS))
        sb->unseen = sb->unseen < LOOK_STEPS ? sb->unseen : 0;
    else
        end(S);
}

int64_t weirlua_timing(const struct weirlua *s)
{
    return s->readonly ? weirlua_clock() : 0;
}

void weirlua_spend_since(lua_State *L, const struct weirlua *s, int64_t begin)
{
    if (s->readonly)
        weirlua_sandbox_spend(L, weirlua_clock() - begin);
}

void weirlua_sandbox_take(lua_State *S, size_t bytes)
{
    struct sandbox *sb = weirlua_sandbox_of(S);

    if (bytes > sb->limit - sb->used) {
        refuse(sb);
        lua_gc(S, LUA_GCCOLLECT);
    }
    if (bytes > sb->limit - sb->used) {
        sb->exhausted = true;
        luaL_error(S, "not enough memory");
    }
    sb->used += bytes;
    sb->left -= (int64_t)(bytes / BYTES);
}

size_t weirlua_sandbox_left(lua_State *S)
{
    return weirlua_sandbox_of(S)->limit - weirlua_sandbox_of(S)->used;
}

void weirlua_sandbox_give(lua_State *S, size_t bytes)
{
    weirlua_sandbox_of(S)->used -= bytes;
}

/* ---- opening ---- */

/* Returns a key that scripts cannot know. */
static struct siphash_key random_key(void)
{
    struct siphash_key key;

    if (getrandom(&key, sizeof key, GRND_NONBLOCK) != (ssize_t)sizeof key) /* early at boot: no randomness yet */
        key = (struct siphash_key){(uint64_t)weirlua_clock(), (uintptr_t)&key};
    return key;
}

void weirlua_sandbox_budget(lua_State *L, int options, struct sandbox_budget *b)
{
    b->instructions = weirlua_field_integer(L, options, "instructions", b->instructions);
    b->bytes = weirlua_field_integer(L, options, "memory", b->bytes);
    if (lua_getfield(L, options, "seconds") != LUA_TNIL) {
        luaL_argcheck(L, lua_type(L, -1) == LUA_TNUMBER, options, "field 'seconds': number expected");
        b->seconds = lua_tonumber(L, -1);
    }
    lua_pop(L, 1);
    if (b->instructions < 1 || b->bytes < 1 || b->bytes > INT64_MAX / 4 || !(b->seconds > 0))
        luaL_error(L, "instructions, memory and seconds are above 0");
}

bool weirlua_sandbox_new(struct sandbox *sb, const struct sandbox_budget *b)
{
    *sb = (struct sandbox){
        .limit = (size_t)b->bytes, .budget = b->instructions, .left = b->instructions, .seconds = b->seconds};
    sb->S = lua_newstate(allocate, sb);
    if (!sb->S)
        return false;
    *(struct sandbox **)lua_getextraspace(sb->S) = sb;
    sb->digests = random_key();
    weirlua_sandbox_begin(sb);
    return true;
}

void weirlua_sandbox_close(struct sandbox *sb)
{
    lua_State *S = sb->S;

    sb->S = sb->thread = NULL;
    if (S)
        lua_close(S);
}

/* ---- use ---- */

void weirlua_sandbox_keep(lua_State *S)
{
    lua_rawsetp(S, LUA_REGISTRYINDEX, &anchor_key);
}

void weirlua_sandbox_anchor(struct sandbox *sb)
{
    lua_rawgetp(sb->S, LUA_REGISTRYINDEX, &anchor_key);
}

/* ---- errors ---- */

bool weirlua_has_place(const char *text)
{
    for (const char *end = text; (end = strstr(end, ": ")) != NULL; end++) {
        const char *at = end;
        while (at > text && at[-1] >= '0' && at[-1] <= '9')
            at--;
        if (at < end && at > text + 1 && at[-1] == ':')
            return true;
    }
    return false;
}

const char *weirlua_behind_prelude(const char *text)
{
    size_t at = sizeof SANDBOX_PRELUDE - 1, digits;

    if (strncmp(text, SANDBOX_PRELUDE ":", at + 1) != 0)
        return text;
    digits = strspn(text + at + 1, "0123456789");
    at += 1 + digits;
    return digits && text[at] == ':' && text[at + 1] == ' ' ? text + at + 2 : text;
}

/* Keeps the functions of the script that are running, innermost first, as many as have room. Allocates nothing. */
static void keep_trace(lua_State *S)
{
    struct sandbox *sb = weirlua_sandbox_of(S);
    size_t n = 0;
    lua_Debug ar;

    sb->trace[0] = '\0';
    for (int level = 0; lua_getstack(S, level, &ar) && n < sizeof sb->trace; level++) {
        lua_getinfo(S, "Sln", &ar);
        if (ar.currentline < 0 || strcmp(ar.short_src, SANDBOX_PRELUDE) == 0)
            continue;
        n += (size_t)snprintf(sb->trace + n, sizeof sb->trace - n, "%s%s:%d: in %s%s%s", n ? "\n" : "", ar.short_src,
                              ar.currentline, ar.name ? "'" : "the hook", ar.name ? ar.name : "", ar.name ? "'" : "");
    }
}

int weirlua_sandbox_locate(lua_State *S)
{
    size_t len = 0;
    const char *text = lua_type(S, 1) == LUA_TSTRING ? lua_tolstring(S, 1, &len) : NULL,
               *rest = text ? weirlua_behind_prelude(text) : NULL;
    lua_Debug ar;

    keep_trace(S);
    if (!text || (rest == text && weirlua_has_place(text)) || !find_place(S, &ar))
        return 1;
    lua_pushlstring(S, rest, len - (size_t)(rest - text));
    lua_replace(S, 1);
    lua_pushfstring(S, "%s:%d: ", ar.short_src, ar.currentline);
    lua_insert(S, 1);
    lua_concat(S, 2);
    return 1;
}

static int to_text(lua_State *S)
{
    if (lua_isstring(S, 1) || luaL_getmetafield(S, 1, "__tostring") != LUA_TNIL || lua_isnil(S, 1))
        weirlua_show(S, 1);
    else
        lua_pushfstring(S, "an error that is a %s, no text", luaL_typename(S, 1));
    return 1;
}

/* Copies a text as one line. A zero byte becomes \\0, as the copy would end at a zero byte. */
static void copy_line(char *buf, size_t size, const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len && n + 2 < size; i++) {
        char c = text[i];
        if (c == '\0') {
            buf[n++] = '\\';
            c = '0';
        }
        buf[n++] = c == '\r' || c == '\n' || c == '\t' ? ' ' : c;
    }
    buf[n] = '\0';
}

void weirlua_error_text(lua_State *S, char *buf, size_t size)
{
    const char *text = "an error that cannot be shown";
    size_t len = strlen(text);

    lua_pushcfunction(S, to_text);
    lua_insert(S, -2);
    lua_pcall(S, 1, 1, 0);
    if (lua_type(S, -1) == LUA_TSTRING)
        text = lua_tolstring(S, -1, &len);
    copy_line(buf, size, text, len);
    lua_pop(S, 1);
}

void weirlua_sandbox_text(struct sandbox *sb, char *buf, size_t size)
{
    bool spent = sb->left < 0, long_text = sb->long_text;
    char place[sizeof sb->place], text[64];

    memcpy(place, sb->place, sizeof place);
    weirlua_sandbox_begin(sb);
    weirlua_error_text(sb->S, buf, size);
    if (strcmp(buf, "not enough memory") != 0)
        return;
    snprintf(text, sizeof text, "%s", buf);
    if (long_text)
        snprintf(buf, size, "%s%s (a string may have %d KB)", place, text, SANDBOX_TEXT_MAX >> 10);
    else if (spent)
        snprintf(buf, size, "%s%s (it used up its instructions)", place, text);
    else
        snprintf(buf, size, "%s%s (it may have %zu %s)", place, text, sb->limit >> (sb->limit < 1 << 20 ? 10 : 20),
                 sb->limit < 1 << 20 ? "KB" : "MB");
}

void weirlua_function_place(lua_State *S, char *buf, size_t size)
{
    lua_Debug ar;

    if (lua_type(S, -1) != LUA_TFUNCTION) {
        lua_pop(S, 1);
        return;
    }
    lua_getinfo(S, ">S", &ar);
    if (ar.linedefined > 0)
        snprintf(buf, size, "%s:%d: ", ar.short_src, ar.linedefined);
}

/* Writes the place where the function of a hook begins, as "file:line: "; else the name of the file, if known. */
static void place_of_hook(struct sandbox *sb, const char *hook, char *buf, size_t size)
{
    int top = lua_gettop(sb->S);

    snprintf(buf, size, "%s%s", sb->chunk, sb->chunk[0] ? ": " : "");
    weirlua_sandbox_anchor(sb);
    for (int i = 0; hook && i < HOOKS && lua_istable(sb->S, top + 1); i++) {
        if (strcmp(weirlua_hook_names[i], hook) != 0)
            continue;
        lua_rawgeti(sb->S, top + 1, i + 1);
        weirlua_function_place(sb->S, buf, size);
    }
    lua_settop(sb->S, top);
}

void weirlua_hook_error(const char *name, const char *hook, const char *place, const char *text, weir_err *err)
{
    weir_err_clear(err);
    err->code = WEIR_EPOLICY;
    snprintf(err->text, sizeof err->text, "policy %.64s: %s%s%s%.350s", name, hook ? hook : "", hook ? ": " : "",
             weirlua_has_place(text) ? "" : place, text);
}

void weirlua_sandbox_complain(struct sandbox *sb, const char *name, const char *hook, const char *text, weir_err *err)
{
    char place[PLACE_SIZE] = "";

    if (!weirlua_has_place(text) && lua_checkstack(sb->S, 4))
        place_of_hook(sb, hook, place, sizeof place);
    weirlua_hook_error(name, hook, place, text, err);
    if (!hook && strncmp(text, "policy ", 7) == 0)
        snprintf(err->text, sizeof err->text, "%s", text);
}

void weirlua_sandbox_error(struct sandbox *sb, const char *name, const char *hook, weir_err *err)
{
    char text[sizeof err->text];

    weirlua_sandbox_text(sb, text, sizeof text);
    weirlua_sandbox_complain(sb, name, hook, text, err);
}
