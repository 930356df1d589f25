/* Registers and extensions that Mortise does not switch, one instruction each: none may be accessible. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

static sigjmp_buf back;

static void refused(int signal)
{
	siglongjmp(back, signal);
}

/* Its result in x0, or its signal. */
static void one(const char *name, unsigned instruction)
{
	unsigned *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int signal;

	code[0] = instruction;
	code[1] = 0xd65f03c0; /* RET */
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
	__builtin___clear_cache((char *)code, (char *)(code + 2));
	signal = sigsetjmp(back, 1);
	if (signal)
		printf(" %s signal %d", name, signal);
	else
		printf(" %s %ld", name, ((long (*)(long))code)(1));
}

int main(void)
{
	struct sigaction action = { .sa_handler = refused };

	sigaction(SIGILL, &action, NULL);
	printf("registers:");
	one("debug", 0xd5330100);   /* MRS x0, MDCCSR_EL0 */
	one("monitor", 0xd53b9d00); /* MRS x0, PMCCNTR_EL0 */
	one("vectors", 0x04bf5020); /* RDVL x0, #1 */
	one("tags", 0x9adf1000);    /* IRG x0, x0 */
	printf("\n");
	return 0;
}
