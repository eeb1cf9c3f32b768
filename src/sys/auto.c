/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"

#include <unistd.h>

void auto_closep(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd); /* read-only descriptors: nothing to lose */
}
