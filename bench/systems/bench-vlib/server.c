/* Maps its vLib's memory repeatedly, then answers calls at once, except for a request to poll until the
 * request changes. Measured sections are between two hint instructions. */

#include <stdio.h>
#include <sys/random.h>
#include <tenon/vlib.h>

enum { ANSWER, LOOK, END };

#define SAMPLES 1000
#define PAGE 4096
#define BEGINNING 2 /* s */

/* Maps and reads a page. */
static int map(const struct vlib *vlib)
{
	volatile uint64_t *page;

	__asm__ volatile("hint #126" ::: "memory");
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, vlib->file, 0);
	if (page != MAP_FAILED)
		(void)*page;
	__asm__ volatile("hint #127" ::: "memory");
	return page == MAP_FAILED || munmap((void *)page, PAGE);
}

int main(void)
{
	struct vlib vlib;
	struct vlib_channel channel;
	char seed;

	/* Until the kernel's random numbers are seeded, every system call tries to seed them. */
	if (getrandom(&seed, sizeof(seed), 0) < 0 || vlib_open(&vlib, "server")) {
		perror("server");
		return 1;
	}
	for (int sample = 0; sample < SAMPLES; sample++)
		if (map(&vlib)) {
			perror("server");
			return 1;
		}
	/* During the first call the rest of Linux boots to its shell. */
	if (!vlib_listen(&vlib, &channel))
		sleep(BEGINNING);
	while (!vlib_listen(&vlib, &channel)) {
		volatile uint64_t *what = channel.memory;

		while (*what == LOOK)
			;
		if (*what == END)
			return 0;
	}
	perror("server");
	return 1;
}
