//! Creation and end of processes and threads.

use super::{FIRST, NUMBERS, State, index_of, report, with_state};
use crate::execution::live;
use tenon_credentials::{Limits, Usage, capability, resource};
use tenon_files::Descriptors;
use tenon_process_slot::{Change, End, EndOf, Process};
use tenon_process_slot::{NewThread, Thread};
use tenon_process_slot::{Slot, lend, limit, slots};
use tenon_program::{Errno, Space};
use tenon_schedule::Schedule;
use tenon_signal::{Info, Set, code};
use tenon_thread::time::Instant;
use tenon_vfs::{Device, Path, ROOT};

impl State {
    /// A free slot with its index.
    fn free_slot(&self) -> Result<(usize, &'static Slot), Errno> {
        let free = self.threads.free(|place| slots()[place].is_free());
        let place = free.ok_or(Errno::EAGAIN)?;
        Ok((place, &slots()[place]))
    }

    /// The index of a process that does not exist.
    fn free_process(&self) -> Result<usize, Errno> {
        self.processes.free(|_| true).ok_or(Errno::EAGAIN)
    }

    /// A number that no process and no thread has.
    fn allocate_number(&mut self) -> u32 {
        loop {
            self.last = self.last % (NUMBERS - 1) + 1;
            let last = self.last;
            let mut processes = self.processes.iter().flatten();
            let mut threads = self.threads.iter().flatten();
            if !processes.any(|process| process.has_number(last))
                && !threads.any(|thread| thread.number == last)
            {
                return last;
            }
        }
    }

    /// Starts the first process, with its arguments in `strings` and the console as descriptors 0 to 2.
    /// Returns its number.
    pub(crate) fn start(&mut self, path: &str) -> Result<u32, Errno> {
        let (place, slot) = self.free_slot()?;
        let index = self.free_process()?;
        let number = self.allocate_number();
        let asid = index as u8 + 1;
        let space = Space::new(self.kernel, asid, &mut self.frames)?;
        let files = Descriptors::new(tenon_process_slot::descriptor_limit());
        let limits = Limits::new(tenon_process_slot::limit() as u64, files.limit().into());
        let process = Process {
            limits,
            usage: Usage::new(Instant::now().nanoseconds()),
            ..Process::new((number, 0), space, files, (ROOT, ROOT))
        };
        self.processes.put(index, process);
        self.put_thread(slot, Thread::new(number, index));
        self.signals.begin_process(index, None);
        self.signals.begin_thread(place, None);
        let started = self.begin(slot, path);
        if let Err(error) = started {
            self.remove_thread(slot);
            self.discard(index);
            return Err(error);
        }
        self.scheduler.add(place, number, Schedule::default());
        Ok(number)
    }

    fn begin(&mut self, slot: &'static Slot, path: &str) -> Result<(), Errno> {
        let start = self.load(slot, path)?;
        let mut console = Path::of(b"/dev/console")?;
        let found = self.files.tree.find(ROOT, &mut console, true)?;
        let inode = found.inode()?;
        let (process, frames, files) = self.parts(slot)?;
        process.hold_directories(files);
        for _ in 0..3 {
            let object = tenon_files::Object::Device(Device::Console, inode);
            let file = files.open(object, 2, frames)?;
            // Fewer descriptors than these are no error.
            let _ = process.install(file, (false, 0), (files, frames));
        }
        // SAFETY: no thread uses the slot.
        unsafe { slot.begin(start.pc, start.sp) };
        let process = self.process(slot)?;
        let (number, base) = (process.number, process.space()?.translation_base());
        // SAFETY: no thread uses the slot, and the tables stay until `finish`.
        unsafe { slot.spawn((number, number), 0, base, live) }
    }

    /// The index of the calling process. `ERESTARTNOINTR` if the thread has a signal to deliver: what it
    /// would create now misses one that was sent to its group.
    fn uninterrupted(&self, caller: &Slot) -> Result<usize, Errno> {
        let (index, place) = self.indices(caller)?;
        if caller.is_ended() || self.signals.is_interrupted(index, place) {
            return Err(Errno::ERESTARTNOINTR);
        }
        Ok(index)
    }

