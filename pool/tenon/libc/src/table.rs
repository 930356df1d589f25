//! Tables whose size an image decides: a library names one, the image has it.

/// Writes the getter of a table that the image defines by [`define_table!`](crate::define_table); on
/// the host there is no image, and the table is empty.
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
                    // SAFETY: the image defines it as this type, and nothing writes it.
                    safe static $symbol: &'static [$type];
                }
                $symbol
            }
            #[cfg(not(target_os = "none"))]
            &[]
        }
    };
}

/// Defines such a table, each place of it anew: `define_table!(TENON_POSIX_TIMERS: [Timer; 8] =
/// Timer::new());`
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
