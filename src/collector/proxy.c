/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/proxy.h"

#include <arpa/inet.h>
#include <ctype.h>

#include "base/esc.h"

/* --- peers ------------------------------------------------------------------------------------------------------- */

/* v4 as ::ffff:a.b.c.d, as the bits of its prefix are counted then. */
static bool address_parse(const char *text, struct in6_addr *ret_address, bool *ret_v4)
{
	struct in_addr v4;
	*ret_v4 = inet_pton(AF_INET, text, &v4) == 1;
	if (!*ret_v4)
		return inet_pton(AF_INET6, text, ret_address) == 1;
	*ret_address = (struct in6_addr){ .s6_addr = { [10] = 0xff, [11] = 0xff } };
	memcpy(&ret_address->s6_addr[12], &v4, 4);
	return true;
}

static bool same_net(const struct in6_addr *a, const struct in6_addr *b, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;
	unsigned mask = 0xff00U >> rest & 0xffU;
	return memcmp(a, b, whole) == 0 && (rest == 0 || ((a->s6_addr[whole] ^ b->s6_addr[whole]) & mask) == 0);
}

static int net_parse(struct str text, struct proxy_peers *peers, struct err *err)
{
	char address[INET6_ADDRSTRLEN], shown[64];
	bool v4;
	size_t slash = str_index(text, '/');
	str_copy(address, sizeof address, (struct str){ text.ptr, slash });
	if (peers->n == PROXY_PEERS_MAX)
		return err_set(err, ERR_USAGE, "more than %d peers", PROXY_PEERS_MAX);
	if (slash >= sizeof address || !address_parse(address, &peers->nets[peers->n].address, &v4))
		return err_set(err, ERR_USAGE, "%s is no address: write ADDRESS or ADDRESS/LEN",
			       esc_copy(shown, sizeof shown, text));
	uint64_t most = v4 ? 32 : 128, bits = most;
	if (slash < text.len && (!str_is_u64(str_skip(text, slash + 1), &bits) || bits > most))
		return err_set(err, ERR_USAGE, "%s: the length behind '/' is 0 to %u",
			       esc_copy(shown, sizeof shown, text), (unsigned)most);
	peers->nets[peers->n++].bits = (unsigned)(bits + 128 - most);
	return 0;
}

int proxy_peers_parse(const char *text, struct proxy_peers *ret_peers, struct err *err)
{
	struct proxy_peers peers = { 0 };
	struct str rest = str_of(text), part;
	int rc = 0;
	while (rc == 0 && str_split(&rest, ',', &part))
		rc = net_parse(str_trim(part), &peers, err);
	if (rc == 0 && peers.n == 0)
		rc = err_set(err, ERR_USAGE, "no peer is named: write ADDRESS[/LEN],...");
	if (rc == 0)
		*ret_peers = peers;
	return rc;
}

bool proxy_peers_has(const struct proxy_peers *peers, const char *peer)
{
	struct in6_addr address;
	bool v4;
	if (!address_parse(peer, &address, &v4))
		return false;
	for (size_t i = 0; i < peers->n; i++)
		if (same_net(&peers->nets[i].address, &address, peers->nets[i].bits))
			return true;
	return false;
}

/* --- what it says ------------------------------------------------------------------------------------------------ */

/* What each client sends of itself, and a page can have a say in: by one of these everybody would be somebody. */
static bool is_of_clients(const char *name)
{
	static const char *const names[] = { "accept", "authorization", "content-type", "cookie",
					     "host",   "origin",        "referer",      "user-agent" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* A header's name as server_header() takes it. */
static int take_header(const char *name, char dest[PROXY_HEADER_CAP], struct err *err)
{
	size_t len = strlen(name);
	if (len == 0 || len >= PROXY_HEADER_CAP)
		return err_set(err, ERR_USAGE, "the name of a header has 1 to %d characters", PROXY_HEADER_CAP - 1);
	for (size_t i = 0; i <= len; i++) {
		if (i < len && !isalnum((unsigned char)name[i]) && !strchr("-_", name[i]))
			return err_set(err, ERR_USAGE, "the name of a header has letters, digits, '-' and '_' alone");
		dest[i] = (char)tolower((unsigned char)name[i]);
	}
	if (is_of_clients(dest))
		return err_set(err, ERR_USAGE, "%s is a header of every client, and names no user", dest);
	return 0;
}

int proxy_init(struct proxy *proxy, const char *peers, const char *user_header, const char *groups_header,
	       struct err *err)
{
	*proxy = (struct proxy){ 0 };
	int rc = proxy_peers_parse(peers, &proxy->peers, err);
	if (rc < 0) {
		err_wrap(err, "--proxy-peers");
		return rc;
	}
	rc = take_header(user_header ? user_header : "x-forwarded-user", proxy->user_header, err);
	if (rc < 0) {
		err_wrap(err, "--proxy-user-header");
		return rc;
	}
	rc = groups_header ? take_header(groups_header, proxy->groups_header, err) : 0;
	if (rc < 0)
		err_wrap(err, "--proxy-groups-header");
	return rc;
}

/* A name that can be kept and shown as it stands; cut, it would be somebody else's. */
static bool is_user(struct str user, size_t cap)
{
	if (user.len == 0 || user.len >= cap)
		return false;
	for (size_t i = 0; i < user.len; i++)
		if ((unsigned char)user.ptr[i] < ' ' || user.ptr[i] == 0x7f)
			return false;
	return true;
}

static bool in_groups(struct str groups, struct str name)
{
	struct str part;
	for (unsigned n = 0; n < PROXY_GROUPS_MAX && str_split(&groups, ',', &part); n++)
		if (str_eq(str_trim(part), name))
			return true;
	return false;
}

static bool fits(struct str who, struct str user, struct str groups)
{
	struct str group = who;
	if (str_take(&group, STR("group:")))
		return in_groups(groups, group);
	return str_eq(who, STR("*")) || str_eq(who, user);
}

enum proxy_says proxy_role(const struct tokens *roles, struct str user, struct str groups,
			   struct auth_viewer *ret_viewer)
{
	if (!is_user(user, sizeof ret_viewer->name))
		return PROXY_NO_ROLE;
	for (size_t i = 0; i < roles->n; i++) {
		if (!fits(str_of(roles->viewers[i].name), user, groups))
			continue;
		*ret_viewer = roles->viewers[i];
		str_copy(ret_viewer->name, sizeof ret_viewer->name, user);
		return PROXY_USER;
	}
	return PROXY_NO_ROLE;
}

enum proxy_says proxy_viewer(const struct proxy *proxy, const struct tokens *roles,
			     const struct server_request *request, struct auth_viewer *ret_viewer)
{
	struct str user = server_header(request, proxy->user_header), groups = STR("");
	if (proxy->groups_header[0])
		groups = server_header(request, proxy->groups_header);
	if (!user.len && !groups.len)
		return PROXY_NOTHING;
	if (!proxy_peers_has(&proxy->peers, request->peer))
		return PROXY_STRANGER;
	return user.len ? proxy_role(roles, user, groups, ret_viewer) : PROXY_NOTHING;
}
