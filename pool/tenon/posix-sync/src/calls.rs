//! Generator of the C functions on POSIX synchronisation objects.

/// Generates functions on an object that return an error number.
macro_rules! functions {
    ($type:ty: $($(#[$doc:meta])*
        $name:ident($object:ident $(, $argument:ident: $of:ty)*) => $do:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// The first pointer is null or points to an object of the type, and further pointers
            /// are valid.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(
                $object: *const $type $(, $argument: $of)*
            ) -> core::ffi::c_int {
                // SAFETY: `$object` is null or points to an object of its type, as the caller
                // ensures.
                tenon_libc::errno::number(unsafe {
                    tenon_libc::object::at($object).and_then(|$object| $do)
                })
            }
        )*
    };
}

pub(crate) use functions;
