/* Process groups, waiting for children and signals, each line the same on Linux. */
#include "common.h"

int main(int argc, char **argv)
{
	(void)argv;
	setvbuf(stdout, NULL, _IOFBF, 4096);
	if (argc > 1)
		return again();
	groups();
	fflush(stdout);
	stops();
	fflush(stdout);
	children();
	handlers();
	fflush(stdout);
	real_time();
	fflush(stdout);
	interrupted();
	fflush(stdout);
	faults();
	fflush(stdout);
	threads();
	fflush(stdout);
	orphans();
	program();
	fflush(stdout);
	timers();
	return 0;
}
