/* SPDX-License-Identifier: Apache-2.0 */
#include "config/setting_value.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "bankfull/subject.h"
#include "base/esc.h"
#include "base/units.h"
#include "config/levels.h"
#include "net/http.h"
#include "net/wsclient.h"

enum { PID_MOST = 4194304 }; /* PID_MAX_LIMIT of a 64-bit kernel */

static int in_range(const struct setting_info *info, uint64_t value, const char *said, struct err *err)
{
	if ((info->least == 0 && info->most == 0) || (value >= info->least && value <= info->most))
		return 0;
	/* Times and shares are said in other units than they are counted in. */
	if (info->kind == SETTING_COUNT)
		return err_set(err, ERR_USAGE, "'%.40s' is out of range: %llu to %llu is accepted: %s", said,
			       (unsigned long long)info->least, (unsigned long long)info->most, info->help);
	return err_set(err, ERR_USAGE, "'%.40s' is out of range: %s", said, info->help);
}

int setting_listen(const char *text, char ret_address[LISTEN_ADDRESS_CAP], uint16_t *ret_port, struct err *err)
{
	static const char how[] = "write ADDRESS:PORT, such as 127.0.0.1:8480, [::1]:8480, or :8480 for all addresses";
	struct str rest = str_of(text), host, port;
	unsigned char binary[sizeof(struct in6_addr)];
	char address[LISTEN_ADDRESS_CAP] = "";
	uint64_t number;
	if (str_take(&rest, STR("["))) {
		size_t end = str_index(rest, ']');
		host = (struct str){ rest.ptr, end };
		port = str_skip(rest, end < rest.len ? end + 1 : end);
	} else {
		size_t end = str_index(rest, ':');
		host = (struct str){ rest.ptr, end };
		port = str_skip(rest, end);
	}
	if (!str_take(&port, STR(":")) || !str_is_u64(port, &number) || number > UINT16_MAX ||
	    host.len >= sizeof address)
		return err_set(err, ERR_USAGE, "'%.60s' is no address and port: %s", text, how);
	str_copy(address, sizeof address, host);
	if (strcmp(address, "*") == 0)
		address[0] = '\0';
	if (address[0] && inet_pton(AF_INET, address, binary) != 1 && inet_pton(AF_INET6, address, binary) != 1)
		return err_set(err, ERR_USAGE, "'%.60s': no numeric address: %s", text, how);
	memcpy(ret_address, address, sizeof address);
	*ret_port = (uint16_t)number;
	return 0;
}

static int set_listen(const char *value, const char **target, struct err *err)
{
	char address[LISTEN_ADDRESS_CAP];
	uint16_t port;
	int rc = strcmp(value, "off") == 0 ? 0 : setting_listen(value, address, &port, err);
	if (rc == 0)
		*target = value;
	return rc;
}

static int set_number(const struct setting_info *info, const char *value, uint64_t *target, struct err *err)
{
	struct str text = str_of(value);
	uint64_t number = 0;
	int rc = 0;
	if (info->kind == SETTING_SIZE)
		rc = units_parse(text, &number, err);
	else if (info->kind == SETTING_SHARE)
		rc = levels_parse(THRESHOLD_SHARE, text, &number, err);
	else if (info->kind == SETTING_COUNT)
		rc = str_is_u64(text, &number) ? 0 : err_set(err, ERR_USAGE, "'%.40s' is no number", value);
	else
		rc = units_parse_ms(text, &number, err);
	if (rc == 0 && info->kind == SETTING_SECONDS)
		number = number / 1000 + (number % 1000 != 0);
	if (rc == 0)
		rc = in_range(info, number, value, err);
	if (rc == 0)
		*target = number;
	return rc;
}

static int set_limit(const char *value, struct limit *target, struct err *err)
{
	uint64_t bytes;
	int rc = units_parse(str_of(value), &bytes, err);
	if (rc == 0 && bytes == 0)
		rc = err_set(err, ERR_USAGE, "0 is no limit");
	if (rc == 0)
		*target = limit_set(bytes);
	return rc;
}

