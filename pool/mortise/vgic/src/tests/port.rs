//! Interface of the virtual GIC to the hardware model, from one core.

use super::machine::*;
use crate::*;
use std::cell::Cell;

/// The physical interrupt controller, seen from the core `me`.
pub struct Port<'a> {
    pub me: usize,
    pub cores: &'a mut [Core],
    pub effects: &'a mut Vec<Effect>,
    pub shared: bool,
    pub yield_pattern: &'a Cell<u64>,
    pub refresh_deferred: &'a mut bool,
    pub list_registers: usize,
}

impl Port<'_> {
    fn source(&mut self, intid: u32, vcpu: usize) -> &mut Source {
        let core = if intid < 32 { vcpu } else { 0 };
        &mut self.cores[core].sources[intid as usize]
    }
}

impl PhysicalGic for Port<'_> {
    fn list_registers(&self) -> usize {
        self.list_registers
    }
    fn read_lr(&self, index: usize) -> ListRegister {
        self.cores[self.me].lists[index]
    }
    fn write_lr(&mut self, index: usize, value: ListRegister) {
        assert!(!value.is_hardware() || value.state() != State::PendingActive);
        self.cores[self.me].lists[index] = value;
    }
    fn take_eoi_count(&mut self) -> usize {
        std::mem::take(&mut self.cores[self.me].eoi_count)
    }
    fn set_maintenance(&mut self, wanted: Maintenance) {
        self.cores[self.me].maintenance = wanted;
    }
    fn kick(&mut self, vcpu: usize) {
        self.cores[vcpu].kicked = true;
    }
    fn should_yield(&self) -> bool {
        let yield_pattern = self.yield_pattern.get();
        self.yield_pattern.set(yield_pattern >> 1);
        yield_pattern & 1 != 0
    }
    fn defer_refresh(&mut self) -> bool {
        *self.refresh_deferred |= self.shared;
        self.shared
    }
    fn enable(&mut self, intid: u32, vcpu: usize, enabled: bool) {
        self.effects.push(Effect::Enable(intid, vcpu, enabled));
        self.source(intid, vcpu).enabled = enabled;
    }
    fn set_pending(&mut self, intid: u32, vcpu: usize, pending: bool) {
        self.effects.push(Effect::Pending(intid, vcpu, pending));
        self.source(intid, vcpu).pending = pending;
    }
    fn pending_word(&self, first: u32, vcpu: usize) -> u32 {
        let core = if first < 32 { vcpu } else { 0 };
        (0..32).fold(0, |word, bit| {
            let source = &self.cores[core].sources[(first + bit) as usize];
            word | u32::from(source.pending) << bit
        })
    }
    fn set_route(&mut self, intid: u32, vcpu: usize) {
        self.effects.push(Effect::Route(intid, vcpu));
        self.source(intid, vcpu).route = vcpu;
    }
    fn set_edge(&mut self, intid: u32, vcpu: usize, edge: bool) {
        self.effects.push(Effect::Edge(intid, vcpu, edge));
    }
    fn deactivate(&mut self, intid: u32, vcpu: usize) {
        self.effects.push(Effect::Deactivate(intid, vcpu));
        self.source(intid, vcpu).active = false;
    }
    fn set_template(&mut self, intid: u32, vcpu: usize, value: ListRegister) {
        if intid == TIMER {
            self.cores[vcpu].template = value;
        } else {
            assert_eq!(intid, OTHER_TIMER);
        }
    }
}
