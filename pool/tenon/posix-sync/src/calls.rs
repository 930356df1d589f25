//! What the functions that C calls have in common.

/// Writes functions on an object that return an error number.
macro_rules! functions {
    ($type:ty: $($(#[$doc:meta])*
        $name:ident($object:ident $(, $argument:ident: $of:ty)*) => $do:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// The object is one of its type, and pointers lead to what they say.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(
                $object: *const $type $(, $argument: $of)*
            ) -> core::ffi::c_int {
                // SAFETY: the caller's contract.
                tenon_libc::errno::number(unsafe {
                    tenon_libc::object::at($object).and_then(|$object| $do)
                })
            }
        )*
    };
}

pub(crate) use functions;
