//! The state of 32 interrupts.

use crate::{ListRegister, State};
use mortise_gicd::{PRIVATE, bits};

/// An interrupt routed to nobody: its affinity names no vCPU.
pub(crate) const NO_VCPU: u8 = 0xff;

/// GICv3 offers at least 16 levels of priority to a virtual CPU interface, QEMU and Arm's cores 32:
/// the low three bits are RES0 (section 4.8).
const PRIORITY_BITS: u8 = 0xf8;

/// Interrupts whose owners are looked up one by one: some ten instructions each.
const LOOKED_UP: usize = 2;

/// The SGIs of a bank of private interrupts.
pub(crate) const SGIS: u32 = 0xffff;

/// 32 interrupts, bit by bit: the private ones of a vCPU, or a row of shared ones.
///
/// An interrupt is in memory or *listed*, that is, in a list register of `holder`. Being listed as
/// pending takes it out of `latch`; `soft` remembers that it came from there. So a new edge is
/// told from the one on its way, and a level that fell leaves nothing behind.
pub(crate) struct Bank {
    /// Given to the VM; nothing else in here is ever set for the others.
    pub present: u32,
    /// Backed by the physical interrupt of the same INTID.
    pub hardware: u32,
    /// In Group 1.
    pub group: u32,
    /// Enabled by the guest.
    pub enabled: u32,
    /// Pending by an edge or by a write; for hardware: acknowledged at EL2, physically active.
    pub latch: u32,
    /// Level of the virtual line.
    pub line: u32,
    /// Edge-triggered, not level-sensitive.
    pub edge: u32,
    /// Taken and not ended; as of the holder's last exit if listed.
    pub active: u32,
    /// In a list register of its holder.
    pub listed: u32,
    /// Listed, and pending from the latch.
    pub from_latch: u32,
    priority: [u8; 32],
    route: [u8; 32],
    holder: [u8; 32],
}

impl Bank {
    /// Group 1 from the start, as no guest here has a secure side that would set this up.
    const fn new(present: u32, edge: u32, route: u8) -> Self {
        Self {
            present,
            hardware: 0,
            group: u32::MAX,
            enabled: 0,
            latch: 0,
            line: 0,
            edge,
            active: 0,
            listed: 0,
            from_latch: 0,
            priority: [0; 32],
            route: [route; 32],
            holder: [route; 32],
        }
    }

    /// The SGIs and PPIs of a vCPU: SGIs always exist and are edge-triggered (section 4.1).
    pub const fn private(vcpu: u8) -> Self {
        Self::new(SGIS, SGIS, vcpu)
    }

    /// A row of SPIs, routed to vCPU 0.
    pub const fn shared() -> Self {
        Self::new(0, 0, 0)
    }

    /// Back to the state of power-on, keeping what was given to the VM.
    pub fn reset(&mut self, edge: u32, route: u8) {
        // Field by field: a bank is large to be moved.
        self.group = u32::MAX;
        self.enabled = 0;
        self.latch = 0;
        self.line = 0;
        self.edge = edge;
        self.active = 0;
        self.listed = 0;
        self.from_latch = 0;
        self.priority = [0; 32];
        self.route = [route; 32];
        self.holder = [route; 32];
    }

    /// Pending in memory.
    #[inline]
    pub fn pending(&self) -> u32 {
        self.latch | self.line & !self.edge
    }

    /// What may be in a list register, of the bank whose first interrupt is `first`: a template may
    /// have put private ones of the hardware there.
    #[inline]
    pub fn maybe_listed(&self, first: u32) -> u32 {
        self.listed | if first < PRIVATE { self.hardware } else { 0 }
    }

    /// Interrupts a vCPU may have to hold, of those in groups that are `forwarded`: to be taken
    /// (first), or taken (second).
    #[inline]
    pub fn candidates(&self, forwarded: Forwarded) -> (u32, u32) {
        let here = !self.listed;
        let groups = forwarded.mask(self.group);
        (
            self.pending() & self.enabled & groups & here,
            self.active & here,
        )
    }

    #[inline]
    pub fn priority(&self, bit: u32) -> u8 {
        self.priority[bit as usize % 32]
    }

    /// Whether an interrupt is the VM's and this would be another priority.
    #[inline]
    pub fn differs(&self, bit: u32, priority: u8) -> bool {
        self.present >> bit & 1 != 0 && self.priority(bit) != priority & PRIORITY_BITS
    }

    #[inline]
    pub fn set_priority(&mut self, bit: u32, priority: u8) {
        self.priority[bit as usize % 32] = priority & PRIORITY_BITS;
    }

    #[inline]
    pub fn route(&self, bit: u32) -> u8 {
        self.route[bit as usize % 32]
    }

    #[inline]
    pub fn set_route(&mut self, bit: u32, vcpu: u8) {
        self.route[bit as usize % 32] = vcpu;
    }

    /// The vCPU that has the interrupt, or would get it.
    #[inline]
    pub fn owner(&self, bit: u32) -> u8 {
        if (self.listed | self.active) >> bit & 1 != 0 {
            self.holder[bit as usize % 32]
        } else {
            self.route(bit)
        }
    }

