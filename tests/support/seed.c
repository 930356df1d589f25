/* Adds the bytes of standard input to the generator of random numbers, as 8 bits of entropy each. */
#include <fcntl.h>
#include <linux/random.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

int main(void)
{
	struct {
		int bits, size;
		unsigned char bytes[512];
	} pool;
	int file = open("/dev/urandom", O_WRONLY);

	pool.size = read(0, pool.bytes, sizeof(pool.bytes));
	pool.bits = pool.size * 8;
	if (ioctl(file, RNDADDENTROPY, &pool) < 0) {
		perror("seed");
		return 1;
	}
	return 0;
}
