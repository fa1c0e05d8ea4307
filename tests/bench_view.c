/* ./build.sh bench view: 100k triangles x 200 frames through gap-view: CPU time, bytes of the page,
   CPU time of pictures, and the script time per frame that the page itself reports in a headless
   browser (median and slowest of 25 frames, each decoded anew), where there is one. */
#define main gap_view_program
#include "../apps/gap-view.c"
#undef main
#include <time.h>
#include <unistd.h>

#define DIR "build/view_run"
enum { SIDE = 158, FRAMES = 200 }; /* 4 SIDE^2 = 99856 triangles */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Two sheets that wave, one above the other, close in places. */
static void place(double *x, int frame)
{
    double t = 0.02 * frame;
    int s, i, j;
    for (s = 0; s < 2; ++s) for (i = 0; i <= SIDE; ++i) for (j = 0; j <= SIDE; ++j) {
        double u = (double)i / SIDE, v = (double)j / SIDE;
        *x++ = u + 0.02 * sin(9.0 * v + 3.0 * t);
        *x++ = 0.08 * sin(7.0 * u + 5.0 * t) * cos(5.0 * v - 2.0 * t) +
            s * (0.001 + 0.03 * (1.0 + sin(4.0 * u + 6.0 * v + t)));
        *x++ = v;
    }
}

static void write_run(void)
{
    int nodes = 2 * (SIDE + 1) * (SIDE + 1), s, i, j, k, n = 0;
    double *x = need(malloc(3 * (size_t)nodes * sizeof *x));
    static const char *const names[] = {"below", "above"};
    frames_topo t;
    frames_writer *w;
    memset(&t, 0, sizeof t);
    t.nodes = nodes;
    t.tri = need(malloc(12 * SIDE * SIDE * sizeof(int)));
    t.body = need(malloc((size_t)nodes * sizeof(int)));
    for (i = 0; i < nodes; ++i) t.body[i] = i >= nodes / 2;
    for (s = 0; s < 2; ++s) for (i = 0; i < SIDE; ++i) for (j = 0; j < SIDE; ++j) {
        int a = s * (nodes / 2) + i * (SIDE + 1) + j, *q = t.tri + 3 * n;
        q[0] = a; q[1] = a + 1; q[2] = a + SIDE + 1;
        q[3] = a + 1; q[4] = a + SIDE + 2; q[5] = a + SIDE + 1;
        n += 2;
    }
    t.tris = n;
    mkdir("build", 0777);
    mkdir(DIR, 0777);
    w = need(frames_create(DIR "/frames.gapf", 3, 2, names));
    frames_write_topo(w, &t);
    for (k = 0; k < FRAMES; ++k) {
        place(x, k);
        frames_write(w, k, 0.02 * k, x);
    }
    frames_finish(w);
    free(x);
    free(t.tri);
    free(t.body);
}

static void run(const char *what, const char *option, const char *file, const char *color)
{
    const char *given[] = {"gap-view", DIR "/frames.gapf", option, file, "--size", "1920x1080",
        "--color", color};
    char text[8][64], *argv[9];
    struct stat st;
    double t;
    int i, rc;
    for (i = 0; i < 8; ++i) {
        snprintf(text[i], sizeof text[i], "%s", given[i]);
        argv[i] = text[i];
    }
    argv[8] = NULL;
    fflush(stdout);
    t = now();
    rc = gap_view_program(8, argv);
    t = now() - t;
    printf("%-24s exit=%d cpu_s=%.2f bytes=%ld\n", what, rc, t,
        stat(file, &st) == 0 ? (long)st.st_size : -1L);
}

static void browse(void)
{
    char line[4096], here[2048];
    if (system("command -v chromium > /dev/null 2>&1") != 0 || !getcwd(here, sizeof here)) {
        puts("script per frame: skipped (no chromium)");
        return;
    }
    snprintf(line, sizeof line, "timeout 600 chromium --headless --no-sandbox "
        "--use-angle=swiftshader --enable-unsafe-swiftshader --user-data-dir=" DIR "/profile "
        "--window-size=1300,800 --timeout=500000 --dump-dom "
        "'file://%s/" DIR "/view.html#selftest=1' 2> /dev/null | "
        "grep -o '\"scriptMs\":{[^}]*}\\|\"openMs\":[0-9]*\\|\"errors\":\\[[^]]*\\]'", here);
    if (system(line) != 0) puts("script per frame: the browser failed");
}

int main(void)
{
    write_run();
    run("page", "--html", DIR "/view.html", "body");
    run("picture 1920x1080 body", "--png", DIR "/body.png", "body");
    run("picture 1920x1080 strain", "--png", DIR "/strain.png", "strain");
    browse();
    return 0;
}
