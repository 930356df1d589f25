// SPDX-License-Identifier: GPL-2.0
/* List of detached threads, and /sys/kernel/tenon/detach. */
#include "module.h"
#include "detach.h"

#include <linux/err.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>
#include <linux/task_work.h>
#include <linux/version.h>

static LIST_HEAD(threads);
/*
 * Protects the list, and `queued`, `left`, `loan` and `next` of each thread. Taken in hooks and
 * timers.
 */
static DEFINE_SPINLOCK(lock);
/* Serialises additions to the list. */
static DEFINE_MUTEX(add_lock);
static struct workqueue_struct *releases;
static struct kobject *folder;

struct tenon_thread *tenon_thread_of(struct task_struct *task)
{
	struct tenon_thread *thread, *found = NULL;
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	list_for_each_entry(thread, &threads, list)
		if (thread->task == task)
			found = thread;
	spin_unlock_irqrestore(&lock, flags);
	return found;
}

static void last_put(struct kref *references)
{
	struct tenon_thread *thread = container_of(references, struct tenon_thread, references);

	queue_work(releases, &thread->release);
}

void tenon_thread_put(struct tenon_thread *thread)
{
	kref_put(&thread->references, last_put);
}

static void queue_locked(struct tenon_thread *thread)
{
	if (thread->queued || thread->left)
		return;
	thread->queued = true;
	kref_get(&thread->references);
	if (task_work_add(thread->task, &thread->work, TWA_RESUME)) {
		/* It is exiting; the list still holds a reference. */
		thread->queued = false;
		tenon_thread_put(thread);
	}
}

void tenon_thread_queue(struct tenon_thread *thread)
{
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	queue_locked(thread);
	spin_unlock_irqrestore(&lock, flags);
}

void tenon_thread_dequeued(struct tenon_thread *thread)
{
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	thread->queued = false;
	spin_unlock_irqrestore(&lock, flags);
}

void tenon_thread_leave(struct tenon_thread *thread)
{
	unsigned long flags;

	if (!thread->was_traced)
		clear_tsk_thread_flag(thread->task, TIF_SYSCALL_TRACEPOINT);
	spin_lock_irqsave(&lock, flags);
	thread->left = true;
	list_del(&thread->list);
	spin_unlock_irqrestore(&lock, flags);
	tenon_thread_put(thread);
}

void tenon_thread_move(struct tenon_thread *thread)
{
	struct tenon_loan *old = NULL;
	unsigned long flags;

	if (!READ_ONCE(thread->next))
		return;
	spin_lock_irqsave(&lock, flags);
	if (thread->next) {
		old = thread->loan;
		thread->loan = thread->next;
		thread->next = NULL;
	}
	spin_unlock_irqrestore(&lock, flags);
	if (old)
		tenon_loan_release(old);
}

void tenon_thread_rename(struct tenon_thread *thread)
{
	char name[12];

	if (thread->number == task_pid_nr(thread->task))
		return;
	thread->number = task_pid_nr(thread->task);
	snprintf(name, sizeof(name), "%d", thread->number);
	/* The previous thread of that number has ended, but its folder may still exist. */
	flush_workqueue(releases);
	if (kobject_rename(&thread->kobject, name))
		pr_notice("%s stays %s in sysfs\n", name, kobject_name(&thread->kobject));
}

/* Notifies the thread of a change: on its core, in user mode, or at the end of its system call. */
static void notify_locked(struct tenon_thread *thread)
{
	tenon_loan_wake(thread->loan);
	queue_locked(thread);
}

static void release(struct work_struct *work)
{
	struct tenon_thread *thread = container_of(work, struct tenon_thread, release);

	hrtimer_cancel(&thread->resume_timer);
	if (thread->kobject.state_in_sysfs)
		kobject_del(&thread->kobject);
	tenon_loan_release(thread->loan);
	if (thread->next)
		tenon_loan_release(thread->next);
	tenon_thread_forget_mm(thread);
	put_task_struct(thread->task);
	kobject_put(&thread->kobject);
	module_put(THIS_MODULE);
}

static struct tenon_thread *of(struct kobject *kobject)
{
	return container_of(kobject, struct tenon_thread, kobject);
}

static ssize_t cpu_show(struct kobject *kobject, struct kobj_attribute *attribute, char *text)
{
	ssize_t length;

	spin_lock_irq(&lock);
	length = sysfs_emit(text, "%u\n", of(kobject)->loan->cpu);
	spin_unlock_irq(&lock);
	return length;
}

static ssize_t cpu_store(struct kobject *kobject, struct kobj_attribute *attribute,
			 const char *text, size_t length)
{
	struct tenon_thread *thread = of(kobject);
	struct tenon_loan *loan, *unused = NULL;
	unsigned int cpu;
	int error = kstrtouint(text, 10, &cpu);

	if (error)
		return error;
	if (READ_ONCE(thread->loan)->cpu == cpu)
		return length;
	loan = tenon_loan_claim(cpu);
	if (IS_ERR(loan))
		return PTR_ERR(loan);
	spin_lock_irq(&lock);
	if (thread->left || thread->next) {
		unused = loan;
	} else {
		thread->next = loan;
		notify_locked(thread);
	}
	spin_unlock_irq(&lock);
	if (unused)
		tenon_loan_release(unused);
	return unused ? -EBUSY : length;
}

static ssize_t state_show(struct kobject *kobject, struct kobj_attribute *attribute, char *text)
{
	struct tenon_thread *thread = of(kobject);

	return sysfs_emit(text, "%s\ncalls %llu\nfaults %llu\nothers %llu\n",
			  READ_ONCE(thread->running) ? "running" : "in Linux", thread->calls,
			  thread->faults, thread->others);
}

