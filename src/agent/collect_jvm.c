/* SPDX-License-Identifier: Apache-2.0 */
/* What the JVM tells of itself: hsperfdata for nothing, then the attach protocol where it is safe. */
#include <stdio.h>

#include "agent/collect_parts.h"
#include "base/limits.h"
#include "jvm/answer.h"
#include "jvm/attach.h"
#include "jvm/hsperf.h"
#include "jvm/hsperffile.h"
#include "jvm/vmargs.h"
#include "jvm/vmversion.h"

static const char perf_name[] = "jvm/hsperf";

void collect_perf(struct collecting *c)
{
	struct err err = { 0 };
	if (c->root_fd < 0) {
		(void)err_set(&err, ERR_DENIED, "root of the process not readable");
		collect_say_denied(c, &err);
		evidence_fail(c->evidence, perf_name, &err);
		return;
	}
	struct buf *out = evidence_new(c->evidence, perf_name, LIMIT_HSPERF);
	if (out && hsperffile_read(c->root_fd, &c->status, buf_str(&c->maps), out, &err) < 0)
		evidence_fail(c->evidence, perf_name, &err);
}

static struct jvm_flags flags_of_options(const struct collecting *c)
{
	struct vmargs args;
	vmargs_parse(evidence_text(c->evidence, "proc/cmdline"), &args);
	auto_buf struct buf words = { .cap = LIMIT_PROC_FILE };
	bool whole;
	if (hsperf_args(evidence_text(c->evidence, perf_name), &words, &whole))
		vmargs_apply_words(buf_str(&words), &args.flags);
	/* What may say "do not attach" and could not be read is taken to have said so. */
	if (buf_failed(&words))
		args.flags.attach_disabled = true;
	return args.flags;
}

static void keep_answer(struct collecting *c, enum answer answer, struct attach_answer *got)
{
	const char *name = answer_kinds[answer].evidence;
	struct err err = got->err;
	if (err.kind == ERR_NONE) {
		struct buf *out = evidence_new(c->evidence, name, LIMIT_JVM_ANSWER);
		if (!out || answer_reduce(answer, buf_str(&got->text), out, &err) == 0)
			return;
	}
	evidence_fail(c->evidence, name, &err);
}

/* Ask the answers of `wanted` (bits) in one forked child. */
static void ask(struct collecting *c, const struct jvm_flags *flags, unsigned wanted)
{
	struct attach_target target = { c->id, &c->status, flags, c->is_jvm, c->age_ms };
	const char *commands[ANSWER_COUNT];
	enum answer which[ANSWER_COUNT];
	struct attach_answer answers[ANSWER_COUNT];
	size_t n = 0;
	memset(answers, 0, sizeof answers);
	for (int answer = 0; answer < ANSWER_COUNT; answer++) {
		if (!(wanted >> answer & 1))
			continue;
		which[n] = (enum answer)answer;
		commands[n++] = answer_kinds[answer].command;
	}
	struct err err = { 0 };
	if (attach_run(&target, commands, n, ATTACH_DEADLINE_MS, answers, &err) < 0) {
		evidence_fail(c->evidence, "jvm/attach", &err);
		return;
	}
	for (size_t i = 0; i < n; i++)
		keep_answer(c, which[i], &answers[i]);
	attach_answers_done(answers, n);
}

void collect_jvm(struct collecting *c)
{
	collect_perf(c);
	if (c->options->no_attach) {
		evidence_fail_set(c->evidence, "jvm/attach", ERR_UNSUPPORTED, "attach switched off by --no-attach");
		return;
	}
	if (!c->is_jvm) {
		struct err err;
		(void)err_set(&err, ERR_DENIED, "attach: not tried, the process may not be looked into");
		collect_say_denied(c, &err);
		evidence_fail(c->evidence, "jvm/attach", &err);
		return;
	}
	struct jvm_flags flags = flags_of_options(c);
	unsigned wanted = 0;
	for (int answer = 0; answer < ANSWER_COUNT; answer++)
		if (answer_kinds[answer].always)
			wanted |= 1u << answer;
	if (flags.nmt == NMT_DETAIL)
		wanted |= 1u << ANSWER_NMT_DETAIL;
	ask(c, &flags, wanted);
	struct vmversion version;
	struct err ignored;
	bool new_enough = vmversion_parse(evidence_text(c->evidence, answer_kinds[ANSWER_VERSION].evidence), &version,
					  &ignored) == 0 &&
			  version.major >= answer_kinds[ANSWER_MALLOC_INFO].jdk_min;
	if (new_enough)
		ask(c, &flags, 1u << ANSWER_MALLOC_INFO);
}
