/* A VM that prints a counter every 5 ms and ends after a second. */
#include <stdio.h>
#include <time.h>

int main(void)
{
	const struct timespec pause = { .tv_nsec = 5000000 };

	for (int tick = 1; tick <= 200; tick++) {
		printf("tick %d\n", tick);
		nanosleep(&pause, NULL);
	}
	puts("tick done");
	return 0;
}
