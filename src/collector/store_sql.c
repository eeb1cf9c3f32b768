/* SPDX-License-Identifier: Apache-2.0 */
/* Every table and every statement of the store. A text of store_migrations that was released is never changed. */
#include "collector/store_sql.h"

const char *const store_migrations[STORE_VERSION] = {
	/* 1 */
	"CREATE TABLE tally (one INTEGER PRIMARY KEY CHECK (one = 1), samples INTEGER NOT NULL, rollups INTEGER NOT NULL,"
	" findings INTEGER NOT NULL, postmortems INTEGER NOT NULL, gaps INTEGER NOT NULL, agents INTEGER NOT NULL) STRICT;"
	"INSERT INTO tally VALUES (1, 0, 0, 0, 0, 0, 0);"
	"CREATE TABLE age (one INTEGER PRIMARY KEY CHECK (one = 1), at_ms INTEGER NOT NULL) STRICT;"
	"INSERT INTO age VALUES (1, 0);"
	"CREATE TABLE agent (agent INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, subject TEXT NOT NULL,"
	" first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL) STRICT;"
	"CREATE TABLE epoch (epoch INTEGER PRIMARY KEY, agent INTEGER NOT NULL, id BLOB NOT NULL, acked INTEGER NOT NULL,"
	" base INTEGER NOT NULL, finished INTEGER NOT NULL, bye INTEGER NOT NULL, first_ms INTEGER NOT NULL,"
	" last_ms INTEGER NOT NULL, UNIQUE (agent, id)) STRICT;"
	"CREATE TABLE sample (epoch INTEGER NOT NULL, seq INTEGER NOT NULL, received_ms INTEGER NOT NULL,"
	" data BLOB NOT NULL, PRIMARY KEY (epoch, seq)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE chunk (chunk INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, kind INTEGER NOT NULL,"
	" first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL,"
	" points INTEGER NOT NULL, samples INTEGER NOT NULL, data BLOB NOT NULL) STRICT;"
	"CREATE INDEX chunk_read ON chunk (epoch, last_ms);"
	"CREATE INDEX chunk_age ON chunk (kind, last_ms);"
	"CREATE TABLE mark (epoch INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (epoch, seq)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE gap (epoch INTEGER NOT NULL, from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL, reason TEXT NOT NULL,"
	" received_ms INTEGER NOT NULL, PRIMARY KEY (epoch, from_seq)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE finding (finding INTEGER PRIMARY KEY, agent INTEGER NOT NULL, id TEXT NOT NULL, rule TEXT NOT NULL,"
	" severity INTEGER NOT NULL, edge INTEGER NOT NULL, owner INTEGER NOT NULL, title TEXT NOT NULL,"
	" opened_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL, cleared_ms INTEGER NOT NULL,"
	" received_ms INTEGER NOT NULL, updates INTEGER NOT NULL, text TEXT NOT NULL, UNIQUE (agent, id)) STRICT;"
	"CREATE INDEX finding_age ON finding (received_ms);"
	"CREATE TABLE postmortem (postmortem INTEGER PRIMARY KEY, agent INTEGER NOT NULL, id TEXT NOT NULL,"
	" cause INTEGER NOT NULL, owner INTEGER NOT NULL, pid INTEGER NOT NULL, died_ms INTEGER NOT NULL,"
	" received_ms INTEGER NOT NULL, title TEXT NOT NULL, parts INTEGER NOT NULL, inferred INTEGER NOT NULL,"
	" UNIQUE (agent, id)) STRICT;"
	"CREATE INDEX postmortem_age ON postmortem (received_ms);"
	"CREATE INDEX postmortem_id ON postmortem (id);"
	"CREATE TABLE part (postmortem INTEGER NOT NULL, part INTEGER NOT NULL, text TEXT NOT NULL,"
	" UNIQUE (postmortem, part)) STRICT;"
	"CREATE TABLE token (sha256 BLOB PRIMARY KEY, agent_id TEXT NOT NULL, expires_ms INTEGER NOT NULL) STRICT,"
	" WITHOUT ROWID;",
	/* 2: what happened to a target, for the time axis: collector/events.h */
	"CREATE TABLE event (agent INTEGER NOT NULL, kind INTEGER NOT NULL, at_ms INTEGER NOT NULL, value INTEGER NOT NULL,"
	" before INTEGER NOT NULL, PRIMARY KEY (agent, kind, at_ms)) STRICT, WITHOUT ROWID;"
	"CREATE INDEX event_age ON event (kind, at_ms);"
	"ALTER TABLE agent ADD COLUMN workload TEXT NOT NULL DEFAULT '';"
	"UPDATE agent SET workload = coalesce(json_extract(subject, '$.workload'), '') WHERE json_valid(subject);"
	"CREATE INDEX agent_workload ON agent (workload);",
	/* 3: silences, acknowledgements, and who did what: collector/silences.h */
	"CREATE TABLE silence (silence INTEGER PRIMARY KEY, kind INTEGER NOT NULL, matchers TEXT NOT NULL,"
	" reason TEXT NOT NULL, author TEXT NOT NULL, created_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL,"
	" ended_ms INTEGER NOT NULL, ended_by TEXT NOT NULL) STRICT;"
	"CREATE INDEX silence_ended ON silence (ended_ms);"
	"CREATE TABLE audit (audit INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, who TEXT NOT NULL, peer TEXT NOT NULL,"
	" what TEXT NOT NULL, namespace TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL) STRICT;"
	"CREATE INDEX audit_age ON audit (at_ms);",
	/* 4: alerts, and what each receiver was told of them: collector/alerts.h */
	"CREATE TABLE alert (alert INTEGER PRIMARY KEY, cluster TEXT NOT NULL, namespace TEXT NOT NULL,"
	" workload TEXT NOT NULL, rule TEXT NOT NULL, severity INTEGER NOT NULL, started_ms INTEGER NOT NULL,"
	" ended_ms INTEGER NOT NULL, start_order INTEGER NOT NULL, end_order INTEGER NOT NULL,"
	" pending INTEGER NOT NULL, text TEXT NOT NULL) STRICT;"
	"CREATE UNIQUE INDEX alert_active ON alert (cluster, namespace, workload, rule) WHERE ended_ms = 0;"
	"CREATE INDEX alert_pending ON alert (alert) WHERE pending = 1;"
	"CREATE INDEX alert_ended ON alert (ended_ms);"
	"CREATE TABLE delivery (alert INTEGER NOT NULL, receiver TEXT NOT NULL, told INTEGER NOT NULL,"
	" told_ms INTEGER NOT NULL, repeats INTEGER NOT NULL, PRIMARY KEY (alert, receiver)) STRICT, WITHOUT ROWID;",
};

