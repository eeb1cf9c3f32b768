/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to src/collector/web*.c. */
#ifndef COLLECTOR_WEB_PARTS_H
#define COLLECTOR_WEB_PARTS_H

#include "collector/web.h"

/* A page of one sentence, and where to go on. All texts are our own: nothing is escaped. */
void web_page(struct server_reply *reply, unsigned status, const char *title, const char *text, const char *href,
	      const char *link);

/* web_login.c */
void web_login(struct web *web, const struct server_request *request, struct mono now, struct server_reply *reply);
void web_logout(const struct web *web, const struct server_request *request, struct server_reply *reply);

#endif
