//! Execution of threads at EL0.
//!
//! A thread calls [`run`] with the registers of EL0, which returns at the next exception that is not
//! an interrupt. While EL0 runs, SP_EL1 points to the [`Context`], so that the vectors of
//! `tenon-thread` store its registers with no other one; while the thread executes in the kernel,
//! SP_EL1 is the interrupt stack, as for each thread. An interrupt of EL0 is served, and another
//! thread dispatched, without a return from [`run`]. [`Space`] has what a switch between threads
//! saves and restores in addition: the translation base, TPIDR_EL0, floating point.
//!
//! In a system call, [`copy`] moves bytes through registers of floating point, which a switch stores with
//! those of the space.
//!
//! Guarantees: no allocation and no lock; the one loop is that of a copy. An exception of EL0 takes 28
//! instructions to the caller of [`run`], the way back 28. The vectors of the kernel are as in an image
//! without EL0.

#![cfg_attr(not(test), no_std)]
#![expect(unsafe_code, reason = "execution at EL0, registers of the system")]

mod copy;

pub use copy::copy;

use core::cell::Cell;
use core::mem::offset_of;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use hw_arch::{El1, ExceptionLevel};
use tenon_kernel::kernel::Kernel;
use tenon_kernel::thread::RemoteWork;
use tenon_machine::{irq_mask, options};
use tenon_thread::parts::context;

/// Registers of EL0, and what the vectors need to leave it.
#[derive(Debug)]
#[repr(C, align(16))]
pub struct Context {
    /// x0 to x30.
    pub x: [u64; 31],
    /// The stack pointer.
    pub sp: u64,
    /// The address of the next instruction.
    pub pc: u64,
    /// PSTATE, as SPSR_EL1 has it.
    pub pstate: u64,
    /// The kernel's stack pointer, x19, x29 and x30 in [`run`].
    kernel: [u64; 4],
    /// The interrupt stack of the core that executes it.
    interrupt_stack: u64,
    /// Not zero if [`run`] is to return after the next interrupt.
    attention: AtomicU32,
}

const _: () = {
    assert!(offset_of!(Context, sp) == 248);
    assert!(offset_of!(Context, pc) == 256);
    assert!(offset_of!(Context, kernel) == context::KERNEL_STACK);
    assert!(offset_of!(Context, interrupt_stack) == context::INTERRUPT_STACK);
    assert!(offset_of!(Context, attention) == context::ATTENTION);
};

/// PSTATE of EL0 at its start: D, A and F masked, as they are in the kernel, and interrupts not.
const START: u64 = 0b1101 << 6;
/// Flags of PSTATE that EL0 may have (N, Z, C, V).
const FLAGS: u64 = 0xf << 28;

impl Context {
    /// Registers of zeros.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            x: [0; 31],
            sp: 0,
            pc: 0,
            // `start` sets it. Zeros take no space in the image file.
            pstate: 0,
            kernel: [0; 4],
            interrupt_stack: 0,
            attention: AtomicU32::new(0),
        }
    }

    /// Sets the registers of a program's first instruction.
    pub fn start(&mut self, pc: u64, sp: u64) {
        (self.x, self.sp, self.pc, self.pstate) = ([0; 31], sp, pc, START);
    }

    /// Sets PSTATE, of which the flags alone are taken.
    pub fn set_flags(&mut self, pstate: u64) {
        self.pstate = START | pstate & FLAGS;
    }

    /// Has [`run`] return after the next interrupt, or not. An interrupt that is taken at the same
    /// time may be the last one without a return.
    pub fn set_attention(&self, wanted: bool) {
        self.attention.store(wanted.into(), Ordering::Relaxed);
    }
}

impl Context {
    /// Whether [`run`] is to return after the next interrupt.
    #[inline(always)]
    #[must_use]
    pub fn has_attention(&self) -> bool {
        self.attention.load(Ordering::Relaxed) != 0
    }
}

impl Default for Context {
    fn default() -> Self {
        Self::new()
    }
}

