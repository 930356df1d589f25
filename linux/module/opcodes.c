// SPDX-License-Identifier: GPL-2.0
/*
 * All rejected instructions are in one encoding group: branches, exception generation and system
 * instructions (Arm ARM, C4.1.94 on). Of the classes that affect more than general registers, every
 * instruction that is not listed here is rejected, including those of later architectures.
 */
#include "opcodes.h"

#ifdef __KERNEL__
#include <linux/kernel.h>
#endif

/* Encoding fields of a system instruction: op0, op1, CRn, CRm, op2. */
#define SYSTEM(op0, op1, crn, crm, op2) \
	((op0) << 19 | (op1) << 16 | (crn) << 12 | (crm) << 8 | (op2) << 5)
#define SYSTEM_FIELDS SYSTEM(3u, 7u, 15u, 15u, 7u)
#define READS (1u << 21)

#define REGISTER(op1, crn, crm, op2) SYSTEM(3u, op1, crn, crm, op2)
#define CACHE(crm) SYSTEM(1u, 3u, 7u, crm, 1u)

static const u32 registers[] = {
	REGISTER(3, 4, 2, 0), /* NZCV */
	REGISTER(3, 4, 2, 5), /* DIT */
	REGISTER(3, 4, 2, 6), /* SSBS */
	REGISTER(3, 4, 4, 0), /* FPCR */
	REGISTER(3, 4, 4, 1), /* FPSR */
	REGISTER(3, 13, 0, 2), /* TPIDR_EL0 */
};

static const u32 readable[] = {
	REGISTER(3, 0, 0, 1), /* CTR_EL0 */
	REGISTER(3, 0, 0, 7), /* DCZID_EL0 */
	REGISTER(3, 13, 0, 3), /* TPIDRRO_EL0 */
	REGISTER(3, 14, 0, 0), /* CNTFRQ_EL0 */
	REGISTER(3, 14, 0, 2), /* CNTVCT_EL0 */
	REGISTER(3, 14, 0, 6), /* CNTVCTSS_EL0 */
};

/* Cache maintenance by virtual address, with permission checks of stage 1. */
static const u32 caches[] = {
	CACHE(4), /* DC ZVA */
	CACHE(5), /* IC IVAU */
	CACHE(10), /* DC CVAC */
	CACHE(11), /* DC CVAU */
	CACHE(12), /* DC CVAP */
	CACHE(13), /* DC CVADP */
	CACHE(14), /* DC CIVAC */
};

#define HAS(list, fields) has(list, ARRAY_SIZE(list), fields)

static bool has(const u32 *list, u64 count, u32 fields)
{
	u64 i;

	for (i = 0; i < count; i++)
		if (list[i] == fields)
			return true;
	return false;
}

/* Instructions with an immediate operand; CRn distinguishes hints, barriers and PSTATE. */
static const char *immediate_wrong(u32 word)
{
	u32 op1 = word >> 16 & 7, crn = word >> 12 & 15, crm = word >> 8 & 15, op2 = word >> 5 & 7;

	if ((word & 31) != 31)
		return "a wait that Mortise does not know";
	if (op1 == 3 && crn == 2)
		return crm == 0 && op2 == 3 ? "WFI" : NULL;
	if (op1 == 3 && crn == 3)
		return op2 == 2 || (op2 >= 4 && (op2 < 7 || !crm)) ? NULL : "a kernel's barrier";
	if (crn == 4 && op1 == 0 && crm == 0 && op2 <= 2) /* CFINV, XAFLAG, AXFLAG */
		return NULL;
	if (crn == 4 && op1 == 3 && crm <= 1 && (op2 == 1 || op2 == 2)) /* SSBS, DIT */
		return NULL;
	return crn == 4 ? "a change of PSTATE" : "a system instruction";
}

static const char *system_wrong(u32 word)
{
	u32 fields = word & SYSTEM_FIELDS;

	if (word >> 22 != 0x354)
		return "a system instruction on 128 bits";
	switch (word >> 19 & 3) {
	case 0:
		return word & READS ? "a system instruction" : immediate_wrong(word);
	case 1:
		return !(word & READS) && HAS(caches, fields) ? NULL : "a system instruction";
	default:
		if (HAS(registers, fields) || (word & READS && HAS(readable, fields)))
			return NULL;
		return "a system register";
	}
}

static const char *exception_wrong(u32 word)
{
	switch (word & 0xffe0001f) {
	case 0xd4000001:
		return (word >> 5 & 0xffff) == TENON_SVC ? NULL : "a system call";
	case 0xd4200000: /* BRK: emitted by compilers for unreachable code */
		return NULL;
	default:
		return "HVC, SMC or a debugger's instruction";
	}
}

const char *tenon_opcode_wrong(u32 word)
{
	switch (word >> 24) {
	case 0xd4:
		return exception_wrong(word);
	case 0xd5:
		return system_wrong(word);
	case 0xd6:
		/* Opcodes 4 and 5, with and without authentication. */
		return (word >> 21 & 7) == 4 || (word >> 21 & 7) == 5 ? "ERET" : NULL;
	default:
		return NULL;
	}
}

u64 tenon_opcodes_scan(const u32 *words, u64 count, const char **reason)
{
	u64 i;

	*reason = NULL;
	for (i = 0; i < count && !*reason; i++)
		*reason = tenon_opcode_wrong(words[i]);
	return *reason ? i - 1 : count;
}
