/* Classifier of images of 8 by 8 pixels: a neural network of two layers with fixed weights.
 *
 * The hidden layer has features of the middle rows, the middle columns, the margin and the interior; the
 * output layer distinguishes a horizontal bar, a vertical bar, a cross and a frame. */

#include <stdint.h>
#include <stdio.h>
#include <tenon/vlib.h>

enum { SIDE = 8, POINTS = SIDE * SIDE, HIDDEN = 4, CLASSES = 4 };

#define ENOUGH UINT64_MAX /* in place of a class: no more images */

struct request {
	uint8_t image[POINTS];
	uint64_t class;
};

/* Whether a pixel is in the receptive field of a hidden neuron. */
static int sees(int neuron, int row, int column)
{
	int middle_row = row == 3 || row == 4, middle_column = column == 3 || column == 4;
	int margin = row == 0 || row == 7 || column == 0 || column == 7;

	switch (neuron) {
	case 0:
		return middle_row && !middle_column;
	case 1:
		return middle_column && !middle_row;
	case 2:
		return margin && !middle_row && !middle_column;
	default:
		return !margin && !middle_row && !middle_column;
	}
}

static const int output[CLASSES][HIDDEN] = {
	{ 4, -4, -3, -3 },
	{ -4, 4, -3, -3 },
	{ 3, 3, -3, -3 },
	{ -2, -2, 6, -3 },
};

static uint64_t classify(const uint8_t *image)
{
	int hidden[HIDDEN] = { 0 }, best = 0, score[CLASSES] = { 0 };

	for (int neuron = 0; neuron < HIDDEN; neuron++) {
		int points = 0;

		for (int at = 0; at < POINTS; at++)
			if (sees(neuron, at / SIDE, at % SIDE)) {
				hidden[neuron] += image[at];
				points++;
			}
		hidden[neuron] = hidden[neuron] / points - 40;
		if (hidden[neuron] < 0)
			hidden[neuron] = 0;
	}
	for (int class = 0; class < CLASSES; class++) {
		for (int neuron = 0; neuron < HIDDEN; neuron++)
			score[class] += output[class][neuron] * hidden[neuron];
		if (score[class] > score[best])
			best = class;
	}
	return best;
}

int main(void)
{
	struct vlib vlib;
	struct vlib_channel channel;

	if (vlib_open(&vlib, "classifier")) {
		perror("classifier");
		return 1;
	}
	puts("classifier: listening");
	fflush(stdout);
	while (!vlib_listen(&vlib, &channel)) {
		struct request *request = channel.memory;

		if (channel.size < sizeof(*request))
			continue;
		if (request->class == ENOUGH)
			return 0;
		request->class = classify(request->image);
	}
	perror("classifier");
	return 1;
}
