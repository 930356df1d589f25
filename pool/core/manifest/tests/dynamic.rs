//! What comes, goes and talks: what is accepted, and how the rest is refused.

mod common;

use common::{Builder, dynamic, job, jobs, linux, manager, motor, reserve, shared, system};
use core_manifest::{Dynamic, MappingKind, Owner, System, limits};

fn parse(tree: Builder) -> Result<(), String> {
    let tree = tree.tree();
    let mut room = common::room();
    let system = System::parse(&tree, &mut room).map_err(|error| format!("system: {error}"))?;
    let dynamic = Dynamic::parse(&tree, &system);
    dynamic.map(drop).map_err(|error| error.to_string())
}

#[test]
fn all_of_it_is_understood() {
    let tree = dynamic(manager(), reserve(), job(), jobs()).tree();
    let mut room = common::room();
    let system = System::parse(&tree, &mut room).unwrap();
    let dynamic = Dynamic::parse(&tree, &system).unwrap();

    let reserve = dynamic.reserve.unwrap();
    assert_eq!((reserve.memory.start(), reserve.slots()), (0x5400_0000, 2));
    assert_eq!(reserve.cpus.iter().collect::<Vec<_>>(), [1, 2]);

    assert!(dynamic.managers[0].is_none());
    let authority = dynamic.managers[1].unwrap();
    let (vms, templates) = (authority.vms.iter(), authority.templates.iter());
    assert_eq!(
        (vms.collect::<Vec<_>>(), templates.collect::<Vec<_>>()),
        (vec![0], vec![0])
    );
    assert!(authority.files && authority.cpus.holds(2) && !authority.cpus.holds(1));
    assert_eq!((authority.memory, authority.priority), (0x100_0000, 31));

    let [job] = &dynamic.templates[..] else {
        panic!("one template")
    };
    assert_eq!((job.name, &job.cpus[..]), ("job", &[2][..]));
    assert_eq!((job.memory.size(), job.window), (0x40_0000, 0x1_2000));
    assert_eq!((job.fillings.len(), job.start_on), (1, Some(0)));
    assert_eq!(job.schedule.priority, 32);
    let kinds: Vec<_> = job.shared.iter().map(|mapping| mapping.kind).collect();
    let access = |writable| MappingKind::Shared { writable };
    assert_eq!(kinds, [access(false), access(true)]);

    let [jobs] = &dynamic.channels[..] else {
        panic!("one channel")
    };
    assert_eq!((jobs.name, jobs.slots, jobs.size), ("jobs", 64, 64));
    assert_eq!(
        (jobs.from.owner, jobs.to.owner),
        (Owner::Vm(1), Owner::Template(0))
    );
    assert_eq!(
        (jobs.status.start(), jobs.from.interrupt),
        (0x5300_2000, 272)
    );
}

#[test]
fn a_static_system_has_none_of_it() {
    let tree = system([motor(), linux()]).tree();
    let mut room = common::room();
    let system = System::parse(&tree, &mut room).unwrap();
    let dynamic = Dynamic::parse(&tree, &system).unwrap();
    assert!(dynamic.reserve.is_none() && dynamic.managers.iter().all(Option::is_none));
    assert!(dynamic.templates.is_empty() && dynamic.channels.is_empty());
}

#[test]
fn what_is_not_allowed_is_named() {
    let of_reserve = |node| parse(dynamic(manager(), node, job(), jobs()));
    let of_job = |node| parse(dynamic(manager(), reserve(), node, jobs()));
    let of_jobs = |node| parse(dynamic(manager(), reserve(), job(), node));
    let of_manager = |node| parse(dynamic(node, reserve(), job(), jobs()));
    for (answer, message) in [
        (
            of_reserve(reserve().wide("memory", &[0x5400_0000, 0x1000])),
            "reserve: memory must be whole blocks",
        ),
        (
            of_reserve(reserve().cells("cpus", &[])),
            "reserve: cpus must name at least one CPU",
        ),
        (
            of_reserve(reserve().cells("cpus", &[64])),
            "reserve: cpus must be numbers below 64",
        ),
        (
            of_reserve(reserve().wide("slots", &[0x5600_0000, 0x1000])),
            "reserve: slots must be whole slots",
        ),
        (
            of_job(job().cells("cpus", &[3])),
            "job: cpus must be different CPUs of the reserve",
        ),
        (
            of_job(job().cells("cpus", &[2, 2])),
            "job: cpus must be different CPUs of the reserve",
        ),
        (
            of_job(job().wide("memory", &[0x4000_0000, 0x400_0000])),
            "job: memory must be whole blocks that the reserve has",
        ),
        (
            of_job(job().wide("entry", &[0x4040_0000])),
            "job: entry must lie in the VM's memory",
        ),
        (
            of_job(job().wide("load", &[0x403f_f000, 0x4050_0000, 0x1001])),
            "job: load must go from an address range into the VM's memory",
        ),
        (
            of_job(job().wide("window", &[0])),
            "job: window must be whole pages",
        ),
        (
            of_job(job().text("start-on", "job")),
            "job: start-on must name a channel to the template",
        ),
        (
            of_jobs(jobs().cells("shape", &[63, 64])),
            "jobs: shape must be a power of two and a size, both up to 65536",
        ),
        (
            of_jobs(jobs().cells("shape", &[64, 0x1_0000])),
            "jobs: parts must hold the messages, with two pages behind",
        ),
        (
            of_jobs(jobs().cells("shape", &[64])),
            "jobs: shape must be so many cells",
        ),
        (
            of_jobs(jobs().wide("parts", &[0x5300_0000, 0x2000])),
            "jobs: parts must be three ranges",
        ),
        (
            of_jobs(jobs().text("to", "nobody")),
            "jobs: to must name a VM or a template",
        ),
        (
            of_jobs(jobs().text("from", "job")),
            "jobs: to must be another VM than from",
        ),
        (
            of_jobs(jobs().cells("interrupts", &[49, 272])),
            "jobs: interrupts must be free ones that the VMs can get",
        ),
        (
            of_jobs(jobs().cells("interrupts", &[272, 8])),
            "jobs: interrupts must be free ones that the VMs can get",
        ),
        (
            of_jobs(jobs().text("from", "motor")),
            "jobs: interrupts must be free ones that the VMs can get",
        ),
        (
            of_manager(manager().with("manages", "linux\0".as_bytes())),
            "linux: manages must name other VMs, templates or *",
        ),
        (
            of_manager(manager().cells("manages-cpus", &[3])),
            "linux: manages-cpus must be of the reserve",
        ),
        (
            of_manager(manager().cells("manages-priority", &[64])),
            "linux: manages-priority must be from 0 to 63",
        ),
        (
            of_manager(manager().without("manages-memory")),
            "linux: no manages-memory",
        ),
    ] {
        assert_eq!(answer, Err(message.to_owned()));
    }
    let long = Builder::new("a-name-of-17-char").wide("memory", &[0x4000_0000, 0x40_0000]);
    let long = ["cpus", "window", "entry", "argument"]
        .into_iter()
        .fold(long, |node, name| node.wide(name, &[0]));
    let named = of_job(long.cells("cpus", &[2])).unwrap_err();
    assert_eq!(named, "a-name-of-17-char: name must have at most 16 bytes");
    let alone = system([motor(), linux()]).child(Builder::new("templates").child(job()));
    assert_eq!(
        parse(alone),
        Err("job: memory must come from a reserve".into())
    );
}

