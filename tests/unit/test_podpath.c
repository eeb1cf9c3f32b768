/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/auto.h"
#include "kernel/podlogs.h"
#include "kernel/podpath.h"
#include "support/scratch.h"

#define ID   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID_ "3c0a1b9e_6f1d_4f57_9d0e_8a9d7c4b2f10"
#define UID  "3c0a1b9e-6f1d-4f57-9d0e-8a9d7c4b2f10"

static void whose_pod_a_path_is(void **state)
{
	(void)state;
	static const struct {
		const char *path, *uid, *id;
		enum pod_qos qos;
	} table[] = {
		/* systemd driver: containerd, CRI-O with crun's inner cgroup, cri-dockerd */
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID
		  ".scope",
		  UID, ID, POD_QOS_BURSTABLE },
		{ "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope/container", UID, ID,
		  POD_QOS_GUARANTEED },
		{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/docker-" ID ".scope",
		  UID, ID, POD_QOS_BEST_EFFORT },
		/* the same from a cgroup namespace beside it */
		{ "/../../../kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope", UID, ID, POD_QOS_GUARANTEED },
		{ "/../../kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID ".scope", UID, ID,
		  POD_QOS_BURSTABLE },
		/* kind: below kubelet's own slice */
		{ "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod" UID_
		  ".slice/cri-containerd-" ID ".scope",
		  UID, ID, POD_QOS_BURSTABLE },
		/* cgroupfs driver */
		{ "/kubepods/burstable/pod" UID "/" ID, UID, ID, POD_QOS_BURSTABLE },
		{ "/kubepods/pod" UID "/" ID, UID, ID, POD_QOS_GUARANTEED },
		{ "/kubepods/besteffort/pod" UID "/" ID, UID, ID, POD_QOS_BEST_EFFORT },
		/* its class stands above the reader's root */
		{ "/../../pod" UID "/" ID, UID, ID, POD_QOS_UNREAD },
		/* systemd's name, made by a runtime that does not speak to systemd */
		{ "/system.slice/containerd.service/kubepods-burstable-pod" UID_ ".slice:cri-containerd:" ID, UID, ID,
		  POD_QOS_BURSTABLE },
		/* a static pod: the hash of its file */
		{ "/kubepods/burstable/pod5d2f1a3c4b5d6e7f8091a2b3c4d5e6f7/" ID, "5d2f1a3c4b5d6e7f8091a2b3c4d5e6f7", ID,
		  POD_QOS_BURSTABLE },
		/* a cluster in a pod: the inner one */
		{ "/kubepods/pod11111111-2222-3333-4444-555555555555/" ID "/kubepods/burstable/pod" UID "/" ID, UID, ID,
		  POD_QOS_BURSTABLE },
		/* the pod itself: no container */
		{ "/kubepods/burstable/pod" UID, UID, "", POD_QOS_BURSTABLE },
		/* none */
		{ "/", NULL, NULL, 0 },
		{ "", NULL, NULL, 0 },
		{ "/system.slice/docker-" ID ".scope", NULL, NULL, 0 },
		{ "/machine.slice/libpod_pod_" ID ".slice/libpod-" ID ".scope", NULL, NULL, 0 },
		{ "/user.slice/podman-1234.scope", NULL, NULL, 0 },
		{ "/kubepods.slice/kubepods-burstable-podXYZ.slice/cri-containerd-" ID ".scope", NULL, NULL, 0 },
		{ "/kubepods.slice/kubepods-burstable-pod.slice", NULL, NULL, 0 },
		{ "/kubepods/burstable/pod" UID UID "/" ID, NULL, NULL, 0 },
		{ "/evil-pod" UID_ ".slice/x", NULL, NULL, 0 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct podpath found = { .pod_uid = "before" };
		bool is = podpath_parse(table[i].path, &found);
		if (is != (table[i].uid != NULL))
			print_error("%s\n", table[i].path);
		assert_int_equal(is, table[i].uid != NULL);
		assert_string_equal(found.pod_uid, is ? table[i].uid : "before");
		if (!is)
			continue;
		assert_string_equal(found.container_id, table[i].id);
		assert_int_equal(found.qos, table[i].qos);
	}
}

