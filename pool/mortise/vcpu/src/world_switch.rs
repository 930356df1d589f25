//! World switch: exception vectors of EL2, and guest entry.

use core::cell::UnsafeCell;
use hw_arch::{El2, ExceptionLevel};

/// General registers of a guest during an exit.
///
/// Each vCPU has a frame, and `SP_EL2` points to it while its guest runs. The exit handler returns a
/// pointer to the frame of the vCPU to enter, so no register is copied. The program counter and
/// processor state of the guest stay in `ELR_EL2` and `SPSR_EL2`: Mortise runs with every interrupt
/// masked, so nothing overwrites them.
#[repr(C, align(16))]
#[derive(Debug)]
pub struct Frame {
    /// x0 to x30.
    pub x: [u64; 31],
    /// Upper end of the stack that Mortise uses during an exit.
    stack_top: usize,
}

/// Size of a frame in bytes.
pub const FRAME_SIZE: usize = size_of::<Frame>();

/// Offset of the stack pointer in a frame.
#[cfg(target_os = "none")]
pub(crate) const STACK_TOP: usize = core::mem::offset_of!(Frame, stack_top);

impl Frame {
    /// All registers zero, and no stack.
    pub const ZERO: Self = Self {
        x: [0; 31],
        stack_top: 0,
    };

    /// Initialises the frame for the first guest entry: `argument` in x0, zero in all other registers.
    /// The exits of the guest use the stack below `stack_top`.
    ///
    /// # Safety
    ///
    /// `stack_top` must be the 16-byte aligned end of a stack of the core on which the guest runs, and
    /// the stack must hold no live data at guest entry.
    pub unsafe fn start(&mut self, argument: u64, stack_top: usize) {
        *self = Self {
            x: [0; 31],
            stack_top,
        };
        self.x[0] = argument;
    }

    /// Reads register `index` as encoded in an instruction: 31 reads as zero.
    #[must_use]
    pub fn register(&self, index: u8) -> u64 {
        self.x.get(usize::from(index)).copied().unwrap_or(0)
    }

    /// Whether register `index` is callee-saved in the procedure call standard (AAPCS64).
    #[inline(always)]
    #[must_use]
    pub const fn is_callee_saved(index: u8) -> bool {
        matches!(index, 19..30)
    }

    /// Writes register `index` as encoded in an instruction: writes to 31 are discarded.
    pub fn set_register(&mut self, index: u8, value: u64) {
        if let Some(register) = self.x.get_mut(usize::from(index)) {
            *register = value;
        }
    }
}

/// The fixed location of the frame of one vCPU.
#[repr(transparent)]
#[derive(Debug)]
pub struct FrameCell(UnsafeCell<Frame>);

// SAFETY: the frame is reached through `FrameCell::get` only. Its contract admits one core at a
// time: that on which the vCPU is.
unsafe impl Sync for FrameCell {}

impl FrameCell {
    /// The frame of a vCPU that has never run.
    #[must_use]
    pub const fn new() -> Self {
        Self(UnsafeCell::new(Frame::ZERO))
    }

    /// The frame, exclusively.
    ///
    /// # Safety
    ///
    /// The vCPU must be on the calling core, and no other reference to its frame may exist.
    #[expect(
        clippy::mut_from_ref,
        reason = "exclusive access is the contract of the function"
    )]
    pub unsafe fn get(&self) -> &mut Frame {
        // SAFETY: no other reference to the frame exists, by the contract of the function.
        unsafe { &mut *self.0.get() }
    }
}

impl Default for FrameCell {
    fn default() -> Self {
        Self::new()
    }
}

/// Cause of an exit: the vector, refined by the fast vectors.
#[repr(u64)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Synchronous exception: a trap, a call or a fault.
    Synchronous = 0,
    /// Group 1 interrupt.
    Irq = 1,
    /// Group 0 interrupt.
    Fiq = 2,
    /// System error.
    SError = 3,
    /// Group 1 interrupt that the vector has acknowledged already
    /// ([`PinnedVcpu::acknowledged_intid`](crate::PinnedVcpu::acknowledged_intid)).
    Acknowledged = 4,
    /// Hypercall by HVC, decoded by the vector.
    Hypercall = 5,
}

impl Cause {
    /// The vector of the cause.
    #[must_use]
    pub const fn vector(self) -> Self {
        match self {
            Self::Acknowledged => Self::Irq,
            Self::Hypercall => Self::Synchronous,
            other => other,
        }
    }
}

