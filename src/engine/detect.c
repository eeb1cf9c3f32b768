/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/detect.h"

#include "engine/args.h"
#include "engine/flinkbudget.h"

#include <inttypes.h>
#include <stdio.h>

enum { PROMETHEUS_PORT = 9249, JOLOKIA_PORT = 8778 };

/* Main classes by their simple name: the package moved between versions. */
static const struct {
	const char *name;
	enum engine kind;
} main_classes[] = {
	{ "TaskManagerRunner", ENGINE_FLINK_TASKMANAGER },
	{ "KubernetesTaskExecutorRunner", ENGINE_FLINK_TASKMANAGER },
	{ "YarnTaskExecutorRunner", ENGINE_FLINK_TASKMANAGER },
	{ "StandaloneSessionClusterEntrypoint", ENGINE_FLINK_JOBMANAGER },
	{ "StandaloneApplicationClusterEntryPoint", ENGINE_FLINK_JOBMANAGER },
	{ "StandaloneJobClusterEntryPoint", ENGINE_FLINK_JOBMANAGER },
	{ "KubernetesSessionClusterEntrypoint", ENGINE_FLINK_JOBMANAGER },
	{ "KubernetesApplicationClusterEntrypoint", ENGINE_FLINK_JOBMANAGER },
	{ "YarnSessionClusterEntrypoint", ENGINE_FLINK_JOBMANAGER },
	{ "YarnApplicationClusterEntryPoint", ENGINE_FLINK_JOBMANAGER },
	{ "YarnJobClusterEntrypoint", ENGINE_FLINK_JOBMANAGER },
};

static enum engine engine_of_class(struct str main_class)
{
	if (!str_starts(main_class, STR("org.apache.flink.")))
		return ENGINE_UNKNOWN;
	struct str part = main_class, rest = main_class;
	while (str_split(&rest, '.', &part))
		;
	for (size_t i = 0; i < sizeof main_classes / sizeof *main_classes; i++)
		if (str_eq(part, str_of(main_classes[i].name)))
			return main_classes[i].kind;
	return ENGINE_UNKNOWN;
}

/*
 * "flink-dist-1.20.4.jar" with prefix "flink-dist-": "1.20.4". A Scala suffix ("flink-dist_2.12-1.14.6.jar") is
 * passed over.
 */
static bool jar_version(struct str path, struct str prefix, struct str *ret_version)
{
	struct str name = path_base(path);
	if (!str_take(&name, prefix) || !str_ends(name, STR(".jar")))
		return false;
	name.len -= 4;
	if (str_take(&name, STR("_")))
		name = str_skip(name, str_index(name, '-'));
	if (!str_take(&name, STR("-")) || !name.len || name.ptr[0] < '0' || name.ptr[0] > '9')
		return false;
	*ret_version = name;
	return true;
}

/* What jars and mapped files tell. */
struct signs {
	bool streams_jar, flink_jar, rocksdb_mapped;
	struct str flink_version, streams_version;
};

static void look_at_file(struct str path, struct signs *signs)
{
	struct str version;
	if (jar_version(path, STR("flink-dist"), &version) || jar_version(path, STR("flink-runtime"), &version)) {
		signs->flink_jar = true;
		signs->flink_version = version;
	} else if (jar_version(path, STR("kafka-streams"), &version)) {
		signs->streams_jar = true;
		signs->streams_version = version;
	} else if (str_starts(path_base(path), STR("librocksdbjni"))) {
		signs->rocksdb_mapped = true;
	}
}

static void look_at_paths(struct str list, char separator, struct signs *signs)
{
	struct str path;
	while (str_split(&list, separator, &path))
		look_at_file(str_trim(path), signs);
}

static void look_at_arguments(struct str cmdline, struct signs *signs)
{
	struct str rest = cmdline, argument;
	bool class_path = false;
	while (args_next(&rest, &argument)) {
		if (class_path || str_take(&argument, STR("-Djava.class.path=")) ||
		    str_take(&argument, STR("--class-path=")))
			look_at_paths(argument, ':', signs);
		class_path = str_eq(argument, STR("-cp")) || str_eq(argument, STR("-classpath")) ||
			     str_eq(argument, STR("--class-path"));
	}
}