    /// Fails with `EAGAIN` where the user of a process has as many threads as its limit states.
    fn check_limit(&self, slot: &Slot) -> Result<(), Errno> {
        let process = self.look(slot)?;
        let credentials = &process.credentials;
        let limit = process.limits.soft(resource::PROCESSES);
        let user = credentials.user().real;
        if user == 0
            || credentials.has(capability::SYS_RESOURCE)
            || credentials.has(capability::SYS_ADMIN)
        {
            return Ok(());
        }
        let of_user = |thread: &&Thread| {
            let process = self.processes[thread.process].as_ref();
            process.is_some_and(|process| process.credentials.user().real == user)
        };
        let count = self.threads.iter().flatten().filter(of_user).count();
        ((count as u64) < limit).then_some(()).ok_or(Errno::EAGAIN)
    }

    /// Creates a copy of the calling process, with a copy of the calling thread; returns its number.
    pub fn fork(&mut self, caller: &'static Slot, new: &NewThread) -> Result<u32, Errno> {
        self.check_limit(caller)?;
        let parent_index = self.uninterrupted(caller)?;
        let (place, slot) = self.free_slot()?;
        let index = self.free_process()?;
        let number = self.allocate_number();
        let kernel = self.kernel;
        let alone = self.is_only_thread(parent_index);
        let (parent, frames, files) = self.parts(caller)?;
        let mut descriptors = parent.files.share(files, frames)?;
        let lends = new.borrows && alone && parent.lender.is_none();
        let forked = match lends {
            true => Space::new(kernel, index as u8 + 1, frames),
            false => parent.space()?.fork(kernel, index as u8 + 1, frames),
        };
        let mut space = forked.inspect_err(|_| descriptors.close_all(false, files, frames))?;
        if lends {
            core::mem::swap(parent.space()?, &mut space);
        }
        parent.hold_directories(files);
        if let Some(program) = parent.program {
            files.tree.files.hold(program);
        }
        if let Some(to) = new.own_number {
            // As in Linux, an address that cannot be written is no error.
            let _ = space.write(to, &number.to_le_bytes(), frames);
        }
        let base = space.translation_base();
        let child = Process {
            heap: parent.heap.clone(),
            lender: lends.then_some(parent.number),
            trampoline: parent.trampoline,
            mask: parent.mask,
            score: parent.score,
            program: parent.program,
            stack: parent.stack,
            credentials: parent.credentials.clone(),
            limits: parent.limits.clone(),
            usage: Usage::new(Instant::now().nanoseconds()),
            group: parent.group,
            session: parent.session,
            end_signal: new.end_signal,
            personality: parent.personality,
            barriers: parent.barriers_of_child(),
            slack: (parent.slack.0, parent.slack.0),
            name: parent.name.clone(),
            ..Process::new(
                (number, parent.number),
                space,
                descriptors,
                parent.directories(),
            )
        };
        let parent = parent.number;
        self.processes.put(index, child);
        self.signals.begin_process(index, Some(parent_index));
        let identity = (number, number);
        if let Err(error) =
            self.add_thread((place, slot), caller, new, (index, identity, parent, base))
        {
            self.discard(index);
            return Err(error);
        }
        Ok(number)
    }

    /// Creates a thread in the calling process, with the registers of the calling one; returns its
    /// number.
    pub fn create_thread(&mut self, caller: &'static Slot, new: &NewThread) -> Result<u32, Errno> {
        self.check_limit(caller)?;
        let index = self.uninterrupted(caller)?;
        let free = self.free_slot()?;
        let number = self.allocate_number();
        let (process, frames, _) = self.parts(caller)?;
        if process.end.is_some() {
            return Err(Errno::EINTR);
        }
        let (identity, parent) = ((process.number, number), process.parent);
        let space = process.space()?;
        let base = space.translation_base();
        if let Some(to) = new.own_number {
            let _ = space.write(to, &number.to_le_bytes(), frames);
        }
        self.add_thread(free, caller, new, (index, identity, parent, base))?;
        Ok(number)
    }

