//! Files of the system: memory, times, names ([`RELEASE`]).

use crate::list::{self, List};
use crate::node::Node;
use crate::text::Text;
use heapless::Vec;
use tenon_process::{Errno, State};
use tenon_sync::Mutex;
use tenon_thread::time::Instant;

/// The version of Linux that has this interface, and with which programs are compared.
pub const RELEASE: &str = "6.1.0-tenon";
/// The longest name of the host.
const NAME: usize = 64;
const SECOND: u64 = 1_000_000_000;
/// Nanoseconds of a tick of `/proc/stat`.
pub(crate) const TICK: u64 = SECOND / 100;
/// `pid_max` of Linux: numbers lie below.
const LARGEST: u32 = 1 << 22;

type Name = Vec<u8, NAME>;

/// The names of the host and its domain, once they are set.
static NAMES: Mutex<[Option<Name>; 2]> = Mutex::new([None, None]);

fn set(index: usize, name: &[u8]) -> Result<(), Errno> {
    let name = Vec::from_slice(name).map_err(|_| Errno::EINVAL)?;
    NAMES.lock().map_err(|_| Errno::EAGAIN)?[index] = Some(name);
    Ok(())
}

fn with<R>(index: usize, default: &[u8], action: impl FnOnce(&[u8]) -> R) -> R {
    match NAMES.lock().ok().and_then(|names| names[index].clone()) {
        Some(name) => action(&name),
        None => action(default),
    }
}

/// Sets the name of the host; `EINVAL` if it is too long.
pub fn set_host(name: &[u8]) -> Result<(), Errno> {
    set(0, name)
}

/// Sets the name of the domain.
pub fn set_domain(name: &[u8]) -> Result<(), Errno> {
    set(1, name)
}

/// Calls `action` with the name of the host.
pub fn with_host<R>(action: impl FnOnce(&[u8]) -> R) -> R {
    with(0, b"tenon", action)
}

/// Calls `action` with the name of the domain.
pub fn with_domain<R>(action: impl FnOnce(&[u8]) -> R) -> R {
    with(1, b"(none)", action)
}

/// Bytes of a UUID of version 4.
fn identifier(text: &mut Text<'_>, mut bytes: [u8; 16]) {
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    for (index, byte) in bytes.into_iter().enumerate() {
        let dash = if [4, 6, 8, 10].contains(&index) {
            "-"
        } else {
            ""
        };
        text.print(format_args!("{dash}{byte:02x}"));
    }
    text.put(b"\n");
}

/// The identifier of this start.
fn boot_identifier(text: &mut Text<'_>) -> [u8; 16] {
    static BOOT: Mutex<Option<[u8; 16]>> = Mutex::new(None);
    let new = text.state.entropy.bytes();
    BOOT.lock().map_or(new, |mut boot| *boot.get_or_insert(new))
}

/// Nanoseconds from the start for which processes ran, and did not.
fn busy(state: &State) -> (u64, u64) {
    let now = Instant::now().nanoseconds();
    let (mut busy, mut next) = (0, 0);
    while let Some(process) = state.next_process(next) {
        next = process.number + 1;
        busy += state.time_of(process.number, true).unwrap_or_default();
        if process.parent == 0 {
            busy += tenon_process::nanoseconds(process.usage.children);
        }
    }
    (busy, now.saturating_sub(busy))
}