static void the_pods_own_directory(void **state)
{
	(void)state;
	static const struct {
		const char *directory;
		enum pod_qos qos;
	} table[] = {
		{ "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice", POD_QOS_BURSTABLE },
		{ "kubepods.slice/kubepods-pod" UID_ ".slice", POD_QOS_GUARANTEED },
		{ "kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod" UID_
		  ".slice",
		  POD_QOS_BEST_EFFORT },
		{ "kubepods/burstable/pod" UID, POD_QOS_BURSTABLE },
		{ "kubepods/pod" UID, POD_QOS_GUARANTEED },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct err err = { 0 };
		enum pod_qos qos = POD_QOS_UNREAD;
		auto_close int fd = -1;
		struct scratch scratch = scratch_new();
		scratch_dir(&scratch, "system.slice/kubelet.service");
		scratch_dir(&scratch, "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod11111111.slice");
		assert_int_equal(podpath_open(scratch.fd, UID, &fd, &qos, &err) < 0, 1);
		assert_int_equal(err.kind, ERR_GONE);
		assert_int_equal(fd, -1);
		scratch_dir(&scratch, table[i].directory);
		assert_int_equal(podpath_open(scratch.fd, UID, &fd, &qos, &err), 0);
		assert_int_equal(qos, table[i].qos);
		assert_true(fd >= 0);
		scratch_done(&scratch);
	}
}

static void names_of_log_directories(void **state)
{
	(void)state;
	static const struct {
		const char *name, *namespace_, *pod, *uid;
	} pods[] = {
		{ "fraud_fraud-taskmanager-1-7_" UID, "fraud", "fraud-taskmanager-1-7", UID },
		{ "kube-system_etcd-node.example_5d2f1a3c4b5d6e7f", "kube-system", "etcd-node.example",
		  "5d2f1a3c4b5d6e7f" },
		{ "fraud_" UID, NULL, NULL, NULL },
		{ "_pod_" UID, NULL, NULL, NULL },
		{ "fraud__" UID, NULL, NULL, NULL },
		{ "fraud_pod_", NULL, NULL, NULL },
		{ "fraud_pod_" UID "_more", NULL, NULL, NULL },
		{ "fr\033aud_pod_" UID, NULL, NULL, NULL },
		{ "Fraud_pod_" UID, NULL, NULL, NULL },
	};
	for (size_t i = 0; i < sizeof pods / sizeof pods[0]; i++) {
		struct podlogs_pod pod = { .name = "before" };
		assert_int_equal(podlogs_parse_pod(str_of(pods[i].name), &pod), pods[i].pod != NULL);
		assert_string_equal(pod.name, pods[i].pod ? pods[i].pod : "before");
		if (!pods[i].pod)
			continue;
		assert_string_equal(pod.namespace_, pods[i].namespace_);
		assert_string_equal(pod.uid, pods[i].uid);
	}
	struct podlogs_container container;
	assert_true(podlogs_parse_container(STR("fraud-tm-1_fraud_flink-main-container-" ID ".log"), &container));
	assert_string_equal(container.pod, "fraud-tm-1");
	assert_string_equal(container.namespace_, "fraud");
	assert_string_equal(container.name, "flink-main-container");
	assert_string_equal(container.id, ID);
	assert_false(podlogs_parse_container(STR("fraud-tm-1_fraud_" ID ".log"), &container));
	assert_false(podlogs_parse_container(STR("fraud-tm-1_fraud_main-" ID), &container));
	assert_false(podlogs_parse_container(STR("fraud-tm-1_fraud_-" ID ".log"), &container));
	assert_false(podlogs_parse_container(STR("fraud-tm-1_main-" ID ".log"), &container));
}

static void found_by_uid_and_by_id(void **state)
{
	(void)state;
	struct err err = { 0 };
	struct podlogs_pod pod;
	struct podlogs_container container;
	struct scratch scratch = scratch_new();
	assert_true(podlogs_find_pod(scratch.fd, UID, &pod, &err) < 0);
	assert_int_equal(err.kind, ERR_GONE); /* not mounted */
	scratch_dir(&scratch, "pods/fraud_fraud-tm-1_" UID "/main");
	scratch_dir(&scratch, "pods/other_fraud-tm-1_11111111-2222-3333-4444-555555555555");
	scratch_dir(&scratch, "containers");
	scratch_link(&scratch, "containers/fraud-tm-1_fraud_main-" ID ".log", "/var/log/pods/nowhere");
	assert_int_equal(podlogs_find_pod(scratch.fd, UID, &pod, &err), 0);
	assert_string_equal(pod.namespace_, "fraud");
	assert_int_equal(podlogs_find_container(scratch.fd, ID, &container, &err), 0);
	assert_string_equal(container.name, "main");
	assert_true(podlogs_find_container(scratch.fd, "0123456789ab", &container, &err) < 0);
	assert_int_equal(err.kind, ERR_GONE);
	scratch_done(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whose_pod_a_path_is),
		cmocka_unit_test(the_pods_own_directory),
		cmocka_unit_test(names_of_log_directories),
		cmocka_unit_test(found_by_uid_and_by_id),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
