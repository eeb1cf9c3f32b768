/* SPDX-License-Identifier: Apache-2.0 */
/* Who is told of what: PURE. */
#include <fnmatch.h>

#include "config/alertconf.h"

static bool matches(const char *pattern, const char *name)
{
	return pattern[0] == '\0' || fnmatch(pattern, name, 0) == 0;
}

uint32_t alertconf_route(const struct alertconf *conf, const struct alert_subject *subject, int *ret_route)
{
	for (size_t i = 0; i < conf->n_routes; i++) {
		const struct alert_route *route = &conf->routes[i];
		if (subject->severity < route->least || !matches(route->cluster, subject->cluster) ||
		    !matches(route->namespace_, subject->namespace_) || !matches(route->workload, subject->workload) ||
		    !matches(route->rule, subject->rule))
			continue;
		*ret_route = (int)i;
		return route->receivers;
	}
	*ret_route = -1;
	return subject->severity >= SEVERITY_WARNING ? conf->default_receivers : 0;
}

uint32_t alertconf_reach(const struct alertconf *conf, const char *namespace_)
{
	uint32_t receivers = 0;
	enum severity decided = SEVERITY_COUNT; /* from here on whatever else an alert is: no route behind is asked */
	for (size_t i = 0; i < conf->n_routes; i++) {
		const struct alert_route *route = &conf->routes[i];
		if (route->least >= decided || !matches(route->namespace_, namespace_))
			continue;
		receivers |= route->receivers;
		if (!route->cluster[0] && !route->workload[0] && !route->rule[0])
			decided = route->least;
	}
	return decided > SEVERITY_WARNING ? receivers | conf->default_receivers : receivers;
}

enum severity alertconf_least(const struct alertconf *conf)
{
	enum severity least = SEVERITY_WARNING;
	for (size_t i = 0; i < conf->n_routes; i++)
		if (conf->routes[i].receivers && conf->routes[i].least < least)
			least = conf->routes[i].least;
	return least;
}
