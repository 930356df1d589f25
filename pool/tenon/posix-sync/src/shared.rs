//! Attributes of barriers and read-write locks (POSIX.1-2017, `pthread_barrierattr_*`): whether
//! processes share the object. There is one process.

use core::ffi::c_int;
use tenon_libc::Errno;

/// Marks initialised attributes; cleared when they are destroyed.
const INITIALISED: u32 = 0x7e52;

/// `pthread_barrierattr_t`, `pthread_rwlockattr_t` (`<sys/types.h>`).
#[repr(C)]
#[derive(Debug)]
pub struct Attributes {
    mark: u32,
    shared: c_int,
}

/// Checks optional attributes.
///
/// # Safety
///
/// `attributes` is null or points to attributes.
pub(crate) unsafe fn check(attributes: *const Attributes) -> Result<(), Errno> {
    // SAFETY: `attributes` is null or points to a value of its type, as the caller ensures.
    let attributes = unsafe { attributes.as_ref() };
    let right = attributes.is_none_or(|attributes| attributes.mark == INITIALISED);
    right.then_some(()).ok_or(Errno::EINVAL)
}

/// Generates the functions on attributes.
macro_rules! attributes {
    ($($init:ident, $destroy:ident, $get:ident, $set:ident;)*) => {
        $(
            /// Initialises attributes.
            ///
            /// # Safety
            ///
            /// `attributes` is valid for a write.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $init(attributes: *mut Attributes) -> c_int {
                // SAFETY: `attributes` is valid for a write, as the caller ensures.
                unsafe { attributes.write(Attributes {
                    mark: INITIALISED,
                    shared: 0,
                }) };
                0
            }

            /// Destroys attributes.
            ///
            /// # Safety
            ///
            /// `attributes` points to attributes.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $destroy(attributes: *mut Attributes) -> c_int {
                // SAFETY: `attributes` is null or points to attributes, as the caller ensures.
                tenon_libc::errno::number(unsafe {
                    check(attributes).map(|()| (*attributes).mark = 0)
                })
            }

            /// Reads whether processes share the object.
            ///
            /// # Safety
            ///
            /// `attributes` points to attributes; `shared` is valid for a write.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $get(
                attributes: *const Attributes,
                shared: *mut c_int,
            ) -> c_int {
                // SAFETY: `attributes` is null or points to attributes, as the caller ensures.
                tenon_libc::errno::number(unsafe {
                    check(attributes).map(|()| shared.write((*attributes).shared))
                })
            }

            /// Sets whether processes share the object.
            ///
            /// # Safety
            ///
            /// `attributes` points to attributes.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $set(attributes: *mut Attributes, shared: c_int) -> c_int {
                if !(0..=1).contains(&shared) {
                    return Errno::EINVAL.0;
                }
                // SAFETY: `attributes` is null or points to attributes, as the caller ensures.
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