/// Why EL0 was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A synchronous exception, with ESR_EL1 and FAR_EL1.
    Exception(u64, u64),
    /// An interrupt, which is served, while [`Context::set_attention`] is in effect.
    Interrupt,
}

/// Class of an SVC in AArch64 state, in ESR_EL1.
pub const SUPERVISOR_CALL: u64 = 0x15;

/// Executes at EL0 until the next exception.
///
/// # Safety
///
/// The current thread is [bound](bind) to an address space in which EL0 can reach nothing of the
/// kernel, and `context` is used by this thread alone.
#[inline(always)]
pub unsafe fn run(context: *mut Context) -> Cause {
    hw_arch::cpu::mask_interrupts();
    let interrupted = enter(context);
    // Read before a preemption, whose thread can have exceptions too.
    let esr = El1::read_esr();
    let cause = if interrupted != 0 {
        Cause::Interrupt
    } else if esr >> 26 == SUPERVISOR_CALL {
        Cause::Exception(esr, 0)
    } else {
        Cause::Exception(esr, El1::read_far())
    };
    // SAFETY: this thread masked them, and has changed no state since.
    unsafe { hw_arch::cpu::unmask_interrupts() };
    cause
}

/// Leaves for EL0 with interrupts masked; returns with interrupts masked whether an interrupt is the
/// reason.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn enter(context: *mut Context) -> u64 {
    let interrupted;
    // SAFETY: `enter_user` returns on the same stack with x19, x29 and x30 as before; all other
    // registers are stated as changed.
    unsafe {
        core::arch::asm!(
            "bl {enter}",
            enter = sym enter_user,
            inlateout("x0") context => interrupted,
            lateout("x20") _, lateout("x21") _, lateout("x22") _, lateout("x23") _,
            lateout("x24") _, lateout("x25") _, lateout("x26") _, lateout("x27") _,
            lateout("x28") _,
            clobber_abi("C"),
        );
    }
    interrupted
}

#[cfg(not(target_arch = "aarch64"))]
fn enter(_: *mut Context) -> u64 {
    0
}

/// Stores what the C ABI preserves and `enter` does not state as changed, then continues EL0.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn enter_user(context: *mut Context) -> u64 {
    core::arch::naked_asm!(
        "mov x9, sp",
        "stp x9, x19, [x0, #{kernel}]",
        "stp x29, x30, [x0, #{kernel} + 16]",
        "b {resume}",
        kernel = const context::KERNEL_STACK,
        resume = sym tenon_user_resume,
    )
}

/// Continues EL0 with the context in x0, from a thread with interrupts masked.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_user_resume(context: *mut Context) -> ! {
    core::arch::naked_asm!(
        "msr spsel, #1",
        "mov x9, sp",
        "str x9, [x0, #{interrupt_stack}]",
        "mov sp, x0",
        "ldp x0, x1, [sp, #256]",
        "msr elr_el1, x0",
        "msr spsr_el1, x1",
        "ldp x30, x0, [sp, #240]",
        "msr sp_el0, x0",
        "ldp x2, x3, [sp, #16]",
        "ldp x4, x5, [sp, #32]",
        "ldp x6, x7, [sp, #48]",
        "ldp x8, x9, [sp, #64]",
        "ldp x10, x11, [sp, #80]",
        "ldp x12, x13, [sp, #96]",
        "ldp x14, x15, [sp, #112]",
        "ldp x16, x17, [sp, #128]",
        "ldp x18, x19, [sp, #144]",
        "ldp x20, x21, [sp, #160]",
        "ldp x22, x23, [sp, #176]",
        "ldp x24, x25, [sp, #192]",
        "ldp x26, x27, [sp, #208]",
        "ldp x28, x29, [sp, #224]",
        "ldp x0, x1, [sp]",
        "eret",
        interrupt_stack = const context::INTERRUPT_STACK,
    )
}

