//! Files of a [`Process`](tenon_process::Process).

use crate::node::Node;
use crate::system::TICK;
use crate::text::Text;
use core::fmt::Write as _;
use core_log::Line;
use tenon_address_space::Area;
use tenon_process::{Credentials, Errno, Object, Process, State, UNLIMITED};
use tenon_vfs::Origin;

const PAGE: usize = 4096;
/// Bytes of arguments or environment that are shown at most.
const STRINGS: usize = 32 * 1024;

/// Generates a file of a process.
pub(crate) fn write(text: &mut Text<'_>, node: Node, origin: &Origin) {
    match node {
        Node::Stat => stat(text, origin),
        Node::Status => status(text, origin),
        Node::SizeOfMemory => {
            let (size, resident) = sizes(text.state, origin);
            text.print(format_args!("{size} {resident} 0 0 0 {size} 0\n"));
        }
        Node::Maps => maps(text, origin, false),
        Node::MapsWithSizes => maps(text, origin, true),
        Node::Arguments => strings(text, origin, false),
        Node::Environment => strings(text, origin, true),
        Node::Name => {
            let name = name(text.state, origin);
            text.print(format_args!("{}\n", name.as_str()));
        }
        Node::Limits => limits(text, origin),
        Node::Mounts => text.put(b"rootfs / rootfs rw 0 0\nproc /proc proc rw,relatime 0 0\n"),
        // The device and the number that `statx` reports of each file.
        Node::MountsByNumber => text.put(
            b"1 1 0:1 / / rw - rootfs rootfs rw\n2 1 0:1 / /proc rw,relatime - proc proc rw\n",
        ),
        Node::OutOfMemory => {
            let score = of(text.state, origin).map_or(0, |process| process.score);
            text.print(format_args!("{score}\n"));
        }
        Node::Wait => text.put(b"0"),
        Node::DescriptorState => descriptor(text, origin),
        _ => {}
    }
}

fn of<'a>(state: &'a State, origin: &Origin) -> Option<&'a Process> {
    state.process_of(origin.process)
}

/// The name of the program.
fn name(state: &State, origin: &Origin) -> Line<20> {
    let mut line = Line::new();
    // A name has 15 bytes at most.
    let _ = line.write_str(of(state, origin).map_or("", Process::name));
    line
}

/// Pages of the areas, and about as many of them that have a frame.
fn sizes(state: &State, origin: &Origin) -> (usize, usize) {
    let Some(process) = of(state, origin) else {
        return (0, 0);
    };
    let size = process.space.as_ref().map_or(0, |space| {
        let areas = space.areas().iter();
        areas.map(|area| (area.end - area.start) / PAGE).sum()
    });
    (size, size.min(process.usage.faults as usize))
}

/// The number of the thread that a file shows: the first one where it is that of the process.
fn thread(origin: &Origin) -> u32 {
    match origin.part {
        0 => origin.process,
        part => part,
    }
}

/// The letter of the state of a thread, and its word.
fn condition(state: &State, origin: &Origin) -> (char, &'static str) {
    let Some(process) = of(state, origin) else {
        return ('X', "dead");
    };
    if process.end.is_some() && process.space.is_none() {
        ('Z', "zombie")
    } else if process.is_stopped() {
        ('T', "stopped")
    } else if state.is_running(thread(origin)) {
        ('R', "running")
    } else {
        ('S', "sleeping")
    }
}

