//! Addresses of the sections of the running image.
//!
//! The linker script `image.ld` starts each part on a page of its own. The
//! getters hide the linker's symbols, which are addresses and never values.

macro_rules! symbols {
    ($($(#[$doc:meta])* $name:ident = $symbol:ident;)*) => {
        $(
            $(#[$doc])*
            #[must_use]
            pub fn $name() -> usize {
                #[cfg(target_os = "none")]
                {
                    unsafe extern "C" { static $symbol: u8; }
                    &raw const $symbol as usize
                }
                #[cfg(not(target_os = "none"))]
                0
            }
        )*
    };
}

symbols! {
    /// First byte of the image, and of its code.
    image_start = __image_start;
    /// First byte after the code, and first constant.
    text_end = __text_end;
    /// First byte after the constants, and first variable.
    rodata_end = __rodata_end;
    /// First byte after the initialised variables.
    data_end = __data_end;
    /// First byte of the area for translation tables.
    tables_start = __tables_start;
    /// First byte after the area for translation tables.
    tables_end = __tables_end;
    /// First byte after the image.
    image_end = __image_end;
}
