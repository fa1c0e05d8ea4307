/* The tests of ccd/gap_broad.h on its scalar twin: the same lists. */
#define GAP_BROAD_SCALAR
#include "test_broad.c"