fn stat(text: &mut Text<'_>, origin: &Origin) {
    let (letter, _) = condition(text.state, origin);
    let name = name(text.state, origin);
    let (size, resident) = sizes(text.state, origin);
    let whole = origin.part == 0;
    let number = thread(origin);
    let time = text.state.time_of(number, whole).unwrap_or_default() / TICK;
    let threads = text.state.threads_of(origin.process);
    let Some(process) = of(text.state, origin) else {
        return;
    };
    let (parent, group, session) = (process.parent, process.group, process.session);
    let (terminal, foreground) = (0, -1);
    let usage = process.usage;
    let children = tenon_process::nanoseconds(usage.children) / TICK;
    let schedule = text.state.scheduler.get(number).unwrap_or_default();
    let (nice, real_time) = (schedule.nice, schedule.priority);
    let policy = schedule.policy.number();
    let begun = usage.begun / TICK;
    let priority = if schedule.policy.is_fair() {
        20 + i32::from(nice)
    } else {
        -1 - i32::from(real_time)
    };
    let (faults, of_children) = (usage.faults, usage.faults_of_children);
    let name = name.as_str();
    text.print(format_args!(
        "{number} ({name}) {letter} {parent} {group} {session} {terminal} {foreground} 4194304 \
         {faults} {of_children} 0 0 {time} 0 {children} 0 {priority} {nice} {threads} 0 {begun} "
    ));
    let bytes = size * PAGE;
    text.print(format_args!(
        "{bytes} {resident} {UNLIMITED} 0 0 0 0 0 0 0 0 0 0 0 0 17 0 {real_time} {policy} 0 0 0 0 0 0 0 0 0 0 0\n"
    ));
}

/// Four numbers of a user or group.
fn numbers(text: &mut Text<'_>, title: &str, ids: tenon_process::Ids) {
    let [real, effective, saved, files] = [ids.real, ids.effective, ids.saved, ids.files];
    text.print(format_args!(
        "{title}:\t{real}\t{effective}\t{saved}\t{files}\n"
    ));
}

fn status(text: &mut Text<'_>, origin: &Origin) {
    let (letter, word) = condition(text.state, origin);
    let name = name(text.state, origin);
    let (size, resident) = sizes(text.state, origin);
    let (size, resident) = (size * PAGE / 1024, resident * PAGE / 1024);
    let threads = text.state.threads_of(origin.process);
    let Some(process) = of(text.state, origin) else {
        return;
    };
    let (mask, parent) = (process.mask, process.parent);
    let locked = process.space.as_ref().map_or(0, |space| {
        space.areas().locked_pages(&(0..usize::MAX)) * PAGE / 1024
    });
    let (alive, slots) = (process.space.is_some(), process.files.limit());
    let credentials: Credentials = process.credentials.clone();
    let (number, thread) = match origin.part {
        0 => (origin.process, origin.process),
        part => (origin.process, part),
    };
    let name = name.as_str();
    text.print(format_args!(
        "Name:\t{name}\nUmask:\t{mask:04o}\nState:\t{letter} ({word})\nTgid:\t{number}\nNgid:\t0\n\
         Pid:\t{thread}\nPPid:\t{parent}\nTracerPid:\t0\n"
    ));
    numbers(text, "Uid", *credentials.user());
    numbers(text, "Gid", *credentials.group());
    text.print(format_args!("FDSize:\t{slots}\nGroups:\t"));
    for group in credentials.groups() {
        text.print(format_args!("{group} "));
    }
    text.put(b"\n");
    if alive {
        for title in ["VmPeak", "VmSize"] {
            text.print(format_args!("{title}:\t{size:8} kB\n"));
        }
        text.print(format_args!("VmLck:\t{locked:8} kB\nVmPin:\t{:8} kB\n", 0));
        for title in ["VmHWM", "VmRSS"] {
            text.print(format_args!("{title}:\t{resident:8} kB\n"));
        }
    }
    text.print(format_args!("Threads:\t{threads}\n"));
    let [effective, permitted, inheritable] = credentials.capabilities().sets();
    for (title, set) in [
        ("CapInh", inheritable),
        ("CapPrm", permitted),
        ("CapEff", effective),
        ("CapBnd", credentials.capabilities().bounding()),
        ("CapAmb", credentials.capabilities().ambient()),
    ] {
        text.print(format_args!("{title}:\t{set:016x}\n"));
    }
    let privileges = u32::from(credentials.no_new_privileges);
    text.print(format_args!(
        "NoNewPrivs:\t{privileges}\nSeccomp:\t0\nCpus_allowed:\t1\nCpus_allowed_list:\t0\n"
    ));
}

