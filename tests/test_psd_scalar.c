/* Tests of solver/gap_psd.h without vector types: the same answers, and the same bits as with them
   (every munit_assert is in test_psd.c; twin_bits compares with the hash of the vector build). */
#define GAP_SCALAR
#include "test_psd.c"
