//! State of one core.

/// State that only its own core accesses, with interrupts masked.
pub struct PerCore<T>(T);

impl<T> PerCore<T> {
    /// Wraps the state of a core.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The state.
    ///
    /// # Safety
    ///
    /// Only one core uses the state, with its interrupts masked.
    #[inline]
    pub const unsafe fn get(&self) -> &T {
        &self.0
    }
}

// SAFETY: `get` is called for one core, which reaches the value with its interrupts masked.
unsafe impl<T> Sync for PerCore<T> {}
