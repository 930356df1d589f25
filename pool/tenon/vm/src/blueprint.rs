//! What a virtual machine is to be like.

/// Where a virtual machine sees its RAM.
pub const RAM: u64 = 0x4000_0000;

/// Bytes of a blueprint, and their places (`docs/lifecycle.md`).
const SIZE: usize = 256;
const NAME: usize = 0x08;
const MEMORY: usize = 0x28;
const WINDOW: usize = 0x30;
const ENTRY: usize = 0x38;
const ARGUMENT: usize = 0x40;
const VCPUS: usize = 0x48;
const CPUS: usize = 0x49;
const PRIORITY: usize = 0x51;
const BUDGET: usize = 0x58;
const PERIOD: usize = 0x60;

/// The window of one that has no areas: status page and log ring.
const LEAST_WINDOW: u64 = 0x1_2000;
/// The priority of a Tenon VM that is told none.
const DEFAULT_PRIORITY: u8 = 32;

/// A description that Mortise understands. What makes no sense is found out by
/// [`Vm::create`](crate::Vm::create).
#[derive(Clone, Debug)]
#[repr(C, align(256))]
pub struct Blueprint {
    bytes: [u8; SIZE],
}

impl Blueprint {
    /// One of this name, of so many bytes of memory, with a vCPU on each of these cores. It starts at
    /// [`RAM`].
    #[must_use]
    pub fn new(name: &str, memory: u64, cpus: &[u8]) -> Self {
        let mut this = Self { bytes: [0; SIZE] };
        this.put(0, b"TVM1\x01");
        this.put(
            NAME,
            name.as_bytes().get(..name.len().min(31)).unwrap_or(&[]),
        );
        this.put(MEMORY, &memory.to_le_bytes());
        this.put(WINDOW, &LEAST_WINDOW.to_le_bytes());
        this.put(VCPUS, &[u8::try_from(cpus.len()).unwrap_or(0)]);
        this.put(CPUS, &[0xff; 8]);
        this.put(CPUS, cpus.get(..cpus.len().min(8)).unwrap_or(&[]));
        this.put(PRIORITY, &[DEFAULT_PRIORITY]);
        this.entry(RAM, 0)
    }

    /// Has it start at another address, with this in x0.
    #[must_use]
    pub fn entry(mut self, entry: u64, argument: u64) -> Self {
        self.put(ENTRY, &entry.to_le_bytes());
        self.put(ARGUMENT, &argument.to_le_bytes());
        self
    }

    /// Has it see so many bytes from its status page on: what is beyond the first 2 MiB is its areas,
    /// memory of its own.
    #[must_use]
    pub fn window(mut self, bytes: u64) -> Self {
        self.put(WINDOW, &bytes.to_le_bytes());
        self
    }

    /// Has it be as urgent as this, from 0, the background, to 63.
    #[must_use]
    pub fn priority(mut self, priority: u8) -> Self {
        self.put(PRIORITY, &[priority]);
        self
    }

    /// Promises and keeps it to so many nanoseconds in each period.
    #[must_use]
    pub fn reserve(mut self, budget: u64, period: u64) -> Self {
        self.put(BUDGET, &budget.to_le_bytes());
        self.put(PERIOD, &period.to_le_bytes());
        self
    }

    /// Writes a byte where it likes, for those who try Mortise.
    #[must_use]
    pub fn spoil(mut self, at: usize, value: u8) -> Self {
        self.put(at, &[value]);
        self
    }

    /// As Mortise reads it.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; SIZE] {
        &self.bytes
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        for (to, from) in self.bytes.iter_mut().skip(at).zip(bytes) {
            *to = *from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Blueprint;

    #[test]
    fn fields_are_where_mortise_looks() {
        let blueprint = Blueprint::new("job", 4 << 20, &[2, 1])
            .entry(0x4008_0000, 7)
            .priority(9)
            .reserve(1, 2);
        let bytes = blueprint.bytes();
        assert_eq!(&bytes[..12], b"TVM1\x01\0\0\0job\0");
        assert_eq!(bytes[0x28..0x30], (4u64 << 20).to_le_bytes());
        assert_eq!(bytes[0x38..0x40], 0x4008_0000u64.to_le_bytes());
        assert_eq!(bytes[0x40], 7);
        assert_eq!(
            bytes[0x48..0x52],
            [2, 2, 1, 255, 255, 255, 255, 255, 255, 9]
        );
        assert_eq!((bytes[0x58], bytes[0x60]), (1, 2));
        assert_eq!(blueprint.spoil(255, 3).bytes()[255], 3);
    }
}
