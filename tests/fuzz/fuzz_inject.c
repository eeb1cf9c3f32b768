/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever is added: adding again changes nothing, and taking out again leaves what was there before. */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "kube/inject_parts.h"

static const struct inject_options options[2] = {
	{ .image = "i:1", .memory = "64Mi", .cpu = "50m", .container = NULL },
	{ .image = "i:1",
	  .memory = "64Mi",
	  .cpu = "50m",
	  .collector = "wss://c",
	  .audience = "a",
	  .ca_pem = { "-----\nA\n", 8 },
	  .has_user = true,
	  .has_group = true,
	  .user = 7,
	  .group = 7,
	  .ordinary = true },
};

static void check(struct str text, const struct inject_options *how)
{
	auto_buf struct buf bare = { .cap = INJECT_OUT_MAX }, once = { .cap = INJECT_OUT_MAX },
			    twice = { .cap = INJECT_OUT_MAX }, back = { .cap = INJECT_OUT_MAX };
	struct err err = { 0 };
	if (inject_add(text, "f", how, &once, NULL, &err) < 0) {
		if (!err.message[0] || once.len)
			abort();
		return;
	}
	if (inject_remove(text, "f", &bare, NULL, &err) < 0 ||
	    inject_remove(buf_str(&once), "f", &back, NULL, &err) < 0)
		abort();
	auto_yml_tree struct yml_tree before = { 0 }, after = { 0 };
	if (yml_tree_parse(buf_str(&bare), "f", &before, &err) < 0 ||
	    yml_tree_parse(buf_str(&back), "f", &after, &err) < 0 || !trees_agree(&before, &after))
		abort();
	if (inject_add(buf_str(&once), "f", how, &twice, NULL, &err) < 0 || !str_eq(buf_str(&once), buf_str(&twice)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	check(text, &options[0]);
	check(text, &options[1]);
	return 0;
}
