//! Attributes of mutexes and condition variables (POSIX.1-2017, `pthread_mutexattr_*`).

use core::ffi::c_int;
use tenon_libc::Errno;
use tenon_libc::errno::number;
use tenon_libc::time::{self, Clock};
use tenon_pthread::policy;
use tenon_sync::raw::{Protocol, Robustness};

/// Marks initialised attributes; cleared when they are destroyed.
const INITIALISED: u32 = 0x7e51;

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
    mark: u32,
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
    mark: u32,
    clock: u32,
    shared: u32,
}

const _: () = assert!(size_of::<MutexAttributes>() == 12 && size_of::<ConditionAttributes>() == 12);

impl MutexAttributes {
    pub(crate) const DEFAULT: Self = Self {
        mark: INITIALISED,
        kind: NORMAL,
        protocol: NONE,
        robust: 0,
        ceiling: policy::HIGHEST as u8,
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
    pub(crate) const DEFAULT: Self = Self {
        mark: INITIALISED,
        clock: 1,
        shared: 0,
    };

    pub(crate) fn clock(&self) -> Clock {
        Clock::of(self.clock.into()).unwrap_or(Clock::Realtime)
    }
}

/// Attributes with a mark of initialisation.
pub(crate) trait Attributes: Copy {
    /// Whether they are initialised.
    fn is_initialised(&self) -> bool;
}

impl Attributes for MutexAttributes {
    fn is_initialised(&self) -> bool {
        self.mark == INITIALISED
    }
}

impl Attributes for ConditionAttributes {
    fn is_initialised(&self) -> bool {
        self.mark == INITIALISED
    }
}

/// Attributes from C, or the defaults if there are none.
///
/// # Safety
///
/// `attributes` is null or points to attributes.
pub(crate) unsafe fn or_default<T: Attributes>(attributes: *const T, usual: T) -> Result<T, Errno> {
    // SAFETY: `attributes` is null or points to a value of its type, as the caller ensures.
    let given = unsafe { attributes.as_ref() }.copied().unwrap_or(usual);
    given.is_initialised().then_some(given).ok_or(Errno::EINVAL)
}

/// Checks a number from 0 to `most`.
fn among(value: c_int, most: u8) -> Result<u8, Errno> {
    let value = u8::try_from(value).ok().filter(|value| *value <= most);
    value.ok_or(Errno::EINVAL)
}

/// Generates the functions on one type of attributes.
macro_rules! attributes {
    (
        $type:ident: $init:ident, $destroy:ident;
        $($get:ident: $type_of:ty => |$read:ident| $value:expr;
          $set:ident => |$write:ident, $new:ident| $change:expr;)*
    ) => {
        /// Initialises attributes with their defaults.
        ///
        /// # Safety
        ///
        /// `attributes` is valid for a write.
        #[cfg_attr(target_os = "none", unsafe(no_mangle))]
        pub unsafe extern "C" fn $init(attributes: *mut $type) -> c_int {
            // SAFETY: `attributes` is valid for a write, as the caller ensures.
            unsafe { attributes.write($type::DEFAULT) };
            0
        }

        /// Destroys attributes.
        ///
        /// # Safety
        ///
        /// `attributes` is null or points to attributes.
        #[cfg_attr(target_os = "none", unsafe(no_mangle))]
        pub unsafe extern "C" fn $destroy(attributes: *mut $type) -> c_int {
            // SAFETY: `attributes` is null or points to attributes, as the caller ensures.
            number(unsafe { checked(attributes).map(|attributes| attributes.mark = 0) })
        }

        $(
            /// Reads an attribute.
            ///
            /// # Safety
            ///
            /// `attributes` is null or points to attributes; `value` is valid for a write.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $get(attributes: *const $type, value: *mut $type_of) -> c_int {
                // SAFETY: `attributes` is null or points to attributes, as the caller ensures;
                // nothing is written.
                let attributes = unsafe { checked(attributes.cast_mut()) };
                // SAFETY: `value` is valid for a write, as the caller ensures.
                number(attributes.map(|$read| unsafe { value.write($value.into()) }))
            }

            /// Changes an attribute.
            ///
            /// # Safety
            ///
            /// `attributes` is null or points to attributes.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $set(attributes: *mut $type, $new: $type_of) -> c_int {
                // SAFETY: `attributes` is null or points to attributes, as the caller ensures.
                let attributes = unsafe { checked(attributes) };
                number(attributes.and_then(|$write| {
                    $change;
                    Ok(())
                }))
            }
        )*
    };
}

/// Attributes from C, to be changed.
///
/// # Safety
///
/// `attributes` is null or points to attributes.
unsafe fn checked<'a, T: Attributes>(attributes: *mut T) -> Result<&'a mut T, Errno> {
    // SAFETY: `attributes` is null or points to attributes that C uses in this call only.
    let attributes = unsafe { attributes.as_mut() };
    attributes
        .filter(|a| a.is_initialised())
        .ok_or(Errno::EINVAL)
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
    // There is one process.
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