/// What an area is called.
fn title(process: &Process, start: usize, end: usize) -> &'static str {
    if start < process.heap.end && process.heap.start < end {
        "[heap]"
    } else if (start..end).contains(&process.stack_pointer()) {
        "[stack]"
    } else {
        ""
    }
}

/// The areas of a process, with the sizes of each if `sizes`.
fn maps(text: &mut Text<'_>, origin: &Origin, sizes: bool) {
    let mut from = 0;
    loop {
        let Some(process) = of(text.state, origin) else {
            return;
        };
        let area = process
            .space
            .as_ref()
            .and_then(|space| space.areas().next(from).copied());
        let Some(area) = area else { return };
        let (start, end) = (area.start, area.end);
        from = end;
        let flag = |is: bool, letter| if is { letter } else { '-' };
        let allowed = area.permissions;
        let letters = [
            flag(allowed.read, 'r'),
            flag(allowed.write, 'w'),
            flag(allowed.execute, 'x'),
            if area.is_shared() { 's' } else { 'p' },
        ];
        let [read, write, execute, shared] = letters;
        let object = area.object(start);
        let offset = object.map_or(0, |(_, page)| page as usize * PAGE);
        // The program's own file is the one that is known by its content.
        let program = process.program().filter(|program| {
            let content = text.state.files.tree.files.mapped(*program);
            content.map(|content| content.key()) == object.map(|(key, _)| key)
        });
        let number = program.map_or(0, |program| program + 1);
        let title = title(process, start, end);
        let mut path = [0; tenon_vfs::PATH];
        let first = match program {
            Some(program) => text.state.files.tree.path_of(program, &mut path).ok(),
            None => None,
        };
        let mut line = Line::<96>::new();
        // There is room for each area.
        let _ = write!(
            line,
            "{start:08x}-{end:08x} {read}{write}{execute}{shared} {offset:08x} 00:01 {number} "
        );
        let name = first
            .and_then(|first| path.get(first..))
            .unwrap_or(title.as_bytes());
        if !name.is_empty() {
            while line.as_str().len() < 73 {
                let _ = line.write_char(' ');
            }
        }
        text.put(line.as_str().as_bytes());
        text.put(name);
        text.put(b"\n");
        if sizes {
            put_sizes(text, origin, &area);
        }
    }
}

/// The sizes of an area, in kilobytes. Frames that several processes have count as those of each; files
/// are in memory alone, so that no page is clean.
fn put_sizes(text: &mut Text<'_>, origin: &Origin, area: &Area) {
    let Some(space) = of(text.state, origin).and_then(|process| process.space.as_ref()) else {
        return;
    };
    let range = area.start..area.end;
    let (pages, shared) = space.pages_of(&range, &text.state.frames);
    let (resident, shared) = (pages * PAGE, shared * PAGE);
    let locked = if area.is_locked() { resident } else { 0 };
    for (title, bytes) in [
        ("Size", range.len()),
        ("KernelPageSize", PAGE),
        ("MMUPageSize", PAGE),
        ("Rss", resident),
        ("Shared_Clean", 0),
        ("Shared_Dirty", shared),
        ("Private_Clean", 0),
        ("Private_Dirty", resident - shared),
        ("Locked", locked),
    ] {
        let width = 15 - title.len();
        text.print(format_args!("{title}:{:width$}{:8} kB\n", "", bytes / 1024));
    }
}

/// The strings with which the program began: arguments, or environment.
fn strings(text: &mut Text<'_>, origin: &Origin, environment: bool) {
    // A program may have changed its stack: what is not there is not shown.
    let _ = put_strings(text, origin, environment);
}

