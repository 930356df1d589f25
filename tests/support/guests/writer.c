// Prints LINES lines of 60 bytes on the PL011 and powers off.
// SPDX-License-Identifier: MIT OR Apache-2.0

enum { LETTERS = 57, DATA = 0, FLAGS = 6, FULL = 1 << 5 };

static volatile unsigned *const uart = (volatile unsigned *)0x9000000;

static char stack[4096] __attribute__((aligned(16), used));

__asm__(".globl entry\nentry: adrp x1, stack\n add x1, x1, :lo12:stack\n add sp, x1, #4096\n b run");

static void put(unsigned byte)
{
    while (uart[FLAGS] & FULL)
        ;
    uart[DATA] = byte;
}

__attribute__((used)) void run(void)
{
    for (int line = 0; line < LINES; line++) {
        put('0' + line / 10 % 10);
        put('0' + line % 10);
        for (int i = 0; i < LETTERS; i++)
            put('a' + i % 26);
        put('\n');
    }
    register unsigned long function __asm__("x0") = 0x84000008;
    for (;;)
        __asm__ volatile("hvc 0" : "+r"(function));
}
