/* SPDX-License-Identifier: Apache-2.0 */
#include "config/settings.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/typo.h"
#include "config/setting_value.h"
#include "sys/file.h"

enum { ENV_NAME_CAP = 64 };

/* One reading of all sources: what stands in a higher one is not taken from a lower. */
struct reading {
	const struct settings_source *source;
	void *target;
	struct settings_text *text;
	const char *file; /* the file's name; NULL: none */
	enum setting_origin origin;
	uint64_t given, before; /* one bit a setting: said by any source so far; by a higher one than the present */
};

void settings_text_done(struct settings_text *text)
{
	buf_done(&text->file);
}

static const struct setting_info *find(const struct settings_source *source, struct str name, unsigned by)
{
	for (size_t i = 0; i < source->n; i++)
		if ((source->table[i].by & by) && str_eq(str_of(source->table[i].name), name))
			return &source->table[i];
	return NULL;
}

/* "--node" alone, where "--node NAME" names something, is the switch "--node-mode". */
static const struct setting_info *find_mode(const struct settings_source *source, const struct setting_info *info)
{
	char name[48];
	int len = snprintf(name, sizeof name, "%s-mode", info->name);
	const struct setting_info *mode = find(source, (struct str){ name, (size_t)len }, SETTING_BY_FLAG);
	return mode && mode->kind == SETTING_SWITCH ? mode : NULL;
}

static bool is_list(const struct setting_info *info)
{
	return info->kind == SETTING_URLS || info->kind == SETTING_LABELS;
}

static int take(struct reading *r, const struct setting_info *info, const char *value, struct err *err)
{
	uint64_t bit = UINT64_C(1) << (info - r->source->table);
	if (r->before & bit)
		return 0;
	int rc = info->kind == SETTING_REFUSED ? err_set(err, ERR_USAGE, "%s", info->help)
					       : setting_set(info, value, r->target, err);
	if (rc == 0) {
		r->given |= bit;
		r->text->origin[info - r->source->table] = (unsigned char)r->origin;
	}
	return rc;
}

/* --- flags ------------------------------------------------------------------------------------ */

static int no_flag(const struct settings_source *source, struct str name, struct err *err)
{
	char shown[48];
	struct typo typo = { .said = name };
	for (size_t i = 0; i < source->n; i++)
		if ((source->table[i].by & SETTING_BY_FLAG) && source->table[i].kind != SETTING_REFUSED)
			typo_offer(&typo, source->table[i].name);
	str_copy(shown, sizeof shown, name);
	return err_set(err, ERR_USAGE, "no option --%s%s%s: see --help", shown, typo.meant ? ": did you mean --" : "",
		       typo.meant ? typo.meant : "");
}

static int read_flags(struct reading *r, int argc, char **argv, bool *ret_help, struct err *err)
{
	for (int i = 1; i < argc; i++) {
		struct str name = str_of(argv[i]);
		if (str_eq(name, STR("-h")) || str_eq(name, STR("--help"))) {
			*ret_help = true;
			return 0;
		}
		if (!str_take(&name, STR("--")) || name.len == 0)
			return err_set(err, ERR_USAGE, "'%.60s' is no option: see --help", argv[i]);
		size_t equals = str_index(name, '=');
		const char *value = equals < name.len ? name.ptr + equals + 1 : NULL;
		name.len = equals;
		const struct setting_info *info = find(r->source, name, SETTING_BY_FLAG);
		if (!info)
			return no_flag(r->source, name, err);
		bool alone = !value && (i + 1 == argc || strncmp(argv[i + 1], "--", 2) == 0);
		const struct setting_info *mode = alone ? find_mode(r->source, info) : NULL;
		info = mode ? mode : info;
		if (info->kind == SETTING_SWITCH && value)
			return err_set(err, ERR_USAGE, "--%s takes no value", info->name);
		if (info->kind == SETTING_SWITCH)
			value = "true";
		if (!value && info->kind != SETTING_REFUSED) {
			if (++i == argc)
				return err_set(err, ERR_USAGE, "--%s needs %s", info->name, info->argument);
			value = argv[i];
		}
		int rc = take(r, info, value, err);
		if (rc < 0) {
			err_wrap(err, "--%s", info->name);
			return rc;
		}
	}
	return 0;
}