fn put_strings(text: &mut Text<'_>, origin: &Origin, environment: bool) -> Result<(), Errno> {
    const WORD: usize = size_of::<u64>();
    let number = of(text.state, origin).ok_or(Errno::ESRCH)?.number;
    let sp = text.state.by_number(number)?.stack_pointer();
    if sp == 0 {
        return Ok(());
    }
    let word = |state: &mut State, at: usize| {
        let mut bytes = [0; WORD];
        state.read_of(number, at, &mut bytes)?;
        Ok::<_, Errno>(u64::from_le_bytes(bytes) as usize)
    };
    let mut at = sp.wrapping_add(WORD);
    if environment {
        let count = word(text.state, sp)?.min(STRINGS);
        at = at.wrapping_add((count + 1) * WORD);
    }
    let mut left = STRINGS;
    while left > 0 {
        let mut string = word(text.state, at)?;
        if string == 0 {
            return Ok(());
        }
        at = at.wrapping_add(WORD);
        loop {
            let mut bytes = [0; 64];
            // Not beyond the page that a part begins in: the next one need not be there.
            let part = (PAGE - string % PAGE).min(bytes.len()).min(left);
            let part = &mut bytes[..part];
            text.state.read_of(number, string, part)?;
            let end = part.iter().position(|byte| *byte == 0);
            let length = end.map_or(part.len(), |end| end + 1);
            text.put(&part[..length]);
            left -= length;
            string = string.wrapping_add(length);
            if end.is_some() || left == 0 {
                break;
            }
        }
    }
    Ok(())
}

fn limits(text: &mut Text<'_>, origin: &Origin) {
    const NAMES: [(&str, &str); 16] = [
        ("Max cpu time", "seconds"),
        ("Max file size", "bytes"),
        ("Max data size", "bytes"),
        ("Max stack size", "bytes"),
        ("Max core file size", "bytes"),
        ("Max resident set", "bytes"),
        ("Max processes", "processes"),
        ("Max open files", "files"),
        ("Max locked memory", "bytes"),
        ("Max address space", "bytes"),
        ("Max file locks", "locks"),
        ("Max pending signals", "signals"),
        ("Max msgqueue size", "bytes"),
        ("Max nice priority", ""),
        ("Max realtime priority", ""),
        ("Max realtime timeout", "us"),
    ];
    text.print(format_args!(
        "{:<25} {:<20} {:<20} {:<10}\n",
        "Limit", "Soft Limit", "Hard Limit", "Units"
    ));
    for (resource, (title, unit)) in NAMES.iter().enumerate() {
        let limit = of(text.state, origin).and_then(|process| process.limits.get(resource).ok());
        let Some(limit) = limit else { return };
        text.print(format_args!("{title:<25} "));
        for value in [limit.soft, limit.hard] {
            match value {
                UNLIMITED => text.print(format_args!("{:<20} ", "unlimited")),
                value => text.print(format_args!("{value:<20} ")),
            }
        }
        text.print(format_args!("{unit:<10}\n"));
    }
}

fn descriptor(text: &mut Text<'_>, origin: &Origin) {
    let found = of(text.state, origin).and_then(|process| {
        let descriptor = process.descriptor(origin.part.cast_signed()).ok()?;
        let description = text.state.files.look(&descriptor.file)?;
        let close = if descriptor.close_on_exec {
            0o200_0000
        } else {
            0
        };
        let flags = description.flags | close;
        Some((description.offset, flags, description.object))
    });
    if let Some((offset, flags, object)) = found {
        text.print(format_args!(
            "pos:\t{offset}\nflags:\t0{flags:o}\nmnt_id:\t1\n"
        ));
        if let Object::Special(special) = object {
            let (mut line, mut at) = ([0; 96], 0);
            let state = special.operations.state;
            while let Some((length, next)) = state(special.number, at, &mut line) {
                text.put(line.get(..length).unwrap_or_default());
                at = next;
            }
        }
    }
}
