//! [`Node`]: what an inode of `/proc` shows.

use crate::setting::Setting;
use tenon_vfs::Kind;

macro_rules! nodes {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        /// What an inode shows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Node {
            $($(#[$doc])* $name,)*
        }

        impl Node {
            const ALL: &[Self] = &[$(Self::$name,)*];
        }
    };
}

nodes! {
    /// The directory `/proc`.
    Root;
    /// A directory without changes.
    Fixed;
    /// The directory of a process.
    Process;
    /// The directory of a thread.
    Thread;
    /// Directories of descriptors, of their states, of threads.
    Descriptors;
    DescriptorStates;
    Threads;
    /// Links: to the caller's process and thread, to `self/mounts`.
    SelfProcess;
    SelfThread;
    SelfMounts;
    /// Links of a process: its working directory, the root, its program, a descriptor.
    WorkingDirectory;
    RootDirectory;
    Program;
    Descriptor;
    /// Files of a process.
    Stat;
    Status;
    SizeOfMemory;
    Maps;
    MapsWithSizes;
    Arguments;
    Name;
    Environment;
    Limits;
    Mounts;
    MountsByNumber;
    OutOfMemory;
    Wait;
    DescriptorState;
    /// Files of the system.
    Memory;
    SystemStat;
    UpTime;
    LoadAverage;
    Processor;
    Version;
    FileSystems;
    CommandLine;
    HostName;
    DomainName;
    Release;
    SystemName;
    Build;
    LargestNumber;
    LargestThreads;
    BootIdentifier;
    NewIdentifier;
    Entropy;
    PoolSize;
    Overcommit;
    /// Limits of `inotify`.
    WatchingInstances;
    WatchedEvents;
    Watches;
    /// Limits that are constants.
    Semaphores;
    MessageSize;
    QueueSize;
    SegmentSize;
    SegmentPages;
    Taint;
    LastCapability;
    /// Settings.
    Queues;
    Segments;
    MessageQueues;
    NextSemaphores;
    NextQueue;
    NextSegment;
    PipeSize;
    OpenFiles;
    Operations;
    /// Objects of System V.
    SemaphoreList;
    QueueList;
    SegmentList;
}

/// An entry of a directory: its name, what it shows, its permissions.
pub(crate) type Entry = (&'static str, Node, u32);

impl Node {
    pub(crate) fn of(kind: u16) -> Option<Self> {
        Self::ALL.get(usize::from(kind)).copied()
    }

    pub(crate) fn number(self) -> u16 {
        self as u16
    }

    /// Whether it is a link to an object of a process rather than to a path.
    pub(crate) fn leads_to_object(self) -> bool {
        matches!(
            self,
            Self::WorkingDirectory | Self::RootDirectory | Self::Program | Self::Descriptor
        )
    }

    /// The kind of its inode.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Root
            | Self::Fixed
            | Self::Process
            | Self::Thread
            | Self::Descriptors
            | Self::DescriptorStates
            | Self::Threads => Kind::Directory,
            Self::SelfProcess
            | Self::SelfThread
            | Self::SelfMounts
            | Self::WorkingDirectory
            | Self::RootDirectory
            | Self::Program
            | Self::Descriptor => Kind::Link,
            _ => Kind::File,
        }
    }

    /// The entries that a directory has at all times, but for those of the system's fixed directories.
    pub(crate) fn entries(self) -> &'static [Entry] {
        const OF_PROCESS: &[Entry] = &[
            ("stat", Node::Stat, 0o444),
            ("status", Node::Status, 0o444),
            ("statm", Node::SizeOfMemory, 0o444),
            ("maps", Node::Maps, 0o444),
            ("smaps", Node::MapsWithSizes, 0o444),
            ("cmdline", Node::Arguments, 0o444),
            ("comm", Node::Name, 0o644),
            ("environ", Node::Environment, 0o400),
            ("limits", Node::Limits, 0o444),
            ("mounts", Node::Mounts, 0o444),
            ("mountinfo", Node::MountsByNumber, 0o444),
            ("oom_score_adj", Node::OutOfMemory, 0o644),
            ("wchan", Node::Wait, 0o444),
            ("cwd", Node::WorkingDirectory, 0o777),
            ("root", Node::RootDirectory, 0o777),
            ("exe", Node::Program, 0o777),
            ("fd", Node::Descriptors, 0o500),
            ("fdinfo", Node::DescriptorStates, 0o555),
            ("task", Node::Threads, 0o555),
        ];
        match self {
            Self::Root => &[
                ("self", Self::SelfProcess, 0o777),
                ("thread-self", Self::SelfThread, 0o777),
                ("mounts", Self::SelfMounts, 0o777),
                ("meminfo", Self::Memory, 0o444),
                ("stat", Self::SystemStat, 0o444),
                ("uptime", Self::UpTime, 0o444),
                ("loadavg", Self::LoadAverage, 0o444),
                ("cpuinfo", Self::Processor, 0o444),
                ("version", Self::Version, 0o444),
                ("filesystems", Self::FileSystems, 0o444),
                ("cmdline", Self::CommandLine, 0o444),
            ],
            Self::Process => OF_PROCESS,
            // Without the threads.
            Self::Thread => &OF_PROCESS[..OF_PROCESS.len() - 1],
            _ => &[],
        }
    }
}

