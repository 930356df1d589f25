//! SMMU events (IHI 0070, 7.3).

/// Reason of a denied access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// The address is not mapped, or not with this permission.
    Access,
    /// An unknown stream.
    Stream,
    /// Another reason, by event number.
    Other(u8),
}

/// Record of a denied access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The reason.
    pub denied: Denied,
    /// The stream: for PCI, bus, device and function.
    pub stream: u32,
    /// The address that the device used.
    pub address: u64,
    /// Whether it was a write.
    pub write: bool,
}

/// An event queue entry.
pub(crate) type Record = [u64; 4];

impl Event {
    /// Decodes a record.
    pub(crate) const fn parse(record: &Record) -> Self {
        let [first, second, third, _] = *record;
        Self {
            denied: match first as u8 {
                // C_BAD_STREAMID (7.3.3), C_BAD_STE (7.3.5).
                0x02 | 0x04 => Denied::Stream,
                // F_TRANSLATION to F_PERMISSION (7.3.12 to 7.3.15).
                0x10..=0x13 => Denied::Access,
                other => Denied::Other(other),
            },
            stream: (first >> 32) as u32,
            // RnW is bit 99.
            write: second & 1 << 35 == 0,
            address: third,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Denied, Event};

    #[test]
    fn a_record_has_stream_address_and_direction() {
        let read = [0x10 | 16 << 32, 1 << 35, 0x4020_0000, 0];
        let event = Event::parse(&read);
        assert_eq!((event.denied, event.stream), (Denied::Access, 16));
        assert_eq!((event.address, event.write), (0x4020_0000, false));
        assert!(Event::parse(&[0x13, 0, 0, 0]).write);
        let unknown = Event::parse(&[0x02 | 0x100 << 32, 0, 0, 0]);
        assert_eq!((unknown.denied, unknown.stream), (Denied::Stream, 0x100));
        assert_eq!(Event::parse(&[0x24, 0, 0, 0]).denied, Denied::Other(0x24));
    }
}
