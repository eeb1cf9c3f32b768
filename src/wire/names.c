/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the wire. Those of death_cause_names and forecast_kind_names stand with who decides on them (ledger). */
#include "bankfull/wire.h"

const char *const wire_role_names[ROLE_COUNT] = { "unknown", "taskmanager", "jobmanager", "streams", "jvm" };

const char *const wire_type_names[WIRE_TYPE_COUNT] = {
	[WIRE_HELLO] = "hello",           [WIRE_SAMPLE] = "sample", [WIRE_FINDING] = "finding",
	[WIRE_POSTMORTEM] = "postmortem", [WIRE_GAP] = "gap",       [WIRE_BYE] = "bye",
	[WIRE_WELCOME] = "welcome",       [WIRE_ACK] = "ack",       [WIRE_ERROR] = "error",
};

const char *const wire_edge_names[WIRE_EDGE_COUNT] = { "opened", "updated", "cleared" };

const char *const wire_error_names[WIRE_ERR_COUNT] = {
	[WIRE_ERR_MALFORMED] = "malformed", [WIRE_ERR_TYPE] = "type",         [WIRE_ERR_SEQUENCE] = "sequence",
	[WIRE_ERR_RATE] = "rate",           [WIRE_ERR_SIZE] = "size",         [WIRE_ERR_STATE] = "state",
	[WIRE_ERR_STORE] = "store",         [WIRE_ERR_REPLACED] = "replaced",
};
