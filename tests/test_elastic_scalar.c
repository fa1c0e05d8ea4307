/* The tests of fem/gap_elastic.h on its scalar twin; the hash of bits must be the same. */
#define GAP_ELASTIC_SCALAR
#include "test_elastic.c"
