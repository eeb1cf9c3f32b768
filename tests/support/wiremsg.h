/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the wire at random, and whether two of them say the same. */
#ifndef BANKFULL_TESTS_WIREMSG_H
#define BANKFULL_TESTS_WIREMSG_H

#include "bankfull/wire.h"
#include "support/prng.h"

/*
 * Any message of this type. With `wild` also what no honest sender has: numbers up to the ends of their types, bytes that
 * are no UTF-8, labels of one name. A body points to a text that lives for ever; `whole` is NULL.
 */
void wiremsg_random(struct prng *prng, enum wire_type type, bool wild, struct wire_message *ret_message);

/* Member by member, by hand: padding and what is unread do not count. The body and `whole` are not compared. */
bool wiremsg_same(const struct wire_message *a, const struct wire_message *b);

#endif