static int add_url(const struct setting_info *info, const char *value, void *target, struct err *err)
{
	const char **urls = (const char **)((char *)target + info->offset);
	size_t *n = (size_t *)(void *)((char *)target + info->count_offset);
	if (*n == info->cap)
		return err_set(err, ERR_USAGE, "more than %zu", info->cap);
	int rc = http_url_check(value, false, err);
	if (rc == 0)
		urls[(*n)++] = value;
	return rc;
}

static int add_label(const struct setting_info *info, struct str pair, void *target, struct err *err)
{
	struct wire_label *labels = (struct wire_label *)(void *)((char *)target + info->offset);
	size_t *n = (size_t *)(void *)((char *)target + info->count_offset);
	size_t equals = str_index(pair, '=');
	struct str key = { pair.ptr, equals }, value = str_skip(pair, equals + 1);
	if (equals == pair.len || key.len == 0)
		return err_set(err, ERR_USAGE, "'%.*s' is no label: write KEY=VALUE,KEY=VALUE",
			       (int)(pair.len < 40 ? pair.len : 40), pair.ptr);
	if (*n == info->cap)
		return err_set(err, ERR_USAGE, "more than %zu labels", info->cap);
	if (key.len >= sizeof labels->key || value.len >= sizeof labels->value)
		return err_set(err, ERR_USAGE, "a label longer than %zu bytes", sizeof labels->key - 1);
	str_copy(labels[*n].key, sizeof labels->key, key);
	str_copy(labels[*n].value, sizeof labels->value, value);
	(*n)++;
	return 0;
}

static int add_labels(const struct setting_info *info, const char *value, void *target, struct err *err)
{
	struct str rest = str_of(value), pair;
	int rc = 0;
	while (rc == 0 && str_split(&rest, ',', &pair))
		rc = add_label(info, str_trim(pair), target, err);
	return rc;
}

static int set_name(const struct setting_info *info, const char *value, char *target, struct err *err)
{
	if (strlen(value) >= info->cap)
		return err_set(err, ERR_USAGE, "longer than %zu bytes", info->cap - 1);
	for (const char *c = value; *c; c++)
		if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f)
			return err_set(err, ERR_USAGE, "holds a blank or a byte that no name has");
	(void)snprintf(target, info->cap, "%s", value);
	return 0;
}

static int set_switch(const char *value, bool *target, struct err *err)
{
	bool on = strcmp(value, "true") == 0;
	if (!on && strcmp(value, "false") != 0)
		return err_set(err, ERR_USAGE, "'%.40s': true or false", value);
	*target = on;
	return 0;
}

static int set_pid(const char *value, int *target, struct err *err)
{
	uint64_t number;
	if (!str_is_u64(str_of(value), &number) || number == 0 || number > PID_MOST)
		return err_set(err, ERR_USAGE, "'%.40s' is no process id", value);
	*target = (int)number;
	return 0;
}

static int set_pointer(const char *value, const char **target)
{
	*target = value;
	return 0;
}