static void decide(struct str main_class, const struct signs *signs, struct detection *detection)
{
	struct str version = { "", 0 };
	detection->kind = engine_of_class(main_class);
	if (detection->kind != ENGINE_UNKNOWN) {
		(void)snprintf(detection->why, sizeof detection->why, "main class");
		version = signs->flink_version;
	} else if (signs->streams_jar) {
		detection->kind = ENGINE_KAFKA_STREAMS;
		(void)snprintf(detection->why, sizeof detection->why, "kafka-streams on the class path");
		version = signs->streams_version;
	} else if (signs->rocksdb_mapped && !signs->flink_jar) {
		detection->kind = ENGINE_KAFKA_STREAMS;
		(void)snprintf(detection->why, sizeof detection->why, "librocksdbjni is mapped and this is no Flink");
	} else {
		detection->kind = main_class.len ? ENGINE_JVM : ENGINE_UNKNOWN;
		(void)snprintf(detection->why, sizeof detection->why,
			       main_class.len ? "no sign of an engine" : "no main class on the command line");
	}
	str_copy(detection->version, sizeof detection->version, version);
}

static void read_backend(struct str cmdline, const struct flinkconf *conf, struct detection *detection)
{
	struct str value;
	char where[64];
	if (!flink_option(cmdline, conf, "state.backend.type", &value, where))
		return;
	if (str_eq(value, STR("rocksdb")) || str_ends(value, STR("EmbeddedRocksDBStateBackendFactory")) ||
	    str_ends(value, STR("RocksDBStateBackendFactory")))
		detection->backend = BACKEND_ROCKSDB;
	else if (str_eq(value, STR("forst")) || str_ends(value, STR("ForStStateBackendFactory")))
		detection->backend = BACKEND_FORST;
	else if (str_eq(value, STR("hashmap")) || str_eq(value, STR("filesystem")) || str_eq(value, STR("jobmanager")))
		detection->backend = BACKEND_HASHMAP;
	else
		return;
	str_copy(detection->backend_where, sizeof detection->backend_where, str_of(where));
}

static void add_endpoint(struct detection *detection, struct endpoint endpoint)
{
	for (size_t i = 0; i < detection->n_endpoints; i++)
		if (strcmp(detection->endpoints[i].url, endpoint.url) == 0)
			return;
	if (detection->n_endpoints < ENDPOINTS_MAX)
		detection->endpoints[detection->n_endpoints++] = endpoint;
}

/* `host`: an address to put in the URL; one that means "all" or a name of our own is loopback. */
static void add_url(struct detection *detection, enum endpoint_kind kind, struct str host, uint64_t port,
		    const char *path, const char *where)
{
	char address[64];
	struct endpoint endpoint = { .kind = kind };
	static const char *const all[] = { "", "0.0.0.0", "[::]", "::", "*", "localhost", "127.0.0.1", "[::1]" };
	str_copy(address, sizeof address, host);
	if (host.len >= sizeof address || port == 0 || port > 65535)
		return;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(address, all[i]) == 0)
			(void)snprintf(address, sizeof address, "%s",
				       strcmp(all[i], "[::1]") == 0 ? "[::1]" : "127.0.0.1");
	for (const char *p = address; *p; p++)
		if (!(strchr(".:-[]", *p) || (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
		      (*p >= 'A' && *p <= 'Z')))
			return;
	(void)snprintf(endpoint.url, sizeof endpoint.url, "http://%s:%u%s", address, (unsigned)port, path);
	str_copy(endpoint.where, sizeof endpoint.where, str_of(where));
	add_endpoint(detection, endpoint);
}

/* "9249", "9250-9260" or "9249,9300-9310": every port, up to the room there is. */
static void add_ports(struct detection *detection, struct str ports, const char *where)
{
	struct str part;
	while (str_split(&ports, ',', &part)) {
		uint64_t first, last;
		struct str rest = str_trim(part);
		if (!str_u64(&rest, &first))
			continue;
		last = first;
		if (str_take(&rest, STR("-")) && !str_u64(&rest, &last))
			continue;
		for (uint64_t port = first; port <= last && port - first < ENDPOINTS_MAX; port++)
			add_url(detection, ENDPOINT_FLINK_PROMETHEUS, STR(""), port, "/metrics", where);
	}
}

