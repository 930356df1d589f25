//! Sending of signals, stop and continuation of processes.

use super::{FIRST, State, index_of};
use tenon_credentials::resource;
use tenon_process_slot::{Change, End, Process, SIGCHLD, Slot, Thread, is_orphaned, limit, slots};
use tenon_program::Errno;
use tenon_signal::{Action, Effect, Info, Set, Signals, Target, flag, number};

impl State {
    /// Indices of the process and the thread of a slot.
    pub(crate) fn indices(&self, slot: &Slot) -> Result<(usize, usize), Errno> {
        Ok((self.process_index(slot)?, index_of(slot)))
    }

    /// Sends a signal; none of number zero, which only looks for the target.
    pub fn send(&mut self, target: Target, info: &Info) -> Result<(), Errno> {
        let by_thread = |threads: &[Option<Thread>], number| {
            let mut all = threads.iter().enumerate();
            all.find_map(|(place, thread)| {
                let thread = thread.as_ref()?;
                (thread.number == number).then_some((thread.process, place))
            })
        };
        match target {
            Target::Process(number) => {
                let index = match self.index_of_number(number) {
                    Ok(index) => index,
                    Err(error) => by_thread(&self.threads, number).ok_or(error)?.0,
                };
                self.post(index, None, info)
            }
            Target::Thread(process, number) => {
                let found = by_thread(&self.threads, number);
                let (index, place) = match found {
                    Some(found) => found,
                    // The first thread has ended, and its process has not: nothing is delivered.
                    None => return self.index_of_number(number).map(drop),
                };
                let own = self.processes[index].as_ref().map(|own| own.number);
                if process.is_some_and(|process| own != Some(process)) {
                    return Err(Errno::ESRCH);
                }
                self.post(index, Some(place), info)
            }
            Target::Group(group) => self.send_all(info, |process| process.group == group),
            Target::Others(sender) => self.send_all(info, |process| {
                process.number != FIRST && process.number != sender
            }),
        }
    }

    /// Sends a signal to processes; an error if it can be sent to none.
    fn send_all(&mut self, info: &Info, includes: impl Fn(&Process) -> bool) -> Result<(), Errno> {
        let mut result = Err(Errno::ESRCH);
        for index in 0..self.processes.len() {
            if self.processes[index].as_ref().is_some_and(&includes) {
                let posted = self.post(index, None, info);
                result = result.or(posted).or(posted);
            }
        }
        result
    }

    /// Makes a signal pending for a process or a thread of it, and interrupts a thread that takes it.
    pub(super) fn post(
        &mut self,
        index: usize,
        thread: Option<usize>,
        info: &Info,
    ) -> Result<(), Errno> {
        let signal = info.signal;
        let Some(process) = &self.processes[index] else {
            return Err(Errno::ESRCH);
        };
        let (number_of, limit) = (process.number, process.limits.soft(resource::SIGNALS));
        let first = number_of == FIRST;
        if signal == 0 || process.end.is_some() {
            return Ok(());
        }
        if signal == number::KILL {
            if !first {
                self.end_process(index, End::Signal(signal));
            }
            return Ok(());
        }
        if Set::STOPPING.has(signal) {
            self.discard_signals(index, Set::of(&[number::CONT]));
        }
        if signal == number::CONT {
            self.discard_signals(index, Set::STOPPING);
            self.continue_process(index);
        }
        let action = *self.signals.shared(index).action(signal);
        let main = thread.or_else(|| self.first_thread(index));
        let Some(main) = main else { return Ok(()) };
        let blocked = self.signals.own(main).mask.has(signal);
        // The default action of any signal does nothing to the first process, as in Linux.
        let ignored = action.ignores(signal) || first && action.handler == Action::DEFAULT;
        if ignored && !blocked {
            return Ok(());
        }
        let limited = (info, limit);
        let pushed = self.signals.push(index, thread, limited, &mut self.frames);
        pushed.map_err(|_| Errno::EAGAIN)?;
        self.interrupt_for(index, (main, thread.is_none()), Set::of(&[signal]));
        if let Some(on_signal) = self.on_signal {
            on_signal(self, number_of, signal);
        }
        Ok(())
    }

    /// The first thread of a process, or another one once that has ended.
    fn first_thread(&self, index: usize) -> Option<usize> {
        let number = self.processes[index].as_ref()?.number;
        let is_first = |thread: &Thread| thread.number == number;
        let mut threads = self.threads.iter();
        let first = threads.position(|thread| thread.as_ref().is_some_and(is_first));
        first.or_else(|| self.slots_of(index).next().map(|(place, _)| place))
    }