    /// The owners of these interrupts, one bit each; of several, perhaps others as well: to look each
    /// of them up takes longer than to tell somebody in vain.
    pub fn owners(&self, word: u32) -> u32 {
        let mut owners = 0;
        for (number, bit) in bits(word).enumerate() {
            if number == LOOKED_UP {
                return u32::MAX;
            }
            owners |= bit_of(self.owner(bit));
        }
        owners
    }

    /// Makes an interrupt active, if it was not on the vCPU it is routed to.
    pub fn activate(&mut self, bit: u32) {
        if self.active >> bit & 1 == 0 {
            self.holder[bit as usize % 32] = self.route(bit);
        }
        self.active |= 1 << bit;
    }

    /// In which state an interrupt would be listed by `vcpu`, of those that are `ready` to be
    /// taken or `active` ones.
    #[inline]
    pub fn state(&self, bit: u32, vcpu: u8, ready: u32, active: u32) -> State {
        let again = ready & self.edge & !self.hardware;
        if active >> bit & 1 == 0 {
            State::Pending
        } else if again >> bit & 1 != 0 && self.route(bit) == vcpu {
            State::PendingActive
        } else {
            // Hardware holds back what is active by itself. A level, or what goes elsewhere next
            // time, is looked at again at the end.
            State::Active
        }
    }

    /// The interrupt `first + bit` moves into a list register of `vcpu`.
    #[inline]
    pub fn list(&mut self, first: u32, bit: u32, vcpu: u8, state: State) -> ListRegister {
        let mask = 1 << bit;
        self.listed |= mask;
        self.holder[bit as usize % 32] = vcpu;
        if state != State::Active {
            self.from_latch |= self.latch & mask;
            self.latch &= !mask;
        }
        let value = ListRegister::new(
            first + bit,
            self.priority(bit),
            self.group & mask != 0,
            state,
        );
        if self.hardware & mask != 0 {
            value.with_hardware(first + bit)
        } else if self.pending() & mask != 0 {
            value.with_eoi_maintenance()
        } else {
            value
        }
    }

    /// Whether an interrupt that is listed by this vCPU would be the next time.
    #[inline]
    pub fn stays_on(&self, bit: u32, vcpu: u8) -> bool {
        let bit = bit as usize % 32;
        self.holder[bit] == vcpu && self.route[bit] == vcpu
    }

    /// The interrupt that is listed came once more and is listed where it was: as if by
    /// [`arrive`](Self::arrive) of hardware or by its latch, and [`list`](Self::list).
    #[inline]
    pub fn relist(&mut self, bit: u32) {
        let mask = 1 << bit;
        debug_assert!(self.latch & mask == 0, "what is listed is in no latch");
        self.active &= !mask;
        self.from_latch |= mask;
    }

    /// The interrupt comes back out of a list register of `vcpu`. False if it was not its to
    /// hold any more.
    pub fn unlist(&mut self, value: ListRegister, vcpu: u8, shared: bool) -> bool {
        let bit = value.intid() % 32;
        let mask = 1 << bit;
        let listed = self.listed & mask != 0;
        if shared && !(listed && self.holder[bit as usize] == vcpu) {
            return false;
        }
        if value.is_pending() {
            // What is not listed was injected by its template, which is as good as a latch.
            self.latch |= if listed { self.from_latch & mask } else { mask };
        }
        self.from_latch &= !mask;
        self.listed &= !mask;
        if value.is_active() {
            self.active |= mask;
            self.holder[bit as usize] = vcpu;
        } else {
            self.active &= !mask;
        }
        true
    }

    /// A physical interrupt arrived: whatever is known of an earlier one is out of date, because
    /// the GIC does not signal what is active.
    pub fn record_arrival(&mut self, bit: u32) {
        let mask = 1 << bit;
        self.listed &= !mask;
        self.from_latch &= !mask;
        self.active &= !mask;
        self.latch |= mask;
    }
}

/// A vCPU as one of a word with one bit each; nobody has none.
#[inline]
pub(crate) const fn bit_of(vcpu: u8) -> u32 {
    match 1u32.checked_shl(vcpu as u32) {
        Some(bit) => bit,
        None => 0,
    }
}

/// Which groups the distributor forwards, each all ones or zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forwarded {
    zero: u32,
    one: u32,
}

impl Forwarded {
    pub const NONE: Self = Self { zero: 0, one: 0 };

    /// What GICD_CTLR says of it in bits 0 and 1.
    pub const fn of(control: u64) -> Self {
        Self {
            zero: (control & 1) as u32 * u32::MAX,
            one: (control >> 1 & 1) as u32 * u32::MAX,
        }
    }

    /// These bits of GICD_CTLR.
    pub const fn control(self) -> u64 {
        (self.zero & 1 | self.one & 2) as u64
    }

    /// Of interrupts with these Group 1 bits, those forwarded.
    #[inline]
    pub const fn mask(self, group1: u32) -> u32 {
        self.zero & !group1 | self.one & group1
    }
}
