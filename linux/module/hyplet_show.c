// SPDX-License-Identifier: GPL-2.0
/* /sys/kernel/tenon/hyplet/cpuN: state of the current or last hyplet of a core, and its stop. */
#include "hyplet.h"

#include <linux/slab.h>
#include <linux/sysfs.h>

static struct kobject *folder;

struct item {
	struct attribute attribute;
	ssize_t (*show)(struct hyplet_core *core, char *text);
	ssize_t (*store)(struct hyplet_core *core, const char *text);
};

static struct hyplet_core *core_of(struct kobject *object)
{
	return container_of(object, struct hyplet_core, object);
}

static ssize_t show_state(struct hyplet_core *core, char *text)
{
	static const char *const names[] = {
		[TENON_HYPLET_IDLE] = "idle",
		[TENON_HYPLET_RUNNING] = "running",
		[TENON_HYPLET_RETURNED] = "returned",
		[TENON_HYPLET_STOPPED] = "stopped",
		[TENON_HYPLET_FAULTED] = "faulted",
		[TENON_HYPLET_RECLAIMED] = "reclaimed",
	};

	return sysfs_emit(text, "%s\n", names[READ_ONCE(core->end.state)]);
}

static ssize_t show_pid(struct hyplet_core *core, char *text)
{
	return sysfs_emit(text, "%d\n", core->pid);
}

static ssize_t show_pc(struct hyplet_core *core, char *text)
{
	return sysfs_emit(text, "%#llx\n", core->end.pc);
}

static ssize_t show_fault(struct hyplet_core *core, char *text)
{
	return sysfs_emit(text, "%#x %#llx\n", core->end.syndrome, core->end.address);
}

static ssize_t show_steps(struct hyplet_core *core, char *text)
{
	return sysfs_emit(text, "%llu\n", READ_ONCE(core->end.steps));
}

static ssize_t show_progress(struct hyplet_core *core, char *text)
{
	return sysfs_emit(text, "%llu\n", hyplet_step_progress(core));
}

static ssize_t store_stop(struct hyplet_core *core, const char *text)
{
	bool wanted;
	int error = kstrtobool(text, &wanted);

	if (!error && wanted)
		hyplet_step_stop(core);
	return error;
}

#define SHOWN_TO(permitted, what)                                                                  \
	{ .attribute = { .name = #what, .mode = permitted }, .show = show_##what }
#define SHOWN(what) SHOWN_TO(0444, what)
/* Addresses: those of a callback at EL1 are addresses of the kernel. */
#define SECRET(what) SHOWN_TO(0400, what)

static struct item items[] = {
	SHOWN(state), SHOWN(pid), SECRET(pc), SECRET(fault), SHOWN(steps), SHOWN(progress),
	{ .attribute = { .name = "stop", .mode = 0200 }, .store = store_stop },
};

static struct attribute *attributes[ARRAY_SIZE(items) + 1];

static const struct attribute_group group = { .attrs = attributes };
static const struct attribute_group *groups[] = { &group, NULL };

static ssize_t show(struct kobject *object, struct attribute *attribute, char *text)
{
	return container_of(attribute, struct item, attribute)->show(core_of(object), text);
}

static ssize_t store(struct kobject *object, struct attribute *attribute, const char *text,
		     size_t bytes)
{
	ssize_t error = container_of(attribute, struct item, attribute)->store(core_of(object),
									      text);

	return error ?: bytes;
}

static void release(struct kobject *object)
{
	kfree(core_of(object)->stack);
	kfree(core_of(object));
}

static const struct sysfs_ops operations = { .show = show, .store = store };
static const struct kobj_type type = {
	.release = release,
	.sysfs_ops = &operations,
	.default_groups = groups,
};

int hyplet_show_init(struct kobject *parent)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(items); i++)
		attributes[i] = &items[i].attribute;
	folder = kobject_create_and_add("hyplet", parent);
	return folder ? 0 : -ENOMEM;
}

int hyplet_show_core(struct hyplet_core *core)
{
	int error = kobject_init_and_add(&core->object, &type, folder, "cpu%u", core->cpu);

	if (error)
		kobject_put(&core->object);
	return error;
}

void hyplet_show_exit(void)
{
	kobject_put(folder);
}