int setting_set(const struct setting_info *info, const char *value, void *target, struct err *err)
{
	void *at = (char *)target + info->offset;
	if (value[0] == '\0')
		return err_set(err, ERR_USAGE, "empty, expected %s", info->argument);
	int rc = 0;
	switch (info->kind) {
	case SETTING_SWITCH:
		return set_switch(value, at, err);
	case SETTING_TEXT:
	case SETTING_FILE:
		return set_pointer(value, at);
	case SETTING_SIZE:
	case SETTING_TIME:
	case SETTING_SECONDS:
	case SETTING_COUNT:
	case SETTING_SHARE:
		return set_number(info, value, at, err);
	case SETTING_LIMIT:
		return set_limit(value, at, err);
	case SETTING_PID:
		return set_pid(value, at, err);
	case SETTING_URL:
		rc = http_url_check(value, false, err);
		return rc < 0 ? rc : set_pointer(value, at);
	case SETTING_WS_URL:
		rc = wsclient_url_check(value, err);
		return rc < 0 ? rc : set_pointer(value, at);
	case SETTING_URLS:
		return add_url(info, value, target, err);
	case SETTING_LABELS:
		return add_labels(info, value, target, err);
	case SETTING_LISTEN:
		return set_listen(value, at, err);
	case SETTING_NAME:
		return set_name(info, value, at, err);
	case SETTING_REFUSED:
		break;
	}
	return err_set(err, ERR_USAGE, "no setting");
}

static void show_time(uint64_t ms, struct buf *out)
{
	if (ms % 1000)
		(void)buf_printf(out, "%llums", (unsigned long long)ms);
	else
		(void)buf_printf(out, "%llus", (unsigned long long)(ms / 1000));
}

static void show_list(const struct setting_info *info, const void *target, struct buf *out)
{
	size_t n = *(const size_t *)(const void *)((const char *)target + info->count_offset);
	const char *const *urls = (const char *const *)(const void *)((const char *)target + info->offset);
	const struct wire_label *labels =
		(const struct wire_label *)(const void *)((const char *)target + info->offset);
	for (size_t i = 0; i < n; i++) {
		if (i)
			(void)buf_puts(out, ", ");
		if (info->kind == SETTING_URLS)
			(void)esc_add(out, str_of(urls[i]));
		else
			(void)(esc_add(out, str_of(labels[i].key)) && buf_putc(out, '=') &&
			       esc_add(out, str_of(labels[i].value)));
	}
}

static void show_text(const char *text, struct buf *out)
{
	struct str whole = str_of(text);
	if (str_has(whole, STR("\n")))
		(void)buf_printf(out, "%zu bytes", whole.len);
	else
		(void)esc_add(out, whole);
}

static void show_number(const struct setting_info *info, uint64_t number, struct buf *out)
{
	char text[THRESHOLD_TEXT_CAP + UNITS_TEXT_CAP]; /* either */
	if (info->kind == SETTING_TIME)
		show_time(number, out);
	else if (info->kind == SETTING_SECONDS)
		show_time(number * 1000, out);
	else if (info->kind == SETTING_SHARE)
		(void)buf_puts(out, thresholds_format(text, THRESHOLD_SHARE, number));
	else if (info->kind == SETTING_SIZE)
		(void)buf_puts(out, units_format(text, number));
	else
		(void)buf_printf(out, "%llu", (unsigned long long)number);
}

void setting_show(const struct setting_info *info, const void *target, struct buf *out)
{
	const void *at = (const char *)target + info->offset;
	char text[UNITS_TEXT_CAP];
	switch (info->kind) {
	case SETTING_SWITCH:
		(void)buf_puts(out, *(const bool *)at ? "true" : "false");
		break;
	case SETTING_SIZE:
	case SETTING_TIME:
	case SETTING_SECONDS:
	case SETTING_COUNT:
	case SETTING_SHARE:
		show_number(info, *(const uint64_t *)at, out);
		break;
	case SETTING_LIMIT:
		(void)buf_puts(out, units_format(text, ((const struct limit *)at)->bytes));
		break;
	case SETTING_PID:
		(void)buf_printf(out, "%d", *(const int *)at);
		break;
	case SETTING_URLS:
	case SETTING_LABELS:
		show_list(info, target, out);
		break;
	case SETTING_NAME:
		show_text(at, out);
		break;
	case SETTING_TEXT:
	case SETTING_FILE:
	case SETTING_URL:
	case SETTING_WS_URL:
	case SETTING_LISTEN:
		show_text(*(const char *const *)at, out);
		break;
	case SETTING_REFUSED:
		break;
	}
}
