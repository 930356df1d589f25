/* Restarts and then destroys each managed VM, none of which yields its core. A line has the result of
 * each call and the state of the VM. */

#include <stdint.h>
#include <stdio.h>
#include <tenon/vm.h>
#include <time.h>

static void show(uint32_t slot, const char *what, int answer)
{
	struct tenon_vm_listed listed = { 0 };
	struct tenon_vm_statistics known = { 0 };

	if (tenon_vm_list(slot, &listed) == 0 && listed.vm != 0)
		tenon_vm_statistics(listed.vm, &known);
	printf("%u %s: answer %d, listed %d, state %u, told %u\n", (unsigned int)slot, what, answer,
	       listed.vm != 0, (unsigned int)listed.state, (unsigned int)known.state);
}

int main(void)
{
	const struct timespec life = { .tv_nsec = 5000000 };
	struct tenon_vm_listed listed;

	nanosleep(&life, NULL);
	for (uint32_t slot = 0; tenon_vm_list(slot, &listed) == 0; slot++) {
		if (listed.vm == 0)
			continue;
		show(slot, "runs", 0);
		show(slot, "restarted", tenon_vm_restart(listed.vm));
		nanosleep(&life, NULL);
		show(slot, "later", 0);
		show(slot, "destroyed", tenon_vm_destroy(listed.vm));
	}
	printf("warden: done\n");
	return 0;
}