    /// Interrupts a thread that takes one of these signals, or else another one of the process.
    fn interrupt_for(&mut self, index: usize, (first, others): (usize, bool), signals: Set) {
        let takes = |state: &mut Self, place: usize| {
            let own = state.signals.own(place);
            !(signals & (!own.mask | own.awaited)).is_empty()
        };
        let mut found = takes(self, first).then_some(first);
        if found.is_none() && others {
            found = (0..self.threads.len()).find(|place| {
                let thread = self.threads[*place].as_ref();
                thread.is_some_and(|thread| thread.process == index) && takes(self, *place)
            });
        }
        if let Some(place) = found {
            self.interrupt(place);
        }
    }

    /// Has a thread of a process take those that are pending for all of them, of these signals.
    #[inline(always)]
    pub(super) fn hand_over(&mut self, index: usize, signals: Set) {
        let signals = self.signals.pending_shared(index) & signals;
        if !signals.is_empty()
            && let Some(first) = self.first_thread(index)
        {
            self.interrupt_for(index, (first, true), signals);
        }
    }

    /// Has a thread look at its signals: at the end of its call or its wait, or at the next interrupt.
    fn interrupt(&mut self, place: usize) {
        slots()[place].attend();
        self.wake_thread(place);
    }

    /// Counts further expiries of a timer with a pending signal for the process of a number; `None`
    /// if it is not pending.
    pub fn count_overrun(&mut self, number: u32, timer: u32, missed: u32) -> Option<u32> {
        let index = self.index_of_number(number).ok()?;
        let threads = self.threads.iter().enumerate();
        let own = threads.filter(|(_, thread)| {
            let thread = thread.as_ref();
            thread.is_some_and(|thread| thread.process == index)
        });
        let places = own.map(|(place, _)| place);
        self.signals.count_overrun(index, places, timer, missed)
    }

    /// Removes pending signals of a process and its threads.
    fn discard_signals(&mut self, index: usize, signals: Set) {
        let threads = self.threads.iter().enumerate();
        let own = threads.filter(|(_, thread)| {
            let thread = thread.as_ref();
            thread.is_some_and(|thread| thread.process == index)
        });
        let places = own.map(|(place, _)| place);
        self.signals
            .discard(index, places, signals, &mut self.frames);
    }

    /// Sets the action of a signal, and removes it where it is pending and ignored.
    pub fn set_action(&mut self, slot: &Slot, signal: u8, action: Action) -> Result<(), Errno> {
        let (index, _) = self.indices(slot)?;
        *self.signals.shared(index).action(signal) = action;
        if action.ignores(signal) {
            self.discard_signals(index, Set::of(&[signal]));
        }
        Ok(())
    }

    /// Sets the mask of a thread. Signals of its process that it blocks now are for another thread.
    pub fn set_mask(&mut self, slot: &Slot, mask: Set) -> Result<(), Errno> {
        let (index, place) = self.indices(slot)?;
        self.block(index, place, mask);
        if self.signals.is_interrupted(index, place) {
            slot.attend();
        }
        Ok(())
    }

    /// As [`set_mask`](Self::set_mask), for a thread that looks at its signals afterwards.
    #[inline]
    pub(super) fn block(&mut self, index: usize, place: usize, mask: Set) {
        let own = self.signals.own(place);
        let blocked = mask & !own.mask;
        own.mask = mask & !Set::UNBLOCKABLE;
        self.hand_over(index, blocked);
    }

    /// Sets the mask of a thread for a call that waits; the end of the call, or the handler that
    /// interrupts it, restores the present one.
    pub fn set_mask_for_wait(&mut self, slot: &Slot, mask: Set) -> Result<(), Errno> {
        let (_, place) = self.indices(slot)?;
        let own = self.signals.own(place);
        own.saved = Some(own.saved.unwrap_or(own.mask));
        slot.attend();
        self.set_mask(slot, mask)
    }

    /// Restores the mask from before a call that waited.
    pub fn restore_mask(&mut self, slot: &Slot) -> Result<(), Errno> {
        let (_, place) = self.indices(slot)?;
        match self.signals.own(place).saved.take() {
            Some(mask) => self.set_mask(slot, mask),
            None => Ok(()),
        }
    }

    /// Stops a process: each of its threads stops before it returns to EL0.
    pub(super) fn stop_process(&mut self, index: usize, signal: u8) {
        let shared = self.signals.shared(index);
        (shared.stopped, shared.stop_reported) = (Some(signal), false);
        self.interrupt_all(index);
    }

