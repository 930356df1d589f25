//! State of the virtual GIC of a VM, and its assigned interrupts.

mod deliver;
mod events;
mod frames;
mod refresh;
mod register_fast_path;
mod registers;
mod reset;
mod view;

pub use view::View;

use crate::bank::{Bank, Forwarded, NO_VCPU};
use crate::{Error, ListRegister, Maintenance, PhysicalGic, State};
use mortise_gicd::{PRIVATE, bits};

/// State of the list registers of a vCPU.
#[derive(Clone, Copy)]
pub(crate) struct LrState {
    /// Those in use, one bit each.
    pub used: u32,
    /// An active interrupt is in no list register.
    pub active_unlisted: bool,
    /// The requested maintenance interrupts.
    pub maintenance: Maintenance,
    /// Ends of interrupts in no list register that are not accounted for yet.
    pub eoi_count: usize,
    /// The published templates predate a write of the guest.
    pub templates_stale: bool,
    /// vCPUs to kick before the next guest entry, one bit each.
    pub deferred_kicks: u32,
}

impl LrState {
    pub const NONE: Self = Self {
        used: 0,
        active_unlisted: false,
        maintenance: Maintenance::NONE,
        eoi_count: 0,
        templates_stale: false,
        deferred_kicks: 0,
    };
}

/// The virtual GICv3 of one VM with up to `VCPUS` vCPUs (at most 8) and `ROWS` times 32 SPIs (at most 30
/// rows) from INTID 32 on.
pub struct VirtualGic<const VCPUS: usize, const ROWS: usize> {
    pub(crate) vcpus: usize,
    pub(crate) forwarded: Forwarded,
    pub(crate) private: [Bank; VCPUS],
    pub(crate) shared: [Bank; ROWS],
    /// Rows of SPIs with interrupts that may be pending or active, one bit each.
    pub(crate) busy: u32,
    pub(crate) lrs: [LrState; VCPUS],
    /// Key of the pulsed interrupt that was listed again last ([`pulse_key`]); zero after any other
    /// operation.
    pub(crate) last_pulse: u32,
}

impl<const VCPUS: usize, const ROWS: usize> Default for VirtualGic<VCPUS, ROWS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const VCPUS: usize, const ROWS: usize> VirtualGic<VCPUS, ROWS> {
    /// A virtual GIC without vCPUs, with SGIs only.
    #[must_use]
    pub const fn new() -> Self {
        const { assert!(VCPUS >= 1 && VCPUS <= 8, "a virtual GIC has 1 to 8 vCPUs") };
        const { assert!(ROWS <= 30, "the last SPI is INTID 1019") };
        let mut private = [const { Bank::private(0) }; VCPUS];
        let mut vcpu = 0;
        while vcpu < VCPUS {
            private[vcpu] = Bank::private(vcpu as u8);
            vcpu += 1;
        }
        Self {
            vcpus: 0,
            forwarded: Forwarded::NONE,
            private,
            shared: [const { Bank::shared() }; ROWS],
            busy: 0,
            lrs: [LrState::NONE; VCPUS],
            last_pulse: 0,
        }
    }

    /// Sets the number of vCPUs of the VM.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyVcpus`] if that is zero, or more than supported.
    pub fn set_vcpus(&mut self, vcpus: usize) -> Result<(), Error> {
        if vcpus == 0 || vcpus > VCPUS {
            return Err(Error::TooManyVcpus);
        }
        self.vcpus = vcpus;
        Ok(())
    }

    /// Assigns an emulated interrupt to the VM: an SPI, or a PPI on every vCPU.
    ///
    /// # Errors
    ///
    /// If there is no such interrupt, or it is assigned to the VM already.
    pub fn add_virtual(&mut self, intid: u32) -> Result<(), Error> {
        self.add(intid, false)
    }

    /// Assigns a physical interrupt to the VM, with the same INTID: an SPI, or a PPI on every vCPU. The
    /// caller ensures that no other VM owns it.
    ///
    /// # Errors
    ///
    /// If there is no such interrupt, or it is assigned to the VM already.
    pub fn add_hardware(&mut self, intid: u32) -> Result<(), Error> {
        self.add(intid, true)
    }

    fn add(&mut self, intid: u32, hardware: bool) -> Result<(), Error> {
        let banks = match intid {
            0..16 => return Err(Error::NoSuchInterrupt(intid)),
            16..PRIVATE => &mut self.private[..],
            _ => match self.shared.get_mut(row(intid)) {
                Some(bank) => core::slice::from_mut(bank),
                None => return Err(Error::NoSuchInterrupt(intid)),
            },
        };
        let mask = 1 << (intid % 32);
        for bank in banks {
            if bank.present & mask != 0 {
                return Err(Error::Taken(intid));
            }
            bank.present |= mask;
            if hardware {
                bank.hardware |= mask;
            }
        }
        Ok(())
    }

