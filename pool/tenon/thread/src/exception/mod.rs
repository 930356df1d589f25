//! Exception vectors, and the report of fatal errors.

pub(crate) mod fault;
#[cfg(target_arch = "aarch64")]
pub(crate) mod vectors;

/// Stand-in for the host, which takes no exceptions.
#[cfg(not(target_arch = "aarch64"))]
pub(crate) mod vectors {
    pub(crate) fn vectors(_: bool) -> usize {
        0
    }
}