/// Returns x0 from `enter_user`, with the context in x1: from the vector of an exception, with SP_EL1
/// at the context, or behind that of an interrupt, on the kernel's stack.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_user_leave() -> ! {
    core::arch::naked_asm!(
        "ldp x9, x19, [x1, #{kernel}]",
        "ldp x29, x30, [x1, #{kernel} + 16]",
        "cbnz x0, 1f",
        "ldr x10, [x1, #{interrupt_stack}]",
        "msr sp_el0, x9",
        "mov sp, x10",
        "msr spsel, #0",
        "1: ret",
        kernel = const context::KERNEL_STACK,
        interrupt_stack = const context::INTERRUPT_STACK,
    )
}

/// The virtual counter.
fn now() -> u64 {
    hw_arch::read_register!("cntvct_el0")
}

/// v0 to v31, FPCR and FPSR.
#[repr(C, align(16))]
struct FpState(Cell<[u64; 66]>);

/// The space whose floating-point registers the core has, if the kernel uses none but in [`copy`], which
/// a thread with a space calls: a switch to a thread without one keeps them, so that its path is no
/// longer from such a thread than from others.
static FP_OWNER: AtomicPtr<Space> = AtomicPtr::new(core::ptr::null_mut());

/// Whether threads or handlers of the image use floating-point registers.
fn kernel_uses_fp() -> bool {
    options::fp() || options::fp_handlers()
}

/// What the core has for EL0 while a thread is dispatched: the address space, TPIDR_EL0 and
/// the floating-point registers. Its owner gives it to a thread by [`bind`].
pub struct Space {
    /// The value of TTBR0_EL1.
    base: Cell<u64>,
    /// TPIDR_EL0.
    pointer: Cell<u64>,
    /// Ticks for which the thread was dispatched, up to its last switch.
    time: Cell<u64>,
    /// The tick of the switch to it, or zero.
    since: Cell<u64>,
    fp: FpState,
}

// SAFETY: only the thread to which it is bound, and switches from and to it, access it; both are on
// one core, the latter with interrupts masked.
unsafe impl Sync for Space {}