    /// Starts a thread in a slot for a process: its index, its number and that of the thread, its
    /// parent's number, its translation base.
    fn add_thread(
        &mut self,
        (place, slot): (usize, &'static Slot),
        caller: &'static Slot,
        new: &NewThread,
        (process, identity, parent, base): (usize, (u32, u32), u32, u64),
    ) -> Result<(), Errno> {
        let schedule = self.thread(caller)?.number;
        let schedule = self.scheduler.get(schedule)?.child()?;
        let mut thread = Thread::new(identity.1, process);
        thread.clear_number = new.clear_number;
        self.put_thread(slot, thread);
        let is_process = identity.0 == identity.1;
        let creator = (index_of(caller), is_process);
        self.signals.begin_thread(place, Some(creator));
        // SAFETY: no thread uses the slot, and the caller is the current thread.
        unsafe { slot.copy(caller, new.stack) };
        if let Some(pointer) = new.pointer {
            slot.space.set_pointer(pointer);
        }
        // SAFETY: no thread uses the slot, and the tables stay until `finish`.
        let spawned = unsafe { slot.spawn(identity, parent, base, live) };
        match spawned {
            Ok(()) => self.scheduler.add(place, identity.1, schedule),
            Err(_) => self.remove_thread(slot),
        }
        spawned
    }

    /// Releases a process that has no thread.
    fn discard(&mut self, index: usize) {
        lend::give_back(&mut self.processes, index);
        if let Some(mut process) = self.processes[index].take() {
            let (files, frames) = (&mut self.files, &mut self.frames);
            process.files.close_all(false, files, frames);
            process.leave_directories((ROOT, ROOT), files, frames);
            if let Some(program) = process.program {
                files.tree.files.let_go(program, frames);
            }
            if let Some(space) = process.space {
                space.release(&mut self.frames);
                // What it shared alone, before its end is seen.
                while self.frames.reclaim() {}
            }
        }
    }

    /// Ends the calling thread, and with the last one its process, which has the end of its first
    /// thread then.
    pub fn exit_thread(&mut self, slot: &Slot, code: u8) -> Result<(), Errno> {
        let number = self.thread(slot)?.number;
        let process = self.process(slot)?;
        if process.number == number {
            process.exit = Some(End::Exit(code));
        }
        slot.end();
        Ok(())
    }

    /// Ends the calling process with all its threads.
    pub fn exit(&mut self, slot: &Slot, end: End) -> Result<(), Errno> {
        let index = self.process_index(slot)?;
        self.end_process(index, end);
        Ok(())
    }

    /// Ends a process with all its threads.
    pub(crate) fn end_process(&mut self, index: usize, end: End) {
        if let Some(process) = &mut self.processes[index] {
            process.end.get_or_insert(end);
        }
        self.end_threads(index, None);
    }

    /// Ends the other threads of the calling process. Returns whether there is none any more.
    pub fn end_others(&mut self, slot: &Slot) -> Result<bool, Errno> {
        let index = self.process_index(slot)?;
        if self.is_only_thread(index) {
            return Ok(true);
        }
        self.end_threads(index, Some(index_of(slot)));
        Ok(false)
    }

    fn end_threads(&mut self, process: usize, except: Option<usize>) {
        for place in 0..self.threads.len() {
            let ends = self.threads[place].as_ref();
            if ends.is_some_and(|thread| thread.process == process) && Some(place) != except {
                slots()[place].end();
                self.wake_thread(place);
            }
        }
    }

    /// Releases what a thread that ended had, and with the last one its process. It calls this
    /// itself, as its last act.
    pub(crate) fn finish(slot: &'static Slot) {
        with_state(|state| {
            // Words that cannot be written are no error, as in Linux.
            let _ = state.end_futexes(slot);
            // SAFETY: the table of the kernel alone stays for good.
            unsafe { tenon_user::bind(None, state.kernel_base) };
            let Ok(index) = state.process_index(slot) else {
                return;
            };
            state.remove_thread(slot);
            state.scheduler.remove(index_of(slot));
            if let Some(process) = &mut state.processes[index] {
                process.usage.ended_threads += slot.space.time();
            }
            state
                .signals
                .end_thread(index, index_of(slot), &mut state.frames);
            if slots().len() == 1 || state.slots_of(index).next().is_none() {
                state.finish_process(index);
            } else {
                state.hand_over(index, !Set::EMPTY);
                state.report_stop(index);
            }
            state.wake();
        });
    }

    /// Releases what a process without threads had.
    fn finish_process(&mut self, index: usize) {
        lend::give_back(&mut self.processes, index);
        if let Some((heir, base)) = lend::bequeath(&mut self.processes, index) {
            self.slots_of(heir)
                .for_each(|(_, slot)| slot.space.set_base(base));
        }
        let Some(process) = &mut self.processes[index] else {
            return;
        };
        let (files, frames) = (&mut self.files, &mut self.frames);
        process.files.close_all(false, files, frames);
        process.leave_directories((ROOT, ROOT), files, frames);
        if let Some(program) = process.program.take() {
            files.tree.files.let_go(program, frames);
        }
        if let Some(space) = process.space.take() {
            space.release(&mut self.frames);
            // What it shared alone, before its end is seen.
            while self.frames.reclaim() {}
        }
        // Without an `exit` of its first thread, the process counts as killed.
        let end = process.exit.unwrap_or(End::Signal(9));
        let end = *process.end.get_or_insert(end);
        process.change = None;
        let (number, group, session) = (process.number, process.group, process.session);
        let (parent, user) = (process.parent, process.credentials.user().real);
        self.signals.end_process(index, &mut self.frames);
        self.orphan((number, user), parent, (group, session));
        for on_end in self.on_end.functions() {
            on_end(self, number);
        }
        if let Ok((of_parent, same)) = self.group_and_session(parent)
            && of_parent != group
            && same == session
        {
            self.end_orphaned(group, Some(index));
        }
        // Without a parent, nothing collects it.
        if parent == 0 || limit() == 1 {
            if let Some(process) = &self.processes[index] {
                report(format_args!("{}", EndOf(process)));
            }
            if number == FIRST {
                tenon_process_slot::first::end_vm();
            }
            self.processes[index] = None;
        } else {
            self.report_change(index, Change::Ended(end));
            if self.is_unwanted(index) {
                self.processes[index] = None;
            }
        }
    }

    /// Gives the children of a process, which had a user and a parent and was of a group and a session, to the
    /// next ancestor that adopts them, or to the first process.
    fn orphan(&mut self, (number, user): (u32, u32), parent: u32, (group, session): (u32, u32)) {
        if limit() == 1 {
            return;
        }
        let heir = tenon_process_slot::heir(&self.processes, parent, FIRST);
        for index in 0..self.processes.len() {
            let Some(process) = &mut self.processes[index] else {
                continue;
            };
            if process.parent != number {
                continue;
            }
            process.parent = heir;
            let signal = process.death_signal;
            process.end_signal = tenon_process_slot::SIGCHLD;
            let (of_child, same) = (process.group, process.session == session);
            let ended = process.end.filter(|_| process.space.is_none());
            for (_, slot) in self.slots_of(index) {
                slot.set_parent(heir);
            }
            if signal != 0 {
                let info = Info::of_sender(signal, code::USER, number, user);
                // Without room for it there is none.
                let _ = self.post(index, None, &info);
            }
            if let Some(end) = ended {
                self.report_change(index, Change::Ended(end));
                if self.is_unwanted(index) {
                    self.processes[index] = None;
                }
            }
            if same && of_child != group {
                self.end_orphaned(of_child, None);
            }
        }
    }
}