impl Node {
    /// The setting that it shows.
    pub(crate) fn setting(self) -> Option<Setting> {
        Some(match self {
            Self::Queues => Setting::Queues,
            Self::Segments => Setting::Segments,
            Self::MessageQueues => Setting::MessageQueues,
            Self::NextSemaphores => Setting::NextSemaphores,
            Self::NextQueue => Setting::NextQueue,
            Self::NextSegment => Setting::NextSegment,
            _ => return None,
        })
    }

    /// The text of a limit that is a constant.
    pub(crate) fn constant(self) -> Option<&'static [u8]> {
        Some(match self {
            Self::Semaphores => b"128\t4096000\t128\t32000\n",
            Self::MessageSize => b"8192\n",
            Self::QueueSize => b"16384\n",
            Self::SegmentSize | Self::SegmentPages => b"18446744073692774399\n",
            Self::Taint => b"0\n",
            Self::LastCapability => b"40\n",
            Self::Operations => b"65536\n",
            Self::OpenFiles => b"4096\n",
            Self::WatchingInstances => b"128\n",
            Self::WatchedEvents => b"4096\n",
            Self::Watches => b"8192\n",
            _ => return None,
        })
    }
}

/// The fixed directories below `/proc/sys`, each with its files.
pub(crate) const SYSTEM: &[(&[&str], &[Entry])] = &[
    (
        &["sys", "kernel"],
        &[
            ("hostname", Node::HostName, 0o644),
            ("domainname", Node::DomainName, 0o644),
            ("osrelease", Node::Release, 0o444),
            ("ostype", Node::SystemName, 0o444),
            ("version", Node::Build, 0o444),
            ("pid_max", Node::LargestNumber, 0o444),
            ("threads-max", Node::LargestThreads, 0o444),
            ("sem", Node::Semaphores, 0o444),
            ("msgmax", Node::MessageSize, 0o444),
            ("msgmnb", Node::QueueSize, 0o444),
            ("msgmni", Node::Queues, 0o644),
            ("sem_next_id", Node::NextSemaphores, 0o644),
            ("msg_next_id", Node::NextQueue, 0o644),
            ("shm_next_id", Node::NextSegment, 0o644),
            ("shmmax", Node::SegmentSize, 0o444),
            ("shmall", Node::SegmentPages, 0o444),
            ("shmmni", Node::Segments, 0o644),
            ("tainted", Node::Taint, 0o444),
            ("cap_last_cap", Node::LastCapability, 0o444),
        ],
    ),
    (
        &["sys", "fs"],
        &[
            ("pipe-max-size", Node::PipeSize, 0o644),
            ("file-max", Node::OpenFiles, 0o444),
            ("aio-max-nr", Node::Operations, 0o444),
        ],
    ),
    (
        &["sysvipc"],
        &[
            ("sem", Node::SemaphoreList, 0o444),
            ("msg", Node::QueueList, 0o444),
            ("shm", Node::SegmentList, 0o444),
        ],
    ),
    (
        &["sys", "fs", "mqueue"],
        &[("queues_max", Node::MessageQueues, 0o644)],
    ),
    (
        &["sys", "fs", "inotify"],
        &[
            ("max_user_instances", Node::WatchingInstances, 0o644),
            ("max_queued_events", Node::WatchedEvents, 0o644),
            ("max_user_watches", Node::Watches, 0o644),
        ],
    ),
    (
        &["sys", "kernel", "random"],
        &[
            ("boot_id", Node::BootIdentifier, 0o444),
            ("uuid", Node::NewIdentifier, 0o444),
            ("entropy_avail", Node::Entropy, 0o444),
            ("poolsize", Node::PoolSize, 0o444),
        ],
    ),
    (
        &["sys", "vm"],
        &[("overcommit_memory", Node::Overcommit, 0o644)],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_name_nodes() {
        for (number, node) in (0..).zip(Node::ALL) {
            assert_eq!((node.number(), Node::of(number)), (number, Some(*node)));
        }
        assert_eq!(Node::of(Node::ALL.len() as u16), None);
    }

    #[test]
    fn links_and_directories_have_entries_by_their_kind() {
        for directory in Node::ALL {
            for (name, node, permissions) in directory.entries() {
                assert_eq!(directory.kind(), Kind::Directory, "{name}");
                assert_eq!(node.kind() == Kind::Link, *permissions == 0o777, "{name}");
            }
        }
        assert!(
            Node::Thread
                .entries()
                .iter()
                .all(|(name, ..)| *name != "task")
        );
    }
}