/// Generates a file of the system.
pub(crate) fn write(text: &mut Text<'_>, node: Node) {
    match node {
        Node::Memory => memory(text),
        Node::SystemStat => stat(text),
        Node::UpTime => {
            let now = Instant::now().nanoseconds();
            let (_, idle) = busy(text.state);
            let parts = |time: u64| (time / SECOND, time % SECOND / TICK);
            let ((up, up_part), (idle, idle_part)) = (parts(now), parts(idle));
            text.print(format_args!("{up}.{up_part:02} {idle}.{idle_part:02}\n"));
        }
        Node::LoadAverage => {
            let (running, threads, last) = text.state.counts();
            text.print(format_args!("0.00 0.00 0.00 {running}/{threads} {last}\n"));
        }
        Node::Processor => text.put(
            b"processor\t: 0\nBogoMIPS\t: 125.00\nFeatures\t: fp asimd\nCPU architecture: 8\n\n",
        ),
        Node::Version => {
            text.print(format_args!("Linux version {RELEASE} (tenon) Tenon\n"));
        }
        Node::FileSystems => text.put(b"nodev\tproc\nnodev\ttmpfs\n"),
        Node::CommandLine => text.put(b"\n"),
        Node::HostName => with_host(|name| text.put(name)),
        Node::DomainName => with_domain(|name| text.put(name)),
        Node::Release => text.put(RELEASE.as_bytes()),
        Node::SystemName => text.put(b"Linux"),
        Node::Build => text.put(b"Tenon"),
        Node::LargestNumber => text.print(format_args!("{LARGEST}")),
        Node::LargestThreads => {
            let threads = text.state.limit_of_threads();
            text.print(format_args!("{threads}"));
        }
        Node::BootIdentifier => {
            let bytes = boot_identifier(text);
            identifier(text, bytes);
        }
        Node::NewIdentifier => {
            let bytes = text.state.entropy.bytes();
            identifier(text, bytes);
        }
        Node::Entropy => {
            let bits = if text.state.entropy.is_seeded() {
                256
            } else {
                0
            };
            text.print(format_args!("{bits}"));
        }
        Node::PoolSize => text.put(b"256"),
        Node::Overcommit => text.put(b"1"),
        Node::SemaphoreList => list::put(text, List::Semaphores),
        Node::QueueList => list::put(text, List::Queues),
        Node::SegmentList => list::put(text, List::Segments),
        Node::PipeSize => {
            let limit = text.state.files.pipe_limit;
            text.print(format_args!("{limit}"));
        }
        _ => match node.setting() {
            Some(setting) => text.print(format_args!("{}\n", setting.value())),
            None => text.put(node.constant().unwrap_or_default()),
        },
    }
    let ends = matches!(
        node,
        Node::HostName
            | Node::DomainName
            | Node::Release
            | Node::SystemName
            | Node::Build
            | Node::LargestNumber
            | Node::LargestThreads
            | Node::Entropy
            | Node::PoolSize
            | Node::Overcommit
            | Node::PipeSize
    );
    if ends {
        text.put(b"\n");
    }
}

fn memory(text: &mut Text<'_>) {
    let (total, free, _) = text.state.usage();
    let (total, free) = (total / 1024, free / 1024);
    for (name, size) in [
        ("MemTotal:", total),
        ("MemFree:", free),
        ("MemAvailable:", free),
        ("Buffers:", 0),
        ("Cached:", 0),
        ("SwapCached:", 0),
        ("Active:", total - free),
        ("Inactive:", 0),
        ("SwapTotal:", 0),
        ("SwapFree:", 0),
        ("Dirty:", 0),
        ("Writeback:", 0),
        ("AnonPages:", total - free),
        ("Mapped:", 0),
        ("Shmem:", 0),
        ("Slab:", 0),
        ("SReclaimable:", 0),
        ("SUnreclaim:", 0),
        ("CommitLimit:", total),
        ("Committed_AS:", total - free),
    ] {
        text.print(format_args!("{name:<15} {size:8} kB\n"));
    }
}

fn stat(text: &mut Text<'_>) {
    let (busy, idle) = busy(text.state);
    let (busy, idle) = (busy / TICK, idle / TICK);
    for name in ["cpu ", "cpu0"] {
        text.print(format_args!("{name} {busy} 0 0 {idle} 0 0 0 0 0 0\n"));
    }
    let date = tenon_process::real_time_of_start() / SECOND;
    let (running, _, last) = text.state.counts();
    text.print(format_args!(
        "intr 0\nctxt 0\nbtime {date}\nprocesses {last}\nprocs_running {running}\nprocs_blocked 0\n"
    ));
}
