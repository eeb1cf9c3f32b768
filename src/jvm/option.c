/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/option.h"

#include <stddef.h>

#include "base/units.h"

/* What a value looks like: nothing else is kept, so an option cannot carry a text past the table. */
enum shape {
	SHAPE_SIZE,     /* digits and k m g t */
	SHAPE_KIB,      /* digits and a unit, counted in KiB when it is applied */
	SHAPE_NUMBER,   /* digits, one dot */
	SHAPE_TRACKING, /* off summary detail */
};

enum { NO_FIELD = -1 };

struct sized {
	const char *name;
	enum shape shape;
	int field; /* offset of a struct qty in struct jvm_flags */
};

#define FIELD(member) ((int)offsetof(struct jvm_flags, member))

/* After "-XX:", before "=". */
static const struct sized sized[] = {
	{ "ActiveProcessorCount", SHAPE_NUMBER, NO_FIELD },
	{ "CICompilerCount", SHAPE_NUMBER, NO_FIELD },
	{ "CompilerThreadStackSize", SHAPE_KIB, NO_FIELD },
	{ "CompressedClassSpaceSize", SHAPE_SIZE, FIELD(compressed_class_space_bytes) },
	{ "ConcGCThreads", SHAPE_NUMBER, NO_FIELD },
	{ "G1HeapRegionSize", SHAPE_SIZE, NO_FIELD },
	{ "G1PeriodicGCInterval", SHAPE_NUMBER, NO_FIELD },
	{ "G1ReservePercent", SHAPE_NUMBER, NO_FIELD },
	{ "InitialCodeCacheSize", SHAPE_SIZE, NO_FIELD },
	{ "InitialHeapSize", SHAPE_SIZE, FIELD(initial_heap_bytes) },
	{ "InitialRAMPercentage", SHAPE_NUMBER, NO_FIELD },
	{ "InitiatingHeapOccupancyPercent", SHAPE_NUMBER, NO_FIELD },
	{ "LargePageSizeInBytes", SHAPE_SIZE, NO_FIELD },
	{ "MaxDirectMemorySize", SHAPE_SIZE, FIELD(max_direct_bytes) },
	{ "MaxGCPauseMillis", SHAPE_NUMBER, NO_FIELD },
	{ "MaxHeapFreeRatio", SHAPE_NUMBER, NO_FIELD },
	{ "MaxHeapSize", SHAPE_SIZE, FIELD(max_heap_bytes) },
	{ "MaxMetaspaceSize", SHAPE_SIZE, FIELD(max_metaspace_bytes) },
	{ "MaxNewSize", SHAPE_SIZE, NO_FIELD },
	{ "MaxRAM", SHAPE_SIZE, NO_FIELD },
	{ "MaxRAMFraction", SHAPE_NUMBER, NO_FIELD },
	{ "MaxRAMPercentage", SHAPE_NUMBER, NO_FIELD },
	{ "MetaspaceSize", SHAPE_SIZE, NO_FIELD },
	{ "MinHeapFreeRatio", SHAPE_NUMBER, NO_FIELD },
	{ "MinHeapSize", SHAPE_SIZE, NO_FIELD },
	{ "MinRAMFraction", SHAPE_NUMBER, NO_FIELD },
	{ "MinRAMPercentage", SHAPE_NUMBER, NO_FIELD },
	{ "NativeMemoryTracking", SHAPE_TRACKING, NO_FIELD },
	{ "NewRatio", SHAPE_NUMBER, NO_FIELD },
	{ "NewSize", SHAPE_SIZE, NO_FIELD },
	{ "NonNMethodCodeHeapSize", SHAPE_SIZE, NO_FIELD },
	{ "NonProfiledCodeHeapSize", SHAPE_SIZE, NO_FIELD },
	{ "ObjectAlignmentInBytes", SHAPE_NUMBER, NO_FIELD },
	{ "OldSize", SHAPE_SIZE, NO_FIELD },
	{ "ParallelGCThreads", SHAPE_NUMBER, NO_FIELD },
	{ "PerfDataMemorySize", SHAPE_SIZE, NO_FIELD },
	{ "ProfiledCodeHeapSize", SHAPE_SIZE, NO_FIELD },
	{ "ReservedCodeCacheSize", SHAPE_SIZE, FIELD(reserved_code_cache_bytes) },
	{ "ShenandoahUncommitDelay", SHAPE_NUMBER, NO_FIELD },
	{ "SoftMaxHeapSize", SHAPE_SIZE, NO_FIELD },
	{ "SurvivorRatio", SHAPE_NUMBER, NO_FIELD },
	/* -Xss in KiB, as VM.flags prints it. */
	{ "ThreadStackSize", SHAPE_KIB, FIELD(thread_stack_bytes) },
	{ "TrimNativeHeapInterval", SHAPE_NUMBER, NO_FIELD },
	{ "VMThreadStackSize", SHAPE_KIB, NO_FIELD },
	{ "ZCollectionInterval", SHAPE_NUMBER, NO_FIELD },
	{ "ZUncommitDelay", SHAPE_NUMBER, NO_FIELD },
};

