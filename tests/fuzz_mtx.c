/* fuzz_mtx.c - any bytes: mtx reads them or says why not, and what it read is a proper matrix
   (rows ascending, diagonal last); on a refusal the outputs are empty and the message is not */
#include "mtx.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void insist(int condition)
{
    if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char message[200], *text = (char *)malloc(size + 1);
    double v[3];
    mtx_matrix A;
    int b = size > 0 ? 1 + data[size - 1] % 3 : 1, i, q;
    memcpy(text, data, size);
    text[size] = 0;
    if (mtx_parse(text, size, "f", b, &A, message, sizeof message) == MTX_OK) {
        insist(message[0] == 0 && A.n > 0 && A.ptr[0] == 0);
        for (i = 0; i < A.n; ++i) {
            insist(A.ptr[i] < A.ptr[i + 1] && A.col[A.ptr[i + 1] - 1] == i);
            for (q = A.ptr[i]; q + 1 < A.ptr[i + 1]; ++q) insist(A.col[q] < A.col[q + 1]);
            insist(A.col[A.ptr[i]] >= 0);
        }
    } else {
        insist(message[0] != 0 && A.n == 0 && !A.ptr && !A.col && !A.val);
    }
    mtx_free(&A);
    if (mtx_parse_vector(text, size, "f", 3, v, message, sizeof message) != MTX_OK) {
        insist(v[0] == 0 && v[1] == 0 && v[2] == 0 && message[0] != 0);
    }
    free(text);
    return 0;
}
