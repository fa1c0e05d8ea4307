/* pool.h - a small thread pool that has the type of seam 1 (parallel_for)
   One pool runs one loop at a time: pool_for is called by one thread and never from inside a chunk.
   Chunks are begin = c*grain, end = min(begin + grain, count) whatever the number of workers, so
   results that depend on the chunks alone are the same bits for every pool. */
#ifndef POOL_H
#define POOL_H

typedef struct pool pool;
typedef void (*pool_range)(void *ctx, int begin, int end, int worker);

/* A pool of `workers` threads, the caller included; workers < 1 means one per core.
   NULL if threads or memory cannot be had. */
pool *pool_open(int workers);
void pool_close(pool *p); /* p may be NULL */
int pool_workers(const pool *p);

/* Calls fn once for each chunk and returns when all are done. user is a pool or NULL (a plain
   loop). worker is in [0, pool_workers) and not shared by two calls that run at the same time. */
void pool_for(void *user, int count, int grain, pool_range fn, void *ctx);

#endif