struct direct {
	const char *name;
	int field;
};

/* "-Xmx512m": the value follows at once. */
static const struct direct direct[] = {
	{ "-Xmx", FIELD(max_heap_bytes) },
	{ "-Xms", FIELD(initial_heap_bytes) },
	{ "-Xss", FIELD(thread_stack_bytes) },
	{ "-Xmn", NO_FIELD },
};

/* "-XX:+Name", "-XX:-Name". */
struct toggle {
	const char *name;
	enum jvm_gc gc;
	int field;     /* offset of a bool */
	bool inverted; /* the field tells that it is off */
};

static const struct toggle toggles[] = {
	{ "AlwaysPreTouch", 0, FIELD(always_pretouch), false },
	{ "ClassUnloading", 0, NO_FIELD, false },
	{ "CrashOnOutOfMemoryError", 0, NO_FIELD, false },
	{ "DisableAttachMechanism", 0, FIELD(attach_disabled), false },
	{ "ExitOnOutOfMemoryError", 0, NO_FIELD, false },
	{ "HeapDumpOnOutOfMemoryError", 0, NO_FIELD, false },
	{ "PerfDisableSharedMem", 0, FIELD(perf_memory_only), false },
	{ "ReduceSignalUsage", 0, FIELD(signals_reduced), false },
	{ "SegmentedCodeCache", 0, NO_FIELD, false },
	{ "StartAttachListener", 0, NO_FIELD, false },
	{ "THPStackMitigation", 0, NO_FIELD, false },
	{ "TieredCompilation", 0, NO_FIELD, false },
	{ "UnlockDiagnosticVMOptions", 0, NO_FIELD, false },
	{ "UnlockExperimentalVMOptions", 0, NO_FIELD, false },
	{ "UseAdaptiveSizePolicy", 0, NO_FIELD, false },
	{ "UseCompactObjectHeaders", 0, NO_FIELD, false },
	{ "UseCompressedClassPointers", 0, NO_FIELD, false },
	{ "UseCompressedOops", 0, NO_FIELD, false },
	{ "UseContainerSupport", 0, FIELD(container_support_off), true },
	{ "UseEpsilonGC", GC_EPSILON, NO_FIELD, false },
	{ "UseG1GC", GC_G1, NO_FIELD, false },
	{ "UseLargePages", 0, FIELD(large_pages), false },
	{ "UseNUMA", 0, NO_FIELD, false },
	{ "UseParallelGC", GC_PARALLEL, NO_FIELD, false },
	{ "UsePerfData", 0, FIELD(perf_data_off), true },
	{ "UseSerialGC", GC_SERIAL, NO_FIELD, false },
	{ "UseShenandoahGC", GC_SHENANDOAH, NO_FIELD, false },
	{ "UseStringDeduplication", 0, NO_FIELD, false },
	{ "UseTransparentHugePages", 0, FIELD(transparent_huge_pages), false },
	{ "UseZGC", GC_Z, NO_FIELD, false },
	{ "ZGenerational", 0, NO_FIELD, false },
	{ "ZUncommit", 0, NO_FIELD, false },
};

static bool is_number(struct str text)
{
	size_t n_digits = 0, n_dots = 0;
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] == '.')
			n_dots++;
		else if (text.ptr[i] >= '0' && text.ptr[i] <= '9')
			n_digits++;
		else
			return false;
	}
	return n_digits > 0 && n_digits <= 20 && n_dots <= 1;
}

static enum jvm_nmt_level tracking_of(struct str value)
{
	if (str_eq(value, STR("off")))
		return NMT_OFF;
	if (str_eq(value, STR("summary")))
		return NMT_SUMMARY;
	if (str_eq(value, STR("detail")))
		return NMT_DETAIL;
	return NMT_UNREAD;
}

static void set_bytes(struct jvm_flags *flags, int field, uint64_t bytes)
{
	if (flags && field != NO_FIELD)
		*(struct qty *)((char *)flags + field) = qty_measured(bytes);
}

/* "75", "75.0", "37.25": basis points, cut after the second decimal. 0 if it is none, or over 100 %. */
static uint32_t percentage_of(struct str text)
{
	uint64_t whole, points;
	if (!str_u64(&text, &whole) || whole > 100)
		return 0;
	points = whole * 100;
	if (str_take(&text, STR("."))) {
		for (unsigned unit = 10; text.len; unit /= 10, text = str_skip(text, 1)) {
			if (text.ptr[0] < '0' || text.ptr[0] > '9')
				return 0;
			points += unit * (unsigned)(text.ptr[0] - '0');
		}
	}
	return text.len == 0 && points <= 10000 ? (uint32_t)points : 0;
}

