/* SPDX-License-Identifier: Apache-2.0 */
/* Base64, RFC 4648: the standard alphabet and the one of URLs. Pure. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"

/* Appends the bytes. Padding may stand at the end or not. False: another character, a length that is none, no room. */
bool base64_decode(struct str text, struct buf *out);

#endif
