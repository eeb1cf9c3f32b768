/* SPDX-License-Identifier: Apache-2.0 */
/* What `bankfull doctor` looks at where it runs, which is in the sidecar: by the agent's own settings. */
#ifndef CLI_DOCTOR_HERE_H
#define CLI_DOCTOR_HERE_H

#include "config/agentconf.h"
#include "kube/checkup.h"

/* Is there a JVM, and how much of it may be seen. */
void doctor_access(struct checkup *checkup, const struct agentconf *conf);
/* State directory, token, authority; then one session with the collector that ends before it says anything. */
void doctor_files(struct checkup *checkup, const struct agentconf *conf);
void doctor_collector(struct checkup *checkup, const struct agentconf *conf);

#endif