#[test]
fn what_reaches_too_far_is_named() {
    let clash = |a: &str, b: &str| Err(format!("{a} and {b} have the same physical address"));
    let reserve_at = |start: u64| {
        let reserve = reserve().wide("memory", &[start, 0x20_0000]);
        let small = job().wide("memory", &[0x4000_0000, 0x20_0000]);
        parse(dynamic(manager(), reserve, small, jobs()))
    };
    assert_eq!(reserve_at(0x5000_0000), clash("reserve", "motor"));
    assert_eq!(reserve_at(0x6000_0000), clash("reserve", "linux"));
    assert_eq!(reserve_at(0x5100_0000), clash("reserve", "motor"));
    assert_eq!(reserve_at(0x5200_0000), clash("reserve", "linux"));
    // Where the channel is.
    assert_eq!(reserve_at(0x5300_0000), clash("reserve", "linux"));

    // The other end's part, the status page, somebody else's channel.
    let sees = |areas: &[[u64; 4]]| {
        let manager = manager().with("shared", shared(areas));
        parse(dynamic(manager, reserve(), job(), jobs()))
    };
    assert_eq!(sees(&[[0x5300_0000, 0x5300_0000, 0x4000, 0]]), Ok(()));
    let all = sees(&[[0x5300_0000, 0x5300_0000, 0x4000, 1]]);
    assert_eq!(all, clash("jobs", "linux"));
    let status = sees(&[[0x5300_0000, 0x5300_0000, 0x3000, 1]]);
    assert_eq!(status, clash("jobs", "linux"));
    let third = motor().with("shared", shared(&[[0x8000_0000, 0x5300_0000, 0x1000, 0]]));
    let tree = system([third, manager()])
        .child(reserve())
        .child(Builder::new("templates").child(job()))
        .child(Builder::new("channels").child(jobs()));
    assert_eq!(parse(tree), clash("jobs", "motor"));

    // A template sees its channels only, and no more of them than its end.
    let template_sees = |area: [u64; 4]| {
        let job = job().with("shared", shared(&[area]));
        parse(dynamic(manager(), reserve(), job, jobs()))
    };
    let own = Err("job has the same physical address twice".to_owned());
    assert_eq!(template_sees([0x8001_2000, 0x5300_0000, 0x4000, 1]), own);
    assert_eq!(template_sees([0x8001_2000, 0x5300_0000, 0x5000, 0]), own);
    assert_eq!(template_sees([0x8001_2000, 0x5000_0000, 0x1000, 0]), own);
    // Its pristine bytes are nobody's.
    let source = job().wide("load", &[0x4008_0000, 0x5000_0000, 0x1000]);
    let answer = parse(dynamic(manager(), reserve(), source, jobs()));
    assert_eq!(answer, clash("job", "motor"));
}

#[test]
fn counts_are_bounded() {
    let with = |count: usize| {
        let templates = (0..count).map(|index| {
            Builder::new(&format!("t{index}"))
                .cells("cpus", &[2])
                .wide("memory", &[0x4000_0000, 0x20_0000])
                .wide("window", &[0x1_2000])
                .wide("entry", &[0x4000_0000])
                .wide("argument", &[0])
        });
        let node = templates.fold(Builder::new("templates"), Builder::child);
        parse(system([motor(), linux()]).child(reserve()).child(node))
    };
    assert_eq!(with(limits::TEMPLATES), Ok(()));
    let many = Err("/: templates has more than 8 entries".into());
    assert_eq!(with(limits::TEMPLATES + 1), many);
}
