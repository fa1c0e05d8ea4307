/* pool.c - see pool.h */
#include "pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct pool_worker {
    pool *owner;
    int number;
    pthread_t thread;
} pool_worker;

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    pool_worker *worker; /* [workers]; entry 0 is the caller */
    int workers, started;
    unsigned long round; /* counts the loops; a change wakes the workers */
    int quit;
    pool_range fn;
    void *ctx;
    int count, grain, chunks, next, running;
};

/* Takes chunks of the present loop until none is left. Called and left with the lock held. */
static void take_chunks(pool *p, int worker)
{
    while (p->next < p->chunks) {
        int begin = p->next++ * p->grain; /* fits: begin < count */
        int end = p->count - begin > p->grain ? begin + p->grain : p->count;
        pthread_mutex_unlock(&p->lock);
        p->fn(p->ctx, begin, end, worker);
        pthread_mutex_lock(&p->lock);
    }
}

static void *worker_main(void *arg)
{
    pool_worker *w = arg;
    pool *p = w->owner;
    unsigned long seen = 0;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (p->round == seen && !p->quit) pthread_cond_wait(&p->work, &p->lock);
        if (p->quit) break;
        seen = p->round;
        ++p->running;
        take_chunks(p, w->number);
        if (--p->running == 0) pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

pool *pool_open(int workers)
{
    pool *p;
    if (workers < 1) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        workers = cores < 1 ? 1 : cores > 256 ? 256 : (int)cores;
    }
    p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->worker = calloc((size_t)workers, sizeof *p->worker);
    if (!p->worker) {
        free(p);
        return NULL;
    }
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    p->workers = workers;
    for (p->started = 1; p->started < workers; ++p->started) {
        pool_worker *w = &p->worker[p->started];
        w->owner = p;
        w->number = p->started;
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0) {
            pool_close(p);
            return NULL;
        }
    }
    return p;
}

void pool_close(pool *p)
{
    int i;
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->quit = 1;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (i = 1; i < p->started; ++i) pthread_join(p->worker[i].thread, NULL);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    free(p->worker);
    free(p);
}

int pool_workers(const pool *p)
{
    return p ? p->workers : 1;
}

void pool_for(void *user, int count, int grain, pool_range fn, void *ctx)
{
    pool *p = user;
    int begin;

    if (count <= 0) return;
    if (grain < 1) grain = 1;
    if (!p || p->workers == 1 || count <= grain) {
        for (begin = 0; begin < count; begin = count - begin > grain ? begin + grain : count) {
            fn(ctx, begin, count - begin > grain ? begin + grain : count, 0);
        }
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->fn = fn;
    p->ctx = ctx;
    p->count = count;
    p->grain = grain;
    p->chunks = (count - 1) / grain + 1;
    p->next = 0;
    ++p->round;
    pthread_cond_broadcast(&p->work);
    take_chunks(p, 0);
    while (p->running) pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}