const char *const store_sql[ST_COUNT] = {
	[ST_BEGIN] = "BEGIN IMMEDIATE",
	[ST_COMMIT] = "COMMIT",
	[ST_ROLLBACK] = "ROLLBACK",
	[ST_TALLY_READ] = "SELECT samples, rollups, findings, postmortems, gaps, agents FROM tally",
	[ST_TALLY_WRITE] = "UPDATE tally SET samples = ?1, rollups = ?2, findings = ?3, postmortems = ?4, gaps = ?5,"
			   " agents = ?6",
	[ST_AGE_READ] = "SELECT at_ms FROM age",
	[ST_AGE_WRITE] = "UPDATE age SET at_ms = ?1",

	[ST_AGENT_FIND] = "SELECT agent FROM agent WHERE id = ?1",
	[ST_AGENT_ADD] = "INSERT INTO agent (id, subject, first_ms, last_ms, workload) VALUES (?1, ?2, ?3, ?3, ?4)",
	[ST_AGENT_CONFIRM] = "UPDATE agent SET subject = json_remove(subject, '$.asserted') WHERE agent = ?1",
	[ST_AGENT_UPDATE] = "UPDATE agent SET subject = ?2, last_ms = ?3, workload = ?4 WHERE agent = ?1",

	[ST_EPOCH_FIND] = "SELECT epoch, acked, finished FROM epoch WHERE agent = ?1 AND id = ?2",
	[ST_EPOCH_ADD] = "INSERT INTO epoch (agent, id, acked, base, finished, bye, first_ms, last_ms)"
			 " VALUES (?1, ?2, 0, 0, 0, 0, ?3, ?3)",
	[ST_EPOCH_ACK] = "UPDATE epoch SET acked = ?2, last_ms = ?3 WHERE epoch = ?1 AND acked < ?2",
	[ST_EPOCH_BYE] = "UPDATE epoch SET bye = 1, last_ms = ?2 WHERE epoch = ?1",
	[ST_EPOCH_FINISH] = "UPDATE epoch SET finished = 1 WHERE epoch = ?1",
	[ST_EPOCH_REOPEN] = "UPDATE epoch SET finished = 0, bye = 0 WHERE epoch = ?1",
	[ST_EPOCH_OPEN_ONES] =
		"SELECT epoch, id, acked, bye FROM epoch WHERE agent = ?1 AND finished = 0 AND epoch > ?2"
		" ORDER BY epoch LIMIT 1",

	[ST_SAMPLE_ADD] = "INSERT INTO sample (epoch, seq, received_ms, data) VALUES (?1, ?2, ?3, ?4)"
			  " ON CONFLICT DO NOTHING",
	[ST_MARK_ADD] = "INSERT INTO mark (epoch, seq) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
	[ST_GAP_ADD] = "INSERT INTO gap (epoch, from_seq, to_seq, reason, received_ms) VALUES (?1, ?2, ?3, ?4, ?5)"
		       " ON CONFLICT DO NOTHING",
	[ST_GAP_UNEND] = "DELETE FROM gap WHERE epoch = ?1 AND to_seq = 9223372036854775807 RETURNING from_seq",

	[ST_FINDING_FIND] = "SELECT finding, opened_ms FROM finding WHERE agent = ?1 AND id = ?2",
	[ST_FINDING_ADD] = "INSERT INTO finding (agent, id, rule, severity, edge, owner, title, opened_ms, updated_ms,"
			   " cleared_ms, received_ms, updates, text)"
			   " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 1, ?12)",
	/* The text is the latest that carried the whole finding; an empty one does not. */
	[ST_FINDING_UPDATE] = "UPDATE finding SET severity = ?4, edge = ?5, owner = ?6, title = ?7, updated_ms = ?9,"
			      " cleared_ms = ?10, received_ms = ?11, updates = updates + 1,"
			      " text = CASE WHEN ?12 = '' THEN text ELSE ?12 END WHERE agent = ?1 AND id = ?2",

	[ST_DEATH_FIND] = "SELECT postmortem, inferred FROM postmortem WHERE agent = ?1 AND id = ?2",
	[ST_DEATH_ADD] = "INSERT INTO postmortem (agent, id, cause, owner, pid, died_ms, received_ms, title, parts,"
			 " inferred) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
	[ST_DEATH_FILL] = "UPDATE postmortem SET cause = ?3, owner = ?4, pid = ?5, died_ms = ?6, received_ms = ?7,"
			  " title = ?8, parts = ?9 WHERE agent = ?1 AND id = ?2",
	[ST_DEATH_SAME] =
		"SELECT postmortem FROM postmortem WHERE agent = ?1 AND (pid = ?2 OR pid = 0 OR ?2 = 0) AND inferred = ?3"
		" AND died_ms BETWEEN ?4 AND ?5 LIMIT 1",
	[ST_DEATH_DELETE] = "DELETE FROM postmortem WHERE postmortem = ?1",
	[ST_DEATH_CAUSE] = "UPDATE postmortem SET cause = ?2, died_ms = CASE WHEN inferred AND ?3 > 0 THEN ?3"
			   " ELSE died_ms END WHERE postmortem = ?1",
	[ST_PART_ADD] = "INSERT INTO part (postmortem, part, text) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
	[ST_PARTS_DELETE] = "DELETE FROM part WHERE postmortem = ?1",

	[ST_EVENT_PUT] =
		"INSERT INTO event (agent, kind, at_ms, value, before) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE"
		" SET value = excluded.value, before = excluded.before WHERE excluded.value <> 0 AND event.value <> excluded.value",
	[ST_EVENT_FOUND] = "DELETE FROM event WHERE agent = ?1 AND kind = ?2 AND at_ms >= ?3",
	[ST_EVENT_LAST] =
		"SELECT at_ms, value, before FROM event WHERE agent = ?1 AND kind = ?2 ORDER BY at_ms DESC LIMIT 1",
	[ST_EVENTS_EXPIRE] = "DELETE FROM event WHERE (agent, kind, at_ms) IN (SELECT agent, kind, at_ms FROM event"
			     " WHERE kind = ?1 AND at_ms < ?2 ORDER BY at_ms LIMIT ?3)",

	[ST_TOKEN_ADD] = "INSERT INTO token (sha256, agent_id, expires_ms) VALUES (?1, ?2, ?3) ON CONFLICT (sha256)"
			 " DO UPDATE SET agent_id = excluded.agent_id, expires_ms = excluded.expires_ms",
	[ST_TOKEN_FORGET] = "DELETE FROM token WHERE sha256 = ?1",
	[ST_TOKEN_FIND] = "SELECT agent_id FROM token WHERE sha256 = ?1 AND expires_ms > ?2",

	/* The first row of the next epoch that has any: an index is skipped through, not walked. */
	[ST_LIVE_NEXT] = "SELECT epoch, received_ms FROM sample WHERE epoch > ?1 ORDER BY epoch, seq LIMIT 1",
	[ST_LIVE_ROWS] = "SELECT seq, received_ms, data FROM sample WHERE epoch = ?1 ORDER BY seq LIMIT ?2",
	[ST_LIVE_DELETE] = "DELETE FROM sample WHERE epoch = ?1 AND seq <= ?2",
	[ST_CHUNK_ADD] =
		"INSERT INTO chunk (epoch, kind, first_seq, last_seq, first_ms, last_ms, points, samples, data)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
	[ST_CHUNK_OLDEST] = "SELECT epoch, last_ms FROM chunk WHERE kind = ?1 AND last_ms < ?2"
			    " ORDER BY last_ms LIMIT 1",
	[ST_CHUNK_ROWS] =
		"SELECT chunk, points, data, first_seq, last_seq FROM chunk WHERE epoch = ?1 AND kind = 1 AND last_ms >= ?2"
		" AND last_ms < ?3 ORDER BY first_seq",
	[ST_CHUNK_BETWEEN] = "SELECT 1 FROM chunk WHERE epoch = ?1 AND first_seq > ?2 AND first_seq < ?3 LIMIT 1",
	[ST_CHUNK_DELETE] = "DELETE FROM chunk WHERE chunk = ?1",
	[ST_CHUNKS_EXPIRE] = "DELETE FROM chunk WHERE chunk IN (SELECT chunk FROM chunk WHERE kind = 2 AND last_ms < ?1"
			     " ORDER BY last_ms LIMIT ?2) RETURNING points",
	[ST_EPOCH_BASE] = "UPDATE epoch SET base = max(base, ?2) WHERE epoch = ?1",
	[ST_MARKS_DELETE] = "DELETE FROM mark WHERE epoch = ?1 AND seq <= ?2",
	[ST_FINDINGS_EXPIRE] =
		"DELETE FROM finding WHERE finding IN (SELECT finding FROM finding WHERE received_ms < ?1"
		" AND edge >= ?3 ORDER BY received_ms LIMIT ?2) RETURNING finding",
	[ST_DEATHS_EXPIRE] = "DELETE FROM postmortem WHERE postmortem = (SELECT postmortem FROM postmortem"
			     " WHERE received_ms < ?1 ORDER BY received_ms LIMIT 1) RETURNING postmortem",
	[ST_TOKENS_BOUND] = "DELETE FROM token WHERE (SELECT count(*) FROM token) > ?1 AND sha256 IN"
			    " (SELECT sha256 FROM token ORDER BY expires_ms DESC LIMIT -1 OFFSET ?1)",
	[ST_TOKENS_EXPIRE] = "DELETE FROM token WHERE expires_ms <= ?1",
	[ST_EPOCHS_OLD] = "SELECT epoch, last_ms FROM epoch WHERE epoch > ?1 ORDER BY epoch LIMIT 1",
	[ST_EPOCH_DELETE] = "DELETE FROM epoch WHERE epoch = ?1 AND NOT EXISTS (SELECT 1 FROM sample WHERE epoch = ?1)"
			    " AND NOT EXISTS (SELECT 1 FROM chunk WHERE epoch = ?1) RETURNING epoch",
	[ST_GAPS_DELETE] = "DELETE FROM gap WHERE epoch = ?1 RETURNING from_seq",
	[ST_AGENTS_DELETE] = "DELETE FROM agent WHERE last_ms < ?1"
			     " AND NOT EXISTS (SELECT 1 FROM epoch e WHERE e.agent = agent.agent)"
			     " AND NOT EXISTS (SELECT 1 FROM finding f WHERE f.agent = agent.agent)"
			     " AND NOT EXISTS (SELECT 1 FROM postmortem p WHERE p.agent = agent.agent)"
			     " AND NOT EXISTS (SELECT 1 FROM event v WHERE v.agent = agent.agent) RETURNING agent",
	[ST_SILENCE_ADD] =
		"INSERT INTO silence (kind, matchers, reason, author, created_ms, until_ms, ended_ms, ended_by)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, '')",
	[ST_SILENCE_END] = "UPDATE silence SET ended_ms = ?2, ended_by = ?3 WHERE silence = ?1 AND ended_ms = 0",
	[ST_SILENCES_EXPIRE] = "DELETE FROM silence WHERE silence IN (SELECT silence FROM silence WHERE ended_ms > 0"
			       " AND ended_ms < ?1 ORDER BY ended_ms LIMIT ?2) RETURNING silence",
	/* Past the newest ?1 of those that ended. */
	[ST_SILENCES_TRIM] = "DELETE FROM silence WHERE silence IN (SELECT silence FROM silence WHERE ended_ms > 0"
			     " ORDER BY ended_ms DESC LIMIT ?2 OFFSET ?1) RETURNING silence",
	[ST_AUDIT_ADD] = "INSERT INTO audit (at_ms, who, peer, what, namespace, before, after)"
			 " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[ST_AUDIT_EXPIRE] = "DELETE FROM audit WHERE audit IN (SELECT audit FROM audit WHERE at_ms < ?1"
			    " ORDER BY at_ms LIMIT ?2) RETURNING audit",
	[ST_AUDIT_TRIM] = "DELETE FROM audit WHERE audit <= (SELECT max(audit) FROM audit) - ?1 RETURNING audit",
	[ST_ALERT_ADD] = "INSERT INTO alert (cluster, namespace, workload, rule, severity, started_ms, ended_ms,"
			 " start_order, end_order, pending, text)"
			 " VALUES (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
	[ST_ALERT_UPDATE] = "UPDATE alert SET ended_ms = ?8, end_order = ?10, pending = ?11, text = ?12"
			    " WHERE alert = ?1",
	[ST_DELIVERY_PUT] = "INSERT INTO delivery (alert, receiver, told, told_ms, repeats) VALUES (?1, ?2, ?3, ?4, ?5)"
			    " ON CONFLICT (alert, receiver) DO UPDATE SET told = excluded.told,"
			    " told_ms = excluded.told_ms, repeats = excluded.repeats",
	[ST_DELIVERIES] = "SELECT receiver, told, told_ms, repeats FROM delivery WHERE alert = ?1",
/* Those that ended before ?1, and those past the newest ?3 that did; what is still to be told stays. */
#define ALERTS_OLD                                                                                           \
	"(SELECT alert FROM alert WHERE ended_ms > 0 AND pending = 0 AND (ended_ms < ?1 OR alert <= (SELECT" \
	" max(alert) FROM alert) - ?3) ORDER BY ended_ms, alert LIMIT ?2)"
	[ST_DELIVERIES_EXPIRE] = "DELETE FROM delivery WHERE alert IN " ALERTS_OLD,
	[ST_ALERTS_EXPIRE] = "DELETE FROM alert WHERE alert IN " ALERTS_OLD " RETURNING alert",
#undef ALERTS_OLD
	[ST_FREE_PAGES] = "SELECT (SELECT page_count FROM pragma_page_count), (SELECT freelist_count FROM"
			  " pragma_freelist_count)",
};
