/* Random numbers: the calls, the devices, and that they differ. */
#define _GNU_SOURCE
#include "check.h"
#include <linux/random.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/random.h>

static int differ(const unsigned char *one, const unsigned char *other, int size)
{
	int zeros = 1;

	for (int i = 0; i < size; i++)
		zeros &= one[i] == 0;
	return !zeros && memcmp(one, other, size) != 0;
}

static void add(void)
{
	struct {
		int bits, size;
		unsigned char bytes[70];
	} pool = {256, 70, {7}};
	int file = open("/dev/urandom", O_RDWR);

	show("add entropy", ioctl(file, RNDADDENTROPY, &pool));
	pool.bits = 0;
	show("without any", ioctl(file, RNDADDENTROPY, &pool));
	pool.bits = -1;
	show("less than none", ioctl(file, RNDADDENTROPY, &pool));
	show("of no memory", ioctl(file, RNDADDENTROPY, 0x10));
	pool.bits = 1;
	show("setuid", setuid(1000));
	show("without privilege", ioctl(file, RNDADDENTROPY, &pool));
	close(file);
}

int main(int count, char **arguments)
{
	static unsigned char one[70000], other[70000];

	if (count > 1) {
		/* The bytes of AT_RANDOM, for the program that started this one. */
		return write(1, (void *)getauxval(AT_RANDOM), 16) != 16;
	}
	show("getrandom", getrandom(one, 16, 0));
	show("getrandom again", getrandom(other, 16, GRND_NONBLOCK));
	show("they differ", differ(one, other, 16));
	show("many", getrandom(one, sizeof(one), 0));
	show("the ends differ", differ(one, one + sizeof(one) - 64, 64));
	show("GRND_RANDOM", getrandom(other, 32, GRND_RANDOM));
	show("GRND_INSECURE", getrandom(one, 32, 4));
	show("they differ", differ(one, other, 32));
	show("both", getrandom(one, 32, 4 | GRND_RANDOM));
	show("unknown flag", getrandom(one, 32, 8));
	show("nothing", getrandom(one, 0, 0));
	show("no memory", syscall(SYS_getrandom, 0x10, 32, 0));
	for (int i = 0; i < 2; i++) {
		int file = open(i ? "/dev/random" : "/dev/urandom", O_RDWR);

		show("open", file >= 3);
		show("read", read(file, one, 4096));
		show("pread", pread(file, other, 4096, 7));
		show("they differ", differ(one, other, 4096));
		show("write", write(file, "known", 5));
		show("seek", lseek(file, 0, SEEK_SET));
		close(file);
	}
	run_part(add);
	for (int i = 0; i < 2; i++) {
		int ends[2];

		show("pipe", pipe(ends));
		if (fork() == 0) {
			dup2(ends[1], 1);
			execl(arguments[0], arguments[0], "once", NULL);
			_exit(1);
		}
		show("AT_RANDOM", read(ends[0], i ? one : other, 16));
		wait(NULL);
		close(ends[0]);
		close(ends[1]);
	}
	show("they differ", differ(one, other, 16));
	return 0;
}
