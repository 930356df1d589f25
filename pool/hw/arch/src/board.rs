//! Addresses of the board: constants of an image that runs without Mortise or below it.

/// The RAM and the devices of the board that an image uses itself.
#[derive(Clone, Copy, Debug)]
pub struct Board {
    /// Start of RAM.
    pub ram_base: usize,
    /// Size of RAM.
    pub ram_size: usize,
    /// The GIC's distributor.
    pub gicd_base: usize,
    /// Its size.
    pub gicd_size: usize,
    /// The first redistributor of the GIC.
    pub gicr_base: usize,
    /// The distance from one redistributor to the next.
    pub gicr_stride: usize,
    /// The size of all redistributors.
    pub gicr_size: usize,
    /// The CPU interface of a GICv2; zero if the board has none.
    pub gicc_base: usize,
    /// Its size.
    pub gicc_size: usize,
    /// The UART.
    pub uart_base: usize,
    /// The INTID of the timer of the image's exception level.
    pub timer_intid: u32,
}

/// The [`Board`](board::Board) of an image. `config` is the module of its configuration, of which
/// `board` has the constants; `timer` is the INTID of its timer.
#[macro_export]
macro_rules! board {
    ($config:ident, timer: $timer:expr) => {
        $crate::board::Board {
            ram_base: $config::board::RAM_BASE,
            ram_size: $config::board::RAM_SIZE,
            gicd_base: $config::board::GICD_BASE,
            gicd_size: $config::board::GICD_SIZE,
            gicr_base: $config::board::GICR_BASE,
            gicr_stride: $config::board::GICR_STRIDE,
            gicr_size: $config::board::GICR_SIZE,
            gicc_base: $config::board::GICC_BASE,
            gicc_size: $config::board::GICC_SIZE,
            uart_base: $config::board::UART_BASE,
            timer_intid: $timer as u32,
        }
    };
}
