//! vCPU 1, which runs the attacks, with translation tables and vectors of its own.
//!
//! Its stage 1 maps all 512 GiB of the IPA space twice, 1:1: in the lower range as normal memory or
//! device, in the upper range (`UPPER`) all as normal executable memory. An exception to EL1 ends the
//! code under test; [`run`] returns how the code ended.

#[cfg(target_arch = "aarch64")]
pub use real::{pause, prepare_code, rest, run, start};

/// Start of the upper range.
pub const UPPER: u64 = 0xffff_ff80_0000_0000;

/// x0 to x7 before and after the code.
pub type Registers = [u64; 8];

/// Whether the CPU interface has system registers (Arm ARM, D19.2.61: ID_AA64PFR0_EL1.GIC).
#[must_use]
pub fn has_gicv3() -> bool {
    hw_arch::registers::id_aa64pfr0_el1::read() >> 24 & 0xf != 0
}

/// An exception that the culprit took at EL1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caught {
    /// ESR_EL1.
    pub syndrome: u64,
    /// ELR_EL1.
    pub address: u64,
}

#[cfg(target_arch = "aarch64")]
mod real {
    use super::{Caught, Registers};
    use core::arch::{asm, global_asm};
    use hw_arch::firmware::{self, Error, Hvc};

    /// Maximum length of code in words.
    const CODE_LENGTH: usize = 16;

    /// Level 1 table, with entries of 1 GiB.
    #[repr(C, align(4096))]
    struct Table([u64; 512]);

    impl Table {
        /// Maps the whole space 1:1; entries outside of `memory` are device memory.
        const fn new(memory: core::ops::Range<usize>) -> Self {
            /// Valid block, inner shareable, access flag; attribute 1 of `MAIR_EL1`.
            const ORDINARY: u64 = 1 | 3 << 8 | 1 << 10 | 1 << 2;
            /// Valid block, access flag, attribute 0, never executed.
            const DEVICE: u64 = 1 | 1 << 10 | 3 << 53;
            let mut entries = [0; 512];
            let mut index = 0;
            while index < entries.len() {
                let inside = index >= memory.start && index < memory.end;
                entries[index] = (index as u64) << 30 | if inside { ORDINARY } else { DEVICE };
                index += 1;
            }
            Self(entries)
        }
    }

    #[unsafe(no_mangle)]
    static HOSTILE_LOWER: Table = Table::new(1..3);
    #[unsafe(no_mangle)]
    static HOSTILE_UPPER: Table = Table::new(0..512);

    #[repr(C, align(16))]
    struct Stack([u8; 0x4000]);
    #[unsafe(no_mangle)]
    static mut HOSTILE_STACK: Stack = Stack([0; 0x4000]);

    /// The prepared code.
    #[repr(C, align(64))]
    struct Buffer([u32; CODE_LENGTH]);
    static mut CODE: Buffer = Buffer([0; CODE_LENGTH]);

    unsafe extern "C" {
        fn hostile_entry();
        fn hostile_run(code: *const u32, registers: *mut u64) -> u64;
    }

    /// Yields: an emulator that runs cores one after the other switches here.
    pub fn pause() {
        // SAFETY: a hint instruction has no effect on memory or registers.
        unsafe { asm!("yield", options(nomem, nostack, preserves_flags)) }
    }

    /// Turns vCPU 1 on, with `attacker` as its entry.
    pub fn start(attacker: extern "C" fn() -> !) -> Result<(), Error> {
        let [entry, attacker] = [hostile_entry as *const () as u64, attacker as usize as u64];
        // SAFETY: `hostile_entry` takes its continuation in x0 and uses a stack and tables of its own.
        unsafe { firmware::cpu_on::<Hvc>(1, entry, attacker) }
    }

    /// Keeps this core in WFI with all of this VM's interrupts disabled: only Mortise wakes it.
    pub fn rest() -> ! {
        hw_arch::cpu::mask_interrupts();
        loop {
            // SAFETY: disabling Group 1 only stops interrupts of this core, and none is expected here.
            unsafe {
                asm!(
                    "msr icc_igrpen1_el1, xzr",
                    "isb",
                    "wfi",
                    options(nomem, nostack)
                )
            }
        }
    }

    /// Prepares `words`, at most [`CODE_LENGTH`], as the code to run.
    pub fn prepare_code(words: &[u32]) {
        let code = &raw mut CODE;
        for (index, word) in words.iter().take(CODE_LENGTH).enumerate() {
            // SAFETY: the address is within the buffer, which only the culprit accesses.
            unsafe { (&raw mut (*code).0[index]).write_volatile(*word) };
        }
        // SAFETY: cache maintenance by address within the buffer (Arm ARM, B2.4.4).
        unsafe {
            asm!("dc cvau, {0}", "dsb ish", "ic ivau, {0}", "dsb ish", "isb", in(reg) code);
        }
    }