impl Space {
    /// A space without address space, with registers of zeros.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            base: Cell::new(0),
            pointer: Cell::new(0),
            time: Cell::new(0),
            since: Cell::new(0),
            fp: FpState(Cell::new([0; 66])),
        }
    }

    /// Sets the registers of a program's first instruction.
    pub fn clear(&self) {
        Kernel::with_irqs_masked(|_| {
            self.pointer.set(0);
            self.fp.0.set([0; 66]);
            self.load();
        });
    }

    /// Copies the registers of the current thread, which has `from`, into this one.
    pub fn copy_from(&self, from: &Self) {
        Kernel::with_irqs_masked(|_| {
            from.store();
            self.pointer.set(from.pointer.get());
            self.fp.0.set(from.fp.0.get());
        });
    }

    /// Stores the floating-point registers of the current thread, which has this space: v0 to v31, FPCR,
    /// FPSR. A switch in between preserves them.
    #[cfg_attr(not(target_arch = "aarch64"), expect(unused_variables))]
    pub fn store_fp_to(&self, to: &mut [u8; 528]) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the place is of that size, and of this call alone; no access has to be aligned.
        unsafe {
            store_fp(to.as_mut_ptr().cast());
        }
    }

    /// Loads the floating-point registers of the current thread, which has this space. A switch in
    /// between preserves those that are loaded.
    #[cfg_attr(not(target_arch = "aarch64"), expect(unused_variables))]
    pub fn load_fp_from(&self, from: &[u8; 528]) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the place is of that size, and is only read; no access has to be aligned.
        unsafe {
            load_fp(from.as_ptr().cast());
        }
    }

    /// Sets the thread pointer before the thread first runs.
    pub fn set_pointer(&self, pointer: u64) {
        self.pointer.set(pointer);
    }

    /// Sets the translation base before the thread first runs.
    pub fn set_base(&self, base: u64) {
        self.base.set(base);
    }

    /// Ticks of the clock for which its thread has been dispatched, as of the last switch; with the
    /// present ones for the current thread.
    #[must_use]
    pub fn time(&self) -> u64 {
        Kernel::with_irqs_masked(|_| match self.since.get() {
            0 => self.time.get(),
            since => self.time.get().wrapping_add(now().wrapping_sub(since)),
        })
    }

    /// Sets the time to zero, before the thread first runs.
    pub fn forget_time(&self) {
        self.time.set(0);
        self.since.set(0);
    }

    /// The translation base.
    pub fn base(&self) -> u64 {
        self.base.get()
    }

    /// Replaces the translation base of the current thread.
    ///
    /// # Safety
    ///
    /// As for [`bind`].
    pub unsafe fn switch_base(&self, base: u64) {
        Kernel::with_irqs_masked(|_| {
            self.base.set(base);
            // SAFETY: as the caller promises.
            unsafe { El1::write_ttbr0(base) };
            hw_arch::barrier::isb();
        });
    }

    /// Stores the registers of the current thread, which has this space.
    fn store(&self) {
        self.pointer.set(hw_arch::read_register!("tpidr_el0"));
        self.store_fp();
    }

    fn store_fp(&self) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the state is of that size and aligned, and only this core accesses it.
        unsafe {
            store_fp(self.fp.0.as_ptr());
        }
    }

    /// Loads the registers of the current thread, which has this space.
    fn load(&self) {
        hw_arch::write_register!("tpidr_el0", self.pointer.get());
        self.load_fp();
    }

    /// Loads the floating-point registers, unless the core has them; those that it has are stored.
    fn take_fp(&self) {
        let own = core::ptr::from_ref(self).cast_mut();
        let owner = FP_OWNER.load(Ordering::Relaxed);
        if owner == own {
            return;
        }
        // SAFETY: an owner is a static or stays until `bind` ends its ownership, and only this core
        // accesses it, with interrupts masked.
        if let Some(owner) = unsafe { owner.as_ref() } {
            owner.store_fp();
        }
        FP_OWNER.store(own, Ordering::Relaxed);
        self.load_fp();
    }

    fn load_fp(&self) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the state is of that size and aligned, and only this core accesses it.
        unsafe {
            load_fp(self.fp.0.as_ptr());
        }
    }
}

impl Default for Space {
    fn default() -> Self {
        Self::new()
    }
}

impl RemoteWork for Space {
    fn suspend(&self) {
        let ran = now().wrapping_sub(self.since.replace(0));
        self.time.set(self.time.get().wrapping_add(ran));
        self.pointer.set(hw_arch::read_register!("tpidr_el0"));
        if kernel_uses_fp() {
            self.store_fp();
        }
    }

    fn resume(&self) {
        // SAFETY: `bind` had it promised that the tables have the whole kernel.
        unsafe { El1::write_ttbr0(self.base.get()) };
        self.since.set(now());
        hw_arch::write_register!("tpidr_el0", self.pointer.get());
        if kernel_uses_fp() {
            self.load_fp();
        } else {
            self.take_fp();
        }
    }
}

/// Gives the current thread a space from now on, or none; `base` is the value of TTBR0_EL1 at once.
///
/// # Safety
///
/// `base` has an ASID, and tables with all that the kernel maps, not accessible by EL0; they stay
/// until each thread that has them has others.
pub unsafe fn bind(space: Option<&'static Space>, base: u64) {
    Kernel::with_irqs_masked(|kernel| {
        if let Some(space) = space {
            space.base.set(base);
            space.since.set(now());
            hw_arch::write_register!("tpidr_el0", space.pointer.get());
            space.take_fp();
        } else {
            // The current thread has the registers, and no use for them any more.
            FP_OWNER.store(core::ptr::null_mut(), Ordering::Relaxed);
        }
        let work: Option<&'static dyn RemoteWork> = match space {
            Some(space) => Some(space),
            None => None,
        };
        kernel.current().set_remote_work(work);
        // SAFETY: as the caller promises.
        unsafe { El1::write_ttbr0(base) };
        hw_arch::barrier::isb();
    });
}

