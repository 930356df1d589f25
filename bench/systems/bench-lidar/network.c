/* A layer of a neural network with weights that exceed the cache, evaluated in a loop: during its first
 * call, which never ends, or with the argument `background` from the start. Two hint instructions mark
 * the start for the plugin. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tenon/vlib.h>

#define LINE 64
#define INPUTS (LINE / sizeof(float)) /* a line of weights for each output */
#define OUTPUTS ((4 << 20) / LINE)

static float weights[OUTPUTS][INPUTS], outputs[OUTPUTS];

/* As after a rectifier, most inputs are zero: one weight per line is read, so that the layer is bound
 * by memory rather than by arithmetic. */
static void evaluate(unsigned active, float input)
{
	for (unsigned output = 0; output < OUTPUTS; output++)
		outputs[output] = weights[output][active] * input;
}

int main(int count, char **arguments)
{
	struct vlib vlib;
	struct vlib_channel channel;

	/* Populates all pages before the measurement. */
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
		/* Keeps the compiler from removing the stores. */
		__asm__ volatile("" :: "r"(outputs) : "memory");
	}
}
