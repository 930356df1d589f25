/* System calls and output of programs without a library. */
#pragma once

typedef unsigned long word;

static long call(long number, word a, word b, word c, word d, word e, word f)
{
	register word x8 __asm__("x8") = number;
	register word x0 __asm__("x0") = a;
	register word x1 __asm__("x1") = b;
	register word x2 __asm__("x2") = c;
	register word x3 __asm__("x3") = d;
	register word x4 __asm__("x4") = e;
	register word x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

static void print(const char *text)
{
	word length = 0;

	while (text[length] != 0)
		length++;
	call(64, 1, (word)text, length, 0, 0, 0);
}

static void print_number(long number)
{
	char digits[24];
	int place = sizeof(digits) - 1;
	word rest = number < 0 ? -(word)number : (word)number;

	digits[place] = 0;
	do {
		digits[--place] = '0' + rest % 10;
		rest /= 10;
	} while (rest != 0);
	if (number < 0)
		digits[--place] = '-';
	print(digits + place);
}
