//! World switch: the vectors of EL2 and the way into the guest.

use core::cell::UnsafeCell;
use hw_arch::{El2, ExceptionLevel};

/// General registers of a guest whose core is in Mortise.
///
/// Each virtual CPU has one of its own, and `SP_EL2` points there while its guest
/// runs: who goes on after an exit is said by a pointer, and no register is copied.
/// The program counter and processor state of a guest that goes on stay in
/// `ELR_EL2` and `SPSR_EL2`: Mortise runs with every interrupt masked, so nothing
/// overwrites them.
#[repr(C, align(16))]
#[derive(Debug)]
pub struct Frame {
    /// x0 to x30.
    pub x: [u64; 31],
    /// Where the stack ends that Mortise uses during an exit.
    stack_top: usize,
}

/// Bytes of a frame.
pub const FRAME_SIZE: usize = size_of::<Frame>();

impl Frame {
    /// All registers zero, and no stack.
    pub const ZERO: Self = Self {
        x: [0; 31],
        stack_top: 0,
    };

    /// Makes it that of a guest at its first instruction, with `argument` in x0 and
    /// zero in the other registers; `stack_top` is the stack its exits use.
    ///
    /// # Safety
    ///
    /// `stack_top` must be the 16-byte aligned end of a stack that belongs to the core
    /// on which the guest runs, and of which nothing is needed after an entry.
    pub unsafe fn start(&mut self, argument: u64, stack_top: usize) {
        *self = Self {
            x: [0; 31],
            stack_top,
        };
        self.x[0] = argument;
    }

    /// Register `index` as an instruction names it: 31 reads as zero.
    #[must_use]
    pub fn register(&self, index: u8) -> u64 {
        self.x.get(usize::from(index)).copied().unwrap_or(0)
    }

    /// Whether a function keeps register `index`, by the procedure call standard.
    #[inline(always)]
    #[must_use]
    pub const fn is_callee_saved(index: u8) -> bool {
        matches!(index, 19..30)
    }

    /// Writes register `index` as an instruction names it: 31 is discarded.
    pub fn set_register(&mut self, index: u8, value: u64) {
        if let Some(register) = self.x.get_mut(usize::from(index)) {
            *register = value;
        }
    }
}

/// Where the frame of one virtual CPU stands for good.
#[repr(transparent)]
#[derive(Debug)]
pub struct FrameCell(UnsafeCell<Frame>);

// SAFETY: the frame inside is reached through `FrameCell::get` only, whose caller
// vouches that one core at a time does.
unsafe impl Sync for FrameCell {}

impl FrameCell {
    /// A frame for which no guest has run.
    #[must_use]
    pub const fn new() -> Self {
        Self(UnsafeCell::new(Frame::ZERO))
    }

    /// The frame.
    ///
    /// # Safety
    ///
    /// The virtual CPU must be that of the calling core, and nothing else may hold its
    /// frame at the same time.
    #[expect(
        clippy::mut_from_ref,
        reason = "the caller vouches for its being alone"
    )]
    pub unsafe fn get(&self) -> &mut Frame {
        // SAFETY: passed on to the caller.
        unsafe { &mut *self.0.get() }
    }
}

impl Default for FrameCell {
    fn default() -> Self {
        Self::new()
    }
}

/// Vector through which the core came to Mortise.
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
    /// Group 1 interrupt, which the vectors have acknowledged already
    /// ([`PinnedVcpu::taken`](crate::PinnedVcpu::taken)).
    Acknowledged = 4,
    /// HVC, which the vectors have found to be one.
    Hypercall = 5,
}

impl Cause {
    /// The same as the hardware's vectors tell it.
    #[must_use]
    pub const fn vector(self) -> Self {
        match self {
            Self::Acknowledged => Self::Irq,
            Self::Hypercall => Self::Synchronous,
            other => other,
        }
    }
}

/// Writes one vector of 32 instructions for an exit from the guest.
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

/// Writes the way of an exit's other registers into the frame at SP, and to the function behind it,
/// which has the frame and the cause, on the core's stack.
#[cfg(target_os = "none")]
macro_rules! save {
    ($function:literal) => {
        concat!(
            "stp x2, x3, [sp, #16]\n",
            "stp x4, x5, [sp, #32]\n",
            "stp x6, x7, [sp, #48]\n",
            "stp x8, x9, [sp, #64]\n",
            "stp x10, x11, [sp, #80]\n",
            "stp x12, x13, [sp, #96]\n",
            "stp x14, x15, [sp, #112]\n",
            "stp x16, x17, [sp, #128]\n",
            "stp x18, x19, [sp, #144]\n",
            "stp x20, x21, [sp, #160]\n",
            "stp x22, x23, [sp, #176]\n",
            "stp x24, x25, [sp, #192]\n",
            "stp x26, x27, [sp, #208]\n",
            "stp x28, x29, [sp, #224]\n",
            "str x30, [sp, #240]\n",
            "mov x0, sp\n",
            "ldr x2, [sp, #248]\n",
            "mov sp, x2\n",
            "bl ",
            $function,
            "\n"
        )
    };
}
#[cfg(target_os = "none")]
pub(crate) use save;

