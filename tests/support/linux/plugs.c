/* Server of plugger: turns a CPU off or on, and answers how many are online. */

#include <fcntl.h>
#include <stdio.h>
#include <tenon/vlib.h>
#include <unistd.h>

struct request {
	uint64_t cpu;
	uint64_t online;
	uint64_t answer;
};

static void turn(unsigned int cpu, int online)
{
	char name[64];
	int file;

	snprintf(name, sizeof(name), "/sys/devices/system/cpu/cpu%u/online", cpu);
	file = open(name, O_WRONLY);
	if (file < 0 || write(file, online ? "1" : "0", 1) != 1)
		perror("plugs: WRONG");
	close(file);
}

int main(void)
{
	struct vlib_channel channel;
	struct vlib vlib;

	if (vlib_open(&vlib, "helper")) {
		perror("plugs");
		return 1;
	}
	while (!vlib_listen(&vlib, &channel)) {
		volatile struct request *request = channel.memory;

		turn(request->cpu, request->online);
		request->answer = sysconf(_SC_NPROCESSORS_ONLN);
	}
	perror("plugs");
	return 1;
}
