/* bench_jansson.c - the time jansson needs to parse a JSON file, for spec/bench/jgf.lua. `bench_jansson FILE`
 * prints the processor milliseconds for parsing the text from memory, and for parsing the file as it is read. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Returns the text of a file, to be freed; NULL if the file cannot be read. */
static char *slurp(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    long size = 0;

    if (f && fseek(f, 0, SEEK_END) == 0 && (size = ftell(f)) > 0)
        text = malloc((size_t)size);
    if (text) {
        rewind(f);
        *len = fread(text, 1, (size_t)size, f);
    }
    if (f)
        fclose(f);
    return text;
}

/* Prints the time since `start`; false when parsing failed (root is NULL). */
static int report(json_t *root, double start, const char *what)
{
    double ms = now_ms() - start;

    if (!root)
        return 0;
    printf("%s %.3f\n", what, ms);
    json_decref(root);
    return 1;
}

int main(int argc, char **argv)
{
    size_t len = 0;
    char *text = argc == 2 ? slurp(argv[1], &len) : NULL;
    double start = now_ms();
    int done = text && report(json_loadb(text, len, 0, NULL), start, "text");

    free(text);
    start = now_ms();
    done = done && report(json_load_file(argv[1], 0, NULL), start, "file");
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
