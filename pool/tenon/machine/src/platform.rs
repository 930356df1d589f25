//! Addresses of the board.

/// The addresses of the board that Tenon uses.
#[derive(Clone, Copy, Debug)]
pub struct Platform {
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
    /// The INTID of the virtual timer.
    pub timer_intid: u32,
}
