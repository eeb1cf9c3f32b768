/* SPDX-License-Identifier: Apache-2.0 */
/* time-limit: 120 */
/* The file: opened, migrated, backed up, restored and checked; and what is said when it, or its disk, is not as it should be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/store_db.h"
#include "support/scratch.h"
#include "support/storekit.h"

/* Fails with this kind, and with a line that says what to do. */
#define FAILS(call, kind_, part)                                                                                \
	do {                                                                                                    \
		struct err err_ = { 0 };                                                                        \
		struct err *err = &err_;                                                                        \
		assert_true((call) < 0);                                                                        \
		if (err_.kind != (kind_) || !strstr(err_.message, part))                                        \
			fail_msg("%s: %s, not %s: %s", #call, err_kind_names[err_.kind], err_kind_names[kind_], \
				 err_.message);                                                                 \
	} while (0)

static const struct wall at = { 1700000000000 };

struct fixture {
	struct scratch scratch;
	struct store *store;
	int64_t agent;
	struct store_epoch epoch;
	struct wire_sample sample;
	struct prng prng;
};

static void open_it(struct fixture *f, const struct store_options *options)
{
	struct wire_hello hello = storekit_hello(1);
	OK(store_open(f->scratch.path, options, &f->store, err));
	OK(store_begin(f->store, err));
	OK(store_agent(f->store, "agent-1", &hello, at, &f->agent, err));
	OK(store_epoch(f->store, f->agent, storekit_epoch(1), at, &f->epoch, err));
	OK(store_commit(f->store, err));
	f->sample.head.seq = f->epoch.acked + 1;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	f->scratch = scratch_new();
	f->sample = storekit_sample(1);
	f->prng = (struct prng){ 1 };
	open_it(f, &(struct store_options){ .busy_ms = 20 });
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	store_close(f->store);
	scratch_done(&f->scratch);
	free(f);
	return 0;
}

static int put(struct fixture *f, unsigned n, struct err *err)
{
	int rc = store_begin(f->store, err);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < n && rc == 0; i++) {
		struct wall received = { at.ms + (int64_t)f->sample.head.seq * 10000 };
		rc = store_sample(f->store, f->agent, &f->epoch, &f->sample, received, err);
		if (rc == 0)
			storekit_next(&f->prng, &f->sample, 10000);
	}
	return store_commit(f->store, err);
}

/* After a batch that failed: where the store really is. */
static void resume(struct fixture *f)
{
	OK(store_begin(f->store, err));
	OK(store_epoch(f->store, f->agent, storekit_epoch(1), at, &f->epoch, err));
	OK(store_commit(f->store, err));
	f->sample.head.seq = f->epoch.acked + 1;
}

static const char *path_of(const struct fixture *f, const char *name)
{
	static char path[4][512];
	static unsigned n;
	char *dest = path[n++ % 4];
	(void)snprintf(dest, 512, "%s/%s", f->scratch.path, name);
	return dest;
}

static void sql(const struct fixture *f, const char *text)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(path_of(f, "bankfull.db"), &db), SQLITE_OK);
	if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", text, sqlite3_errmsg(db));
	sqlite3_close(db);
}

static void check(const char *directory)
{
	auto_buf struct buf report = { .cap = 65536 };
	struct err why = { 0 };
	if (store_check(directory, &report, &why) < 0)
		fail_msg("%s\n%s", why.message, buf_str(&report).ptr);
	assert_int_equal(report.len, 0);
}

static uint64_t n_samples(struct fixture *f)
{
	struct store_counts counts;
	OK(store_count(f->store, &counts, err));
	return counts.n_samples;
}

/* --- opening --------------------------------------------------------------------------------------- */

