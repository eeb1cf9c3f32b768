/* SPDX-License-Identifier: Apache-2.0 */
/* One value of a setting, by its kind. Internal to src/config. */
#ifndef CONFIG_SETTING_VALUE_H
#define CONFIG_SETTING_VALUE_H

#include "config/settings.h"

/* `value` into its place in `target`; text and URLs are kept by pointer. USAGE, with what to write instead. */
int setting_set(const struct setting_info *info, const char *value, void *target, struct err *err)
	__attribute__((warn_unused_result));

/* As it would be written, escaped; a PEM text by its length alone. */
void setting_show(const struct setting_info *info, const void *target, struct buf *out);

/* "127.0.0.1:8480", "[::1]:8480", ":8480" (all addresses) apart. USAGE. */
enum { LISTEN_ADDRESS_CAP = 64 };
int setting_listen(const char *text, char ret_address[LISTEN_ADDRESS_CAP], uint16_t *ret_port, struct err *err)
	__attribute__((warn_unused_result));

#endif