/// One vector for an exit from the guest.
#[cfg(target_os = "none")]
macro_rules! from_guest {
    ($cause:literal) => {
        $crate::world_switch::from_guest!($cause, "mortise_save")
    };
    ($cause:literal, $save:literal) => {
        concat!(
            ".balign 128\n stp x0, x1, [sp]\n mov x1, #",
            $cause,
            "\n b ",
            $save,
            "\n"
        )
    };
}
#[cfg(target_os = "none")]
pub(crate) use from_guest;

/// Saves x2 to x30 to the frame at SP, switches to the core's stack and calls a function with the frame
/// and the cause.
#[cfg(target_os = "none")]
macro_rules! save {
    ($function:literal) => {
        concat!(
            "stp x2, x3, [sp, #8*2]\n",
            "stp x4, x5, [sp, #8*4]\n",
            "stp x6, x7, [sp, #8*6]\n",
            "stp x8, x9, [sp, #8*8]\n",
            "stp x10, x11, [sp, #8*10]\n",
            "stp x12, x13, [sp, #8*12]\n",
            "stp x14, x15, [sp, #8*14]\n",
            "stp x16, x17, [sp, #8*16]\n",
            "stp x18, x19, [sp, #8*18]\n",
            "stp x20, x21, [sp, #8*20]\n",
            "stp x22, x23, [sp, #8*22]\n",
            "stp x24, x25, [sp, #8*24]\n",
            "stp x26, x27, [sp, #8*26]\n",
            "stp x28, x29, [sp, #8*28]\n",
            "str x30, [sp, #8*30]\n",
            "mov x0, sp\n",
            "ldr x2, [sp, #{stack_top}]\n",
            "mov sp, x2\n",
            "bl ",
            $function,
            "\n"
        )
    };
}
#[cfg(target_os = "none")]
pub(crate) use save;

/// Restores the registers from the frame at SP and enters the guest.
#[cfg(target_os = "none")]
macro_rules! restore {
    () => {
        concat!(
            "ldp x2, x3, [sp, #8*2]\n",
            "ldp x4, x5, [sp, #8*4]\n",
            "ldp x6, x7, [sp, #8*6]\n",
            "ldp x8, x9, [sp, #8*8]\n",
            "ldp x10, x11, [sp, #8*10]\n",
            "ldp x12, x13, [sp, #8*12]\n",
            "ldp x14, x15, [sp, #8*14]\n",
            "ldp x16, x17, [sp, #8*16]\n",
            "ldp x18, x19, [sp, #8*18]\n",
            "ldp x20, x21, [sp, #8*20]\n",
            "ldp x22, x23, [sp, #8*22]\n",
            "ldp x24, x25, [sp, #8*24]\n",
            "ldp x26, x27, [sp, #8*26]\n",
            "ldp x28, x29, [sp, #8*28]\n",
            "ldr x30, [sp, #8*30]\n",
            "ldp x0, x1, [sp]\n",
            "eret\n",
            // Barrier against speculation past the ERET.
            "dsb nsh\n",
            "isb\n",
        )
    };
}

/// The vectors for exceptions taken from EL2 itself, which are faults of Mortise: the first half of a
/// vector table, with SP_EL0, then with SP_ELx (Arm ARM, D1.3.5).
#[macro_export]
macro_rules! own_fault_vectors {
    () => {
        concat!(
            $crate::own_fault_vectors!("0", "1", "2", "3"),
            $crate::own_fault_vectors!("0", "1", "2", "3"),
        )
    };
    ($($cause:literal),*) => {
        concat!($(".balign 128\n mov x0, #", $cause, "\n b mortise_own_fault\n"),*)
    };
}

