/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "kernel/cgmount.h"

/* Whatever machine this is: what is said hangs together, is said twice alike, and nothing is printed. */
static void this_machine(void **state)
{
	(void)state;
	struct cgmount mount, again;
	struct err err = { 0 };
	assert_int_equal(cgmount_read(&mount, &err), 0);
	assert_true(mount.kind > CGROUP_UNREAD && mount.kind < CGROUP_KIND_COUNT);
	assert_int_equal(mount.point[0], mount.kind == CGROUP_NONE ? '\0' : '/');
	if (mount.kind == CGROUP_V1 || mount.kind == CGROUP_V2)
		assert_int_equal(access(mount.point, R_OK), 0);
	if (mount.kind == CGROUP_V2)
		assert_false(mount.hybrid);
	assert_int_equal(cgmount_read(&again, &err), 0);
	assert_int_equal(again.kind, mount.kind);
	assert_string_equal(again.point, mount.point);
	assert_string_equal(again.own_path, mount.own_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(this_machine) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