    /// Runs the prepared code until it returns or an exception ends it.
    pub fn run(registers: &mut Registers) -> Result<(), Caught> {
        // SAFETY: damage to this VM by the code is intended. The vectors return here with the same stack
        // pointer, and no frame in between has a destructor.
        let caught = unsafe { hostile_run((&raw const CODE).cast(), registers.as_mut_ptr()) };
        let [syndrome, _, address, ..] = *registers;
        match caught {
            0 => Ok(()),
            _ => Err(Caught { syndrome, address }),
        }
    }

    // PSCI's entry: where to go on in x0, MMU off, everything masked. TCR_EL1: 39 bits below and above, 4 KiB, write-back
    // and inner shareable walks, 40 bits of address.
    global_asm!(
        ".section .text.hostile, \"ax\"",
        "hostile_entry:",
        "    mov x19, x0",
        "    mov x0, #0xff00",
        "    msr mair_el1, x0",
        "    ldr x0, =0x2b5193519",
        "    msr tcr_el1, x0",
        "    adrp x0, HOSTILE_LOWER",
        "    msr ttbr0_el1, x0",
        "    adrp x0, HOSTILE_UPPER",
        "    msr ttbr1_el1, x0",
        "    adrp x0, hostile_vectors",
        "    msr vbar_el1, x0",
        "    mov x0, #3 << 20",
        "    msr cpacr_el1, x0",
        "    isb",
        "    ldr x0, =0x30d01805",
        "    msr sctlr_el1, x0",
        "    isb",
        "    adrp x0, HOSTILE_STACK + 0x4000",
        "    add x0, x0, :lo12:HOSTILE_STACK + 0x4000",
        "    mov sp, x0",
        "    blr x19",
        "    b .",
        "hostile_run:",
        "    sub sp, sp, #112",
        "    stp x19, x20, [sp]",
        "    stp x21, x22, [sp, #16]",
        "    stp x23, x24, [sp, #32]",
        "    stp x25, x26, [sp, #48]",
        "    stp x27, x28, [sp, #64]",
        "    stp x29, x30, [sp, #80]",
        "    str x1, [sp, #96]",
        "    adrp x9, hostile_frame",
        "    mov x10, sp",
        "    str x10, [x9, :lo12:hostile_frame]",
        "    mov x16, x0",
        "    mov x17, x1",
        "    ldp x0, x1, [x17]",
        "    ldp x2, x3, [x17, #16]",
        "    ldp x4, x5, [x17, #32]",
        "    ldp x6, x7, [x17, #48]",
        "    blr x16",
        "    msr spsel, #1",
        "    adrp x9, hostile_frame",
        "    ldr x10, [x9, :lo12:hostile_frame]",
        "    mov sp, x10",
        "    ldr x17, [sp, #96]",
        "    stp x0, x1, [x17]",
        "    stp x2, x3, [x17, #16]",
        "    stp x4, x5, [x17, #32]",
        "    stp x6, x7, [x17, #48]",
        "    mov x0, #0",
        "1:  ldp x19, x20, [sp]",
        "    ldp x21, x22, [sp, #16]",
        "    ldp x23, x24, [sp, #32]",
        "    ldp x25, x26, [sp, #48]",
        "    ldp x27, x28, [sp, #64]",
        "    ldp x29, x30, [sp, #80]",
        "    add sp, sp, #112",
        "    ret",
        // TPIDR_EL1 is non-zero while an exception is handled. A nested exception then spins instead of
        // looping through the vectors, which the emulator does a thousand times slower.
        "hostile_caught:",
        "    mrs x9, tpidr_el1",
        "2:  cbnz x9, 2b",
        "    mov x9, #1",
        "    msr tpidr_el1, x9",
        "    msr daifset, #15",
        "    msr spsel, #1",
        "    adrp x9, hostile_frame",
        "    ldr x10, [x9, :lo12:hostile_frame]",
        "    mov sp, x10",
        "    ldr x17, [sp, #96]",
        "    mrs x0, esr_el1",
        "    mrs x1, far_el1",
        "    mrs x2, elr_el1",
        "    mrs x3, spsr_el1",
        "    stp x0, x1, [x17]",
        "    stp x2, x3, [x17, #16]",
        "    msr tpidr_el1, xzr",
        "    mov x0, #1",
        "    b 1b",
        ".ltorg",
        ".balign 4096",
        "hostile_vectors:",
        ".rept 16",
        "    .balign 128",
        "    b hostile_caught",
        ".endr",
        ".previous",
        ".section .bss.hostile_frame, \"aw\", %nobits",
        ".balign 8",
        "hostile_frame: .skip 8",
        ".previous",
    );
}

#[cfg(not(target_arch = "aarch64"))]
pub use host::{pause, prepare_code, rest, run, start};

/// Stub for the host, where only the table of attacks is tested.
#[cfg(not(target_arch = "aarch64"))]
mod host {
    use super::{Caught, Registers};
    use hw_arch::firmware::Error;

    pub fn pause() {}

    pub fn start(_: extern "C" fn() -> !) -> Result<(), Error> {
        Ok(())
    }

    pub fn rest() -> ! {
        panic!("a host has no core to rest on")
    }

    pub fn prepare_code(_: &[u32]) {}

    pub fn run(_: &mut Registers) -> Result<(), Caught> {
        Ok(())
    }
}
