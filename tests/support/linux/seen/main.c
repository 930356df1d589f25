/* Identification registers as seen by a guest: fields of four bits, from bit `low` on. */
#include <stdio.h>

#define FIELD(name, low) \
	({ \
		unsigned long value; \
		__asm__ volatile("mrs %0, " name : "=r"(value)); \
		(unsigned)(value >> (low)) & 0xf; \
	})

int main(void)
{
	printf("seen: debug %u, monitor %u and %u, vectors %u\n", FIELD("id_aa64dfr0_el1", 0),
	       FIELD("id_aa64dfr0_el1", 8), FIELD("id_dfr0_el1", 24), FIELD("id_aa64pfr0_el1", 32));
	printf("seen: granule %u, atomics %u\n", FIELD("id_aa64mmfr0_el1", 28),
	       FIELD("id_aa64isar0_el1", 20));
	return 0;
}
