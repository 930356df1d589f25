/* A layer of a neural network whose weights no cache holds, evaluated again and again: from its first
 * call on, in which it stays, or with the argument `background` from the beginning. Two hints that mean
 * nothing to the core say that it has begun. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tenon/vlib.h>

#define LINE 64
#define INPUTS (LINE / sizeof(float)) /* a line of weights for each output */
#define OUTPUTS ((4 << 20) / LINE)

static float weights[OUTPUTS][INPUTS], outputs[OUTPUTS];

/* As behind a rectifier, most inputs are zero: of each line one weight is looked at, which makes the
 * layer a matter of memory rather than of arithmetic. */
static void evaluate(unsigned active, float input)
{
	for (unsigned output = 0; output < OUTPUTS; output++)
		outputs[output] = weights[output][active] * input;
}

int main(int count, char **arguments)
{
	struct vlib vlib;
	struct vlib_channel channel;

	/* All of it is in memory before anything is measured. */
	memset(weights, 1, sizeof(weights));
	if (count < 2 || strcmp(arguments[1], "background")) {
		if (vlib_open(&vlib, "classifier") || vlib_listen(&vlib, &channel)) {
			perror("network");
			return 1;
		}
	}
	__asm__ volatile("hint #126\n\thint #127" ::: "memory");
	for (unsigned active = 0;; active = (active + 1) % INPUTS) {
		evaluate(active, 1);
		/* Somebody might look at the outputs. */
		__asm__ volatile("" :: "r"(outputs) : "memory");
	}
}
