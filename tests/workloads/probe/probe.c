/* The native half of the probe: malloc from threads the JVM does not know, and malloc's own account of itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <jni.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_threads = 64, page = 4096 };

struct share {
	pthread_t thread;
	size_t count;
	size_t size;
	void **blocks;
	size_t held;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void **held;
static size_t held_count;

static void *fill(void *arg)
{
	struct share *s = arg;

	for (s->held = 0; s->held < s->count; s->held++) {
		void *block = malloc(s->size);
		if (block == NULL)
			break;
		memset(block, 0x5a, s->size);
		s->blocks[s->held] = block;
	}
	return NULL;
}

JNIEXPORT jlong JNICALL Java_bankfull_workload_NativeMemory_hold(JNIEnv *env, jclass type, jlong bytes, jlong block,
								 jint threads)
{
	struct share shares[max_threads];
	size_t total, started = 0, kept = 0;
	void **list;

	(void)env;
	(void)type;
	if (bytes <= 0 || block <= 0 || threads < 1 || threads > max_threads)
		return -1;
	total = ((size_t)bytes + (size_t)block - 1) / (size_t)block;
	pthread_mutex_lock(&lock);
	list = realloc(held, (held_count + total) * sizeof *list);
	if (list == NULL) {
		pthread_mutex_unlock(&lock);
		return -1;
	}
	held = list;
	for (size_t i = 0, from = 0; i < (size_t)threads; i++) {
		struct share *s = &shares[i];
		size_t to = total * (i + 1) / (size_t)threads;
		*s = (struct share){ .count = to - from, .size = (size_t)block, .blocks = held + held_count + from };
		from = to;
		if (pthread_create(&s->thread, NULL, fill, s) != 0)
			break;
		started++;
	}
	for (size_t i = 0; i < started; i++) {
		struct share *s = &shares[i];
		pthread_join(s->thread, NULL);
		memmove(held + held_count + kept, s->blocks, s->held * sizeof *held);
		kept += s->held;
	}
	held_count += kept;
	pthread_mutex_unlock(&lock);
	return (jlong)kept;
}

/*
 * Blocks of which the first page and one in the middle are touched, as of a memtable's arena that holds little. Once a larger
 * one was freed, glibc takes them from its arenas (M_MMAP_THRESHOLD of mallopt(3)).
 */
JNIEXPORT jlong JNICALL Java_bankfull_workload_NativeMemory_reserve(JNIEnv *env, jclass type, jlong bytes, jlong block)
{
	static int raised;
	jlong got = 0;

	(void)env;
	(void)type;
	if (!raised && block > 0) {
		void *volatile larger = malloc(2 * (size_t)block);
		free(larger);
		raised = 1;
	}
	for (; block > 0 && got + block <= bytes; got += block) {
		volatile char *at = malloc((size_t)block);
		if (at == NULL)
			break;
		at[0] = at[block / 2] = 0x5a;
	}
	return got;
}

JNIEXPORT jlong JNICALL Java_bankfull_workload_NativeMemory_release(JNIEnv *env, jclass type, jint keep_every)
{
	size_t kept = 0;

	(void)env;
	(void)type;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < held_count; i++) {
		if (keep_every > 0 && i % (size_t)keep_every == 0)
			held[kept++] = held[i];
		else
			free(held[i]);
	}
	held_count = kept;
	if (kept == 0) {
		free(held);
		held = NULL;
	}
	pthread_mutex_unlock(&lock);
	return (jlong)kept;
}

/* Down the stack a page at a time, as the kernel wants it grown; what is above stays as it is. */
JNIEXPORT void JNICALL Java_bankfull_workload_NativeMemory_touchStack(JNIEnv *env, jclass type, jlong bytes)
{
	volatile char *frame = __builtin_alloca((size_t)bytes);

	(void)env;
	(void)type;
	for (size_t at = (size_t)bytes; at > page; at -= page)
		frame[at - 1] = 1;
}

typedef int mallctl_fn(const char *, void *, size_t *, void *, size_t);

static jlong ctl(mallctl_fn *mallctl, const char *name)
{
	size_t value = 0, size = sizeof value;
	return mallctl(name, &value, &size, NULL, 0) == 0 ? (jlong)value : -1;
}

JNIEXPORT jlongArray JNICALL Java_bankfull_workload_NativeMemory_mallocStats(JNIEnv *env, jclass type)
{
	jlong out[8] = { 0 };
	jlongArray array;
	mallctl_fn *mallctl;
	void *symbol = dlsym(RTLD_DEFAULT, "mallctl");

	(void)type;
	memcpy(&mallctl, &symbol, sizeof mallctl);
	if (symbol != NULL) {
		uint64_t epoch = 1;
		mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
		out[0] = 2;
		out[1] = ctl(mallctl, "stats.allocated");
		out[2] = ctl(mallctl, "stats.active");
		out[3] = ctl(mallctl, "stats.metadata");
		out[4] = ctl(mallctl, "stats.resident");
		out[5] = ctl(mallctl, "stats.mapped");
		out[6] = ctl(mallctl, "stats.retained");
	} else {
		struct mallinfo2 m = mallinfo2();
		out[0] = 1;
		out[1] = (jlong)m.uordblks;
		out[2] = (jlong)m.fordblks;
		out[3] = (jlong)m.hblkhd;
		out[4] = (jlong)m.arena;
		out[5] = (jlong)m.keepcost;
	}
	array = (*env)->NewLongArray(env, 8);
	if (array != NULL)
		(*env)->SetLongArrayRegion(env, array, 0, 8, out);
	return array;
}

JNIEXPORT void JNICALL Java_bankfull_workload_NativeMemory_purge(JNIEnv *env, jclass type)
{
	mallctl_fn *mallctl;
	void *symbol = dlsym(RTLD_DEFAULT, "mallctl");

	(void)env;
	(void)type;
	memcpy(&mallctl, &symbol, sizeof mallctl);
	if (symbol == NULL)
		malloc_trim(0);
	else
		mallctl("arena.4096.purge", NULL, NULL, NULL, 0); /* MALLCTL_ARENAS_ALL */
}

JNIEXPORT jboolean JNICALL Java_bankfull_workload_NativeMemory_mallocInfo(JNIEnv *env, jclass type, jstring path)
{
	const char *name = (*env)->GetStringUTFChars(env, path, NULL);
	FILE *file;
	int bad = 1;

	(void)type;
	if (name == NULL)
		return JNI_FALSE;
	file = fopen(name, "w");
	(*env)->ReleaseStringUTFChars(env, path, name);
	if (file != NULL) {
		bad = malloc_info(0, file) != 0;
		bad |= fclose(file) != 0;
	}
	return bad ? JNI_FALSE : JNI_TRUE;
}
