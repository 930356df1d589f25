//! A process: its address space, descriptors and end.

use core::fmt;
use core::ops::Range;
use heapless::String;
use tenon_credentials::{Credentials, Limits, Usage};
use tenon_files::{Descriptor, Descriptors, FileReference, Files};
use tenon_frames::Frames;
use tenon_program::{Errno, Space};
use tenon_signal::{code, number};

/// Bytes of a program's name, with the NUL of Linux.
pub const NAME: usize = 16;

/// The signal of a child's end, unless `clone` states another one.
pub const SIGCHLD: u8 = number::CHLD;

/// Slack of timers of the first process, as in Linux.
const SLACK: u64 = 50_000;

/// How a process ended, as `wait4` reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By `exit`.
    Exit(u8),
    /// By a signal.
    Signal(u8),
}

/// How a process ended, with its name, as text.
#[derive(Debug)]
pub struct EndOf<'a>(pub &'a Process);

impl fmt::Display for EndOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.0.name();
        match self.0.end {
            Some(End::Exit(code)) if code > 0 => write!(f, "{name} has ended with {code}"),
            Some(End::Signal(signal)) => write!(f, "{name} was ended by signal {signal}"),
            _ => write!(f, "{name} has ended"),
        }
    }
}

impl End {
    /// The status word of `wait4`.
    #[must_use]
    pub fn status(self) -> u32 {
        match self {
            Self::Exit(code) => u32::from(code) << 8,
            Self::Signal(number) => number.into(),
        }
    }
}

/// What a parent learns of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It has ended.
    Ended(End),
    /// A signal has stopped it.
    Stopped(u8),
    /// It has been continued.
    Continued,
}

impl Change {
    /// The status word of `wait4`.
    #[must_use]
    pub fn status(self) -> u32 {
        match self {
            Self::Ended(end) => end.status(),
            Self::Stopped(signal) => u32::from(signal) << 8 | 0x7f,
            Self::Continued => 0xffff,
        }
    }

    /// `si_code` and `si_status` of SIGCHLD.
    #[must_use]
    pub fn code(self) -> (i32, u32) {
        match self {
            Self::Ended(End::Exit(status)) => (code::CHILD_EXITED, status.into()),
            Self::Ended(End::Signal(signal)) => (code::CHILD_KILLED, signal.into()),
            Self::Stopped(signal) => (code::CHILD_STOPPED, signal.into()),
            Self::Continued => (code::CHILD_CONTINUED, number::CONT.into()),
        }
    }
}

/// A process.
#[derive(Debug)]
pub struct Process {
    /// Its number.
    pub number: u32,
    /// Its parent's number.
    pub parent: u32,
    /// Its process group, which has the number of the process that made it.
    pub group: u32,
    /// Its session, which has the number of the process that made it.
    pub session: u32,
    /// Its address space, until it ends.
    pub space: Option<Space>,
    /// The number of the process that lends it memory, which waits for it.
    pub lender: Option<u32>,
    /// The heap of `brk`: its start and its end.
    pub heap: Range<usize>,
    /// Where handlers of signals return to.
    pub trampoline: usize,
    /// Its descriptors.
    pub files: Descriptors,
    /// The inode of its working directory, which it holds.
    pub directory: u32,
    /// The inode at which its absolute paths begin, which it holds.
    pub root: u32,
    /// The permissions that files which it creates do not get.
    pub mask: u32,
    /// What `oom_score_adj` states, without effect.
    pub score: i16,
    /// Its users, groups and capabilities.
    pub credentials: Credentials,
    /// The limits of its resources.
    pub limits: Limits,
    /// What it has used of them.
    pub usage: Usage,
    /// The inode of its program, which it holds.
    pub program: Option<u32>,
    /// The stack pointer with which its program began.
    pub stack: usize,
    /// The name of its program.
    pub name: String<{ NAME - 1 }>,
    /// How it ended; it waits to be collected then.
    pub end: Option<End>,
    /// The end of its first thread, where that left the others.
    pub exit: Option<End>,
    /// The last stop or continuation, which its parent has not learnt of.
    pub change: Option<Change>,
    /// The signal that its end sends to the parent, or zero.
    pub end_signal: u8,
    /// The signal that it gets at the end of its parent, or zero (`PR_SET_PDEATHSIG`).
    pub death_signal: u8,
    /// It is the parent of its descendants that lose theirs (`PR_SET_CHILD_SUBREAPER`).
    pub adopts: bool,
    /// What `personality` has set, which has no effect.
    pub personality: u32,
    /// Slack of timers, which has no effect, and its initial value, in nanoseconds.
    pub slack: (u64, u64),
    /// Barriers that `membarrier` has registered, and for which of its programs.
    pub barriers: (u32, u8),
    /// How many programs it has executed.
    pub executions: u32,
    /// It has called `execve` since it was created.
    pub own_program: bool,
}

