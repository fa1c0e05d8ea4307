/* fuzz_ccd.c - the query file reader, and the solver on whatever it reads */
#define GAP_CCD_IMPLEMENTATION
#include "gap_ccd.h"
#include "../apps/common/queries.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void solve(const double *x, double dist)
{
    gap_ccd_options o = {0};
    double toi, plain;
    int kind, status;

    o.budget = 200;
    for (kind = 0; kind < 4; ++kind) {
        status = gap_ccd_pair(&o, 3, kind, x, x + 12, dist, 1.0, &toi);
        if (!(toi >= 0.0 && toi <= 1.0) || (status < 0 && toi != 0.0)) abort();
        if ((status == GAP_CCD_HIT || status == GAP_CCD_BUDGET) && !(toi > 0.0)) abort();
        if (status == GAP_CCD_FREE && toi != 1.0) abort();
        o.isa = GAP_CCD_ISA_VECTOR;
        if (gap_ccd_pair(&o, 3, kind, x, x + 12, dist, 1.0, &plain) != status) abort();
        if (plain != toi) abort();
        o.isa = GAP_CCD_ISA_BEST;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    queries q;
    const char *what;
    double raw[25];
    int i;

    if (size == sizeof raw) { /* any bits as doubles */
        memcpy(raw, data, sizeof raw);
        solve(raw, raw[24]);
    }
    if (queries_parse((const char *)data, size, &q, &what) != 0) {
        if (q.n != 0 || q.x || !what) abort();
        return 0;
    }
    for (i = 0; i < q.n; ++i) solve(q.x + 24 * i, 0.0);
    queries_free(&q);
    return 0;
}
