//! PL061 GPIO controller: eight general purpose pins (Arm DDI 0190).
//!
//! # Purpose
//!
//! Pins that are inputs or outputs, written and read one by one. Their interrupts stay as the
//! firmware left them, disabled.
//!
//! # Guarantees
//!
//! Writing a pin is one store and reading it one load: bits 9 to 2 of the address select the pins,
//! so that other pins are not changed (Arm DDI 0190, 3.3.1). An input is never driven. No lock: the
//! block has one owner, as a change of direction is a read-modify-write of all pins.
//!
//! # Example
//!
//! ```no_run
//! use hw_gpio_pl061::{Frame, Gpio, Pin};
//!
//! fn lit(registers: Frame) -> bool {
//!     let mut gpio = Gpio::new(registers);
//!     gpio.make_output(Pin::new(5).unwrap(), true);
//!     gpio.is_high(Pin::new(5).unwrap())
//! }
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

/// Its registers, 4 KiB.
pub use hw_arch::mmio::Mmio as Frame;
/// Register access, to a device or a test model.
pub use hw_arch::mmio::Registers;

/// `GPIODIR`: the output pins (Arm DDI 0190, 3.3.2).
const DIRECTION: usize = 0x400;

/// Number of pins.
pub const PINS: u8 = 8;

/// A pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin(u8);

impl Pin {
    /// The pin with this number, if there is one.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if number < PINS {
            Some(Self(number))
        } else {
            None
        }
    }

    /// Bit of the pin in each register.
    const fn bit(self) -> u32 {
        1 << self.0
    }

    /// `GPIODATA` at the address that selects only this pin.
    const fn data(self) -> usize {
        0x4 << self.0
    }
}

/// A block of pins.
#[derive(Debug)]
pub struct Gpio<R = Frame> {
    registers: R,
}

impl<R: Registers> Gpio<R> {
    /// A block with these registers, in the state that the firmware left.
    pub const fn new(registers: R) -> Self {
        Self { registers }
    }

    /// Makes a pin an output with this level.
    pub fn make_output(&mut self, pin: Pin, high: bool) {
        let outputs = self.registers.read(DIRECTION) | pin.bit();
        self.registers.write(DIRECTION, outputs);
        // Writes to an input are ignored, so the level is set last.
        self.set(pin, high);
    }

    /// Makes a pin an input.
    pub fn make_input(&mut self, pin: Pin) {
        let outputs = self.registers.read(DIRECTION) & !pin.bit();
        self.registers.write(DIRECTION, outputs);
    }

    /// Sets the level of an output; no effect on an input.
    #[inline(always)]
    pub fn set(&mut self, pin: Pin, high: bool) {
        self.registers
            .write(pin.data(), if high { pin.bit() } else { 0 });
    }

    /// Level of a pin: of an input the external level, of an output the driven one.
    #[inline(always)]
    #[must_use]
    pub fn is_high(&self, pin: Pin) -> bool {
        self.registers.read(pin.data()) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Model of a PL061: input pins have the level of `outside`.
    struct Fake {
        outside: u32,
        outputs: u32,
        driven: u32,
    }

    impl Registers for Fake {
        fn read(&self, offset: usize) -> u32 {
            let levels = self.driven & self.outputs | self.outside & !self.outputs;
            match offset {
                0..DIRECTION => levels & (offset >> 2) as u32,
                DIRECTION => self.outputs,
                _ => panic!("no register at {offset:#x}"),
            }
        }

        fn write(&mut self, offset: usize, value: u32) {
            match offset {
                0..DIRECTION => {
                    let meant = (offset >> 2) as u32 & self.outputs;
                    self.driven = self.driven & !meant | value & meant;
                }
                DIRECTION => self.outputs = value,
                _ => panic!("no register at {offset:#x}"),
            }
        }
    }

    fn gpio(outside: u32) -> Gpio<Fake> {
        Gpio::new(Fake {
            outside,
            outputs: 0,
            driven: 0,
        })
    }

    fn pins() -> impl Iterator<Item = Pin> {
        (0..=u8::MAX).filter_map(Pin::new)
    }

    #[test]
    fn there_are_eight_pins() {
        assert_eq!(pins().count(), 8);
        assert_eq!(Pin::new(8), None);
    }

    #[test]
    fn setting_an_output_changes_no_other_pin() {
        for pin in pins() {
            let mut gpio = gpio(0);
            pins().for_each(|other| gpio.make_output(other, false));
            gpio.set(pin, true);
            let high: Vec<Pin> = pins().filter(|&each| gpio.is_high(each)).collect();
            assert_eq!(high, [pin]);
            pins().for_each(|other| gpio.set(other, true));
            gpio.set(pin, false);
            let low: Vec<Pin> = pins().filter(|&each| !gpio.is_high(each)).collect();
            assert_eq!(low, [pin]);
        }
    }

    #[test]
    fn an_output_begins_with_its_level() {
        let mut gpio = gpio(0);
        gpio.make_output(Pin(3), true);
        gpio.make_output(Pin(4), false);
        assert!(gpio.is_high(Pin(3)) && !gpio.is_high(Pin(4)));
        assert_eq!(gpio.registers.outputs, 0b1_1000);
    }

    #[test]
    fn an_input_has_the_external_level_and_is_never_driven() {
        let mut gpio = gpio(0b10);
        gpio.set(Pin(0), true);
        gpio.set(Pin(1), false);
        assert!(!gpio.is_high(Pin(0)) && gpio.is_high(Pin(1)));
        gpio.make_output(Pin(1), false);
        assert!(!gpio.is_high(Pin(1)));
        gpio.make_input(Pin(1));
        assert!(gpio.is_high(Pin(1)));
        assert_eq!((gpio.registers.outputs, gpio.registers.driven), (0, 0));
    }
}