/// SCTLR_EL1: EL0 may use DC ZVA (14), CTR_EL0 (15), WFI (16), WFE (18) and cache maintenance (26).
const CONTROL: u64 = 1 << 14 | 1 << 15 | 1 << 16 | 1 << 18 | 1 << 26;
/// CNTKCTL_EL1: EL0 may read the virtual counter.
const COUNTER: u64 = 1 << 1;
/// CPACR_EL1: no trap of floating point.
const FP: u64 = 3 << 20;

/// Makes this core translate 39 bits, from the table of level 1 at `root` on.
///
/// # Safety
///
/// The table maps all that the kernel maps, one to one, and stays.
pub unsafe fn use_root(root: usize) {
    const BITS: u64 = 39;
    irq_mask::without_irqs(|| {
        // SAFETY: as the caller promises.
        unsafe { hw_arch::mmu::activate::<El1>(root, BITS) };
    });
}

/// Allows EL0 on this core what it may use.
pub fn prepare_core() {
    irq_mask::without_irqs(|| {
        hw_arch::write_register!("cntkctl_el1", COUNTER);
        hw_arch::write_register!("cpacr_el1", FP);
        hw_arch::write_register!("pmuserenr_el0", 0u64);
        hw_arch::write_register!("tpidrro_el0", 0u64);
        // SAFETY: the bits concern EL0 only.
        unsafe { El1::write_sctlr(El1::read_sctlr() | CONTROL) };
        hw_arch::barrier::isb();
    });
}

/// Stores the floating-point registers.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn store_fp(to: *mut [u64; 66]) {
    core::arch::naked_asm!(
        ".arch_extension fp",
        ".arch_extension simd",
        "stp q0, q1, [x0]",
        "stp q2, q3, [x0, #32]",
        "stp q4, q5, [x0, #64]",
        "stp q6, q7, [x0, #96]",
        "stp q8, q9, [x0, #128]",
        "stp q10, q11, [x0, #160]",
        "stp q12, q13, [x0, #192]",
        "stp q14, q15, [x0, #224]",
        "stp q16, q17, [x0, #256]",
        "stp q18, q19, [x0, #288]",
        "stp q20, q21, [x0, #320]",
        "stp q22, q23, [x0, #352]",
        "stp q24, q25, [x0, #384]",
        "stp q26, q27, [x0, #416]",
        "stp q28, q29, [x0, #448]",
        "stp q30, q31, [x0, #480]",
        "mrs x9, fpcr",
        "mrs x10, fpsr",
        "add x0, x0, #512",
        "stp x9, x10, [x0]",
        "ret",
    )
}

/// Loads the floating-point registers.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn load_fp(from: *const [u64; 66]) {
    core::arch::naked_asm!(
        ".arch_extension fp",
        ".arch_extension simd",
        "add x9, x0, #512",
        "ldp x9, x10, [x9]",
        "msr fpcr, x9",
        "msr fpsr, x10",
        "ldp q0, q1, [x0]",
        "ldp q2, q3, [x0, #32]",
        "ldp q4, q5, [x0, #64]",
        "ldp q6, q7, [x0, #96]",
        "ldp q8, q9, [x0, #128]",
        "ldp q10, q11, [x0, #160]",
        "ldp q12, q13, [x0, #192]",
        "ldp q14, q15, [x0, #224]",
        "ldp q16, q17, [x0, #256]",
        "ldp q18, q19, [x0, #288]",
        "ldp q20, q21, [x0, #320]",
        "ldp q22, q23, [x0, #352]",
        "ldp q24, q25, [x0, #384]",
        "ldp q26, q27, [x0, #416]",
        "ldp q28, q29, [x0, #448]",
        "ldp q30, q31, [x0, #480]",
        "ret",
    )
}
