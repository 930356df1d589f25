//! Registration of tables that the image defines, as it decides their sizes.

/// Generates the getter of a table that the image defines by
/// [`define_table!`](crate::define_table); on the host there is no image, and the table is empty.
///
/// ```text
/// table! {
///     /// All timers.
///     pub(crate) fn timers: Timer = TENON_POSIX_TIMERS
/// }
/// ```
#[macro_export]
macro_rules! table {
    ($(#[$documentation:meta])* $visibility:vis fn $getter:ident: $type:ty = $symbol:ident) => {
        $(#[$documentation])*
        $visibility fn $getter() -> &'static [$type] {
            #[cfg(target_os = "none")]
            {
                unsafe extern "Rust" {
                    // SAFETY: the image defines the table with this type, and it is never written.
                    safe static $symbol: &'static [$type];
                }
                $symbol
            }
            #[cfg(not(target_os = "none"))]
            &[]
        }
    };
}

/// Defines a table; the expression initialises each element: `define_table!(TENON_POSIX_TIMERS:
/// [Timer; 8] = Timer::new());`
#[macro_export]
macro_rules! define_table {
    ($symbol:ident: [$type:ty; $count:expr] = $new:expr) => {
        #[cfg_attr(target_os = "none", unsafe(no_mangle))]
        static $symbol: &[$type] = {
            static PLACES: [$type; $count] = [const { $new }; $count];
            &PLACES
        };
    };
}
