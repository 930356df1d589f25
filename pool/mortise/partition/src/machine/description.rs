//! What is said of a virtual machine, and why it cannot be made so.

use core::cell::UnsafeCell;
use core::fmt;

/// What is said of a virtual machine. That of a place where one after the other lives changes: who may
/// read it then is said [there](super::slot).
#[repr(transparent)]
pub(crate) struct Description(UnsafeCell<core_manifest::Vm>);

// SAFETY: whoever changes it promises that nobody reads it.
unsafe impl Sync for Description {}

impl Description {
    /// One that may change.
    pub(crate) const fn new(description: core_manifest::Vm) -> Self {
        Self(UnsafeCell::new(description))
    }

    /// One that stays.
    pub(crate) fn of(description: &'static core_manifest::Vm) -> &'static Self {
        // SAFETY: the two have the same layout; nobody calls `get_mut` on what was shared before.
        unsafe { &*core::ptr::from_ref(description).cast() }
    }

    #[inline]
    pub(crate) fn get(&self) -> &core_manifest::Vm {
        // SAFETY: whoever calls `get_mut` promises that nobody does this meanwhile.
        unsafe { &*self.0.get() }
    }

    /// The description, to change it.
    ///
    /// # Safety
    ///
    /// It was made by [`new`](Self::new), and nobody reads it meanwhile.
    #[expect(clippy::mut_from_ref, reason = "who may is the caller's promise")]
    pub(crate) unsafe fn get_mut(&self) -> &mut core_manifest::Vm {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.0.get() }
    }
}

/// Why a virtual machine of the manifest cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VmError {
    /// Its memory cannot be mapped.
    Memory(core_paging::Error),
    /// Its status page is not usable.
    Status,
    /// Its interrupts cannot be mediated.
    Mediated(mortise_gicd::Error),
    /// Its interrupts are not those of a virtual interrupt controller.
    Virtual(mortise_vgic::Error),
    /// The image has no virtual interrupt controller.
    Devices,
    /// Nothing virtualises the interrupt controller of the board.
    Irqchip,
}

impl From<core_paging::Error> for VmError {
    fn from(error: core_paging::Error) -> Self {
        Self::Memory(error)
    }
}

impl From<mortise_gicd::Error> for VmError {
    fn from(error: mortise_gicd::Error) -> Self {
        Self::Mediated(error)
    }
}

impl From<mortise_vgic::Error> for VmError {
    fn from(error: mortise_vgic::Error) -> Self {
        Self::Virtual(error)
    }
}

impl fmt::Display for VmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(error) => write!(f, "memory: {error}"),
            Self::Status => f.write_str("status page: not a page of its own"),
            Self::Mediated(error) => write!(f, "interrupts: {error}"),
            Self::Virtual(error) => write!(f, "interrupts: {error}"),
            Self::Irqchip => f.write_str("interrupts: shared, which takes a GICv3"),
            Self::Devices => f.write_str("interrupts: shared, and MORTISE_VIRTUAL_DEVICES is n"),
        }
    }
}
