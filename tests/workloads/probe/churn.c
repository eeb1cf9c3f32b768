/* Threads whose requests get bigger with time: the way glibc's arenas come to hold what nobody uses. */
#include <jni.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { max_churners = 64, page = 4096, smallest = 256, pinned = 64 };

struct block {
	struct block *next;
};

struct churner {
	size_t before; /* bytes of its last request */
	uint32_t seed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER, answered = PTHREAD_COND_INITIALIZER;
static struct churner churners[max_churners];
static size_t n_churners, n_full, n_done, want;
static unsigned round_no;

/* All wait until everybody has what it wants, since threads that share an arena would else reuse what the other freed. */
static void meet(size_t *n)
{
	(*n)++;
	pthread_cond_broadcast(&answered);
}

/* 256 bytes to 16 KiB, each power of two as often as the next. */
static size_t mixed_size(uint32_t *seed)
{
	*seed = *seed * 1664525U + 1013904223U;
	return ((size_t)smallest << (*seed >> 29) % 6) + (*seed >> 8) % smallest;
}

static struct block *allocate(struct churner *c, size_t bytes)
{
	struct block *list = NULL;
	size_t got = 0, n_new = 0;

	while (got < bytes) {
		size_t size = mixed_size(&c->seed);
		char *at = malloc(size);
		if (at == NULL)
			break;
		for (size_t i = 0; i < size; i += page)
			at[i] = 1;
		got += size;
		/* Of what this request takes beyond the last one, every eighth block stays, cut down to nearly nothing. */
		if (got > c->before && n_new++ % 8 == 0) {
			char *rest = realloc(at, pinned);
			(void)rest; /* kept for ever */
			continue;
		}
		((struct block *)at)->next = list;
		list = (struct block *)at;
	}
	if (bytes > c->before) {
		char *top = malloc(pinned);
		(void)top; /* the same */
		c->before = bytes;
	}
	return list;
}

static void *churn(void *arg)
{
	struct churner *c = arg;
	unsigned seen = 0;

	pthread_mutex_lock(&lock);
	for (;;) {
		struct block *list;
		size_t bytes;
		while (round_no == seen)
			pthread_cond_wait(&asked, &lock);
		seen = round_no;
		bytes = want;
		pthread_mutex_unlock(&lock);
		list = allocate(c, bytes);
		pthread_mutex_lock(&lock);
		meet(&n_full);
		while (n_full < n_churners)
			pthread_cond_wait(&answered, &lock);
		pthread_mutex_unlock(&lock);
		while (list != NULL) {
			struct block *next = list->next;
			free(list);
			list = next;
		}
		pthread_mutex_lock(&lock);
		meet(&n_done);
	}
	return NULL;
}

JNIEXPORT void JNICALL Java_bankfull_workload_NativeMemory_churn(JNIEnv *env, jclass type, jint threads, jlong bytes)
{
	(void)env;
	(void)type;
	pthread_mutex_lock(&lock);
	while (n_churners < (size_t)threads && n_churners < max_churners) {
		pthread_t thread;
		churners[n_churners].seed = (uint32_t)n_churners + 1;
		if (pthread_create(&thread, NULL, churn, &churners[n_churners]) != 0)
			break;
		pthread_detach(thread);
		n_churners++;
	}
	n_full = n_done = 0;
	want = (size_t)bytes;
	round_no++;
	pthread_cond_broadcast(&asked);
	while (n_done < n_churners)
		pthread_cond_wait(&answered, &lock);
	pthread_mutex_unlock(&lock);
}