static void opened(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	struct store *second;
	assert_int_equal(stat(path_of(f, "bankfull.db"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	int64_t synchronous; /* no kill shows it: only a power cut would */
	OK(store_db_int(f->store->db, f->store->path, "PRAGMA synchronous", &synchronous, err));
	assert_int_equal(synchronous, 2);
	FAILS(store_open(f->scratch.path, NULL, &second, err), ERR_TIMEOUT, "another collector");
	FAILS(store_open(path_of(f, "nowhere"), NULL, &second, err), ERR_GONE, "nowhere");
	OK(put(f, 10, err));
	store_close(f->store);
	f->store = NULL;
	assert_int_equal(stat(path_of(f, "bankfull.db-wal"), &st), -1);
	open_it(f, NULL);
	assert_int_equal(f->epoch.acked, 10);
	assert_int_equal(n_samples(f), 10);
	check(f->scratch.path);
}

/* A database as version 1 made it, and the first moments of one, open; a newer one does not, and stays as it is. */
static void versions(void **state)
{
	struct fixture *f = *state;
	struct store *store = NULL;
	char text[64];
	store_close(f->store);
	f->store = NULL;
	assert_int_equal(unlink(path_of(f, "bankfull.db")), 0);
	(void)snprintf(text, sizeof text, "PRAGMA application_id = %d", STORE_APPLICATION_ID);
	sql(f, text);
	OK(store_open(f->scratch.path, NULL, &store, err));
	store_close(store);
	assert_int_equal(unlink(path_of(f, "bankfull.db")), 0);
	sql(f, text);
	sql(f, store_migrations[0]);
	sql(f,
	    "PRAGMA user_version = 1; INSERT INTO agent VALUES (5, 'old', '{\"pod\":\"p\"}', 1, 2); UPDATE tally SET agents = 1");
	OK(store_open(f->scratch.path, NULL, &store, err));
	struct store_agent_row row;
	OK(store_agent_read(store, 5, &row, err));
	assert_string_equal(row.hello.subject.pod, "p");
	store_close(store);
	check(f->scratch.path);
	sql(f, "PRAGMA user_version = 99");
	FAILS(store_open(f->scratch.path, NULL, &store, err), ERR_UNSUPPORTED, "run the newer collector");
	auto_buf struct buf report = { .cap = 4096 };
	FAILS(store_check(f->scratch.path, &report, err), ERR_UNSUPPORTED, "version 99");
	FAILS(store_backup(f->scratch.path, path_of(f, "b"), err), ERR_UNSUPPORTED, "version 99");
}

static void write_file(const char *path, const char *bytes, size_t len)
{
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static void not_ours(void **state)
{
	struct fixture *f = *state;
	struct store *store;
	static char noise[20000];
	store_close(f->store);
	f->store = NULL;
	memset(noise, 'x', sizeof noise);
	write_file(path_of(f, "bankfull.db"), noise, sizeof noise);
	FAILS(store_open(f->scratch.path, NULL, &store, err), ERR_MALFORMED, "move it away");
	assert_int_equal(unlink(path_of(f, "bankfull.db")), 0);
	sql(f, "CREATE TABLE other (x)");
	FAILS(store_open(f->scratch.path, NULL, &store, err), ERR_MALFORMED, "another program");
	assert_int_equal(unlink(path_of(f, "bankfull.db")), 0);
	assert_int_equal(mkdir(path_of(f, "bankfull.db"), 0700), 0);
	FAILS(store_open(f->scratch.path, NULL, &store, err), ERR_IO, "bankfull.db");
}

/* Root may write anywhere: as nobody for the moment of the call. */
/* Nobody would find again what goes into a file that has no name any more. */
static void deleted_while_open(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	assert_int_equal(unlink(path_of(f, "bankfull.db")), 0);
	assert_true(store_begin(f->store, &err) < 0);
	assert_int_equal(err.kind, ERR_IO);
	assert_non_null(strstr(err.message, "was deleted or replaced while it was open"));
}

static void read_only(void **state)
{
	struct fixture *f = *state;
	struct store *store;
	bool root = geteuid() == 0;
	store_close(f->store);
	f->store = NULL;
	assert_int_equal(chmod(path_of(f, "bankfull.lock"), 0444), 0);
	assert_int_equal(chmod(f->scratch.path, 0555), 0);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	FAILS(store_open(f->scratch.path, NULL, &store, err), ERR_DENIED, "mount its volume writable");
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(path_of(f, "bankfull.lock"), 0666), 0);
	assert_int_equal(chmod(path_of(f, "bankfull.db"), 0444), 0);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	FAILS(store_open(f->scratch.path, NULL, &store, err), ERR_DENIED, "mount its volume writable");
	FAILS(store_restore(path_of(f, "x"), f->scratch.path, err), ERR_USAGE, "is there already");
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(f->scratch.path, 0700), 0);
}

/* --- a batch that fails ------------------------------------------------------------------------- */

static void locked(void **state)
{
	struct fixture *f = *state;
	sqlite3 *other;
	assert_int_equal(sqlite3_open(path_of(f, "bankfull.db"), &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	FAILS(put(f, 3, err), ERR_TIMEOUT, "locked by another process");
	assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(other);
	OK(put(f, 3, err));
	assert_int_equal(n_samples(f), 3);
	check(f->scratch.path);
}

/* No file may grow: what a full disk is to us (EFBIG for ENOSPC), without one. */
static void no_room(void **state)
{
	struct fixture *f = *state;
	struct rlimit before, small = { 200 * 1024, 0 };
	OK(put(f, 50, err));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	struct err first = { 0 }, second = { 0 };
	int rc = put(f, 5000, &first);
	f->sample.head.seq = 51;
	f->epoch.acked = 50;
	int rc2 = put(f, 5000, &second);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0); /* whatever comes: the tests after this one */
	FAILS((*err = first, rc), ERR_LIMIT, "no room on disk");
	FAILS((*err = second, rc2), ERR_LIMIT, "no room on disk");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	resume(f); /* a small one still fits */
	assert_int_equal(f->epoch.acked, 50);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	OK(put(f, 5000, err));
	assert_int_equal(n_samples(f), 5050);
	struct store_counts counts;
	OK(store_count(f->store, &counts, err));
	assert_int_equal(counts.failed_commits_total, 2);
	check(f->scratch.path);
}

/* The first error of a batch is the one that is told, and nothing of the batch goes in behind it. */
static void fails_whole(void **state)
{
	struct fixture *f = *state;
	OK(put(f, 5, err));
	sql(f, "ALTER TABLE mark RENAME TO hidden");
	struct wire_finding finding = storekit_finding(7, "a", WIRE_OPENED);
	OK(store_begin(f->store, err));
	OK(store_sample(f->store, f->agent, &f->epoch, &f->sample, at, err));
	FAILS(store_finding(f->store, f->agent, &f->epoch, &finding, STR("{}"), at, err), ERR_IO, "no such table");
	f->sample.head.seq = 7;
	FAILS(store_sample(f->store, f->agent, &f->epoch, &f->sample, at, err), ERR_IO, "no such table");
	FAILS(store_commit(f->store, err), ERR_IO, "no such table");
	sql(f, "ALTER TABLE hidden RENAME TO mark");
	assert_int_equal(n_samples(f), 5);
	resume(f);
	assert_int_equal(f->epoch.acked, 5);
	OK(put(f, 5, err));
	check(f->scratch.path);
}

/* --- the check ------------------------------------------------------------------------------------ */

static void damages(void **state)
{
	static const struct {
		const char *sql, *said;
	} table[] = {
		{ "DELETE FROM sample WHERE seq = 1205; UPDATE tally SET samples = samples - 1", "acked to 1220" },
		{ "UPDATE epoch SET acked = acked + 1", "acked to 1221" },
		{ "UPDATE epoch SET acked = acked - 1", "acked to 1219" },
		{ "UPDATE tally SET samples = 7", "samples 7, counted 1220" },
		{ "UPDATE tally SET agents = 7", "gaps or agents" },
		{ "INSERT INTO gap VALUES (1, 1210, 1211, 'x', 1); UPDATE tally SET gaps = 1",
		  "sample 1210 lies in a gap" },
		{ "INSERT INTO gap VALUES (1, 5, 5, 'x', 1); UPDATE tally SET gaps = 1", "sample 5 lies in a gap" },
		{ "INSERT INTO gap VALUES (1, 1230, 9223372036854775807, 'x', 1); UPDATE tally SET gaps = 1",
		  "an open gap begins at 1230" },
		{ "INSERT INTO mark VALUES (1, 1215)", "both a sample and none" },
		{ "UPDATE chunk SET points = 9 WHERE chunk = 1", "says otherwise" },
		{ "UPDATE chunk SET data = x'0101' WHERE chunk = 1", "shorter than its head" },
		{ "UPDATE chunk SET first_seq = 2 WHERE chunk = 1", "out of order" },
		{ "DELETE FROM epoch", "has samples and is none" },
		{ "DELETE FROM agent; UPDATE tally SET agents = 0", "of no agent" },
		{ "INSERT INTO part VALUES (3, 0, 'x')", "a part of none" },
		{ "INSERT INTO event VALUES (99, 2, 1, 1, 1)", "of no agent" },
		{ "INSERT INTO event VALUES (1, 10, 1, 1, 1)", "of kind 10" },
		{ "INSERT INTO event VALUES (1, 2, 1, -7, 1)", "value -7" },
	};
	struct fixture *f = *state;
	bool more = true;
	OK(put(f, 1220, err));
	/* most of it in half hours, the last ones in rows */
	while (more)
		OK(store_keep(f->store, (struct wall){ at.ms + 1210 * 10000 }, &more, err));
	store_close(f->store);
	f->store = NULL;
	check(f->scratch.path);
	OK(store_backup(f->scratch.path, path_of(f, "good"), err));
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		auto_buf struct buf report = { .cap = 65536 };
		assert_int_equal(unlink(path_of(f, "bankfull.db")), 0);
		OK(store_restore(path_of(f, "good"), f->scratch.path, err));
		sql(f, table[i].sql);
		FAILS(store_check(f->scratch.path, &report, err), ERR_MALFORMED, "troubles");
		if (!str_has(buf_str(&report), str_of(table[i].said)))
			fail_msg("%s: not '%s' but:\n%s", table[i].sql, table[i].said, buf_str(&report).ptr);
	}
}

/* Three pages of every four in [from, to) become noise. */
static void spoil(const struct fixture *f, long from, long to)
{
	static char noise[3 * 4096];
	memset(noise, 0x5a, sizeof noise);
	FILE *file = fopen(path_of(f, "bankfull.db"), "r+b");
	assert_non_null(file);
	for (long page = from; page < to; page += 4) {
		assert_int_equal(fseek(file, page * 4096, SEEK_SET), 0);
		assert_int_equal(fwrite(noise, 1, sizeof noise, file), sizeof noise);
	}
	assert_int_equal(fclose(file), 0);
}

/* The list of tables itself: nothing can be opened any more, and that is said, too. */
static void corrupt_schema(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf report = { .cap = 65536 };
	OK(put(f, 10, err));
	store_close(f->store);
	f->store = NULL;
	spoil(f, 24, 60);
	FAILS(store_check(f->scratch.path, &report, err), ERR_MALFORMED, "restore a backup");
	assert_true(str_has(buf_str(&report), STR("damaged")));
	FAILS(store_open(f->scratch.path, NULL, &f->store, err), ERR_MALFORMED, "restore a backup");
}

static void corrupt(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf report = { .cap = 65536 };
	OK(put(f, 2000, err));
	store_close(f->store);
	f->store = NULL;
	spoil(f, 40, 76); /* behind all that the migrations made */
	FAILS(store_check(f->scratch.path, &report, err), ERR_MALFORMED, "restore a backup");
	assert_true(report.len > 0);
	OK(store_open(f->scratch.path, NULL, &f->store, err)); /* it is as far as it was read, well */
	OK(store_begin(f->store, err));
	int rc = 0;
	struct err why = { 0 };
	for (f->sample.head.seq = 2001; rc == 0 && f->sample.head.seq < 9000;) {
		rc = store_sample(f->store, f->agent, &f->epoch, &f->sample, at, &why);
		storekit_next(&f->prng, &f->sample, 10000);
	}
	bool more;
	if (rc == 0)
		rc = store_commit(f->store, &why);
	if (rc == 0) /* the write went past the damage: who reads meets it */
		rc = store_keep(f->store, (struct wall){ at.ms + INT64_C(864000000) }, &more, &why);
	assert_true(rc < 0);
	assert_int_equal(why.kind, ERR_MALFORMED);
	OK(store_backup(f->scratch.path, path_of(f, "b"), err)); /* a copy of what there is, to be kept */
	scratch_dir(&f->scratch, "new");
	FAILS(store_restore(path_of(f, "b"), path_of(f, "new"), err), ERR_MALFORMED, "restore a backup");
	assert_int_equal(access(path_of(f, "new/bankfull.db"), F_OK), -1);
}

/* --- backup and restore --------------------------------------------------------------------------- */

static unsigned n_files(const char *directory)
{
	unsigned n = 0;
	DIR *dir = opendir(directory);
	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(dir);
	return n;
}

static void backup(void **state)
{
	struct fixture *f = *state;
	OK(put(f, 100, err));
	OK(store_backup(f->scratch.path, path_of(f, "one"), err));
	FAILS(store_backup(f->scratch.path, path_of(f, "one"), err), ERR_USAGE, "is there already");
	FAILS(store_backup(f->scratch.path, path_of(f, "no/such"), err), ERR_GONE, "no");
	FAILS(store_restore(path_of(f, "one"), f->scratch.path, err), ERR_USAGE, "is there already");
	FAILS(store_restore(path_of(f, "none"), f->scratch.path, err), ERR_USAGE, "is there already");
	struct stat st;
	assert_int_equal(stat(path_of(f, "one"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	scratch_dir(&f->scratch, "new");
	FAILS(store_restore(path_of(f, "none"), path_of(f, "new"), err), ERR_GONE, "none");
	FAILS(store_backup(path_of(f, "new"), path_of(f, "two"), err), ERR_GONE, "new");
	scratch_file(&f->scratch, "text", "this is no database, but long enough to be looked at: 0123456789");
	FAILS(store_restore(path_of(f, "text"), path_of(f, "new"), err), ERR_MALFORMED, "no database");
	scratch_file(&f->scratch, "empty", "");
	FAILS(store_restore(path_of(f, "empty"), path_of(f, "new"), err), ERR_MALFORMED, "holds nothing");
	assert_int_equal(n_files(path_of(f, "new")), 0);
	assert_int_equal(chmod(path_of(f, "one"), 0400), 0);
	OK(store_restore(path_of(f, "one"), path_of(f, "new"), err));
	assert_int_equal(n_files(path_of(f, "new")), 1);
	check(path_of(f, "new"));
	struct store *restored;
	struct store_counts counts;
	OK(store_open(path_of(f, "new"), NULL, &restored, err));
	OK(store_count(restored, &counts, err));
	assert_int_equal(counts.n_samples, 100);
	store_close(restored);
}

/* Another process copies while we write without a pause: each copy ends, and each is one moment of us. */
static void backup_under_load(void **state)
{
	struct fixture *f = *state;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		int rc = 0;
		for (int i = 0; i < 5 && rc == 0; i++) {
			char name[16];
			(void)snprintf(name, sizeof name, "copy-%d", i);
			rc = store_backup(f->scratch.path, path_of(f, name), NULL);
		}
		_exit(rc == 0 ? 0 : 1);
	}
	int status = -1;
	while (waitpid(child, &status, WNOHANG) == 0)
		OK(put(f, 20, err));
	assert_int_equal(status, 0);
	for (int i = 0; i < 5; i++) {
		char name[16], directory[16];
		(void)snprintf(name, sizeof name, "copy-%d", i);
		(void)snprintf(directory, sizeof directory, "new-%d", i);
		scratch_dir(&f->scratch, directory);
		OK(store_restore(path_of(f, name), path_of(f, directory), err));
	}
	check(f->scratch.path);
}

int main(void)
{
#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		WITH(opened),
		WITH(versions),
		WITH(not_ours),
		WITH(read_only),
		WITH(deleted_while_open),
		WITH(locked),
		WITH(no_room),
		WITH(damages),
		WITH(fails_whole),
		WITH(corrupt),
		WITH(corrupt_schema),
		WITH(backup),
		WITH(backup_under_load),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