/* One reporter's name out of "metrics.reporter.<name>.factory.class". */
static bool reporter_of(struct str key, struct str *ret_name)
{
	if (!str_take(&key, STR("metrics.reporter.")))
		return false;
	size_t at = str_index(key, '.');
	struct str tail = str_skip(key, at);
	*ret_name = (struct str){ key.ptr, at };
	return at > 0 && (str_eq(tail, STR(".factory.class")) || str_eq(tail, STR(".class")));
}

static bool is_prometheus(struct str class_name)
{
	return str_ends(class_name, STR("PrometheusReporterFactory")) ||
	       str_ends(class_name, STR("PrometheusReporter"));
}

static void add_reporter(struct str cmdline, const struct flinkconf *conf, struct str name, const char *named_at,
			 struct detection *detection)
{
	char key[160], where[64];
	struct str ports;
	if (name.len > 64)
		return;
	(void)snprintf(key, sizeof key, "metrics.reporter.%.*s.port", (int)name.len, name.ptr);
	if (flink_option(cmdline, conf, key, &ports, where)) {
		add_ports(detection, ports, where);
	} else {
		char both[80];
		(void)snprintf(both, sizeof both, "%.48s, default port", named_at);
		add_url(detection, ENDPOINT_FLINK_PROMETHEUS, STR(""), PROMETHEUS_PORT, "/metrics", both);
	}
}

/* Reporters of the command line, then of the file. Counts the reporters that are not Prometheus. */
static size_t find_reporters(struct str cmdline, const struct flinkconf *conf, struct detection *detection)
{
	struct str main_class, argument, name;
	struct str rest = args_program(cmdline, &main_class);
	size_t n_other = 0;
	while (args_next(&rest, &argument)) {
		(void)str_take(&argument, STR("-D"));
		size_t at = str_index(argument, '=');
		if (!reporter_of((struct str){ argument.ptr, at }, &name))
			continue;
		if (is_prometheus(str_skip(argument, at + 1)))
			add_reporter(cmdline, conf, name, "command line", detection);
		else
			n_other++;
	}
	for (size_t i = 0; conf && i < conf->n; i++) {
		if (conf->items[i].empty || !reporter_of(conf->items[i].key, &name))
			continue;
		if (!is_prometheus(conf->items[i].value)) {
			n_other++;
			continue;
		}
		char where[64];
		(void)snprintf(where, sizeof where, "%.48s:%u", conf->name, conf->items[i].line);
		add_reporter(cmdline, conf, name, where, detection);
	}
	return n_other;
}

/* "7071:/cfg.yml", "localhost:7071:/cfg.yml", "[::1]:7071:/cfg.yml" */
static void add_jmx_exporter(struct str options, struct detection *detection)
{
	struct str rest = options, host = { "", 0 };
	uint64_t port;
	if (!(str_u64(&rest, &port) && (rest.len == 0 || rest.ptr[0] == ':'))) {
		rest = options;
		size_t at =
			options.len && options.ptr[0] == '[' ? str_index(options, ']') + 1 : str_index(options, ':');
		if (at >= options.len)
			return;
		host = (struct str){ options.ptr, at };
		rest = str_skip(options, at);
		if (!str_take(&rest, STR(":")) || !str_u64(&rest, &port))
			return;
	}
	add_url(detection, ENDPOINT_JMX_EXPORTER, host, port, "/metrics", "command line");
}

/* "port=8778,host=0.0.0.0,agentContext=/jolokia" */
static void add_jolokia(struct str options, struct detection *detection)
{
	struct str option, host = { "", 0 };
	uint64_t port = JOLOKIA_PORT;
	char context[48] = "/jolokia";
	while (str_split(&options, ',', &option)) {
		uint64_t number;
		if (str_take(&option, STR("port=")) && str_is_u64(option, &number))
			port = number;
		else if (str_take(&option, STR("host=")))
			host = option;
		else if (str_take(&option, STR("agentContext=/")) && option.len < sizeof context - 2 &&
			 str_index(option, '<') == option.len)
			(void)snprintf(context, sizeof context, "/%.*s", (int)option.len, option.ptr);
	}
	size_t len = strlen(context);
	if (len && context[len - 1] == '/')
		context[len - 1] = '\0';
	add_url(detection, ENDPOINT_JOLOKIA, host, port, context, "command line");
}

