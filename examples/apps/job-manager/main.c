/* Manager of VMs in C.
 *
 * The template job answers messages of channel jobs and turns itself off when there are no more. The
 * template greeter prints and keeps running. Other VMs are created from images of a few instructions.
 * At the end all of them are destroyed, and their memory is back in the reserve. */

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <string.h>
#include <tenon/vm.h>
#include <time.h>

_Static_assert(sizeof(struct tenon_vm_blueprint) == 72, "as in tenon/c-api");
_Static_assert(sizeof(struct tenon_vm_totals) == 24, "as in tenon/c-api");
_Static_assert(sizeof(struct tenon_vm_listed) == 24, "as in tenon/c-api");
_Static_assert(sizeof(struct tenon_vm_statistics) == 88, "as in tenon/c-api");

#define CPU 1
#define MEMORY (2 << 20)

/* A VM image: instructions. */
typedef uint32_t image[16] __attribute__((aligned(TENON_VM_GRAIN)));

static const image turns_off = {
	0xd2800100, /* movz x0, #8 */
	0xf2b08000, /* movk x0, #0x8400, lsl #16: SYSTEM_OFF of PSCI */
	0xd4000002, /* hvc #0 */
	0x14000000, /* b . */
};

static const image runs_on = {
	0x14000000, /* b . */
};

static int failed;

static void judge(int fine, const char *what)
{
	printf("%s %s\n", fine ? "ok" : "FAILED", what);
	failed += !fine;
}

/* Whether a call failed with this error. */
static int refused(int result, int reason)
{
	return result == -1 && errno == reason;
}

static void rest(long microseconds)
{
	nanosleep(&(struct timespec){ .tv_nsec = microseconds * 1000 }, NULL);
}

/* The state of a VM, or an error: -ENOENT if it does not exist. */
static int state(tenon_vm_t vm)
{
	struct tenon_vm_statistics told;

	return tenon_vm_statistics(vm, &told) == 0 ? (int)told.state : -errno;
}

/* Whether a VM reaches a state within the time limit. */
static int becomes(tenon_vm_t vm, int wanted)
{
	for (int turn = 0; turn < 1000; turn++) {
		if (state(vm) == wanted)
			return 1;
		rest(100);
	}
	return 0;
}

static uint64_t memory_left(void)
{
	struct tenon_vm_totals totals;

	return tenon_vm_totals(&totals) == 0 ? totals.free : 0;
}

/* The slot of a VM; -1 if it has none. */
static int slot_of(tenon_vm_t vm)
{
	struct tenon_vm_listed listed;

	for (int slot = 0; tenon_vm_list(slot, &listed) == 0; slot++)
		if (listed.vm == vm && listed.memory == MEMORY && listed.vcpus == 1)
			return slot;
	return -1;
}

static void a_job_of_a_template(void)
{
	mqd_t jobs = mq_open("/jobs", O_WRONLY), results = mq_open("/results", O_RDONLY);
	char answer[64] = "";
	tenon_vm_t job, other;

	judge(tenon_vm_instantiate(&job, "job") == 0, "a VM of a template is made");
	judge(refused(tenon_vm_instantiate(&other, "job"), EBUSY), "there is one of a template");
	judge(mq_send(jobs, "3 1 4", 5, 0) == 0 && mq_receive(results, answer, sizeof answer, NULL) > 0 &&
	      strncmp(answer, "3 numbers, sum 8, 1 to 4", 24) == 0, "it does its job");
	judge(becomes(job, -ENOENT), "it ends, and is no more");
	judge(refused(tenon_vm_destroy(job), ENOENT), "what is no more cannot be destroyed");
}

