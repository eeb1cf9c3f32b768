/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which jobs run in the process, from its metrics page: Flink's label job_name (JobManagerJobMetricGroup,
 * TaskManagerJobMetricGroup), and of Kafka Streams the application's id, which its clients and threads are named by.
 */
#ifndef ENGINE_JOBS_H
#define ENGINE_JOBS_H

#include "bankfull/engine.h"
#include "data/prom.h"

/* Adds what this sample's labels name, if it is new and there is room; in the order of the alphabet. */
void jobs_add(struct engine_state *state, const struct prom_sample *sample);

/* The same of a client or thread of Kafka Streams, as its MBeans name it. */
void jobs_add_client(struct engine_state *state, struct str client);

/*
 * "orders" of "orders-6367d77e-ceec-4758-bef6-7bafb2169da3-StreamThread-1": without a client.id a client is named by
 * application.id and its process id, a UUID (KafkaStreams.java). Empty: it is named otherwise.
 */
struct str jobs_application(struct str client);

#endif
