//! Interrupts and CPUs that a VM with direct interrupts owns.

mod fast_path;
mod mediate;

use crate::{PRIVATE, bits};

/// Error of an assignment of vCPUs or an interrupt to a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Zero vCPUs, or more than supported.
    TooManyVcpus,
    /// The interrupt is an SGI, or beyond the last supported SPI.
    NoSuchInterrupt(u32),
    /// The interrupt is assigned to the VM already.
    Taken(u32),
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::TooManyVcpus => {
                write!(f, "its interrupt controller has no room for so many vCPUs")
            }
            Self::NoSuchInterrupt(intid) => write!(f, "no interrupt {intid} can be given to a VM"),
            Self::Taken(intid) => write!(f, "the VM has interrupt {intid} already"),
        }
    }
}

/// A physical CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// Number of its redistributor in [`PhysicalFrame`](crate::PhysicalFrame).
    pub number: usize,
    /// Its affinity in the layout of MPIDR_EL1 and GICD_IROUTER: Aff3 in bits 39:32, Aff2 to Aff0
    /// in 23:0.
    pub affinity: u64,
}

/// Interrupts and CPUs of a VM with direct interrupts: up to `VCPUS` CPUs (at most 8), the private
/// interrupts, and `ROWS` times 32 SPIs (at most 30 rows) from INTID 32 on.
pub struct OwnedInterrupts<const VCPUS: usize, const ROWS: usize> {
    pub(crate) cpus: [Cpu; VCPUS],
    vcpus: usize,
    pub(crate) private: u32,
    shared: [u32; ROWS],
}

impl<const VCPUS: usize, const ROWS: usize> OwnedInterrupts<VCPUS, ROWS> {
    /// A VM without CPUs, which owns all SGIs except the doorbell's.
    #[must_use]
    pub const fn new(doorbell_sgi: u32) -> Self {
        const { assert!(VCPUS >= 1 && VCPUS <= 8, "a VM has 1 to 8 vCPUs") };
        const { assert!(ROWS <= 30, "the last SPI is INTID 1019") };
        Self {
            cpus: [Cpu {
                number: 0,
                affinity: 0,
            }; VCPUS],
            vcpus: 0,
            private: 0xffff & !(1 << (doorbell_sgi & 0xf)),
            shared: [0; ROWS],
        }
    }

    /// Sets the physical CPUs: vCPU `i` is pinned to the `i`-th.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyVcpus`] if there are none, or more than supported.
    pub fn set_cpus(&mut self, cpus: &[Cpu]) -> Result<(), Error> {
        if cpus.is_empty() || cpus.len() > VCPUS {
            return Err(Error::TooManyVcpus);
        }
        self.vcpus = cpus.len();
        self.cpus[..cpus.len()].copy_from_slice(cpus);
        Ok(())
    }

    /// Assigns an interrupt to the VM: an SPI, or a PPI on each of its CPUs. The caller ensures that
    /// neither another VM nor the hypervisor owns it.
    ///
    /// # Errors
    ///
    /// If there is no such interrupt, or the VM owns it already.
    pub fn add(&mut self, intid: u32) -> Result<(), Error> {
        let word = match intid {
            0..16 => return Err(Error::NoSuchInterrupt(intid)),
            16..PRIVATE => &mut self.private,
            _ => self
                .shared
                .get_mut(intid as usize / 32 - 1)
                .ok_or(Error::NoSuchInterrupt(intid))?,
        };
        let mask = 1 << (intid % 32);
        if *word & mask != 0 {
            return Err(Error::Taken(intid));
        }
        *word |= mask;
        Ok(())
    }

    /// The physical CPUs, in the order of the vCPUs.
    #[must_use]
    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus[..self.vcpus.min(self.cpus.len())]
    }

    /// The SGIs and PPIs that the VM owns on each of its CPUs, one bit each; they are disabled when
    /// it stops.
    #[must_use]
    pub const fn private(&self) -> u32 {
        self.private
    }

    /// The SPIs that the VM owns.
    pub fn shared(&self) -> impl Iterator<Item = u32> {
        (1..)
            .zip(self.shared)
            .flat_map(|(row, word)| bits(word).map(move |bit| row * 32 + bit))
    }

    /// The interrupts that the VM owns among the 32 from `first`, one bit each.
    #[inline]
    pub(crate) fn owned(&self, first: u32) -> u32 {
        if first < PRIVATE {
            self.private
        } else {
            self.shared_row(first as usize / 32 - 1)
        }
    }

    #[inline(always)]
    pub(crate) fn shared_row(&self, index: usize) -> u32 {
        self.shared.get(index).copied().unwrap_or(0)
    }
}