/* --- environment ------------------------------------------------------------------------------ */

/* "smaps-interval" is BANKFULL_SMAPS_INTERVAL. */
static struct str env_name(const struct setting_info *info, char dest[ENV_NAME_CAP])
{
	int len = snprintf(dest, ENV_NAME_CAP, "BANKFULL_%s", info->name);
	for (char *c = dest; *c; c++)
		*c = *c == '-' ? '_' : *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
	return (struct str){ dest, (size_t)len };
}

static const char *env_value(char *const environment[], struct str name)
{
	for (size_t i = 0; environment && environment[i]; i++) {
		struct str entry = str_of(environment[i]);
		if (str_take(&entry, name) && str_take(&entry, STR("=")))
			return entry.ptr;
	}
	return NULL;
}

static int read_environment(struct reading *r, char *const environment[], struct err *err)
{
	char name[ENV_NAME_CAP];
	for (size_t i = 0; i < r->source->n; i++) {
		const struct setting_info *info = &r->source->table[i];
		const char *value = info->by & SETTING_BY_ENV ? env_value(environment, env_name(info, name)) : NULL;
		/* A chart leaves what is not set empty. */
		if (!value || value[0] == '\0')
			continue;
		int rc = take(r, info, value, err);
		if (rc < 0) {
			err_wrap(err, "%s", name);
			return rc;
		}
	}
	return 0;
}

/* --- file ------------------------------------------------------------------------------------- */

static int no_key(const struct reading *r, const struct yml_entry *entry, struct str key, struct err *err)
{
	char shown[48], hint[TYPO_HINT_CAP];
	struct typo typo = { .said = key };
	for (size_t i = 0; i < r->source->n; i++)
		if ((r->source->table[i].by & SETTING_BY_FILE) && r->source->table[i].kind != SETTING_REFUSED)
			typo_offer(&typo, r->source->table[i].name);
	for (size_t i = 0; r->source->sections && r->source->sections[i]; i++)
		typo_offer(&typo, r->source->sections[i]);
	str_copy(shown, sizeof shown, key);
	return err_set(err, ERR_USAGE, "%s:%u: unknown key '%s'%s", r->file, entry->line, shown,
		       typo_hint(&typo, hint));
}

/* A string of the file that lives as long as the settings: the buffer is sized once, so its bytes never move. */
static const char *keep(struct buf *text, struct str value)
{
	const char *at = text->ptr + text->len;
	return buf_add(text, value) && buf_putc(text, '\0') ? at : NULL;
}

static int take_entry(struct reading *r, const struct yml_entry *entry, struct err *err)
{
	struct str key = entry->key;
	size_t bracket = str_index(key, '[');
	key.len = bracket; /* metrics[0], metrics[1]: a list */
	if (r->source->foreign && r->source->foreign(entry->key))
		return 0;
	const struct setting_info *info = find(r->source, key, SETTING_BY_FILE);
	if (!info && find(r->source, key, SETTING_BY_FLAG))
		return err_set(err, ERR_USAGE, "%s:%u: '%.*s' belongs on the command line", r->file, entry->line,
			       (int)key.len, key.ptr);
	if (!info)
		return no_key(r, entry, key, err);
	if (bracket < entry->key.len && !is_list(info))
		return err_set(err, ERR_USAGE, "%s:%u: %s takes one value, not a list", r->file, entry->line,
			       info->name);
	const char *value = keep(&r->text->file, entry->value);
	if (!value)
		return err_set(err, ERR_NOMEM, "%s: no memory", r->file);
	int rc = take(r, info, value, err);
	if (rc < 0)
		err_wrap(err, "%s:%u: %s", r->file, entry->line, info->name);
	return rc;
}