static void find_agents(struct str cmdline, struct detection *detection)
{
	struct str rest = cmdline, argument;
	while (args_next(&rest, &argument)) {
		if (!str_take(&argument, STR("-javaagent:")))
			continue;
		size_t at = str_index(argument, '=');
		struct str jar = path_base((struct str){ argument.ptr, at }), options = str_skip(argument, at + 1);
		if (str_has(jar, STR("jmx_prometheus")) || str_has(jar, STR("jmx-prometheus")))
			add_jmx_exporter(options, detection);
		else if (str_has(jar, STR("jolokia")))
			add_jolokia(options, detection);
	}
}

static void find_rest(struct str cmdline, const struct flinkconf *conf, struct detection *detection)
{
	static const char *const keys[] = { "rest.bind-port", "rest.port" };
	for (size_t i = 0; i < 2; i++) {
		struct str value;
		char where[64];
		uint64_t port;
		if (!flink_option(cmdline, conf, keys[i], &value, where) || !str_is_u64(value, &port))
			continue;
		add_url(detection, ENDPOINT_FLINK_REST, STR(""), port, "", where);
		return;
	}
}

static bool is_flink(enum engine kind)
{
	return kind == ENGINE_FLINK_TASKMANAGER || kind == ENGINE_FLINK_JOBMANAGER;
}

static void find_endpoints(struct str cmdline, const struct flinkconf *conf, struct detection *detection)
{
	size_t n_other = 0;
	find_agents(cmdline, detection);
	if (is_flink(detection->kind))
		n_other = find_reporters(cmdline, conf, detection);
	if (detection->kind == ENGINE_FLINK_JOBMANAGER)
		find_rest(cmdline, conf, detection);
	for (size_t i = 0; i < detection->n_endpoints; i++)
		if (detection->endpoints[i].kind != ENDPOINT_FLINK_REST)
			return;
	if (is_flink(detection->kind) && n_other == 0 && !conf) {
		add_url(detection, ENDPOINT_FLINK_PROMETHEUS, STR(""), PROMETHEUS_PORT, "/metrics",
			"default port; no configuration was read");
		detection->endpoints[detection->n_endpoints - 1].guessed = true;
		return;
	}
	const char *why = "neither a jmx_exporter nor a Jolokia agent is on the command line";
	if (is_flink(detection->kind))
		why = n_other ? "the metrics reporters in force are not Prometheus's, and no Java agent serves metrics"
			      : "no metrics reporter in the configuration, and no Java agent serves metrics";
	(void)snprintf(detection->no_endpoint, sizeof detection->no_endpoint, "%s", why);
}

static void find_conf_dir(struct str program, struct detection *detection)
{
	struct str argument;
	for (bool next = false; args_next(&program, &argument);) {
		if (next && !str_eq(argument, STR(FLINKCONF_REDACTED)) && argument.len < sizeof detection->conf_dir)
			str_copy(detection->conf_dir, sizeof detection->conf_dir, argument);
		next = str_eq(argument, STR("--configDir")) || str_eq(argument, STR("-c"));
	}
}

void detect_engine(struct str cmdline, struct str mapped, const struct flinkconf *conf, struct detection *ret_detection)
{
	struct detection detection = { 0 };
	struct signs signs = { 0 };
	struct str main_class;
	struct str program = args_program(cmdline, &main_class);
	look_at_arguments(cmdline, &signs);
	look_at_paths(mapped, '\n', &signs);
	str_copy(detection.main_class, sizeof detection.main_class, main_class);
	look_at_file(main_class, &signs);
	decide(main_class, &signs, &detection);
	if (is_flink(detection.kind)) {
		read_backend(cmdline, conf, &detection);
		find_conf_dir(program, &detection);
	} else if (detection.kind == ENGINE_KAFKA_STREAMS && signs.rocksdb_mapped) {
		detection.backend = BACKEND_ROCKSDB;
	}
	find_endpoints(cmdline, conf, &detection);
	*ret_detection = detection;
}
