//! Attributes of barriers and read-write locks: whether processes share them, of which there is one.

use core::ffi::c_int;
use tenon_libc::Errno;

/// Marks attributes that were made and not destroyed.
const MADE: u32 = 0x7e52;

/// `pthread_barrierattr_t`, `pthread_rwlockattr_t` (`<sys/types.h>`).
#[repr(C)]
#[derive(Debug)]
pub struct Attributes {
    made: u32,
    shared: c_int,
}

/// Whether attributes are none at all or were made.
///
/// # Safety
///
/// They are null or attributes.
pub(crate) unsafe fn check(attributes: *const Attributes) -> Result<(), Errno> {
    // SAFETY: the caller's contract.
    let attributes = unsafe { attributes.as_ref() };
    let right = attributes.is_none_or(|attributes| attributes.made == MADE);
    right.then_some(()).ok_or(Errno::EINVAL)
}

/// Writes the functions on attributes.
macro_rules! attributes {
    ($($init:ident, $destroy:ident, $get:ident, $set:ident;)*) => {
        $(
            /// Makes attributes.
            ///
            /// # Safety
            ///
            /// There is a place for them.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $init(attributes: *mut Attributes) -> c_int {
                // SAFETY: the caller's contract.
                unsafe { attributes.write(Attributes {
                    made: MADE,
                    shared: 0,
                }) };
                0
            }

            /// Unmakes attributes.
            ///
            /// # Safety
            ///
            /// They are attributes.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $destroy(attributes: *mut Attributes) -> c_int {
                // SAFETY: the caller's contract.
                tenon_libc::errno::number(unsafe {
                    check(attributes).map(|()| (*attributes).made = 0)
                })
            }

            /// Reads whether processes share the object.
            ///
            /// # Safety
            ///
            /// They are attributes, and there is a place for the value.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $get(
                attributes: *const Attributes,
                shared: *mut c_int,
            ) -> c_int {
                // SAFETY: the caller's contract.
                tenon_libc::errno::number(unsafe {
                    check(attributes).map(|()| shared.write((*attributes).shared))
                })
            }

            /// Has processes share the object, or not.
            ///
            /// # Safety
            ///
            /// They are attributes.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $set(attributes: *mut Attributes, shared: c_int) -> c_int {
                if !(0..=1).contains(&shared) {
                    return Errno::EINVAL.0;
                }
                // SAFETY: the caller's contract.
                tenon_libc::errno::number(unsafe {
                    check(attributes).map(|()| (*attributes).shared = shared)
                })
            }
        )*
    };
}

attributes! {
    pthread_barrierattr_init, pthread_barrierattr_destroy,
    pthread_barrierattr_getpshared, pthread_barrierattr_setpshared;
    pthread_rwlockattr_init, pthread_rwlockattr_destroy,
    pthread_rwlockattr_getpshared, pthread_rwlockattr_setpshared;
}
