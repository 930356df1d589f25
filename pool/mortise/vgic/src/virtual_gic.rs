//! A VM's interrupt controller: what there is, and what belongs to whom.

use crate::bank::{Bank, Forwarded, NO_VCPU};
use crate::{ListRegister, Maintenance, PhysicalGic, State};
use mortise_gicd::{PRIVATE, bits};

/// Why a VM's interrupt controller cannot be as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// More vCPUs than there is room for, or none.
    TooManyVcpus,
    /// The interrupt is an SGI, or beyond the last SPI there is room for.
    NoSuchInterrupt(u32),
    /// The VM has the interrupt already.
    Taken(u32),
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::TooManyVcpus => write!(f, "the virtual GIC has no room for so many vCPUs"),
            Self::NoSuchInterrupt(intid) => write!(f, "no interrupt {intid} can be given to a VM"),
            Self::Taken(intid) => write!(f, "the VM has interrupt {intid} already"),
        }
    }
}

/// What is known of a vCPU's list registers.
#[derive(Clone, Copy)]
pub(crate) struct LrState {
    /// Those in use, one bit each.
    pub used: u32,
    /// An active interrupt found no room in them.
    pub active_unlisted: bool,
    /// What was asked of the maintenance interrupt.
    pub maintenance: Maintenance,
    /// Ends of absent ones that are not accounted for yet.
    pub eoi_count: usize,
    /// Templates were handed out before the guest wrote what they follow from.
    pub templates_stale: bool,
    /// vCPUs that are yet to hear of what this one did, one bit each.
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

/// The virtual GICv3 of one VM with up to `VCPUS` vCPUs (at most 8) and `ROWS` times 32 SPIs
/// (at most 30), the first of them INTID 32.
pub struct VirtualGic<const VCPUS: usize, const ROWS: usize> {
    pub(crate) vcpus: usize,
    pub(crate) forwarded: Forwarded,
    pub(crate) private: [Bank; VCPUS],
    pub(crate) shared: [Bank; ROWS],
    /// Rows of SPIs in which something may be pending or active, one bit each.
    pub(crate) busy: u32,
    pub(crate) lrs: [LrState; VCPUS],
    /// The pulsed interrupt that was listed again last, as [`again`] has it, if nothing but that was
    /// done since; else zero.
    pub(crate) last_pulse: u32,
}

impl<const VCPUS: usize, const ROWS: usize> Default for VirtualGic<VCPUS, ROWS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const VCPUS: usize, const ROWS: usize> VirtualGic<VCPUS, ROWS> {
    /// An interrupt controller without vCPUs and without interrupts but the SGIs.
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
    /// [`Error::TooManyVcpus`] if that is none, or more than there is room for.
    pub fn set_vcpus(&mut self, vcpus: usize) -> Result<(), Error> {
        if vcpus == 0 || vcpus > VCPUS {
            return Err(Error::TooManyVcpus);
        }
        self.vcpus = vcpus;
        Ok(())
    }

    /// Gives the VM an emulated interrupt: an SPI, or a PPI on every vCPU.
    ///
    /// # Errors
    ///
    /// If there is no such interrupt, or the VM has it already.
    pub fn add_virtual(&mut self, intid: u32) -> Result<(), Error> {
        self.add(intid, false)
    }

    /// Gives the VM a physical interrupt, which has the same INTID there: an SPI, or a PPI on
    /// every vCPU. That no other VM has it is for the caller to see to.
    ///
    /// # Errors
    ///
    /// If there is no such interrupt, or the VM has it already.
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

    /// Whether the VM was given this interrupt as one that hardware backs.
    #[must_use]
    pub fn is_hardware(&self, intid: u32) -> bool {
        self.bank(0, intid)
            .is_some_and(|bank| bank.hardware >> (intid % 32) & 1 != 0)
    }

    /// Whether an interrupt waits to be taken by this vCPU, list registers aside: call after
    /// [`leave`](Self::leave), to decide whether a vCPU may sleep.
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

    /// The same, to change it. Whoever makes an SPI pending or active says so with
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

    /// Delivery has to look at the row of this interrupt, if it is an SPI.
    #[inline]
    pub(crate) fn mark_busy(&mut self, intid: u32) {
        if intid >= PRIVATE {
            self.busy |= 1 << row(intid);
        }
    }

    /// Whether list register 0 is kept for templates. What a template puts there has no state in
    /// memory, so once ended it may be overwritten, which no other may.
    #[inline]
    pub(crate) fn reserves_lr0(&self, vcpu: usize, list_registers: usize) -> bool {
        list_registers > 1
            && self
                .private
                .get(vcpu)
                .is_some_and(|bank| bank.hardware != 0)
    }

    /// Hands out the ready-made list registers of these private interrupts, as far as hardware
    /// backs them. There are none while interrupts wait in memory: some may be more urgent.
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

    /// The vCPU an effect on a physical interrupt is reported for.
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

/// An SPI and whose list register it is in, the first excepted.
#[inline]
pub(crate) const fn pulse_key(vcpu: usize, index: u32, intid: u32) -> u32 {
    (vcpu as u32) << 24 | index << 16 | intid
}

/// The index of an SPI's bank.
#[inline]
pub(crate) const fn row(intid: u32) -> usize {
    (intid / 32).wrapping_sub(1) as usize
}
