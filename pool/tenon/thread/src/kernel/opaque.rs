//! Opaque reference to a core's kernel.
//!
//! A periodic timer stores a function that takes the kernel. With this type in its signature, the
//! definition of timers does not depend on the definition of the kernel, which contains timers.

use core::marker::PhantomData;

/// A reference to a [`Kernel`](super::Kernel) with its type hidden.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct KernelRef<'a>(*const (), PhantomData<&'a ()>);

impl<'a> KernelRef<'a> {
    /// Hides the type of `kernel`.
    #[inline(always)]
    pub(super) const fn new<T>(kernel: &'a T) -> Self {
        Self(core::ptr::from_ref(kernel).cast(), PhantomData)
    }

    /// The address of the kernel.
    #[inline(always)]
    pub(super) const fn address(self) -> *const () {
        self.0
    }
}
