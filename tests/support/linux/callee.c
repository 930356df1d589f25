/* Server of tests/guests/vlib-test. It increments the last word of the shared memory while it runs. */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <tenon/vlib.h>
#include <time.h>

struct request {
	uint64_t ask;
	uint64_t argument;
	uint64_t answer;
};

enum { NEXT, SPIN, NEVER, EXIT, SPOIL, REBOOT, COUNT, CLOCK, CROWD, CPUS, DOOR, REST, UNLOAD };

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

/* Starts or stops a process that counts. */
static void crowd(volatile uint64_t *counter, int wanted)
{
	static pid_t child;

	if (!wanted) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		return;
	}
	child = fork();
	/* It maps the memory too, and must not continue to serve when the server ends. */
	if (!child && !prctl(PR_SET_PDEATHSIG, SIGKILL))
		for (;;)
			++*counter;
}

/* Whether a process that loads two registers at once from the notification page gets a bus error: such
 * an access has no syndrome by which Mortise could answer it.
 */
static int bus_error(const struct vlib *vlib)
{
	pid_t child = fork();
	int status;

	if (!child) {
		/* The mapping is not inherited. */
		void *door = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, vlib->file,
				  vlib->size);

		__asm__ volatile("ldp x2, x3, [%0]" : : "r"(door) : "x2", "x3", "memory");
		_exit(0);
	}
	return waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGBUS;
}

/* Number of refused operations that would end the VM, or be a fetch from shared memory. */
static uint64_t refused(const struct vlib *vlib)
{
	size_t page = sysconf(_SC_PAGESIZE);
	const int rights[] = { PROT_WRITE, PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC };
	uint64_t count = 0;

	for (int at = 0; at < 3; at++) {
		count += mmap(NULL, page, rights[at], MAP_SHARED, vlib->file, vlib->size) ==
				 MAP_FAILED && errno == EACCES;
		count += mprotect((void *)vlib->door, page, rights[at]) && errno == EACCES;
	}
	count += mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, vlib->file, vlib->size) == MAP_FAILED;
	count += mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_SHARED, vlib->file, 0) == MAP_FAILED &&
		 errno == EACCES;
	count += mprotect((void *)vlib->head, page, PROT_READ | PROT_EXEC) && errno == EACCES;
	return count + bus_error(vlib);
}

static uint64_t serve(struct vlib *vlib, volatile struct request *request)
{
	static uint64_t calls;
	volatile uint64_t *counter = (uint64_t *)((char *)vlib->head + vlib->size) - 1;
	uint64_t end = now() + request->argument;

	calls++;
	switch (request->ask) {
	case NEXT:
		return request->argument + 1;
	case SPIN:
		while (now() < end)
			++*counter;
		return 0;
	case NEVER:
		for (;;)
			++*counter;
	case EXIT:
		exit(0);
	case SPOIL:
		memset((char *)vlib->head, 0xa5, vlib->size);
		return 0;
	case REBOOT:
		reboot(RB_AUTOBOOT);
		return 0;
	case COUNT:
		return calls;
	case CLOCK:
		return now();
	case CROWD:
		crowd(counter, request->argument);
		return 0;
	case CPUS:
		return sysconf(_SC_NPROCESSORS_ONLN);
	case DOOR:
		return refused(vlib);
	case REST:
		usleep(request->argument / 1000);
		return 0;
	case UNLOAD:
		return !!system("rmmod tenon 2> /dev/null");
	default:
		return UINT64_MAX;
	}
}

int main(void)
{
	struct vlib_channel channel;
	struct vlib vlib;

	if (vlib_open(&vlib, "helper")) {
		perror("callee");
		return 1;
	}
	while (!vlib_listen(&vlib, &channel))
		if (channel.size >= sizeof(struct request)) {
			volatile struct request *request = channel.memory;

			request->answer = serve(&vlib, request);
		}
	perror("callee");
	return 1;
}
