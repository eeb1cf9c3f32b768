/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/alert_send.h"

#include <fcntl.h>

#include "net/http.h"
#include "sys/file.h"

static int read_token(const struct alert_message *message, struct buf *token, struct err *err)
{
	if (!message->token_file[0])
		return 0;
	int rc = file_read_at(AT_FDCWD, message->token_file, ALERT_TOKEN_MAX, token, err);
	struct str text = rc == 0 ? str_trim(buf_str(token)) : STR("");
	if (rc == 0 && text.len == 0)
		rc = err_set(err, ERR_USAGE, "%s is empty", message->token_file);
	/* It becomes a line of a header. */
	for (size_t i = 0; rc == 0 && i < text.len; i++)
		if (text.ptr[i] <= ' ' || text.ptr[i] >= 0x7f)
			rc = err_set(err, ERR_USAGE, "%s has more in it than one token of visible ASCII",
				     message->token_file);
	if (rc < 0)
		err_wrap(err, "the token to send with");
	return rc;
}

void alert_send(struct alert_message *message)
{
	auto_buf struct buf token = { .cap = ALERT_TOKEN_MAX }, answer = { .cap = ALERT_ANSWER_MAX };
	message->rc = read_token(message, &token, &message->err);
	if (message->rc == 0) {
		const struct http_request http = {
			.url = message->url,
			.cap = ALERT_ANSWER_MAX,
			.timeout_ms = message->timeout_ms,
			.connect_timeout_ms = message->timeout_ms,
		};
		const struct http_post post = {
			.login = { .bearer = str_trim(buf_str(&token)),
				   .ca_file = message->ca_file[0] ? message->ca_file : NULL,
				   .ret_status = &message->status },
			.body = buf_str(&message->body),
			.content_type = message->content_type,
			.abandon = &message->abandon,
		};
		message->rc = http_post(&http, &post, &answer, NULL, &message->err);
	}
	if (token.ptr)
		explicit_bzero(token.ptr, token.room);
}

enum alert_outcome alert_outcome_of(int rc, long status)
{
	if (rc == 0)
		return ALERT_TOLD;
	/* 2xx with an answer that was too long or cut short: it was taken all the same, and must not be told twice. */
	if (status >= 200 && status < 300)
		return ALERT_TOLD;
	return status == 400 || status == 413 || status == 415 || status == 422 ? ALERT_REFUSED : ALERT_FAILED;
}
