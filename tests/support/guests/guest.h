/* Board and entry point of the foreign guests in C.
 *
 * The entry point calls `run` with a zeroed stack and the MMU off, and leaves x0 unchanged.
 */
#ifndef GUEST_H
#define GUEST_H

#include <stdint.h>

#define UART ((volatile uint32_t *)0x09000000)
#define SYSTEM_OFF 0x84000008

__asm__(".section .text.entry, \"ax\"\n"
	".global entry\n"
	"entry:\n"
	"	adrp x1, stack_top\n"
	"	add sp, x1, :lo12:stack_top\n"
	"	b run\n"
	".section .bss.stack, \"aw\", @nobits\n"
	".balign 16\n"
	".skip 4096\n"
	"stack_top:\n"
	".text\n");

static void say(const char *text)
{
	while (*text)
		*UART = (unsigned char)*text++;
}

#endif
