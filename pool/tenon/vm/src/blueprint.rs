//! Descriptor of a VM to create.

/// Guest address of a VM's RAM.
pub const RAM: u64 = 0x4000_0000;

/// Size of a descriptor, and offsets of its fields (`docs/lifecycle.md`).
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

/// Window of a VM without areas: status page and log ring.
const LEAST_WINDOW: u64 = 0x1_2000;
/// Default priority of a Tenon VM.
const DEFAULT_PRIORITY: u8 = 32;

/// A descriptor in the format of Mortise. [`Vm::create`](crate::Vm::create) validates it.
#[derive(Clone, Debug)]
#[repr(C, align(256))]
pub struct Blueprint {
    bytes: [u8; SIZE],
}

impl Blueprint {
    /// A VM with this name and memory size, with one vCPU on each of these cores. It is entered at
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

    /// Sets the entry address and the value of x0 at the entry.
    #[must_use]
    pub fn entry(mut self, entry: u64, argument: u64) -> Self {
        self.put(ENTRY, &entry.to_le_bytes());
        self.put(ARGUMENT, &argument.to_le_bytes());
        self
    }

    /// Sets the size of the window from the status page on: beyond the first 2 MiB it contains
    /// areas, private memory of the VM.
    #[must_use]
    pub fn window(mut self, bytes: u64) -> Self {
        self.put(WINDOW, &bytes.to_le_bytes());
        self
    }

    /// Sets the priority, from 0, the background, to 63.
    #[must_use]
    pub fn priority(mut self, priority: u8) -> Self {
        self.put(PRIORITY, &[priority]);
        self
    }

    /// Sets a reservation: a budget per period in nanoseconds.
    #[must_use]
    pub fn reserve(mut self, budget: u64, period: u64) -> Self {
        self.put(BUDGET, &budget.to_le_bytes());
        self.put(PERIOD, &period.to_le_bytes());
        self
    }

    /// Writes a byte at any offset, for tests of Mortise's validation.
    #[must_use]
    pub fn corrupt(mut self, at: usize, value: u8) -> Self {
        self.put(at, &[value]);
        self
    }

    /// The encoded descriptor.
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
        assert_eq!(blueprint.corrupt(255, 3).bytes()[255], 3);
    }
}