    /// Has all threads of a process look at their signals.
    fn interrupt_all(&mut self, index: usize) {
        for place in 0..self.threads.len() {
            let thread = self.threads[place].as_ref();
            if thread.is_some_and(|thread| thread.process == index) {
                self.interrupt(place);
            }
        }
    }

    /// Continues a process that is stopped.
    fn continue_process(&mut self, index: usize) {
        let shared = self.signals.shared(index);
        if shared.stopped.take().is_none() {
            return;
        }
        if core::mem::take(&mut shared.stop_reported) {
            self.report_change(index, Change::Continued);
        }
        self.interrupt_all(index);
    }

    /// Reports the stop of a process once all its threads have stopped.
    pub(super) fn report_stop(&mut self, index: usize) {
        let shared = self.signals.shared(index);
        let (Some(signal), false) = (shared.stopped, shared.stop_reported) else {
            return;
        };
        let parked = |signals: &mut Signals, place| signals.own(place).parked;
        for place in 0..self.threads.len() {
            let thread = self.threads[place].as_ref();
            if thread.is_some_and(|thread| thread.process == index)
                && !parked(&mut self.signals, place)
            {
                return;
            }
        }
        self.signals.shared(index).stop_reported = true;
        self.report_change(index, Change::Stopped(signal));
    }

    /// Lets the parent of a process learn of a change.
    pub(super) fn report_change(&mut self, index: usize, change: Change) {
        let process = self.processes[index].as_mut();
        let Some(process) = process.filter(|_| limit() > 1) else {
            return;
        };
        let (code, status) = change.code();
        let user = process.credentials.user().real;
        let info = Info::of_child(SIGCHLD, code, (process.number, user), status);
        let parent = process.parent;
        let ends = matches!(change, Change::Ended(_));
        let signal = if ends { process.end_signal } else { SIGCHLD };
        if !ends {
            process.change = Some(change);
        }
        if let Ok(parent) = self.index_of_number(parent) {
            let action = self.signals.shared(parent).action(SIGCHLD);
            if signal != 0 && (ends || action.flags & flag::NO_CHILD_STOP == 0) {
                // A parent without room for the signal finds the change by waiting.
                let _ = self.post(parent, None, &Info { signal, ..info });
            }
        }
        self.wake();
    }

    /// Whether a child that has ended is not collected: its parent ignores SIGCHLD, or wants no
    /// children to wait for.
    pub(super) fn is_unwanted(&mut self, index: usize) -> bool {
        let Some(process) = &self.processes[index] else {
            return true;
        };
        let (parent, signal) = (process.parent, process.end_signal);
        let Ok(parent) = self.index_of_number(parent) else {
            return true;
        };
        let action = self.signals.shared(parent).action(SIGCHLD);
        let unwanted = action.handler == Action::IGNORE || action.flags & flag::NO_CHILD_WAIT != 0;
        signal == SIGCHLD && unwanted
    }

    /// Sends SIGHUP and SIGCONT to a group that has become orphaned and has a stopped process: nothing
    /// would continue it.
    pub(super) fn end_orphaned(&mut self, group: u32, except: Option<usize>) {
        if limit() == 1 || !is_orphaned(&self.processes, group, except, FIRST) {
            return;
        }
        let mut stopped = false;
        for index in 0..self.processes.len() {
            let process = self.processes[index].as_ref();
            if process.is_some_and(|process| process.group == group && process.end.is_none()) {
                stopped |= self.signals.shared(index).stopped.is_some();
            }
        }
        if stopped {
            for signal in [number::HUP, number::CONT] {
                let _ = self.send(Target::Group(group), &Info::of_kernel(signal));
            }
        }
    }

    /// The effect of a signal without a handler on a process.
    pub(super) fn effect(&mut self, index: usize, info: &Info) -> Option<Effect> {
        let signal = info.signal;
        let action = *self.signals.shared(index).action(signal);
        let effect = action.effect(signal)?;
        let process = self.processes[index].as_ref()?;
        let (first, group) = (process.number == FIRST, process.group);
        match effect {
            _ if first && action.handler == Action::DEFAULT => Some(Effect::Ignore),
            // A shell that is gone cannot continue them.
            Effect::Stop
                if signal != number::STOP && is_orphaned(&self.processes, group, None, FIRST) =>
            {
                Some(Effect::Ignore)
            }
            effect => Some(effect),
        }
    }
}
