//! Exception vectors with fast paths, for cores that no vCPUs share.
//!
//! Such a core runs at most one vCPU, its [`PinnedVcpu`]. The most frequent exits are served in the
//! vector:
//!
//! - The interrupt of the virtual timer is injected into list register 0, by the template of the
//!   virtual GIC, if there is a template and the list register is free.
//! - A hypercall with a constant result returns it ([`ConstantReply`]).
//! - An interrupt [posted](PinnedVcpu::posted_intid) by another core calls the image's
//!   `mortise_posted_interrupt`, with 20 registers saved instead of 31.
//!
//! The first two save three or four registers. All other exits call the image's `mortise_pinned_exit`,
//! an interrupt with [`Cause::Acknowledged`](crate::Cause::Acknowledged), a hypercall with
//! [`Cause::Hypercall`](crate::Cause::Hypercall). A return from that function enters the guest with
//! x19 to x29 as the function left them, which saves their restoring.
//!
//! No fast path looks for orders to the vCPU's VM: the sender of an order rings the doorbell after it,
//! and the doorbell is acknowledged as soon as the guest is entered. Each fast path has the effect of
//! the slow path and counts the exit like it.

use crate::FrameCell;
#[cfg(target_os = "none")]
use crate::own_fault_vectors;
#[cfg(target_os = "none")]
use crate::world_switch::{STACK_TOP, from_guest, save};
use core::cell::Cell;
#[cfg(target_os = "none")]
use core::mem::offset_of;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The only vCPU of a core: its general registers, and the data that the vectors read.
#[repr(C, align(16))]
#[derive(Debug)]
pub struct PinnedVcpu {
    /// Its general registers.
    pub frame: FrameCell,
    /// List register value that injects its timer's interrupt; zero if there is no template.
    template: Cell<&'static AtomicU64>,
    /// INTID of the virtual timer.
    timer: Cell<u64>,
    /// Exit counters, first of interrupts, then of hypercalls.
    exits: Cell<&'static [AtomicU64; 8]>,
    /// Constant replies, terminated by [`ConstantReply::END`].
    replies: Cell<&'static ConstantReply>,
    /// INTID that was acknowledged last.
    acknowledged: Cell<u64>,
    /// Interrupt that another core posted and announced by [`POSTED_SGI`]; zero if there is none.
    pub posted_intid: AtomicU64,
}

/// The Group 0 SGI that announces a posted interrupt.
pub const POSTED_SGI: u32 = 1;

/// A hypercall with a constant result: the value of x0, with zero in x1 to x3.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConstantReply {
    function: u64,
    value: u64,
}

/// The template of a timer that is never injected by the vectors.
static NO_TEMPLATE: AtomicU64 = AtomicU64::new(0);
static UNREAD_COUNTERS: [AtomicU64; 8] = [const { AtomicU64::new(0) }; 8];
static NO_REPLIES: ConstantReply = ConstantReply::END;

impl ConstantReply {
    /// The terminator of a table of replies.
    pub const END: Self = Self {
        function: 0,
        value: 0,
    };

    /// The constant result of `function`, which uses the SMC32 convention.
    #[must_use]
    pub const fn new(function: u32, value: u64) -> Self {
        assert!(function != 0 && function >> 30 & 1 == 0);
        Self {
            function: function as u64,
            value,
        }
    }

    /// The function identifier.
    #[must_use]
    pub const fn function(&self) -> u32 {
        self.function as u32
    }

    /// The result.
    #[must_use]
    pub const fn value(&self) -> u64 {
        self.value
    }
}

/// Replies of the fast path, the last one being [`ConstantReply::END`].
type Replies = &'static [ConstantReply];

impl PinnedVcpu {
    /// A vCPU with the slow path for all exits.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            frame: FrameCell::new(),
            template: Cell::new(&NO_TEMPLATE),
            timer: Cell::new(0),
            exits: Cell::new(&UNREAD_COUNTERS),
            replies: Cell::new(&NO_REPLIES),
            acknowledged: Cell::new(0),
            posted_intid: AtomicU64::new(0),
        }
    }

    /// Sets the exit counters: the first counts interrupts, the second hypercalls.
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

    /// Enables the fast paths: the interrupt `timer` is injected by `template` while that is not zero,
    /// and hypercalls return `replies`, which end with [`ConstantReply::END`].
    pub fn enable_fast_paths(&self, timer: u32, template: &'static AtomicU64, replies: Replies) {
        self.timer.set(timer.into());
        self.template.set(template);
        if let (Some(first), Some(&ConstantReply::END)) = (replies.first(), replies.last()) {
            self.replies.set(first);
        }
    }

    /// The acknowledged interrupt, after [`Cause::Acknowledged`](crate::Cause::Acknowledged).
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

