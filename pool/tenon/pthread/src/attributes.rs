//! Attributes of a thread to come (POSIX.1-2017, `pthread_attr_*`).

use crate::policy::{self, Parameters};
use core::ffi::{c_int, c_void};
use core::ptr;
use tenon_libc::Errno;
use tenon_libc::errno::number;

/// Bytes of a page, and of a guard area.
pub(crate) const PAGE: usize = 4096;
/// The smallest stack: `PTHREAD_STACK_MIN` of `<limits.h>`.
pub const SMALLEST_STACK: usize = 4096;
/// Marks attributes that were made and not destroyed.
const MADE: c_int = 0x7e50;
/// `PTHREAD_SCOPE_SYSTEM`, the only scope: there is one process.
const SYSTEM: c_int = 0;

/// `pthread_attr_t` (`<sys/types.h>`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Attributes {
    /// The stack's first byte; null for one from `malloc`.
    pub stack: *mut c_void,
    /// Its bytes.
    pub size: usize,
    pub(crate) guard: usize,
    made: c_int,
    /// For a thread that does not inherit.
    pub priority: c_int,
    /// For a thread that does not inherit.
    pub policy: u8,
    /// `PTHREAD_CREATE_DETACHED`.
    pub detached: bool,
    /// `PTHREAD_EXPLICIT_SCHED`: priority and policy count.
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
            made: MADE,
            priority: 0,
            policy: policy::OTHER,
            detached: false,
            explicit: false,
            reserved: [0; 5],
        }
    }
}

/// Attributes from C.
///
/// # Safety
///
/// They are null or point to a `pthread_attr_t`.
pub(crate) unsafe fn made<'a>(attributes: *const Attributes) -> Result<&'a Attributes, Errno> {
    // SAFETY: the caller's contract.
    let attributes = unsafe { attributes.as_ref() };
    attributes.filter(|a| a.made == MADE).ok_or(Errno::EINVAL)
}

/// 0 or 1, or an error.
fn flag(value: c_int) -> Result<bool, Errno> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Errno::EINVAL),
    }
}

/// Makes attributes, all as usual.
///
/// # Safety
///
/// They are a `pthread_attr_t`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_attr_init(attributes: *mut Attributes) -> c_int {
    // SAFETY: the caller's contract.
    unsafe { attributes.write(Attributes::default()) };
    0
}

/// Unmakes attributes.
///
/// # Safety
///
/// They are null or a `pthread_attr_t`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_attr_destroy(attributes: *mut Attributes) -> c_int {
    // SAFETY: the caller's contract; `made` saw that they are there.
    number(unsafe { made(attributes).map(|_| (*attributes).made = 0) })
}

/// Writes functions that read an attribute.
macro_rules! reads {
    ($($name:ident: $type:ty = |$attributes:ident| $value:expr;)*) => {
        $(
            /// Reads an attribute.
            ///
            /// # Safety
            ///
            /// The attributes are null or a `pthread_attr_t`, and there is a place for the value.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(
                attributes: *const Attributes,
                value: *mut $type,
            ) -> c_int {
                // SAFETY: the caller's contract.
                number(unsafe { made(attributes).map(|$attributes| value.write($value)) })
            }
        )*
    };
}

/// Writes functions that change an attribute, if the value is one.
macro_rules! writes {
    ($($name:ident($value:ident: $type:ty) = |$attributes:ident| $change:expr;)*) => {
        $(
            /// Changes an attribute.
            ///
            /// # Safety
            ///
            /// The attributes are null or a `pthread_attr_t`; a pointer leads to a value.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(attributes: *mut Attributes, $value: $type) -> c_int {
                let change = |$attributes: &mut Attributes| -> Result<(), Errno> {
                    $change;
                    Ok(())
                };
                // SAFETY: the caller's contract; `made` saw that they are there.
                number(unsafe { made(attributes).and_then(|_| change(&mut *attributes)) })
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
        // SAFETY: the caller's contract.
        let parameters = unsafe { parameters.as_ref() }.ok_or(Errno::EINVAL)?;
        // Whether it suits the policy is seen when the thread is made.
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

/// Reads where the stack is.
///
/// # Safety
///
/// The attributes are null or a `pthread_attr_t`, and there are places for both values.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_attr_getstack(
    attributes: *const Attributes,
    stack: *mut *mut c_void,
    size: *mut usize,
) -> c_int {
    // SAFETY: the caller's contract.
    number(unsafe {
        made(attributes).map(|attributes| {
            stack.write(attributes.stack);
            size.write(attributes.size);
        })
    })
}

/// Gives the thread to come a stack.
///
/// # Safety
///
/// The attributes are null or a `pthread_attr_t`; the stack is nobody else's until the thread has
/// ended.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn pthread_attr_setstack(
    attributes: *mut Attributes,
    stack: *mut c_void,
    size: usize,
) -> c_int {
    if stack.is_null() || size < SMALLEST_STACK {
        return Errno::EINVAL.0;
    }
    // SAFETY: the caller's contract; `made` saw that they are there.
    number(unsafe {
        made(attributes).map(|_| {
            (*attributes).stack = stack;
            (*attributes).size = size;
        })
    })
}

/// Bytes of a stack whose thread's attributes say nothing of it.
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
