/* test_json.c - the strict JSON reader: what it takes, what it refuses, and where */
#include "json.h"
#include "util.h"

static json *parse(const char *text)
{
    json_error e;
    json *v = json_parse(text, strlen(text), &e);
    if (!v) munit_errorf("%s: line %d: %s", text, e.line, e.text);
    return v;
}

static MunitResult reads_values(const MunitParameter params[], void *data)
{
    json *v = parse(" {\"a\": [1, -2.5e3, true, null,\n \"x\\n\\u00b5\\ud83d\\ude00\"],\n"
                    "\"b\": {}, \"c\": []} ");
    (void)params;
    (void)data;
    munit_assert_int(v->type, ==, JSON_OBJECT);
    munit_assert_int(v->count, ==, 3);
    munit_assert_int(json_get(v, "a")->count, ==, 5);
    munit_assert_double(json_at(json_get(v, "a"), 1)->number, ==, -2500.0);
    munit_assert_int(json_at(json_get(v, "a"), 2)->type, ==, JSON_BOOL);
    munit_assert_string_equal(json_at(json_get(v, "a"), 4)->string, "x\n\xc2\xb5\xf0\x9f\x98\x80");
    munit_assert_int(json_at(json_get(v, "a"), 4)->line, ==, 2);
    munit_assert_int(json_get(v, "b")->line, ==, 3);
    munit_assert_null(json_get(v, "d"));
    munit_assert_null(json_at(json_get(v, "a"), 5));
    json_free(v);
    json_free(NULL);
    return MUNIT_OK;
}

static MunitResult refuses(const MunitParameter params[], void *data)
{
    static const struct {
        const char *text;
        int line;
        const char *says;
    } bad[] = {{"", 1, "end of the text"}, {"{", 1, "key"}, {"[1,]", 1, "expected a value"},
        {"[1 2]", 1, "','"}, {"{\"a\" 1}", 1, "':'"}, {"\n{\"a\":1,\n\"a\":2}", 3, "twice"},
        {"01", 1, "behind the end"}, {"1.", 1, "decimal point"}, {"1e", 1, "exponent"},
        {"\n1e999", 2, "beyond double"}, {"-", 1, "not a number"}, {"nul", 1, "not a JSON"},
        {"\"abc", 1, "without end"}, {"\"a\nb\"", 1, "control"}, {"\"\\x\"", 1, "escape"},
        {"\"\\u12g4\"", 1, "hexadecimal"}, {"\"\\ud800\"", 1, "surrogate"},
        {"\"\\u0000\"", 1, "NUL"}, {"\"\xff\"", 1, "UTF-8"}, {"\"\xc0\x80\"", 1, "UTF-8"},
        {"[1] x", 1, "behind the end"}, {"// c\n1", 1, "expected a value"}, {"+1", 1, "value"},
        {"NaN", 1, "value"}, {"{\"a\":\n[1,\n2}", 3, "opened on line 2"}};
    size_t i;
    (void)params;
    (void)data;
    for (i = 0; i < sizeof bad / sizeof *bad; ++i) {
        json_error e;
        json *v = json_parse(bad[i].text, strlen(bad[i].text), &e);
        if (v) munit_errorf("taken: %s", bad[i].text);
        if (e.line != bad[i].line || !strstr(e.text, bad[i].says)) {
            munit_errorf("%s: line %d: %s", bad[i].text, e.line, e.text);
        }
    }
    return MUNIT_OK;
}

static MunitResult nests_within_bounds(const MunitParameter params[], void *data)
{
    static char text[4 * JSON_DEPTH];
    json_error e;
    json *v;
    int n;
    (void)params;
    (void)data;
    for (n = JSON_DEPTH; n <= JSON_DEPTH + 1; ++n) {
        memset(text, '[', (size_t)n);
        memset(text + n, ']', (size_t)n);
        v = json_parse(text, (size_t)(2 * n), &e);
        munit_assert_int(v != NULL, ==, n <= JSON_DEPTH);
        json_free(v);
    }
    return MUNIT_OK;
}

/* Every prefix of a text is refused, none crashes (address sanitizer watches). */
static MunitResult survives_truncation(const MunitParameter params[], void *data)
{
    const char *text = "{\"a\": [1, -2.5e3, true, \"x\\n\\u00b5\\ud83d\\ude00\"],"
                       " \"b\": {\"c\": null}}";
    size_t n, size = strlen(text);
    json_error e;
    (void)params;
    (void)data;
    for (n = 0; n < size; ++n) {
        char *copy = (char *)munit_malloc(n + 1);
        memcpy(copy, text, n);
        copy = (char *)realloc(copy, n ? n : 1);
        munit_assert_null(json_parse(copy, n, &e));
        free(copy);
    }
    munit_assert_null(json_read("/nonexistent/file.json", &e));
    munit_assert_int(e.line, ==, 0);
    return MUNIT_OK;
}

static MunitTest tests[] = {
    {"/reads_values", reads_values, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/refuses", refuses, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/nests_within_bounds", nests_within_bounds, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {"/survives_truncation", survives_truncation, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL},
    {NULL, NULL, NULL, NULL, MUNIT_TEST_OPTION_NONE, NULL}};
static const MunitSuite suite = {"/json", tests, NULL, 1, MUNIT_SUITE_OPTION_NONE};

int main(int argc, char *argv[])
{
    return munit_suite_main(&suite, NULL, argc, argv);
}