static struct kobj_attribute cpu = __ATTR(cpu, 0600, cpu_show, cpu_store);
static struct kobj_attribute state = __ATTR(state, 0400, state_show, NULL);
static struct attribute *thread_attrs[] = { &cpu.attr, &state.attr, NULL };
ATTRIBUTE_GROUPS(thread);

static void thread_free(struct kobject *kobject)
{
	kfree(of(kobject));
}

static struct kobj_type thread_type = {
	.sysfs_ops = &kobj_sysfs_ops,
	.release = thread_free,
	.default_groups = thread_groups,
};

static struct task_struct *task_of(int number)
{
	struct pid *pid = find_get_pid(number);
	struct task_struct *task = get_pid_task(pid, PIDTYPE_PID);

	put_pid(pid);
	return task;
}

/* The thread may exit at any time; its exit is noticed only while it is on the list. */
static int start(struct tenon_thread *thread)
{
	int error = 0;

	thread->was_traced = test_tsk_thread_flag(thread->task, TIF_SYSCALL_TRACEPOINT);
	set_tsk_thread_flag(thread->task, TIF_SYSCALL_TRACEPOINT);
	spin_lock_irq(&lock);
	list_add(&thread->list, &threads);
	queue_locked(thread);
	if (!thread->queued) {
		list_del(&thread->list);
		thread->left = true;
		error = -ESRCH;
	}
	spin_unlock_irq(&lock);
	return error;
}

/* Claims a core; waits for the release of cores of ended threads. */
static struct tenon_loan *claim(int cpu)
{
	struct tenon_loan *loan = tenon_loan_claim(cpu);

	if (loan != ERR_PTR(-EBUSY))
		return loan;
	flush_workqueue(releases);
	return tenon_loan_claim(cpu);
}

/* hrtimer_init() was replaced in Linux 6.13. */
static void set_timer(struct hrtimer *timer)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer->function = tenon_thread_resume;
#else
	hrtimer_setup(timer, tenon_thread_resume, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
#endif
}

static int detach(struct task_struct *task, int cpu)
{
	struct tenon_thread *thread;
	struct tenon_loan *loan;
	int error;

	if (task->flags & (PF_KTHREAD | PF_EXITING))
		return -EINVAL;
	if (tenon_thread_of(task))
		return -EBUSY;
	thread = kzalloc(sizeof(*thread), GFP_KERNEL);
	if (!thread)
		return -ENOMEM;
	loan = claim(cpu);
	if (IS_ERR(loan)) {
		kfree(thread);
		return PTR_ERR(loan);
	}
	thread->loan = loan;
	thread->task = get_task_struct(task);
	thread->number = task_pid_nr(task);
	kref_init(&thread->references);
	init_task_work(&thread->work, tenon_thread_work);
	set_timer(&thread->resume_timer);
	INIT_WORK(&thread->release, release);
	__module_get(THIS_MODULE);
	error = kobject_init_and_add(&thread->kobject, &thread_type, folder, "%d",
				     thread->number);
	if (!error)
		error = start(thread);
	if (error)
		tenon_thread_put(thread);
	return error;
}

static ssize_t detach_store(struct kobject *kobject, struct kobj_attribute *attribute,
			    const char *text, size_t length)
{
	int number, cpu = -1, error = -ESRCH;
	struct task_struct *task;

	if (sscanf(text, "%d %d", &number, &cpu) < 1)
		return -EINVAL;
	task = task_of(number);
	if (!task)
		return -ESRCH;
	mutex_lock(&add_lock);
	error = detach(task, cpu);
	mutex_unlock(&add_lock);
	put_task_struct(task);
	return error ?: length;
}

static ssize_t attach_store(struct kobject *kobject, struct kobj_attribute *attribute,
			    const char *text, size_t length)
{
	struct tenon_thread *thread;
	struct task_struct *task;
	bool found = false;
	int number, error = kstrtoint(text, 10, &number);

	if (error)
		return error;
	task = task_of(number);
	if (!task)
		return -ESRCH;
	spin_lock_irq(&lock);
	list_for_each_entry(thread, &threads, list) {
		if (thread->task != task)
			continue;
		WRITE_ONCE(thread->leaving, true);
		notify_locked(thread);
		found = true;
	}
	spin_unlock_irq(&lock);
	put_task_struct(task);
	return found ? length : -ESRCH;
}

static struct kobj_attribute detach_file = __ATTR(detach, 0200, NULL, detach_store);
static struct kobj_attribute attach_file = __ATTR(attach, 0200, NULL, attach_store);
static const struct attribute *files[] = { &detach_file.attr, &attach_file.attr, NULL };

int tenon_detach_init(void)
{
	int error = -ENOMEM;

	if (!tenon_loan_any())
		return 0;
	releases = alloc_workqueue("tenon-detach", WQ_UNBOUND, 0);
	if (!releases)
		return error;
	folder = kobject_create_and_add("detach", tenon_kobject);
	if (!folder)
		goto workqueue;
	error = tenon_hooks_init();
	if (error)
		goto folder;
	error = sysfs_create_files(folder, files);
	if (!error)
		return 0;
	tenon_hooks_exit();
folder:
	kobject_put(folder);
workqueue:
	destroy_workqueue(releases);
	return error;
}

/* Each detached thread holds a reference to the module, so there is none left. */
void tenon_detach_exit(void)
{
	if (!releases)
		return;
	sysfs_remove_files(folder, files);
	tenon_hooks_exit();
	destroy_workqueue(releases);
	kobject_put(folder);
}
