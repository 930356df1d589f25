//! Thread attributes (POSIX.1-2017, `pthread_attr_*`).

use crate::policy::{self, Parameters};
use core::ffi::{c_int, c_void};
use core::ptr;
use tenon_libc::Errno;
use tenon_libc::errno::number;

/// Bytes of a page, and of a guard area.
pub(crate) const PAGE: usize = 4096;
/// The smallest stack: `PTHREAD_STACK_MIN` of `<limits.h>`.
pub const SMALLEST_STACK: usize = 4096;
/// Marks initialised attributes; cleared by `pthread_attr_destroy`.
const INITIALISED: c_int = 0x7e50;
/// `PTHREAD_SCOPE_SYSTEM`, the only scope: there is one process.
const SYSTEM: c_int = 0;

/// `pthread_attr_t` (`<sys/types.h>`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Attributes {
    /// Lowest address of the stack; null for a stack from `malloc`.
    pub stack: *mut c_void,
    /// Size of the stack in bytes.
    pub size: usize,
    pub(crate) guard: usize,
    mark: c_int,
    /// Priority of a thread with explicit scheduling.
    pub priority: c_int,
    /// Policy of a thread with explicit scheduling.
    pub policy: u8,
    /// `PTHREAD_CREATE_DETACHED`.
    pub detached: bool,
    /// `PTHREAD_EXPLICIT_SCHED`: priority and policy are taken from here, not inherited.
    pub explicit: bool,
    reserved: [u8; 5],
}

const _: () = assert!(size_of::<Attributes>() == 40);

impl Default for Attributes {
    fn default() -> Self {
        Self {
            stack: ptr::null_mut(),
            size: stack_size(),
            guard: PAGE,
            mark: INITIALISED,
            priority: 0,
            policy: policy::OTHER,
            detached: false,
            explicit: false,
            reserved: [0; 5],
        }
    }
}

/// Checks attributes from C.
///
/// # Safety
///
/// `attributes` is null or points to a `pthread_attr_t`.
pub(crate) unsafe fn checked<'a>(attributes: *const Attributes) -> Result<&'a Attributes, Errno> {
    // SAFETY: `attributes` is null or points to a value of its type, as the caller ensures.
    let attributes = unsafe { attributes.as_ref() };
    attributes
        .filter(|a| a.mark == INITIALISED)
        .ok_or(Errno::EINVAL)
}

/// Converts a boolean from C: 0 or 1.
fn flag(value: c_int) -> Result<bool, Errno> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Errno::EINVAL),
    }
}

/// Initialises attributes with their defaults.
///
/// # Safety
///
/// `attributes` is valid for a write of a `pthread_attr_t`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_attr_init(attributes: *mut Attributes) -> c_int {
    // SAFETY: `attributes` is valid for a write, as the caller ensures.
    unsafe { attributes.write(Attributes::default()) };
    0
}

/// Destroys attributes.
///
/// # Safety
///
/// `attributes` is null or points to a `pthread_attr_t`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_attr_destroy(attributes: *mut Attributes) -> c_int {
    // SAFETY: `attributes` is null or points to attributes, as the caller ensures; `checked` rejects
    // null.
    number(unsafe { checked(attributes).map(|_| (*attributes).mark = 0) })
}

/// Generates the getters of attributes.
macro_rules! reads {
    ($($name:ident: $type:ty = |$attributes:ident| $value:expr;)*) => {
        $(
            /// Reads an attribute.
            ///
            /// # Safety
            ///
            /// `attributes` is null or points to a `pthread_attr_t`; `value` is valid for a write.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(
                attributes: *const Attributes,
                value: *mut $type,
            ) -> c_int {
                // SAFETY: `attributes` is null or points to attributes, as the caller ensures.
                number(unsafe { checked(attributes).map(|$attributes| value.write($value)) })
            }
        )*
    };
}

