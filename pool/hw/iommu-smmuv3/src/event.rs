//! Events (IHI 0070, 7.3).

/// What was denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// An access to an address: nothing is mapped there, or not for this.
    Access,
    /// A stream that nothing is known of.
    Stream,
    /// Something else, by the number of its event.
    Other(u8),
}

/// A record of what was denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What it was.
    pub denied: Denied,
    /// Who wanted it: of PCI, bus, device and function.
    pub stream: u32,
    /// Where, as the device has it.
    pub address: u64,
    /// Whether it was to be written there.
    pub write: bool,
}

/// A record as it stands in the queue.
pub(crate) type Record = [u64; 4];

impl Event {
    /// What a record says.
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
    fn a_record_says_who_where_and_what() {
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
