//! Vectors of a core that is not shared, and that one virtual CPU has to itself if one has it: what it exits for most is done right there.
//!
//! - The interrupt of its virtual timer goes into list register 0 by the template that the virtual
//!   interrupt controller made for it, if there is one and the list register is free.
//! - A call whose answer is always the same has it ([`ConstantReply`]).
//! - A notice that came ([`PinnedVcpu::notice`]) goes to the image's `mortise_posted_interrupt`, behind 20 registers
//!   instead of 31.
//!
//! Three or four registers are stored for that instead of 31. Everything else goes to the image's
//! `mortise_pinned_exit`, an interrupt as [`Cause::Acknowledged`], a call as [`Cause::Hypercall`]. If that
//! returns, the guest goes on with x19 to x29 as the function found them, which is short too.
//!
//! In no short way somebody looks for orders to the vCPU's VM: who gives one rings the doorbell behind
//! it, which is taken as soon as the guest goes on. Each does what the general way does, and counts it
//! like there.

use crate::FrameCell;
#[cfg(target_os = "none")]
use crate::world_switch::{from_guest, own_fault, save};
use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The virtual CPU that a core is there for: its general registers, and what the vectors have to know
/// of it.
#[repr(C, align(16))]
#[derive(Debug)]
pub struct PinnedVcpu {
    /// Its general registers.
    pub frame: FrameCell,
    /// The list register with which its timer is injected; zero as long as it is not to be so.
    template: Cell<&'static AtomicU64>,
    /// The virtual timer's INTID.
    timer: Cell<u64>,
    /// Counters of its exits: for interrupts, then for calls.
    exits: Cell<&'static [AtomicU64; 8]>,
    /// Behind the last there is a zero.
    answers: Cell<&'static ConstantReply>,
    /// The interrupt that was acknowledged last.
    acknowledged: Cell<u64>,
    /// What another core has for its virtual CPU, which [`POSTED_SGI`] says has come; zero if nothing.
    pub posted_intid: AtomicU64,
}

/// The SGI of Group 0 that says that there is a notice.
pub const POSTED_SGI: u32 = 1;

/// A call whose answer is always the same: x0, with zero in x1 to x3.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConstantReply {
    function: u64,
    value: u64,
}

/// A timer that is never injected by a template.
static NEVER: AtomicU64 = AtomicU64::new(0);
static UNREAD: [AtomicU64; 8] = [const { AtomicU64::new(0) }; 8];
static NONE: ConstantReply = ConstantReply::END;

impl ConstantReply {
    /// What stands behind the last one.
    pub const END: Self = Self {
        function: 0,
        value: 0,
    };

    /// What `function` is always answered, which keeps the convention of 32 bits.
    #[must_use]
    pub const fn new(function: u32, value: u64) -> Self {
        assert!(function != 0 && function >> 30 & 1 == 0);
        Self {
            function: function as u64,
            value,
        }
    }

    /// The function.
    #[must_use]
    pub const fn function(&self) -> u32 {
        self.function as u32
    }

    /// Its answer.
    #[must_use]
    pub const fn value(&self) -> u64 {
        self.value
    }
}