/// Writes the way from the frame at SP into its guest.
#[cfg(target_os = "none")]
macro_rules! restore {
    () => {
        concat!(
            "ldp x2, x3, [sp, #16]\n",
            "ldp x4, x5, [sp, #32]\n",
            "ldp x6, x7, [sp, #48]\n",
            "ldp x8, x9, [sp, #64]\n",
            "ldp x10, x11, [sp, #80]\n",
            "ldp x12, x13, [sp, #96]\n",
            "ldp x14, x15, [sp, #112]\n",
            "ldp x16, x17, [sp, #128]\n",
            "ldp x18, x19, [sp, #144]\n",
            "ldp x20, x21, [sp, #160]\n",
            "ldp x22, x23, [sp, #176]\n",
            "ldp x24, x25, [sp, #192]\n",
            "ldp x26, x27, [sp, #208]\n",
            "ldp x28, x29, [sp, #224]\n",
            "ldr x30, [sp, #240]\n",
            "ldp x0, x1, [sp]\n",
            "eret\n",
            // Nothing behind is for a core to run on speculation.
            "dsb nsh\n",
            "isb\n",
        )
    };
}

/// Writes one vector for a fault of Mortise's own.
#[cfg(target_os = "none")]
macro_rules! own_fault {
    ($cause:literal) => {
        concat!(
            ".balign 128\n mov x0, #",
            $cause,
            "\n b mortise_own_fault\n"
        )
    };
}
#[cfg(target_os = "none")]
pub(crate) use own_fault;

#[cfg(target_os = "none")]
core::arch::global_asm!(
    ".section .text.vectors.general, \"ax\"",
    ".balign 2048",
    "mortise_vectors:",
    own_fault!("0"),
    own_fault!("1"),
    own_fault!("2"),
    own_fault!("3"),
    own_fault!("0"),
    own_fault!("1"),
    own_fault!("2"),
    own_fault!("3"),
    from_guest!("0"),
    ".balign 128",
    "    stp x0, x1, [sp]",
    "    b mortise_save_interrupted",
    from_guest!("2"),
    from_guest!("3"),
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
    // The frame of the guest that goes on.
    "    mov sp, x0",
    restore!(),
    // Most exits of a shared core: nothing is to be told apart, and none comes back.
    "mortise_save_interrupted:",
    save!("mortise_interrupted"),
    ".previous",
    // Apart, as the vectors of an image without shared cores lead nowhere else here.
    ".section .text.vectors.fault, \"ax\"",
    // A fault of Mortise's own is reported by the first core that has one. Others
    // wait for the end it brings; if it faults again in its report, it ends the
    // machine without (PSCI SYSTEM_OFF).
    ".global mortise_own_fault",
    "mortise_own_fault:",
    "    adrp x1, mortise_last_owner",
    "    add x1, x1, :lo12:mortise_last_owner",
    "    mrs x2, mpidr_el1",
    "2:  ldaxr x3, [x1]",
    "    cbnz x3, 3f",
    "    stlxr w4, x2, [x1]",
    "    cbnz w4, 2b",
    "    b mortise_fault",
    "3:  cmp x2, x3",
    "    b.ne 4f",
    "    mov w0, #8",
    "    movk w0, #0x8400, lsl #16",
    "    smc #0",
    "4:  wfi",
    "    b 4b",
    ".previous",
    ".section .bss.mortise_last_owner, \"aw\", %nobits",
    ".balign 8",
    // MPIDR_EL1 of the core that has it, in which bit 31 is always one.
    "mortise_last_owner: .skip 8",
    ".previous",
);

/// Makes the vectors of a core that several virtual CPUs share those of this core.
pub fn install_shared_vectors() {
    #[cfg(target_os = "none")]
    {
        unsafe extern "C" {
            static mortise_vectors: u8;
        }
        // SAFETY: the symbol is a vector table of 2 KiB, aligned, never written.
        unsafe { El2::write_vbar(&raw const mortise_vectors as u64) };
        hw_arch::barrier::isb();
    }
}

/// Enters the guest whose frame this is.
///
/// # Safety
///
/// [`crate::reset`] must have run for this virtual CPU, and [`Frame::start`] for its
/// frame, with a stack of this core of which nothing is needed any more.
#[inline(always)]
pub unsafe fn enter(frame: &'static FrameCell) -> ! {
    #[cfg(target_os = "none")]
    // SAFETY: the caller vouches for the virtual CPU; nothing on the stack is needed
    // any more.
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

/// Lets the guest go on after the instruction that trapped.
///
/// A trapped SMC and a trapped access are stepped over; an HVC is not, its
/// return address is already the next instruction (Arm ARM, D1.3.2).
pub fn skip_instruction() {
    // SAFETY: only the guest's own program counter moves.
    unsafe { El2::write_elr(El2::read_elr().wrapping_add(4)) }
}

/// Lets the guest make the call again that it made: HVC returns behind itself, and a
/// trapped SMC was stepped over.
pub fn repeat_instruction() {
    // SAFETY: only the guest's own program counter moves.
    unsafe { El2::write_elr(El2::read_elr().wrapping_sub(4)) }
}

#[cfg(test)]
mod tests {
    use super::{FRAME_SIZE, Frame};

    #[test]
    fn layout_is_the_assembly_s() {
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