impl Process {
    /// A process without a program, with inodes as its root and its working directory.
    #[must_use]
    pub fn new(
        (number, parent): (u32, u32),
        space: Space,
        files: Descriptors,
        (root, directory): (u32, u32),
    ) -> Self {
        Self {
            number,
            parent,
            group: number,
            session: number,
            space: Some(space),
            lender: None,
            heap: 0..0,
            trampoline: 0,
            files,
            directory,
            root,
            mask: 0o22,
            score: 0,
            credentials: Credentials::root(),
            limits: Limits::new(0, 0),
            usage: Usage::new(0),
            program: None,
            stack: 0,
            name: String::new(),
            end: None,
            exit: None,
            change: None,
            end_signal: SIGCHLD,
            death_signal: 0,
            adopts: false,
            personality: 0,
            slack: (SLACK, SLACK),
            barriers: (0, 0),
            executions: 0,
            own_program: false,
        }
    }

    /// Its root and its working directory.
    #[must_use]
    pub fn directories(&self) -> (u32, u32) {
        (self.root, self.directory)
    }

    /// Holds its root and its working directory.
    pub fn hold_directories(&self, files: &mut Files) {
        files.tree.files.hold(self.directory);
        files.tree.files.hold(self.root);
    }

    /// Lets its root and its working directory go, after which it has those of another process.
    pub fn leave_directories(
        &mut self,
        (root, directory): (u32, u32),
        files: &mut Files,
        frames: &mut Frames,
    ) {
        files.tree.files.let_go(self.directory, frames);
        files.tree.files.let_go(self.root, frames);
        (self.root, self.directory) = (root, directory);
    }

    /// Whether a number is that of the process, of its group or its session.
    #[must_use]
    pub fn has_number(&self, number: u32) -> bool {
        [self.number, self.group, self.session].contains(&number)
    }

    /// The barriers of a child: those of its parent's program.
    #[must_use]
    pub fn barriers_of_child(&self) -> (u32, u8) {
        let (program, registered) = self.barriers;
        let same = program == self.executions;
        (0, if same { registered } else { 0 })
    }

    /// The inode of its program.
    #[must_use]
    pub fn program(&self) -> Option<u32> {
        self.program
    }

    /// The stack pointer with which its program began, where the number of its arguments is.
    #[must_use]
    pub fn stack_pointer(&self) -> usize {
        self.stack
    }

    /// Whether a signal has stopped it.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        matches!(self.change, Some(Change::Stopped(_)))
    }

    /// The address space.
    pub fn space(&mut self) -> Result<&mut Space, Errno> {
        self.space.as_mut().ok_or(Errno::ESRCH)
    }

    /// The name of its program.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the name, as much of it as there is room for.
    pub fn set_name(&mut self, name: &str) {
        self.name.clear();
        for character in name.chars() {
            if self.name.push(character).is_err() {
                break;
            }
        }
    }

    /// The descriptor of a number.
    pub fn descriptor(&self, number: i32) -> Result<&Descriptor, Errno> {
        self.files.get(number)
    }

    /// Puts a reference at the lowest free number from `least` on, or closes it: `EMFILE`.
    pub fn install(
        &mut self,
        file: FileReference,
        (close_on_exec, least): (bool, u32),
        (files, frames): (&mut Files, &mut Frames),
    ) -> Result<u64, Errno> {
        let descriptor = Descriptor {
            file,
            close_on_exec,
        };
        match self.files.insert(descriptor, least, frames) {
            Ok(number) => Ok(number.into()),
            Err(file) => {
                files.close(file, frames);
                Err(Errno::EMFILE)
            }
        }
    }
}
