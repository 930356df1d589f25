// SPDX-License-Identifier: GPL-2.0
/* Hyplets: calls to the module, and output of recorded lines. */
#include <tenon/hyplet.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>

#define DEVICE "/dev/tenon/hyplet"

struct hyp_shared hyp_shared;

static struct tenon_hyplet_map refused;

/* The open device, shared by all threads. It is never closed, as that releases all resources. */
static int device(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static int file = -1;

	pthread_mutex_lock(&lock);
	if (file < 0)
		file = open(DEVICE, O_RDWR | O_CLOEXEC);
	pthread_mutex_unlock(&lock);
	return file;
}

static int map(void *address, size_t size, uint32_t flags)
{
	struct tenon_hyplet_map map = { (uintptr_t)address, size, flags, 0, 0 };
	int result = ioctl(device(), TENON_HYPLET_MAP, &map);

	if (result && errno == ENOEXEC)
		refused = map;
	return result;
}

int hyp_map(void *address, size_t size)
{
	return map(address, size, 0);
}

int hyp_map_all(void)
{
	return map(NULL, 0, TENON_HYPLET_ALL);
}

int hyp_map_vma(void *address, size_t size)
{
	return map(address, size, TENON_HYPLET_VMA);
}

int hyp_set_stack(void *address, size_t size)
{
	return map(address, size, TENON_HYPLET_STACK);
}

int hyp_unmap(void *address)
{
	return ioctl(device(), TENON_HYPLET_UNMAP, address);
}

uint64_t hyp_refused(uint32_t *instruction)
{
	if (instruction)
		*instruction = refused.instruction;
	return refused.refused;
}

int hyplet_drop_cpu(int cpu)
{
	return ioctl(device(), TENON_HYPLET_DROP_CPU, (unsigned long)cpu);
}

int hyp_assign_offlet(int cpu, hyplet_function *function)
{
	struct tenon_hyplet_assign wish = { .function = (uintptr_t)function, .cpu = cpu };

	if (cpu < 0 || cpu >= HYP_CPUS) {
		errno = ENODEV;
		return -1;
	}
	wish.progress = (uintptr_t)&hyp_shared.progress[cpu];
	/* It can be mapped already, or be fixed while another core is assigned. */
	if (hyp_map(&hyp_shared, sizeof(hyp_shared)) && errno != EEXIST && errno != EBUSY)
		return -1;
	return ioctl(device(), TENON_HYPLET_ASSIGN, &wish);
}

int hyp_unassign_offlet(hyplet_function *function)
{
	return ioctl(device(), TENON_HYPLET_UNASSIGN, function);
}

int hyp_wait(hyplet_function *function, struct tenon_hyplet_end *end)
{
	*end = (struct tenon_hyplet_end){ .function = (uintptr_t)function };
	return ioctl(device(), TENON_HYPLET_WAIT, end);
}

int print_hyp(void)
{
	struct hyp_shared *shared = &hyp_shared;
	int lines = 0;

	hyp_lock(&shared->lock);
	while (shared->printed != shared->written) {
		uint32_t line = shared->printed++ % HYP_LINES;
		const char *format = shared->lines[line].format;
		uint64_t v[HYP_VALUES];
		int i;

		for (i = 0; i < HYP_VALUES; i++)
			v[i] = shared->lines[line].values[i];
		/* A hyplet must not wait for a terminal. */
		hyp_unlock(&shared->lock);
		printf(format, v[0], v[1], v[2], v[3], v[4], v[5]);
		lines++;
		hyp_lock(&shared->lock);
	}
	hyp_unlock(&shared->lock);
	return lines;
}