static void a_console(void)
{
	char text[TENON_VM_TEXT + 1] = "";
	tenon_vm_t greeter = 0;
	size_t length = 0;

	tenon_vm_instantiate(&greeter, "greeter");
	for (int turn = 0; turn < 100 && strstr(text, "hello") == NULL; turn++) {
		ssize_t more = tenon_vm_read_console(greeter, text + length, TENON_VM_TEXT - length);

		length += more > 0 ? more : 0;
		rest(1000);
	}
	judge(strstr(text, "hello") != NULL, "what it says is read");
	judge(tenon_vm_restart(greeter) == 0 && becomes(greeter, TENON_VM_RUNNING),
	      "Mortise has a template's image and restarts it");
	judge(tenon_vm_destroy(greeter) == 0 && state(greeter) == -ENOENT, "it is destroyed");
}

static struct tenon_vm_blueprint plan(const char *name)
{
	return (struct tenon_vm_blueprint){ .name = name, .memory = MEMORY, .vcpus = 1, .cpus = { CPU } };
}

static void an_image_of_ones_own(void)
{
	struct tenon_vm_blueprint blueprint = plan("own");
	const char *within = (const char *)turns_off + 8;
	tenon_vm_t vm = 0;

	judge(tenon_vm_create(&vm, &blueprint) == 0 && state(vm) == TENON_VM_CREATED, "a VM is made");
	judge(slot_of(vm) > 0, "it is listed");
	judge(refused(tenon_vm_load(vm, TENON_VM_RAM, within, TENON_VM_GRAIN), EINVAL) &&
	      refused(tenon_vm_load(vm, TENON_VM_RAM, turns_off, 4), EINVAL), "whole chunks are loaded");
	judge(refused(tenon_vm_load(vm, TENON_VM_RAM + MEMORY, turns_off, sizeof turns_off), EINVAL),
	      "to its memory only");
	judge(refused(tenon_vm_pause(vm), EBUSY) && refused(tenon_vm_restart(vm), EBUSY),
	      "what does not run cannot be paused");
	judge(tenon_vm_load(vm, TENON_VM_RAM, turns_off, sizeof turns_off) == 0 &&
	      tenon_vm_start(vm) == 0 && becomes(vm, TENON_VM_OFF), "it runs to its end");
	judge(tenon_vm_restart(vm) == 1 && state(vm) == TENON_VM_CREATED, "it is as it was made");
	judge(tenon_vm_load(vm, TENON_VM_RAM, runs_on, sizeof runs_on) == 0 && tenon_vm_start(vm) == 0 &&
	      tenon_vm_pause(vm) == 0 && state(vm) == TENON_VM_PAUSED, "it is loaded anew and paused");
	judge(tenon_vm_resume(vm) == 0 && state(vm) == TENON_VM_RUNNING, "it goes on");
	judge(tenon_vm_destroy(vm) == 0 && refused(tenon_vm_start(vm), ENOENT), "it is destroyed");
}

static void what_is_refused(void)
{
	struct tenon_vm_blueprint good = plan("other"), bad = good;
	tenon_vm_t vm;

	bad.cpus[0] = 0;
	judge(refused(tenon_vm_create(&vm, &bad), EPERM), "a core of others is refused");
	bad = good, bad.priority = 50;
	judge(refused(tenon_vm_create(&vm, &bad), EPERM), "so is too high a priority");
	bad = good, bad.memory = 10 << 20;
	judge(refused(tenon_vm_create(&vm, &bad), ENOMEM), "so is too much memory");
	bad = good, bad.memory = 1;
	judge(refused(tenon_vm_create(&vm, &bad), EINVAL) && refused(tenon_vm_create(&vm, NULL), EINVAL),
	      "so is what means nothing");
	judge(refused(tenon_vm_instantiate(&vm, "nobody"), ENOENT), "so is an unknown template");
	judge(refused(tenon_vm_list(99, &(struct tenon_vm_listed){ 0 }), ENOENT), "slots have an end");
}

int main(void)
{
	uint64_t before = memory_left();

	a_job_of_a_template();
	a_console();
	an_image_of_ones_own();
	what_is_refused();
	judge(before > 0 && memory_left() == before, "all memory is the reserve's again");
	printf("job-manager: %d failed\n", failed);
	/* Mortise prints the output of the VM with a delay. */
	rest(100000);
	return failed;
}