/// Generates the setters of attributes.
macro_rules! writes {
    ($($name:ident($value:ident: $type:ty) = |$attributes:ident| $change:expr;)*) => {
        $(
            /// Changes an attribute.
            ///
            /// # Safety
            ///
            /// `attributes` is null or points to a `pthread_attr_t`; a pointer among the values is
            /// null or valid.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(attributes: *mut Attributes, $value: $type) -> c_int {
                let change = |$attributes: &mut Attributes| -> Result<(), Errno> {
                    $change;
                    Ok(())
                };
                // SAFETY: `attributes` is null or points to attributes, as the caller ensures;
                // `checked` rejects null.
                number(unsafe { checked(attributes).and_then(|_| change(&mut *attributes)) })
            }
        )*
    };
}

reads! {
    pthread_attr_getdetachstate: c_int = |attributes| c_int::from(attributes.detached);
    pthread_attr_getguardsize: usize = |attributes| attributes.guard;
    pthread_attr_getinheritsched: c_int = |attributes| c_int::from(attributes.explicit);
    pthread_attr_getschedparam: Parameters = |attributes| Parameters {
        priority: attributes.priority,
    };
    pthread_attr_getschedpolicy: c_int = |attributes| c_int::from(attributes.policy);
    pthread_attr_getscope: c_int = |_attributes| SYSTEM;
    pthread_attr_getstacksize: usize = |attributes| attributes.size;
}

writes! {
    pthread_attr_setdetachstate(state: c_int) = |attributes| attributes.detached = flag(state)?;
    pthread_attr_setguardsize(size: usize) = |attributes| attributes.guard = size;
    pthread_attr_setinheritsched(inherit: c_int) = |attributes| {
        attributes.explicit = flag(inherit)?;
    };
    pthread_attr_setschedparam(parameters: *const Parameters) = |attributes| {
        // SAFETY: `parameters` is null or points to a value of its type, as the caller ensures.
        let parameters = unsafe { parameters.as_ref() }.ok_or(Errno::EINVAL)?;
        // `pthread_create` checks the priority against the policy.
        policy::priority(policy::OTHER, parameters.priority)?;
        attributes.priority = parameters.priority;
    };
    pthread_attr_setschedpolicy(policy: c_int) = |attributes| {
        attributes.policy = policy::policy(policy)?;
    };
    pthread_attr_setscope(scope: c_int) = |_attributes| match flag(scope)? {
        false => {}
        true => return Err(Errno::ENOTSUP),
    };
    pthread_attr_setstacksize(size: usize) = |attributes| {
        if size < SMALLEST_STACK {
            return Err(Errno::EINVAL);
        }
        attributes.size = size;
    };
}

/// Reads address and size of the stack.
///
/// # Safety
///
/// `attributes` is null or points to a `pthread_attr_t`; `stack` and `size` are valid for writes.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_attr_getstack(
    attributes: *const Attributes,
    stack: *mut *mut c_void,
    size: *mut usize,
) -> c_int {
    // SAFETY: `attributes` is null or points to attributes, as the caller ensures.
    number(unsafe {
        checked(attributes).map(|attributes| {
            stack.write(attributes.stack);
            size.write(attributes.size);
        })
    })
}

/// Sets the stack of the thread.
///
/// # Safety
///
/// `attributes` is null or points to a `pthread_attr_t`; the thread has exclusive use of the stack
/// until it has ended.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_attr_setstack(
    attributes: *mut Attributes,
    stack: *mut c_void,
    size: usize,
) -> c_int {
    if stack.is_null() || size < SMALLEST_STACK {
        return Errno::EINVAL.0;
    }
    // SAFETY: `attributes` is null or points to attributes, as the caller ensures; `checked` rejects
    // null.
    number(unsafe {
        checked(attributes).map(|_| {
            (*attributes).stack = stack;
            (*attributes).size = size;
        })
    })
}

/// Default size of a stack in bytes.
#[cfg(target_os = "none")]
fn stack_size() -> usize {
    unsafe extern "Rust" {
        // SAFETY: `define_threads!` defines it.
        safe static TENON_PTHREAD_STACK_SIZE: usize;
    }
    TENON_PTHREAD_STACK_SIZE
}

#[cfg(not(target_os = "none"))]
fn stack_size() -> usize {
    16384
}
