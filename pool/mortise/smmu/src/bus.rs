//! Devices on bus 0 of a PCI root complex (PCI Express Base Specification, 7.5.1).

use hw_arch::mmio::Mmio;

/// Devices of a bus, and functions of a device.
pub(crate) const DEVICES: usize = 32;
const FUNCTIONS: usize = 8;

/// Bytes of a function's configuration space (7.2.2).
const FUNCTION: usize = 1 << 12;

const VENDOR: usize = 0x00;
const COMMAND: usize = 0x04;
/// Header type, with another field above it.
const HEADER: usize = 0x0e;

/// Vendor ID of an absent function.
const ABSENT: u16 = 0xffff;
const MULTIFUNCTION: u16 = 1 << 7;

/// Configuration space, or a test's model of it.
pub(crate) trait Space {
    fn read(&self, offset: usize) -> u16;
    fn write(&mut self, offset: usize, value: u16);
}

impl Space for Mmio {
    fn read(&self, offset: usize) -> u16 {
        self.read16(offset)
    }

    fn write(&mut self, offset: usize, value: u16) {
        self.write16(offset, value);
    }
}

/// Disables all functions of a device as a reset does: bus master, memory and I/O space off
/// (7.5.1.1.3).
pub(crate) fn silence(space: &mut impl Space, device: usize) {
    let first = device * FUNCTIONS * FUNCTION;
    if space.read(first + VENDOR) == ABSENT {
        return;
    }
    let functions = match space.read(first + HEADER) & MULTIFUNCTION {
        0 => 1,
        _ => FUNCTIONS,
    };
    for place in (0..functions).map(|function| first + function * FUNCTION) {
        if space.read(place + VENDOR) != ABSENT {
            space.write(place + COMMAND, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Registers of the model by offset; others read as all ones.
    #[derive(Default)]
    struct Fake(BTreeMap<usize, u16>);

    impl Space for Fake {
        fn read(&self, offset: usize) -> u16 {
            *self.0.get(&offset).unwrap_or(&ABSENT)
        }

        fn write(&mut self, offset: usize, value: u16) {
            self.0.insert(offset, value);
        }
    }

    #[test]
    fn present_functions_are_silenced_and_no_others() {
        let at = |device: usize, function: usize| (device * FUNCTIONS + function) * FUNCTION;
        let mut space = Fake::default();
        for (place, header) in [(at(1, 0), 0x00), (at(2, 0), 0x80), (at(2, 3), 0x80)] {
            space.write(place + VENDOR, 0x1af4);
            space.write(place + COMMAND, 0b111);
            space.write(place + HEADER, header);
        }
        let registers = space.0.len();
        (0..DEVICES).for_each(|device| silence(&mut space, device));
        let command = |place: usize| space.read(place + COMMAND);
        assert_eq!([at(1, 0), at(2, 0), at(2, 3)].map(command), [0; 3]);
        assert_eq!(space.0.len(), registers, "nothing else is written");
    }
}