static int read_file(struct reading *r, struct yml *ret_yml, struct err *err)
{
	auto_buf struct buf text = { .cap = LIMIT_CONFIG_FILE };
	auto_yml struct yml yml = { 0 };
	struct stat st;
	/* A pipe that nobody writes to reads as an empty file: nothing would be set, and nobody told. */
	int rc = stat(r->file, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)
			 ? err_set(err, ERR_USAGE, "%s: not a regular file", r->file)
			 : file_read_at(AT_FDCWD, r->file, LIMIT_CONFIG_FILE, &text, err);
	if (rc == 0)
		rc = yml_parse(buf_str(&text), r->file, &yml, err);
	if (rc < 0) {
		if (err && err->kind != ERR_NOMEM)
			err->kind = ERR_USAGE; /* whatever is wrong with the file, it is the caller's to mend */
		return rc;
	}
	size_t room = 1;
	for (size_t i = 0; i < yml.n; i++)
		room += yml.items[i].value.len + 1;
	r->text->file.cap = room;
	if (!buf_grow(&r->text->file, room))
		return err_set(err, ERR_NOMEM, "%s: no memory", r->file);
	for (size_t i = 0; i < yml.n && rc == 0; i++)
		rc = take_entry(r, &yml.items[i], err);
	if (rc == 0) {
		*ret_yml = yml;
		yml = (struct yml){ 0 };
	}
	return rc;
}

int settings_load(const struct settings_source *source, int argc, char **argv, char *const environment[], void *target,
		  struct settings_text *text, struct yml *ret_yml, bool *ret_help, struct err *err)
{
	struct reading r = { .source = source, .target = target, .text = text };
	const struct setting_info *config = find(source, STR("config"), SETTING_BY_FLAG);
	if (source->n > SETTINGS_MAX_IN_TABLE)
		return err_set(err, ERR_LIMIT, "more than %d settings in one table", SETTINGS_MAX_IN_TABLE);
	*ret_help = false;
	r.origin = ORIGIN_FLAG;
	int rc = read_flags(&r, argc, argv, ret_help, err);
	if (rc < 0 || *ret_help)
		return rc;
	r.before = r.given;
	r.origin = ORIGIN_VARIABLE;
	rc = read_environment(&r, environment, err);
	r.before = r.given;
	r.origin = ORIGIN_FILE;
	if (config)
		r.file = *(const char **)((char *)target + config->offset);
	return rc == 0 && r.file ? read_file(&r, ret_yml, err) : rc;
}

void settings_help(const struct settings_source *source, struct buf *out)
{
	for (size_t i = 0; i < source->n; i++) {
		const struct setting_info *info = &source->table[i];
		char left[48];
		if (info->kind == SETTING_REFUSED)
			continue;
		/* What is no flag is written as in the file. */
		(void)snprintf(left, sizeof left, "%s%s %s", info->by & SETTING_BY_FLAG ? "--" : "", info->name,
			       info->argument);
		(void)buf_printf(out, "  %-30s %s%s\n", left, info->help,
				 info->by & SETTING_BY_FLAG ? "" : " (variable and file alone)");
	}
}

void settings_show(const struct settings_source *source, const void *target, const struct settings_text *text,
		   struct buf *out)
{
	static const char *const origins[ORIGIN_COUNT] = { "default", "file", "variable", "flag" };
	for (size_t i = 0; i < source->n; i++) {
		if (text->origin[i] == ORIGIN_DEFAULT)
			continue;
		(void)buf_printf(out, "  %-18s ", source->table[i].name);
		setting_show(&source->table[i], target, out);
		(void)buf_printf(out, "  (%s)\n", origins[text->origin[i]]);
	}
}
