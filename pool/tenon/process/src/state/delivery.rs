//! Delivery of signals to threads: handlers, defaults, restart of calls, stops.

use super::{State, index_of, report, wait_until, with_state};
use tenon_process_slot::{End, Slot, Waiting, serves};
use tenon_program::Errno;
use tenon_schedule::OVERRUN;
use tenon_signal::frame::{self, Registers, Saved};
use tenon_signal::{Action, Effect, Info, Set, Target, flag, number};

/// The number of the system call that sets handlers.
const RT_SIGACTION: usize = 134;

/// What a thread does after it has looked at its signals.
enum Next {
    /// It goes on at EL0.
    Continue,
    /// It waits until its process continues.
    Park,
    /// It ends.
    End,
}

/// Has a thread act on what is pending for it, before it goes on at EL0, with the error of a call
/// that a signal has interrupted. Returns whether it goes on.
#[cold]
pub(crate) fn attend(slot: &'static Slot, mut interrupted: Option<Errno>) -> bool {
    loop {
        wait_for_budget(slot);
        match with_state(|state| state.next(slot, &mut interrupted)) {
            Next::Continue if slot.throttled_until().is_some() => {}
            Next::Continue => return true,
            Next::End => return false,
            Next::Park => park(slot),
        }
    }
}

/// Waits while the budget of a thread is depleted, and sends the signal for that if it is wanted.
fn wait_for_budget(slot: &'static Slot) {
    while let Some(until) = slot.throttled_until()
        && !slot.is_ended()
    {
        // The end of the thread ends the wait, with an error that is noticed here.
        let _ = wait_until(slot, Some(until), Waiting::Killable, |_| Ok(None::<()>));
    }
    if slot.take_overrun() {
        with_state(|state| state.report_overrun(slot));
    }
}

/// Waits while the process of a thread is stopped.
fn park(slot: &'static Slot) {
    loop {
        let stopped = with_state(|state| {
            let Ok((index, place)) = state.indices(slot) else {
                return false;
            };
            let stopped = state.signals.shared(index).stopped.is_some() && !slot.is_ended();
            state.signals.own(place).parked = stopped;
            if stopped {
                state.report_stop(index);
                if let Ok(thread) = state.thread(slot) {
                    thread.waiting = Waiting::Event;
                }
            }
            stopped
        });
        if !stopped {
            return;
        }
        slot.block(None);
    }
}

impl State {
    /// Sends the signal of a depleted budget to the process of a thread that wants it.
    fn report_overrun(&mut self, slot: &Slot) {
        let schedule = self.scheduler.get(slot.number()).unwrap_or_default();
        if schedule.reservation.flags & OVERRUN != 0 {
            let info = Info::of_kernel(number::XCPU);
            // Without room for it, the signal is lost, as in Linux.
            let _ = self.send(Target::Process(slot.process()), &info);
        }
    }

    /// Delivers what is pending for a thread.
    fn next(&mut self, slot: &'static Slot, interrupted: &mut Option<Errno>) -> Next {
        let Ok((index, place)) = self.indices(slot) else {
            return Next::End;
        };
        if slot.is_ended() {
            return Next::End;
        }
        slot.forget_attention();
        loop {
            if self.signals.shared(index).stopped.is_some() {
                return Next::Park;
            }
            let wanted = !self.signals.own(place).mask;
            let taken = self.signals.take(index, place, wanted, &mut self.frames);
            let Some(info) = taken else {
                match self.signals.own(place).saved {
                    Some(_) => {
                        let _ = self.restore_mask(slot);
                        slot.forget_attention();
                        continue;
                    }
                    None => break,
                }
            };
            match self.effect(index, &info) {
                Some(Effect::Ignore) => {}
                Some(Effect::Stop) => {
                    self.stop_process(index, info.signal);
                    return Next::Park;
                }
                Some(Effect::End) => {
                    self.end_process(index, End::Signal(info.signal));
                    return Next::End;
                }
                None if serves(RT_SIGACTION) => {
                    self.call_handler((slot, index, place), &info, interrupted);
                }
                None => {}
            }
            if slot.is_ended() {
                return Next::End;
            }
        }
        if interrupted.take().is_some() {
            // SAFETY: the thread itself calls this.
            unsafe { slot.finish_call(true) };
        }
        Next::Continue
    }