    /// The number of vCPUs.
    #[must_use]
    pub const fn vcpus(&self) -> usize {
        self.vcpus
    }

    /// Whether this interrupt is assigned to the VM and backed by hardware.
    #[must_use]
    pub fn is_hardware(&self, intid: u32) -> bool {
        self.bank(0, intid)
            .is_some_and(|bank| bank.hardware >> (intid % 32) & 1 != 0)
    }

    /// Whether an interrupt for this vCPU is pending in memory. To decide whether a vCPU may sleep, call
    /// [`save_lrs`](Self::save_lrs) first.
    #[must_use]
    pub fn has_pending(&self, vcpu: usize) -> bool {
        let Some(private) = self.private.get(vcpu) else {
            return false;
        };
        private.candidates(self.forwarded).0 != 0
            || bits(self.busy).any(|row| {
                let bank = &self.shared[row as usize];
                bits(bank.candidates(self.forwarded).0)
                    .any(|bit| usize::from(bank.owner(bit)) == vcpu)
            })
    }

    /// The bank of an interrupt as `vcpu` sees it, if both exist.
    #[inline]
    pub(crate) fn bank(&self, vcpu: usize, intid: u32) -> Option<&Bank> {
        if intid >= PRIVATE {
            self.shared.get(row(intid))
        } else if vcpu < self.vcpus {
            self.private.get(vcpu)
        } else {
            None
        }
    }

    /// The bank of an interrupt, mutably. A caller that sets an SPI pending or active must call
    /// [`mark_busy`](Self::mark_busy).
    #[inline]
    pub(crate) fn bank_mut(&mut self, vcpu: usize, intid: u32) -> Option<&mut Bank> {
        if intid >= PRIVATE {
            self.shared.get_mut(row(intid))
        } else if vcpu < self.vcpus {
            self.private.get_mut(vcpu)
        } else {
            None
        }
    }

    /// Marks the row of this interrupt busy, if it is an SPI.
    #[inline]
    pub(crate) fn mark_busy(&mut self, intid: u32) {
        if intid >= PRIVATE {
            self.busy |= 1 << row(intid);
        }
    }

    /// Whether list register 0 is reserved for templates. An interrupt injected by a template has no state
    /// in memory, so its list register may be overwritten after its end; others may not.
    #[inline]
    pub(crate) fn reserves_lr0(&self, vcpu: usize, list_registers: usize) -> bool {
        list_registers > 1
            && self
                .private
                .get(vcpu)
                .is_some_and(|bank| bank.hardware != 0)
    }

    /// Publishes the templates of these private interrupts, if they are backed by hardware. There are no
    /// templates while interrupts wait in memory, as some may be more urgent.
    pub(crate) fn publish_templates(
        &self,
        vcpu: usize,
        word: u32,
        physical: &mut impl PhysicalGic,
    ) {
        let Some(bank) = self.private.get(vcpu) else {
            return;
        };
        let lrs = self.lrs.get(vcpu);
        let nothing_waits = lrs.is_some_and(|lrs| lrs.maintenance == Maintenance::NONE);
        let direct = if nothing_waits && self.reserves_lr0(vcpu, physical.list_registers()) {
            bank.enabled & self.forwarded.mask(bank.group)
        } else {
            0
        };
        for bit in bits(word & bank.hardware) {
            let template = if direct >> bit & 1 != 0 {
                let group1 = bank.group >> bit & 1 != 0;
                ListRegister::new(bit, bank.priority(bit), group1, State::Pending)
                    .with_hardware(bit)
            } else {
                ListRegister::EMPTY
            };
            physical.set_template(bit, vcpu, template);
        }
    }

    /// The vCPU that is the target of an operation on a physical interrupt.
    #[inline]
    pub(crate) fn physical_target(&self, vcpu: usize, intid: u32) -> usize {
        if intid < PRIVATE {
            return vcpu;
        }
        match self
            .bank(vcpu, intid)
            .map_or(NO_VCPU, |bank| bank.route(intid % 32))
        {
            NO_VCPU => 0,
            route => usize::from(route),
        }
    }
}

/// Key of an SPI in a list register of a vCPU; never zero.
#[inline]
pub(crate) const fn pulse_key(vcpu: usize, index: u32, intid: u32) -> u32 {
    (vcpu as u32) << 24 | index << 16 | intid
}

/// The index of an SPI's bank.
#[inline]
pub(crate) const fn row(intid: u32) -> usize {
    (intid / 32).wrapping_sub(1) as usize
}
