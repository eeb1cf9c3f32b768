/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cleanup by attribute, and hand-over made visible.
 *
 *     auto_close int fd = open(...);       closed when it leaves the scope
 *     auto_free char *text = malloc(...);  freed when it leaves the scope
 *     return TAKE_FD(fd);                  the caller owns it from here on
 */
#ifndef BASE_AUTO_H
#define BASE_AUTO_H

#include <stdlib.h>

void auto_closep(const int *fd);

static inline void auto_freep(void *pointer)
{
	free(*(void **)pointer);
}

#define auto_(function) __attribute__((cleanup(function)))
#define auto_close      auto_(auto_closep)
#define auto_free       auto_(auto_freep)

#define TAKE_PTR(pointer)                                \
	({                                               \
		__typeof__(pointer) *slot_ = &(pointer); \
		__typeof__(pointer) taken_ = *slot_;     \
		*slot_ = NULL;                           \
		taken_;                                  \
	})

#define TAKE_FD(fd)                  \
	({                           \
		int *slot_ = &(fd);  \
		int taken_ = *slot_; \
		*slot_ = -1;         \
		taken_;              \
	})

#endif