/*
 * What decides the maximum heap (arguments.cpp, Arguments::set_heap_size): a size, wherever it stands among the
 * options; without one a share of memory. MaxRAMFraction counts where there is no percentage.
 */
static void note_heap(struct str name, struct str value, struct jvm_flags *flags)
{
	static const char *const shares[] = { "MaxRAM", "MaxRAMFraction", "MaxRAMPercentage", "MinRAMFraction",
					      "MinRAMPercentage" };
	uint64_t parts;
	if (str_eq(name, STR("MaxHeapSize")))
		flags->heap_origin = HEAP_ORIGIN_SIZE;
	for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
		if (str_eq(name, str_of(shares[i])) && flags->heap_origin != HEAP_ORIGIN_SIZE)
			flags->heap_origin = HEAP_ORIGIN_SHARE;
	if (str_eq(name, STR("MaxRAMPercentage")))
		flags->max_ram_percentage_bp = percentage_of(value);
	else if (str_eq(name, STR("MaxRAMFraction")) && !flags->max_ram_percentage_bp && str_is_u64(value, &parts) &&
		 parts > 0)
		flags->max_ram_percentage_bp = (uint32_t)(10000 / parts);
}

static bool apply_sized(const struct sized *option, struct str value, struct jvm_flags *flags)
{
	uint64_t bytes;
	switch (option->shape) {
	case SHAPE_SIZE:
		if (!units_parse_jvm(value, &bytes))
			return false;
		/* 0 is how the JVM says that MaxDirectMemorySize is not set. */
		if (bytes != 0 || option->field != FIELD(max_direct_bytes))
			set_bytes(flags, option->field, bytes);
		return true;
	case SHAPE_KIB:
		if (!units_parse_jvm(value, &bytes) || __builtin_mul_overflow(bytes, (uint64_t)1024, &bytes))
			return false;
		/* 0: the platform's default */
		if (bytes != 0)
			set_bytes(flags, option->field, bytes);
		return true;
	case SHAPE_NUMBER:
		return is_number(value);
	case SHAPE_TRACKING:
		if (tracking_of(value) == NMT_UNREAD)
			return false;
		if (flags)
			flags->nmt = tracking_of(value);
		return true;
	}
	return false;
}

static bool apply_toggle(struct str name, bool on, struct jvm_flags *flags)
{
	for (size_t i = 0; i < sizeof toggles / sizeof toggles[0]; i++) {
		const struct toggle *toggle = &toggles[i];
		if (!str_eq(name, str_of(toggle->name)))
			continue;
		if (!flags)
			return true;
		if (toggle->field != NO_FIELD)
			*(bool *)((char *)flags + toggle->field) = on != toggle->inverted;
		if (toggle->gc && on)
			flags->gc = toggle->gc;
		else if (toggle->gc && flags->gc == toggle->gc)
			flags->gc = GC_UNKNOWN;
		return true;
	}
	return false;
}

/* Known and well-formed; applied where `flags` is given. */
static bool take_option(struct str option, struct jvm_flags *flags)
{
	if (str_eq(option, STR("-Xrs"))) {
		if (flags)
			flags->signals_reduced = true;
		return true;
	}
	for (size_t i = 0; i < sizeof direct / sizeof direct[0]; i++) {
		struct str value = option;
		uint64_t bytes;
		if (!str_take(&value, str_of(direct[i].name)))
			continue;
		if (!units_parse_jvm(value, &bytes))
			return false;
		set_bytes(flags, direct[i].field, bytes);
		if (flags && direct[i].field == FIELD(max_heap_bytes))
			flags->heap_origin = HEAP_ORIGIN_SIZE;
		return true;
	}
	if (!str_take(&option, STR("-XX:")))
		return false;
	if (str_take(&option, STR("+")))
		return apply_toggle(option, true, flags);
	if (str_take(&option, STR("-")))
		return apply_toggle(option, false, flags);
	struct str name;
	if (!str_split(&option, '=', &name))
		return false;
	for (size_t i = 0; i < sizeof sized / sizeof sized[0]; i++)
		if (str_eq(name, str_of(sized[i].name))) {
			bool good = apply_sized(&sized[i], option, flags);
			if (good && flags)
				note_heap(name, option, flags);
			return good;
		}
	return false;
}

bool option_keep(struct str option, struct buf *out)
{
	return take_option(option, NULL) && buf_add(out, option);
}

bool option_apply(struct str option, struct jvm_flags *flags)
{
	return take_option(option, flags);
}
