/* Regains the cores of VMs that never yield them: each managed VM is repeatedly paused and restarted,
 * and destroyed at the end. */

#include <stdint.h>
#include <stdio.h>
#include <tenon/vm.h>
#include <time.h>

#define ROUNDS 5

/* Long enough for a guest to start again, in some 420,000 instructions, and to occupy its core, while
 * the other cores are busy too. */
static void let_it_run(void)
{
	const struct timespec life = { .tv_nsec = 4000000 };

	nanosleep(&life, NULL);
}

static int take_back(tenon_vm_t vm)
{
	int failed = 0;

	for (int round = 0; round < ROUNDS; round++) {
		let_it_run();
		failed += tenon_vm_pause(vm) != 0;
		let_it_run();
		failed += tenon_vm_resume(vm) != 0;
		let_it_run();
		failed += tenon_vm_restart(vm) != 0;
	}
	let_it_run();
	return failed + (tenon_vm_destroy(vm) != 0);
}

int main(void)
{
	struct tenon_vm_listed listed;
	int failed = 0;

	for (uint32_t slot = 0; tenon_vm_list(slot, &listed) == 0; slot++) {
		if (listed.vm != 0)
			failed += take_back(listed.vm);
	}
	printf("manager: %d calls failed\n", failed);
	return 0;
}
