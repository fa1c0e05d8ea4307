/* png.h - writes 8-bit RGB images; own deflate (greedy LZ77, fixed Huffman code), no library */
#ifndef PNG_H
#define PNG_H
#include <stddef.h>

/* rgb: 3 bytes per pixel, rows from the top. The file appears whole or not at all.
   1, or 0 with errno set. */
int png_write(const char *path, const unsigned char *rgb, int width, int height);

/* The zlib stream of data in a block to be freed, or NULL (out of memory). */
unsigned char *png_deflate(const unsigned char *data, size_t size, size_t *out_size);

#endif
