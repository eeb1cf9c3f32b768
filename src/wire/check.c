/* SPDX-License-Identifier: Apache-2.0 */
/* What no member can say alone. Who sends checks it as well: a frame that is refused for ever would block its spool. */
#include "wire/field.h"
#include "wire/wire.h"

static int check_hello(const struct wire_hello *hello, struct err *err)
{
	for (size_t i = 0; i < hello->n_epochs && i < WIRE_EPOCHS_MAX; i++)
		for (size_t before = 0; before < i; before++)
			if (wire_epoch_same(hello->epochs[before].epoch, hello->epochs[i].epoch))
				return err_set(err, ERR_MALFORMED, "epochs: one stands there twice");
	return 0;
}

static int check_gap(const struct wire_gap *gap, struct err *err)
{
	return gap->from <= gap->to ? 0 : err_set(err, ERR_MALFORMED, "to: before from");
}

static int check_postmortem(const struct wire_postmortem *part, struct err *err)
{
	if (part->parts > WIRE_PARTS_MAX)
		return err_set(err, ERR_MALFORMED, "parts: more than %d", WIRE_PARTS_MAX);
	return part->part < part->parts ? 0 : err_set(err, ERR_MALFORMED, "part: past parts");
}

int check_whole(enum wire_type type, const void *content, struct err *err)
{
	switch ((int)type) {
	case WIRE_HELLO:
		return check_hello(content, err);
	case WIRE_GAP:
		return check_gap(content, err);
	case WIRE_POSTMORTEM:
		return check_postmortem(content, err);
	default:
		return 0;
	}
}
