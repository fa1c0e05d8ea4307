/* The tests of ccd/gap_ccd.h on its scalar twin; the hash of bits must be the same. */
#define GAP_CCD_SCALAR
#include "test_ccd.c"