#[cfg(target_os = "none")]
core::arch::global_asm!(
    ".section .text.vectors.general, \"ax\"",
    ".balign 2048",
    "mortise_vectors:",
    own_fault_vectors!(),
    // Lower EL, AArch64: synchronous, IRQ, FIQ, SError.
    from_guest!("0"),
    ".balign 128",
    "    stp x0, x1, [sp]",
    "    b mortise_save_interrupted",
    from_guest!("2"),
    from_guest!("3"),
    // Lower EL, AArch32.
    from_guest!("0"),
    from_guest!("1"),
    from_guest!("2"),
    from_guest!("3"),
    ".balign 128",
    ".previous",
    ".section .text.vectors.save, \"ax\"",
    ".global mortise_save",
    "mortise_save:",
    save!("mortise_exit"),
    // x0 is the frame of the vCPU to enter.
    "    mov sp, x0",
    restore!(),
    // Interrupts, the most frequent exits of a shared core. The function does not return.
    "mortise_save_interrupted:",
    save!("mortise_interrupted"),
    ".previous",
    // A section of its own: an image without shared cores needs nothing else of these.
    ".section .text.vectors.fault, \"ax\"",
    // The first core with an exception at EL2 reports it and stops the machine; other cores wait for
    // that. A second exception during the report turns the machine off without one (PSCI SYSTEM_OFF).
    ".global mortise_own_fault",
    "mortise_own_fault:",
    "    adrp x1, mortise_last_owner",
    "    add x1, x1, :lo12:mortise_last_owner",
    "    mrs x2, mpidr_el1",
    ".Lclaim_report: ldaxr x3, [x1]",
    "    cbnz x3, .Lreported",
    "    stlxr w4, x2, [x1]",
    "    cbnz w4, .Lclaim_report",
    "    b mortise_fault",
    ".Lreported: cmp x2, x3",
    "    b.ne .Lwait_for_off",
    "    mov w0, #8",
    "    movk w0, #0x8400, lsl #16",
    "    smc #0",
    ".Lwait_for_off: wfi",
    "    b .Lwait_for_off",
    ".previous",
    ".section .bss.mortise_last_owner, \"aw\", %nobits",
    ".balign 8",
    // MPIDR_EL1 of the reporting core (bit 31 is RES1), or zero.
    "mortise_last_owner: .skip 8",
    ".previous",
    stack_top = const STACK_TOP,
);

/// Installs the vectors for a core that several vCPUs share on this core.
pub fn install_shared_vectors() {
    #[cfg(target_os = "none")]
    {
        unsafe extern "C" {
            static mortise_vectors: u8;
        }
        // SAFETY: the symbol is an aligned vector table of 2 KiB that is never written.
        unsafe { El2::write_vbar(&raw const mortise_vectors as u64) };
        hw_arch::barrier::isb();
    }
}

/// Enters the guest of this frame.
///
/// # Safety
///
/// [`crate::reset`] must have run for the vCPU, and [`Frame::start`] for its frame, with a stack of
/// this core that holds no live data.
#[inline(always)]
pub unsafe fn enter(frame: &'static FrameCell) -> ! {
    #[cfg(target_os = "none")]
    // SAFETY: the registers of the vCPU are initialised, and the abandoned stack holds no live data, by
    // the contract of the function.
    unsafe {
        core::arch::asm!(
            "mov sp, {}",
            restore!(),
            in(reg) core::ptr::from_ref(frame),
            options(noreturn),
        )
    }
    #[cfg(not(target_os = "none"))]
    {
        let _ = frame;
        hw_arch::cpu::park()
    }
}

/// Advances the guest past the trapped instruction.
///
/// For a trapped SMC or access. The return address of an HVC is already the next instruction (Arm ARM,
/// D1.3.2).
pub fn skip_instruction() {
    let length = instruction_length(El2::read_esr());
    // SAFETY: changes the program counter of the guest only.
    unsafe { El2::write_elr(El2::read_elr().wrapping_add(length)) }
}

/// The same for an instruction of 32 bits.
#[inline(always)]
pub fn skip_word() {
    // SAFETY: changes the program counter of the guest only.
    unsafe { El2::write_elr(El2::read_elr().wrapping_add(4)) }
}

/// Bytes of the instruction with this syndrome, from `ESR_EL2.IL`: 2 for one of 16 bits, of EL0 in
/// AArch32 (Arm ARM, D19.2.37).
const fn instruction_length(esr: u64) -> u64 {
    2 + (esr >> 24 & 2)
}

/// Makes the guest repeat its hypercall: the return address of HVC is the next instruction, and a
/// trapped SMC was skipped.
pub fn repeat_instruction() {
    // SAFETY: changes the program counter of the guest only.
    unsafe { El2::write_elr(El2::read_elr().wrapping_sub(4)) }
}

#[cfg(test)]
mod tests {
    use super::{FRAME_SIZE, Frame, instruction_length};

    #[test]
    fn an_instruction_of_16_bits_is_skipped_by_2() {
        assert_eq!(instruction_length(0x24 << 26 | 1 << 25 | 1 << 24), 4);
        assert_eq!(instruction_length(0x24 << 26 | 1 << 24), 2);
    }

    #[test]
    fn layout_suits_the_assembly() {
        assert_eq!(FRAME_SIZE, 256);
        assert_eq!(core::mem::offset_of!(Frame, x), 0);
        assert_eq!(core::mem::offset_of!(Frame, stack_top), 248);
    }

    #[test]
    fn register_31_is_the_zero_register() {
        let mut frame = Frame::ZERO;
        frame.set_register(31, 7);
        frame.set_register(30, 8);
        assert_eq!((frame.register(31), frame.register(30)), (0, 8));
    }
}
