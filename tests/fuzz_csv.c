/* Any bytes as stats.csv: no crash, every row whole, names printable. */
#include "csv.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    csv t;
    FILE *f;
    size_t i, lines = 0;
    double sum = 0.0;
    uint8_t *b = (uint8_t *)malloc(size + 1);
    if (!b || size == 0) {
        free(b);
        return 0;
    }
    memcpy(b, data, size);
    f = fmemopen(b, size, "rb");
    if (f && csv_read(&t, f)) {
        for (i = 0; i < size; ++i) lines += data[i] == '\n';
        if ((size_t)t.rows > lines || (t.rows && !t.columns)) abort();
        for (i = 0; i < (size_t)t.rows * (size_t)t.columns; ++i) sum += t.value[i];
        for (i = 0; i < (size_t)t.columns; ++i) {
            if (csv_find(&t, t.column[i]) < 0 || strlen(t.column[i]) == 0) abort();
        }
        if (sum == 12345.0) b[0] = 1; /* keeps the reads */
        csv_free(&t);
    }
    if (f) fclose(f);
    free(b);
    return 0;
}
