/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/cgfile.h"

#include <stddef.h>

#include "kernel/keys.h"

/* The one line of the file; MALFORMED if there is none, or more. */
static int only_line(struct str text, struct str *ret_line, struct err *err)
{
	int r = keys_check_text(text, err);
	if (r < 0)
		return r;
	if (!str_line(&text, ret_line) || text.len)
		return err_set(err, ERR_MALFORMED, "not one line");
	return 0;
}

int cgfile_parse_bytes(struct str text, struct qty *ret, struct err *err)
{
	struct str line;
	uint64_t bytes;
	int r = only_line(text, &line, err);
	if (r < 0)
		return r;
	if (!str_is_u64(line, &bytes))
		return err_set(err, ERR_MALFORMED, "not a number");
	*ret = qty_measured(bytes);
	return 0;
}

int cgfile_parse_limit(struct str text, struct limit *ret, struct err *err)
{
	struct str line;
	uint64_t bytes;
	int r = only_line(text, &line, err);
	if (r < 0)
		return r;
	if (str_eq(line, STR("max")))
		*ret = (struct limit){ .kind = LIMIT_NONE };
	else if (str_is_u64(line, &bytes))
		*ret = limit_set(bytes);
	else
		return err_set(err, ERR_MALFORMED, "neither a number nor 'max'");
	return 0;
}

int cgfile_parse_events(struct str text, struct cgroup_events *ret, struct err *err)
{
	static const struct key keys[] = {
		KEY("low", cgroup_events, low, KEY_COUNT),
		KEY("high", cgroup_events, high, KEY_COUNT),
		KEY("max", cgroup_events, max, KEY_COUNT),
		KEY("oom", cgroup_events, oom, KEY_COUNT),
		KEY("oom_kill", cgroup_events, oom_kill, KEY_COUNT),
		KEY("oom_group_kill", cgroup_events, oom_group_kill, KEY_COUNT), /* Linux 5.17+ */
	};
	struct cgroup_events events = { 0 };
	int r = keys_parse(text, keys, sizeof keys / sizeof keys[0], ' ', &events, err);
	if (r < 0)
		return r;
	if (!events.max.known)
		return err_set(err, ERR_MALFORMED, "no line 'max'");
	*ret = events;
	return 0;
}

/* "avg10=12.34 " with exactly two decimals, as kernel/sched/psi.c prints it. */
static bool take_average(struct str *rest, struct str name, uint32_t *ret_bp)
{
	uint64_t whole, hundredths;
	if (!str_take(rest, name) || !str_u64(rest, &whole) || !str_take(rest, STR(".")))
		return false;
	size_t before = rest->len;
	if (!str_u64(rest, &hundredths) || before - rest->len != 2 || !str_take(rest, STR(" ")))
		return false;
	if (whole > 100 || (whole == 100 && hundredths))
		return false;
	*ret_bp = (uint32_t)(whole * 100 + hundredths);
	return true;
}

static bool parse_pressure_line(struct str rest, struct cgroup_pressure_line *ret)
{
	struct cgroup_pressure_line line = { .known = true };
	if (!take_average(&rest, STR("avg10="), &line.avg10_bp) ||
	    !take_average(&rest, STR("avg60="), &line.avg60_bp) ||
	    !take_average(&rest, STR("avg300="), &line.avg300_bp) || !str_take(&rest, STR("total=")) ||
	    !str_is_u64(rest, &line.total_us))
		return false;
	*ret = line;
	return true;
}

int cgfile_parse_pressure(struct str text, struct cgroup_pressure *ret, struct err *err)
{
	struct cgroup_pressure pressure = { 0 };
	int r = keys_check_text(text, err);
	if (r < 0)
		return r;
	struct str line;
	for (unsigned number = 1; str_line(&text, &line); number++) {
		struct cgroup_pressure_line *into;
		if (str_take(&line, STR("some ")))
			into = &pressure.some;
		else if (str_take(&line, STR("full ")))
			into = &pressure.full;
		else
			continue;
		if (into->known || !parse_pressure_line(line, into))
			return err_set(err, ERR_MALFORMED, "line %u: no averages and total, or twice", number);
	}
	if (!pressure.some.known)
		return err_set(err, ERR_MALFORMED, "no line 'some'");
	*ret = pressure;
	return 0;
}

int cgfile_parse_procs(struct str text, int pid, struct count *ret_n, bool *ret_member, struct err *err)
{
	int r = keys_check_text(text, err);
	if (r < 0)
		return r;
	uint64_t n = 0;
	bool member = false;
	struct str line;
	while (str_line(&text, &line)) {
		uint64_t listed;
		n++;
		if (!str_is_u64(line, &listed))
			return err_set(err, ERR_MALFORMED, "line %llu: not a pid", (unsigned long long)n);
		member = member || (pid > 0 && listed == (uint64_t)pid);
	}
	*ret_n = count_of(n);
	*ret_member = member;
	return 0;
}