    /// Has a thread continue in a handler, with what it did before in a frame on its stack.
    fn call_handler(
        &mut self,
        (slot, index, place): (&'static Slot, usize, usize),
        info: &Info,
        interrupted: &mut Option<Errno>,
    ) {
        let signal = info.signal;
        let action = *self.signals.shared(index).action(signal);
        if let Some(error) = interrupted.take() {
            let again = match error {
                Errno::ERESTARTSYS => action.flags & flag::RESTART != 0,
                Errno::ERESTARTNOINTR => true,
                _ => false,
            };
            // SAFETY: the thread itself calls this.
            unsafe { slot.finish_call(again) };
        }
        slot.set_resumption(0);
        if self.push_frame((slot, place), info, &action).is_err() {
            // Without a stack there is no handler for that either, if it is the same.
            if signal == number::SEGV {
                *self.signals.shared(index).action(signal) = Action::INITIAL;
            }
            self.force(slot, &Info::of_kernel(number::SEGV), (0, 0));
            return;
        }
        if action.flags & flag::RESET != 0 {
            self.signals.shared(index).action(signal).handler = Action::DEFAULT;
        }
        let own = self.signals.own(place);
        own.saved = None;
        let mut mask = own.mask | action.mask;
        if action.flags & flag::NO_DEFER == 0 {
            mask.insert(signal);
        }
        self.block(index, place, mask);
    }

    fn push_frame(
        &mut self,
        (slot, place): (&Slot, usize),
        info: &Info,
        action: &Action,
    ) -> Result<(), Errno> {
        // SAFETY: the thread itself is not at EL0.
        let context = unsafe { &mut *slot.context() };
        let own = self.signals.own(place);
        let (stack, fault) = (own.stack, own.fault);
        let saved = Saved {
            mask: own.saved.unwrap_or(own.mask),
            stack,
        };
        let fault = if Set::SYNCHRONOUS.has(info.signal) && info.code > 0 {
            fault
        } else {
            (0, 0)
        };
        let on_stack = action.flags & flag::ON_STACK != 0 && stack.size != 0;
        let (start, record) = frame::place(context.sp, on_stack.then_some(stack));
        let registers = Registers {
            sp: context.sp,
            pc: context.pc,
            pstate: context.pstate,
        };
        let general = (&context.x, &registers);
        let (process, frames, _, signals) = self.parts_with_signals(slot)?;
        let store_fp = |to: &mut _| slot.space.store_fp_to(to);
        let bytes = signals
            .buffers
            .written
            .encode(info, general, store_fp, &saved, fault);
        let trampoline = process.trampoline as u64;
        let space = process.space()?;
        space.write(start as usize, bytes, frames)?;
        let link = [context.x[29], context.x[30]].map(u64::to_le_bytes);
        space.write(record as usize, link.as_flattened(), frames)?;
        if stack.disarms && on_stack {
            self.signals.own(place).stack = tenon_signal::Own::NEW.stack;
        }
        context.x[0] = info.signal.into();
        if action.flags & flag::INFORMATION != 0 {
            context.x[1] = start;
            context.x[2] = start.wrapping_add(frame::CONTEXT);
        }
        context.x[29] = record;
        context.x[30] = if action.flags & flag::RESTORER != 0 {
            action.restorer
        } else {
            trampoline
        };
        (context.sp, context.pc) = (start, action.handler);
        Ok(())
    }

    /// Continues a thread where a handler interrupted it, by the frame at its stack pointer. A frame
    /// that is none is a fault.
    pub fn return_from_handler(&mut self, slot: &'static Slot) -> Result<(), Errno> {
        // SAFETY: the thread itself is not at EL0.
        let context = unsafe { &mut *slot.context() };
        let sp = context.sp;
        let (process, frames, _, signals) = self.parts_with_signals(slot)?;
        let frame = &mut signals.buffers.read;
        let space = process.space()?;
        let read = space.read(sp as usize, frame.bytes_mut(), frames);
        let decoded = if read.is_ok() && sp.is_multiple_of(16) {
            frame.decode(&mut context.x)
        } else {
            None
        };
        let Some((registers, saved, fp)) = decoded else {
            self.force(slot, &Info::of_fault(number::SEGV, 1, sp), (sp, 0));
            return Ok(());
        };
        (context.sp, context.pc) = (registers.sp, registers.pc);
        context.set_flags(registers.pstate);
        slot.space.load_fp_from(fp);
        let own = self.signals.own(index_of(slot));
        if !own.stack.has(sp) {
            own.stack = saved.stack;
        }
        self.set_mask(slot, saved.mask)
    }

    /// Delivers the signal of a fault to a thread, with its address and syndrome: by its handler, or
    /// the process ends, also if the signal is blocked or ignored.
    pub(crate) fn force(&mut self, slot: &'static Slot, info: &Info, fault: (u64, u64)) {
        let Ok((index, place)) = self.indices(slot) else {
            return;
        };
        let signal = info.signal;
        let own = self.signals.own(place);
        own.fault = fault;
        let blocked = own.mask.has(signal);
        let action = self.signals.shared(index).action(signal);
        let handled = serves(RT_SIGACTION) && action.effect(signal).is_none();
        let mut pushed = || {
            self.signals
                .push(index, Some(place), (info, u64::MAX), &mut self.frames)
        };
        if handled && !blocked && pushed().is_ok() {
            slot.attend();
            return;
        }
        if let Ok(process) = self.process(slot) {
            let (name, number) = (process.name(), process.number);
            report(format_args!("{name} ({number}) ended by signal {signal}"));
        }
        self.end_process(index, End::Signal(signal));
    }
}
