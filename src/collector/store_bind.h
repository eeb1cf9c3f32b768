/* SPDX-License-Identifier: Apache-2.0 */
/* Values into a statement and out of it, and statements and connections that end with their scope. For store*.c alone. */
#ifndef COLLECTOR_STORE_BIND_H
#define COLLECTOR_STORE_BIND_H

#include <sqlite3.h>

#include "base/auto.h"
#include "base/str.h"

/* Values never fail to bind: their places are ours, and bytes are not copied, so they must outlive the step. */
static inline void store_bind_int(sqlite3_stmt *statement, int place, int64_t value)
{
	(void)sqlite3_bind_int64(statement, place, value);
}
static inline void store_bind_text(sqlite3_stmt *statement, int place, struct str text)
{
	(void)sqlite3_bind_text64(statement, place, text.ptr, text.len, SQLITE_STATIC, SQLITE_UTF8);
}
static inline void store_bind_blob(sqlite3_stmt *statement, int place, struct str bytes)
{
	(void)sqlite3_bind_blob64(statement, place, bytes.ptr, bytes.len, SQLITE_STATIC);
}
static inline struct str store_column(sqlite3_stmt *statement, int column)
{
	const char *bytes = sqlite3_column_blob(statement, column);
	return (struct str){ bytes ? bytes : "", (size_t)sqlite3_column_bytes(statement, column) };
}
static inline void store_column_text(sqlite3_stmt *statement, int column, char *dest, size_t cap)
{
	str_copy(dest, cap, store_column(statement, column));
}

/* A statement for one use, closed at the end of the scope. */
static inline void store_finalizep(sqlite3_stmt **statement)
{
	(void)sqlite3_finalize(*statement);
}
#define auto_statement auto_(store_finalizep)

/* A statement goes back to its start at the end of the scope: a row that stays open blocks checkpoints. */
static inline void store_resetp(sqlite3_stmt **statement)
{
	if (*statement)
		(void)sqlite3_reset(*statement);
}
#define auto_reset auto_(store_resetp)

static inline void store_db_closep(sqlite3 **db)
{
	(void)sqlite3_close(*db); /* an unfinished statement would be our bug; NULL is fine */
}
#define auto_db auto_(store_db_closep)

#endif