// SP_EL2 holds the address of the `PinnedVcpu`. The `mov x1` before each branch to
// `mortise_save_pinned` is the `Cause`.
#[cfg(target_os = "none")]
core::arch::global_asm!(
    ".section .text.vectors.fast, \"ax\"",
    ".balign 2048",
    "mortise_fast_vectors:",
    own_fault_vectors!(),
    // Lower EL, AArch64, synchronous. HVC has class 0x16 (Arm ARM, D19.2.37).
    ".balign 128",
    "    stp x0, x1, [sp]",
    "    mrs x1, esr_el2",
    "    lsr x1, x1, #26",
    "    cmp x1, #0x16",
    "    b.ne .Lno_hvc",
    "    tbnz w0, #30, .Lhvc",
    "    stp x2, x3, [sp, #8*2]",
    "    ldr x1, [sp, #{replies}]",
    ".Lnext_reply: ldp x2, x3, [x1], #{reply_size}",
    "    cbz x2, .Lno_reply",
    "    cmp w2, w0",
    "    b.ne .Lnext_reply",
    "    ldr x1, [sp, #{exits}]",
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
    ".Lno_hvc: mov x1, #0",
    "    b mortise_save_pinned",
    ".Lno_reply: ldp x2, x3, [sp, #8*2]",
    ".Lhvc: mov x1, #5",
    "    b mortise_save_pinned",
    // Lower EL, AArch64, IRQ. Bits 63:62 of a list register are the state of its interrupt.
    ".balign 128",
    "    stp x0, x1, [sp]",
    "    str x2, [sp, #8*2]",
    "    mrs x0, icc_iar1_el1",
    "    ldp x1, x2, [sp, #{template}]",
    "    cmp x0, x2",
    "    b.ne .Lother_irq",
    "    mrs x2, ich_lr0_el2",
    "    ldr x1, [x1]",
    "    lsr x2, x2, #62",
    "    cbnz x2, .Lother_irq",
    "    cbz x1, .Lother_irq",
    "    msr icc_eoir1_el1, x0",
    "    msr ich_lr0_el2, x1",
    "    ldr x0, [sp, #{exits}]",
    "    ldr x1, [x0]",
    "    add x1, x1, #1",
    "    str x1, [x0]",
    "    ldr x2, [sp, #8*2]",
    "    ldp x0, x1, [sp]",
    "    eret",
    "    dsb nsh",
    "    isb",
    ".Lother_irq: str x0, [sp, #{acknowledged}]",
    "    ldr x2, [sp, #8*2]",
    "    mov x1, #4",
    "    b mortise_save_pinned",
    // Lower EL, AArch64, FIQ. ICC_HPPIR0_EL1 is read only if an interrupt is posted, which implies a
    // GICv3. 1 is `POSTED_SGI`.
    ".balign 128",
    "    stp x0, x1, [sp]",
    "    ldr x0, [sp, #{posted_intid}]",
    "    cbz x0, .Lother_fiq",
    "    mrs x0, icc_hppir0_el1",
    "    cmp x0, #{posted_sgi}",
    "    b.ne .Lother_fiq",
    "    ldr x0, [sp, #{stack_top}]",
    "    stp x2, x3, [sp, #8*2]",
    "    stp x4, x5, [sp, #8*4]",
    "    stp x6, x7, [sp, #8*6]",
    "    stp x8, x9, [sp, #8*8]",
    "    stp x10, x11, [sp, #8*10]",
    "    stp x12, x13, [sp, #8*12]",
    "    stp x14, x15, [sp, #8*14]",
    "    stp x16, x17, [sp, #8*16]",
    "    str x18, [sp, #8*18]",
    "    str x30, [sp, #8*30]",
    "    mov sp, x0",
    "    bl mortise_posted_interrupt",
    "    b mortise_enter_pinned",
    ".Lother_fiq: mov x1, #2",
    "    b mortise_save_pinned",
    // Lower EL, AArch64, SError; then lower EL, AArch32.
    from_guest!("3", "mortise_save_pinned"),
    from_guest!("0", "mortise_save_pinned"),
    from_guest!("1", "mortise_save_pinned"),
    from_guest!("2", "mortise_save_pinned"),
    from_guest!("3", "mortise_save_pinned"),
    ".balign 128",
    ".previous",
    ".section .text.vectors.pinned, \"ax\"",
    "mortise_save_pinned:",
    save!("mortise_pinned_exit"),
    // x19 to x29 are callee-saved, so they hold the guest's values.
    "mortise_enter_pinned:",
    "    mov sp, x0",
    "    ldp x2, x3, [sp, #8*2]",
    "    ldp x4, x5, [sp, #8*4]",
    "    ldp x6, x7, [sp, #8*6]",
    "    ldp x8, x9, [sp, #8*8]",
    "    ldp x10, x11, [sp, #8*10]",
    "    ldp x12, x13, [sp, #8*12]",
    "    ldp x14, x15, [sp, #8*14]",
    "    ldp x16, x17, [sp, #8*16]",
    "    ldr x18, [sp, #8*18]",
    "    ldr x30, [sp, #8*30]",
    "    ldp x0, x1, [sp]",
    "    eret",
    "    dsb nsh",
    "    isb",
    ".previous",
    stack_top = const STACK_TOP,
    template = const offset_of!(PinnedVcpu, template),
    exits = const offset_of!(PinnedVcpu, exits),
    replies = const offset_of!(PinnedVcpu, replies),
    acknowledged = const offset_of!(PinnedVcpu, acknowledged),
    posted_intid = const offset_of!(PinnedVcpu, posted_intid),
    posted_sgi = const POSTED_SGI,
    reply_size = const size_of::<ConstantReply>(),
);

/// Installs these vectors on this core, which no vCPUs [share](crate::install_shared_vectors).
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
        // SAFETY: the symbol is an aligned vector table of 2 KiB that is never written, and each frame
        // entered on this core lies in a `PinnedVcpu`, which has the fields that the vectors access.
        unsafe { El2::write_vbar(&raw const mortise_fast_vectors as u64) };
        hw_arch::barrier::isb();
    }
}

#[cfg(test)]
mod tests {
    use super::{ConstantReply, PinnedVcpu};
    use core::mem::offset_of;

    #[test]
    fn layout_suits_the_assembly() {
        assert_eq!(offset_of!(PinnedVcpu, frame), 0, "SP points there");
        let pair = offset_of!(PinnedVcpu, template) + 8;
        assert_eq!(offset_of!(PinnedVcpu, timer), pair, "loaded as a pair");
        assert!(offset_of!(PinnedVcpu, template) < 512, "in reach of LDP");
        assert_eq!(
            (size_of::<ConstantReply>(), offset_of!(ConstantReply, value)),
            (16, 8)
        );
    }
}
