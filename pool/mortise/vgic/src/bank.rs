//! State of a bank of 32 interrupts.

use crate::{ListRegister, State};
use mortise_gicd::{PRIVATE, bits};

/// The route of an interrupt with an affinity that matches no vCPU.
pub(crate) const NO_VCPU: u8 = 0xff;

/// Implemented priority bits. A virtual CPU interface of GICv3 has at least 16 priority levels, those of
/// QEMU and Arm's cores have 32: the low three bits are RES0 (section 4.8).
const PRIORITY_BITS: u8 = 0xf8;

/// Number of interrupts with owners that are looked up one by one, at about ten instructions each.
const LOOKED_UP: usize = 2;

/// The SGIs of a bank of private interrupts.
pub(crate) const SGIS: u32 = 0xffff;

/// State of 32 interrupts, one bit each: the private ones of a vCPU, or a row of shared ones.
///
/// An interrupt is in memory or *listed*, that is, in a list register of `holder`. Listing it as pending
/// clears its `latch` and sets `from_latch`. So a new edge is distinguished from the one in the list
/// register, and a level that falls leaves no pending state.
pub(crate) struct Bank {
    /// Assigned to the VM. All other fields stay zero for the others.
    pub present: u32,
    /// Backed by the physical interrupt of the same INTID.
    pub hardware: u32,
    /// In Group 1.
    pub group: u32,
    /// Enabled by the guest.
    pub enabled: u32,
    /// Pending by an edge or by a write; for hardware: acknowledged at EL2 and physically active.
    pub latch: u32,
    /// Level of the virtual line.
    pub line: u32,
    /// Edge-triggered, not level-sensitive.
    pub edge: u32,
    /// Active; as of the last exit of the holder if listed.
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
    /// Initially in Group 1, as no guest has a secure state that would configure the group.
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

    /// The SGIs and PPIs of a vCPU. SGIs always exist and are edge-triggered (section 4.1).
    pub const fn private(vcpu: u8) -> Self {
        Self::new(SGIS, SGIS, vcpu)
    }

    /// A row of SPIs, routed to vCPU 0.
    pub const fn shared() -> Self {
        Self::new(0, 0, 0)
    }

    /// Resets to the state after power-on. Interrupts stay assigned to the VM.
    pub fn reset(&mut self, edge: u32, route: u8) {
        // Field by field, to avoid the move of a large value.
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

    /// Interrupts that may be in a list register, for the bank of `first`: those listed, and private ones
    /// backed by hardware, which the template may have injected.
    #[inline]
    pub fn maybe_listed(&self, first: u32) -> u32 {
        self.listed | if first < PRIVATE { self.hardware } else { 0 }
    }

    /// Interrupts in memory that a vCPU may have to list: pending and enabled ones of `forwarded` groups
    /// (first), and active ones (second).
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

    /// Whether the VM owns the interrupt and `priority` differs from its priority.
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

    /// The vCPU that holds the interrupt, or else its target.
    #[inline]
    pub fn owner(&self, bit: u32) -> u8 {
        if (self.listed | self.active) >> bit & 1 != 0 {
            self.holder[bit as usize % 32]
        } else {
            self.route(bit)
        }
    }

    /// The owners of these interrupts, one bit each. For more than [`LOOKED_UP`] interrupts, all vCPUs: a
    /// superfluous kick costs less than the lookups.
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

    /// Activates an interrupt, on its target unless it is active already.
    pub fn activate(&mut self, bit: u32) {
        if self.active >> bit & 1 == 0 {
            self.holder[bit as usize % 32] = self.route(bit);
        }
        self.active |= 1 << bit;
    }

    /// The state in which `vcpu` lists an interrupt, given the `ready` (pending) and `active` ones.
    #[inline]
    pub fn state(&self, bit: u32, vcpu: u8, ready: u32, active: u32) -> State {
        let again = ready & self.edge & !self.hardware;
        if active >> bit & 1 == 0 {
            State::Pending
        } else if again >> bit & 1 != 0 && self.route(bit) == vcpu {
            State::PendingActive
        } else {
            // The physical GIC does not signal what is active. A level, or an interrupt with another
            // target, is evaluated again at its end.
            State::Active
        }
    }

    /// Moves the interrupt `first + bit` to a list register of `vcpu`. Returns the value.
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

    /// Whether an interrupt is held by this vCPU and is routed to it.
    #[inline]
    pub fn stays_on(&self, bit: u32, vcpu: u8) -> bool {
        let bit = bit as usize % 32;
        self.holder[bit] == vcpu && self.route[bit] == vcpu
    }

    /// Lists an ended interrupt that is pending again in the same list register, with the effect of
    /// [`record_arrival`](Self::record_arrival) or of its latch, and [`list`](Self::list).
    #[inline]
    pub fn relist(&mut self, bit: u32) {
        let mask = 1 << bit;
        debug_assert!(self.latch & mask == 0, "a listed interrupt is not latched");
        self.active &= !mask;
        self.from_latch |= mask;
    }

    /// Saves an interrupt from a list register of `vcpu`. Returns false if another vCPU holds it by now.
    pub fn unlist(&mut self, value: ListRegister, vcpu: u8, shared: bool) -> bool {
        let bit = value.intid() % 32;
        let mask = 1 << bit;
        let listed = self.listed & mask != 0;
        if shared && !(listed && self.holder[bit as usize] == vcpu) {
            return false;
        }
        if value.is_pending() {
            // An interrupt that is not listed was injected by its template, which counts as a latch.
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

    /// Records the arrival of a physical interrupt. The state of an earlier one is obsolete, because the
    /// GIC does not signal an active interrupt.
    pub fn record_arrival(&mut self, bit: u32) {
        let mask = 1 << bit;
        self.listed &= !mask;
        self.from_latch &= !mask;
        self.active &= !mask;
        self.latch |= mask;
    }
}

/// The bit of a vCPU in a set; zero for [`NO_VCPU`].
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

    /// From bits 0 and 1 of GICD_CTLR.
    pub const fn of(control: u64) -> Self {
        Self {
            zero: (control & 1) as u32 * u32::MAX,
            one: (control >> 1 & 1) as u32 * u32::MAX,
        }
    }

    /// As bits 0 and 1 of GICD_CTLR.
    pub const fn control(self) -> u64 {
        (self.zero & 1 | self.one & 2) as u64
    }

    /// The forwarded interrupts, given the Group 1 bits.
    #[inline]
    pub const fn mask(self, group1: u32) -> u32 {
        self.zero & !group1 | self.one & group1
    }
}
