//! Attributes of a mutex and of a condition variable to come.

use core::ffi::c_int;
use tenon_libc::Errno;
use tenon_libc::errno::number;
use tenon_libc::time::{self, Clock};
use tenon_pthread::policy;
use tenon_sync::raw::{Protocol, Robustness};

/// Marks attributes that were made and not destroyed.
const MADE: u32 = 0x7e51;

/// `PTHREAD_MUTEX_NORMAL`, which is the default.
pub(crate) const NORMAL: u8 = 0;
/// `PTHREAD_MUTEX_RECURSIVE`.
pub(crate) const RECURSIVE: u8 = 1;
/// `PTHREAD_MUTEX_ERRORCHECK`.
const ERRORCHECK: u8 = 2;

/// `PTHREAD_PRIO_NONE`, `PTHREAD_PRIO_INHERIT`, `PTHREAD_PRIO_PROTECT`.
const NONE: u8 = 0;
const INHERIT: u8 = 1;
const PROTECT: u8 = 2;

/// `pthread_mutexattr_t` (`<sys/types.h>`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct MutexAttributes {
    made: u32,
    pub(crate) kind: u8,
    protocol: u8,
    robust: u8,
    ceiling: u8,
    shared: u32,
}

/// `pthread_condattr_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConditionAttributes {
    made: u32,
    clock: u32,
    shared: u32,
}

const _: () = assert!(size_of::<MutexAttributes>() == 12 && size_of::<ConditionAttributes>() == 12);

impl MutexAttributes {
    pub(crate) const USUAL: Self = Self {
        made: MADE,
        kind: NORMAL,
        protocol: NONE,
        robust: 0,
        ceiling: policy::MOST as u8,
        shared: 0,
    };

    pub(crate) fn protocol(&self) -> Protocol {
        match self.protocol {
            INHERIT => Protocol::Inherit,
            PROTECT => policy::priority(policy::FIFO, self.ceiling.into())
                .map_or(Protocol::None, Protocol::Protect),
            _ => Protocol::None,
        }
    }

    pub(crate) fn robustness(&self) -> Robustness {
        if self.robust == 0 {
            Robustness::Stalled
        } else {
            Robustness::Robust
        }
    }
}

impl ConditionAttributes {
    pub(crate) const USUAL: Self = Self {
        made: MADE,
        clock: 1,
        shared: 0,
    };

    pub(crate) fn clock(&self) -> Clock {
        Clock::of(self.clock.into()).unwrap_or(Clock::Realtime)
    }
}

/// Attributes that can be told from unmade ones.
pub(crate) trait Attributes: Copy {
    /// Whether they were made and not destroyed.
    fn is_made(&self) -> bool;
}

impl Attributes for MutexAttributes {
    fn is_made(&self) -> bool {
        self.made == MADE
    }
}

impl Attributes for ConditionAttributes {
    fn is_made(&self) -> bool {
        self.made == MADE
    }
}

/// Attributes from C, which are the usual ones if there are none.
///
/// # Safety
///
/// They are null or point to attributes.
pub(crate) unsafe fn given<T: Attributes>(attributes: *const T, usual: T) -> Result<T, Errno> {
    // SAFETY: the caller's contract.
    let given = unsafe { attributes.as_ref() }.copied().unwrap_or(usual);
    given.is_made().then_some(given).ok_or(Errno::EINVAL)
}

/// A number of a few, or an error.
fn among(value: c_int, most: u8) -> Result<u8, Errno> {
    let value = u8::try_from(value).ok().filter(|value| *value <= most);
    value.ok_or(Errno::EINVAL)
}

/// Writes the functions on one kind of attributes.
macro_rules! attributes {
    (
        $type:ident: $init:ident, $destroy:ident;
        $($get:ident: $type_of:ty => |$read:ident| $value:expr;
          $set:ident => |$write:ident, $new:ident| $change:expr;)*
    ) => {
        /// Makes attributes, all as usual.
        ///
        /// # Safety
        ///
        /// There is a place for them.
        #[cfg_attr(target_os = "none", unsafe(no_mangle))]
        pub unsafe extern "C" fn $init(attributes: *mut $type) -> c_int {
            // SAFETY: the caller's contract.
            unsafe { attributes.write($type::USUAL) };
            0
        }

        /// Unmakes attributes.
        ///
        /// # Safety
        ///
        /// They are attributes.
        #[cfg_attr(target_os = "none", unsafe(no_mangle))]
        pub unsafe extern "C" fn $destroy(attributes: *mut $type) -> c_int {
            // SAFETY: the caller's contract.
            number(unsafe { made(attributes).map(|attributes| attributes.made = 0) })
        }

        $(
            /// Reads an attribute.
            ///
            /// # Safety
            ///
            /// They are attributes, and there is a place for the value.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $get(attributes: *const $type, value: *mut $type_of) -> c_int {
                // SAFETY: the caller's contract; nothing is written.
                let made = unsafe { made(attributes.cast_mut()) };
                // SAFETY: the caller's contract.
                number(made.map(|$read| unsafe { value.write($value.into()) }))
            }

            /// Changes an attribute.
            ///
            /// # Safety
            ///
            /// They are attributes.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $set(attributes: *mut $type, $new: $type_of) -> c_int {
                // SAFETY: the caller's contract.
                let made = unsafe { made(attributes) };
                number(made.and_then(|$write| {
                    $change;
                    Ok(())
                }))
            }
        )*
    };
}

/// Attributes to be changed.
///
/// # Safety
///
/// They are null or point to attributes.
unsafe fn made<'a, T: Attributes>(attributes: *mut T) -> Result<&'a mut T, Errno> {
    // SAFETY: the caller's contract.
    let attributes = unsafe { attributes.as_mut() };
    attributes.filter(|a| a.is_made()).ok_or(Errno::EINVAL)
}

attributes! {
    MutexAttributes: pthread_mutexattr_init, pthread_mutexattr_destroy;
    pthread_mutexattr_gettype: c_int => |attributes| attributes.kind;
    pthread_mutexattr_settype => |attributes, kind| attributes.kind = among(kind, ERRORCHECK)?;
    pthread_mutexattr_getprotocol: c_int => |attributes| attributes.protocol;
    pthread_mutexattr_setprotocol => |attributes, protocol| {
        attributes.protocol = among(protocol, PROTECT)?;
    };
    pthread_mutexattr_getrobust: c_int => |attributes| attributes.robust;
    pthread_mutexattr_setrobust => |attributes, robust| attributes.robust = among(robust, 1)?;
    // All processes are one.
    pthread_mutexattr_getpshared: c_int => |attributes| attributes.shared as c_int;
    pthread_mutexattr_setpshared => |attributes, shared| {
        attributes.shared = among(shared, 1)?.into();
    };
    pthread_mutexattr_getprioceiling: c_int => |attributes| attributes.ceiling;
    pthread_mutexattr_setprioceiling => |attributes, ceiling| {
        policy::priority(policy::FIFO, ceiling)?;
        attributes.ceiling = ceiling as u8;
    };
}

attributes! {
    ConditionAttributes: pthread_condattr_init, pthread_condattr_destroy;
    pthread_condattr_getpshared: c_int => |attributes| attributes.shared as c_int;
    pthread_condattr_setpshared => |attributes, shared| {
        attributes.shared = among(shared, 1)?.into();
    };
    pthread_condattr_getclock: time::Id => |attributes| attributes.clock;
    pthread_condattr_setclock => |attributes, clock| {
        Clock::of(clock)?;
        attributes.clock = clock as u32;
    };
}