impl PinnedVcpu {
    /// One that goes the general way for all it does.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            frame: FrameCell::new(),
            template: Cell::new(&NEVER),
            timer: Cell::new(0),
            exits: Cell::new(&UNREAD),
            answers: Cell::new(&NONE),
            acknowledged: Cell::new(0),
            posted_intid: AtomicU64::new(0),
        }
    }

    /// Has its exits counted: the first of these are interrupts, the second calls.
    pub fn count_in(&self, exits: &'static [AtomicU64; 8]) {
        self.exits.set(exits);
    }

    /// Counts an exit.
    #[inline(always)]
    pub fn count<const KIND: usize>(&self) {
        const { assert!(KIND < 8) };
        let count = &self.exits.get()[KIND];
        count.store(count.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// Lets the vectors do what they can: its timer's interrupt is `timer`, injected by `template`
    /// while that is not zero, and calls have these answers, behind the last of which stands
    /// [`ConstantReply::END`].
    pub fn enable_fast_paths(
        &self,
        timer: u32,
        template: &'static AtomicU64,
        answers: &'static [ConstantReply],
    ) {
        self.timer.set(timer.into());
        self.template.set(template);
        if let (Some(first), Some(&ConstantReply::END)) = (answers.first(), answers.last()) {
            self.answers.set(first);
        }
    }

    /// The interrupt that was acknowledged, after [`Cause::Acknowledged`](crate::Cause::Acknowledged).
    #[must_use]
    pub fn acknowledged_intid(&self) -> u32 {
        self.acknowledged.get() as u32
    }
}

impl Default for PinnedVcpu {
    fn default() -> Self {
        Self::new()
    }
}

// Offsets of `PinnedVcpu`: template 256, timer 264, exits 272, answers 280, taken 288, notice 296.
#[cfg(target_os = "none")]
core::arch::global_asm!(
    ".section .text.vectors.quick, \"ax\"",
    ".balign 2048",
    "mortise_fast_vectors:",
    own_fault!("0"),
    own_fault!("1"),
    own_fault!("2"),
    own_fault!("3"),
    own_fault!("0"),
    own_fault!("1"),
    own_fault!("2"),
    own_fault!("3"),
    // HVC from AArch64 has class 0x16 (Arm ARM, D19.2.37).
    ".balign 128",
    "    stp x0, x1, [sp]",
    "    mrs x1, esr_el2",
    "    lsr x1, x1, #26",
    "    cmp x1, #0x16",
    "    b.ne 2f",
    "    tbnz w0, #30, 4f",
    "    stp x2, x3, [sp, #16]",
    "    ldr x1, [sp, #280]",
    "1:  ldp x2, x3, [x1], #16",
    "    cbz x2, 3f",
    "    cmp w2, w0",
    "    b.ne 1b",
    "    ldr x1, [sp, #272]",
    "    ldr x2, [x1, #8]",
    "    add x2, x2, #1",
    "    str x2, [x1, #8]",
    "    mov x0, x3",
    "    mov x1, #0",
    "    mov x2, #0",
    "    mov x3, #0",
    "    eret",
    "    dsb nsh",
    "    isb",
    "2:  mov x1, #0",
    "    b mortise_save_pinned",
    "3:  ldp x2, x3, [sp, #16]",
    "4:  mov x1, #5",
    "    b mortise_save_pinned",
    // ICC_IAR1_EL1, ICC_EOIR1_EL1, ICH_LR0_EL2, of which the upper two bits are its state.
    ".balign 128",
    "    stp x0, x1, [sp]",
    "    str x2, [sp, #16]",
    "    mrs x0, S3_0_C12_C12_0",
    "    ldp x1, x2, [sp, #256]",
    "    cmp x0, x2",
    "    b.ne 1f",
    "    mrs x2, S3_4_C12_C12_0",
    "    ldr x1, [x1]",
    "    lsr x2, x2, #62",
    "    cbnz x2, 1f",
    "    cbz x1, 1f",
    "    msr S3_0_C12_C12_1, x0",
    "    msr S3_4_C12_C12_0, x1",
    "    ldr x0, [sp, #272]",
    "    ldr x1, [x0]",
    "    add x1, x1, #1",
    "    str x1, [x0]",
    "    ldr x2, [sp, #16]",
    "    ldp x0, x1, [sp]",
    "    eret",
    "    dsb nsh",
    "    isb",
    "1:  str x0, [sp, #288]",
    "    ldr x2, [sp, #16]",
    "    mov x1, #4",
    "    b mortise_save_pinned",
    // ICC_HPPIR0_EL1, which is read only where a notice stands: there the controller is a GICv3.
    ".balign 128",
    "    stp x0, x1, [sp]",
    "    ldr x0, [sp, #296]",
    "    cbz x0, 1f",
    "    mrs x0, S3_0_C12_C8_2",
    "    cmp x0, #1",
    "    b.ne 1f",
    "    ldr x0, [sp, #248]",
    "    stp x2, x3, [sp, #16]",
    "    stp x4, x5, [sp, #32]",
    "    stp x6, x7, [sp, #48]",
    "    stp x8, x9, [sp, #64]",
    "    stp x10, x11, [sp, #80]",
    "    stp x12, x13, [sp, #96]",
    "    stp x14, x15, [sp, #112]",
    "    stp x16, x17, [sp, #128]",
    "    str x18, [sp, #144]",
    "    str x30, [sp, #240]",
    "    mov sp, x0",
    "    bl mortise_posted_interrupt",
    "    b mortise_enter_pinned",
    "1:  mov x1, #2",
    "    b mortise_save_pinned",
    from_guest!("3", "mortise_save_pinned"),
    from_guest!("0", "mortise_save_pinned"),
    from_guest!("1", "mortise_save_pinned"),
    from_guest!("2", "mortise_save_pinned"),
    from_guest!("3", "mortise_save_pinned"),
    ".balign 128",
    ".previous",
    ".section .text.vectors.resident, \"ax\"",
    "mortise_save_pinned:",
    save!("mortise_pinned_exit"),
    // What the function keeps, as any does, is the guest's still: x19 to x29.
    "mortise_enter_pinned:",
    "    mov sp, x0",
    "    ldp x2, x3, [sp, #16]",
    "    ldp x4, x5, [sp, #32]",
    "    ldp x6, x7, [sp, #48]",
    "    ldp x8, x9, [sp, #64]",
    "    ldp x10, x11, [sp, #80]",
    "    ldp x12, x13, [sp, #96]",
    "    ldp x14, x15, [sp, #112]",
    "    ldp x16, x17, [sp, #128]",
    "    ldr x18, [sp, #144]",
    "    ldr x30, [sp, #240]",
    "    ldp x0, x1, [sp]",
    "    eret",
    "    dsb nsh",
    "    isb",
    ".previous",
);

/// Makes the vectors here those of this core, which no virtual CPUs [share](crate::install_shared_vectors).
///
/// # Safety
///
/// Every frame that is entered on this core must be that of a [`PinnedVcpu`].
pub unsafe fn install_fast_vectors() {
    #[cfg(target_os = "none")]
    {
        use hw_arch::{El2, ExceptionLevel};
        unsafe extern "C" {
            static mortise_fast_vectors: u8;
        }
        // SAFETY: the symbol is a vector table of 2 KiB, aligned, never written; the caller vouches
        // for what it finds behind a frame.
        unsafe { El2::write_vbar(&raw const mortise_fast_vectors as u64) };
        hw_arch::barrier::isb();
    }
}

#[cfg(test)]
mod tests {
    use super::{ConstantReply, PinnedVcpu};
    use core::mem::offset_of;

    #[test]
    fn layout_is_the_assembly_s() {
        let offsets = [
            offset_of!(PinnedVcpu, frame),
            offset_of!(PinnedVcpu, template),
            offset_of!(PinnedVcpu, timer),
            offset_of!(PinnedVcpu, exits),
            offset_of!(PinnedVcpu, answers),
            offset_of!(PinnedVcpu, acknowledged),
            offset_of!(PinnedVcpu, posted_intid),
        ];
        assert_eq!(offsets, [0, 256, 264, 272, 280, 288, 296]);
        assert_eq!(super::POSTED_SGI, 1, "what the vector compares with");
        assert_eq!(
            (size_of::<ConstantReply>(), offset_of!(ConstantReply, value)),
            (16, 8)
        );
    }
}
