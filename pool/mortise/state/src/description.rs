//! Description of a VM, and errors of its construction.

use core::cell::UnsafeCell;
use core::fmt;

/// Description of a VM. That of a VM slot changes; [`slot`](crate::slot) states when it may be
/// read.
#[repr(transparent)]
pub struct Description(UnsafeCell<core_manifest::Vm>);

// SAFETY: `get_mut` requires that no other core reads the description while it is changed.
unsafe impl Sync for Description {}

impl Description {
    /// A description that can change.
    pub const fn new(description: core_manifest::Vm) -> Self {
        Self(UnsafeCell::new(description))
    }

    /// A description that does not change.
    pub fn of(description: &'static core_manifest::Vm) -> &'static Self {
        // SAFETY: the type is transparent over `core_manifest::Vm`, and `get_mut` requires a value
        // made by `new`, so that a shared reference is never changed.
        unsafe { &*core::ptr::from_ref(description).cast() }
    }

    /// The description.
    #[inline]
    pub fn get(&self) -> &core_manifest::Vm {
        // SAFETY: `get_mut` requires that nothing reads the description while it is changed.
        unsafe { &*self.0.get() }
    }

    /// Exclusive access to the description.
    ///
    /// # Safety
    ///
    /// The description was made by [`new`](Self::new), and nothing reads it meanwhile.
    #[expect(clippy::mut_from_ref, reason = "who may is the caller's promise")]
    pub unsafe fn get_mut(&self) -> &mut core_manifest::Vm {
        // SAFETY: the function's contract requires that nothing reads the description meanwhile.
        unsafe { &mut *self.0.get() }
    }
}

/// Error in the construction of a VM of the manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VmError {
    /// The memory cannot be mapped.
    Memory(core_paging::Error),
    /// The status page is not usable.
    Status,
    /// The vCPUs or interrupts do not fit the VM's interrupt controller.
    Interrupts(mortise_gicd::Error),
    /// The image has no virtual GIC.
    Devices,
    /// The board's interrupt controller cannot be virtualised.
    Irqchip,
}

impl From<core_paging::Error> for VmError {
    fn from(error: core_paging::Error) -> Self {
        Self::Memory(error)
    }
}

impl From<mortise_gicd::Error> for VmError {
    fn from(error: mortise_gicd::Error) -> Self {
        Self::Interrupts(error)
    }
}

impl fmt::Display for VmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(error) => write!(f, "memory: {error}"),
            Self::Status => f.write_str("status page: not a page of its own"),
            Self::Interrupts(error) => write!(f, "interrupts: {error}"),
            Self::Irqchip => f.write_str("interrupts: shared, which takes a GICv3"),
            Self::Devices => f.write_str("interrupts: shared, and MORTISE_VIRTUAL_DEVICES is n"),
        }
    }
}
