//! Tests of [`FileSystem`](crate::FileSystem) against a model.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use tenon_frames::PAGE;

struct Machine {
    frames: Frames,
    total: usize,
}

/// Frames, and a file system; its root takes frames beside `total`.
fn machine(pages: usize) -> (Machine, FileSystem) {
    let mut frames = Frames::of_host(pages);
    let files = FileSystem::new(&mut frames).unwrap();
    let total = frames.available();
    (Machine { frames, total }, files)
}

fn names(files: &FileSystem, directory: u32) -> Vec<String> {
    let (mut names, mut at) = (Vec::new(), 0);
    while let Some(entry) = files.entry(directory, at).unwrap() {
        names.push(String::from_utf8(entry.name().to_vec()).unwrap());
        at = entry.next;
    }
    names.sort();
    names
}

#[test]
fn content_below_is_read_until_it_is_written() {
    let (mut machine, mut files) = machine(16);
    let frames = &mut machine.frames;
    let file = files.create(ROOT, b"f", Kind::File, 0o644, frames).unwrap();
    let below: &[u8] = vec![b'x'; PAGE + 100].leak();
    files.set_below(file, below).unwrap();
    files.write(file, 2, b"--", frames).unwrap();
    let mut bytes = vec![0; PAGE + 200];
    assert_eq!(files.read(file, 0, &mut bytes), Ok(PAGE + 100));
    assert_eq!(&bytes[..6], b"xx--xx");
    assert!(bytes[6..PAGE + 100].iter().all(|byte| *byte == b'x'));
    // What was cut off is zeros when the file grows again.
    assert_eq!(files.resize(file, 3, frames), Ok(true));
    assert_eq!(files.resize(file, PAGE as u64 + 9, frames), Ok(true));
    assert_eq!(files.read(file, 0, &mut bytes), Ok(PAGE + 9));
    assert_eq!(&bytes[..4], b"xx-\0");
    assert!(bytes[3..PAGE + 9].iter().all(|byte| *byte == 0));
    files.remove(ROOT, b"f", frames).unwrap();
    assert_eq!(frames.available(), machine.total);
}

#[test]
fn a_removed_directory_keeps_the_one_above() {
    let (mut machine, mut files) = machine(16);
    let frames = &mut machine.frames;
    let directory = Kind::Directory;
    let a = files.create(ROOT, b"a", directory, 0o755, frames).unwrap();
    let b = files.create(a, b"b", directory, 0o755, frames).unwrap();
    files.hold(b);
    files.remove(a, b"b", frames).unwrap();
    files.remove(ROOT, b"a", frames).unwrap();
    // Its number is that of no other directory while `..` leads there.
    let c = files.create(ROOT, b"c", directory, 0o700, frames).unwrap();
    assert_ne!(c, a);
    assert_eq!(files.inode(b).unwrap().parent(), a);
    assert_eq!(files.inode(a).unwrap().links, 0);
    files.hold(c);
    files.create(ROOT, b"d", directory, 0o755, frames).unwrap();
    files.rename((ROOT, b"d"), (ROOT, b"c"), frames).unwrap();
    files.let_go(c, frames);
    files.let_go(b, frames);
    assert!(files.inode(a).is_err() && files.inode(b).is_err());
    files.remove(ROOT, b"c", frames).unwrap();
    assert_eq!(files.count(), 1);
    assert_eq!(frames.available(), machine.total);
}

#[test]
fn directories_move_and_never_below_themselves() {
    let (mut machine, mut files) = machine(16);
    let frames = &mut machine.frames;
    let mut make = |at, name: &[u8]| files.create(at, name, Kind::Directory, 0o755, frames);
    let a = make(ROOT, b"a").unwrap();
    let b = make(a, b"b").unwrap();
    make(ROOT, b"c").unwrap();
    assert_eq!(make(ROOT, b"a"), Err(Error::Exists));
    assert_eq!(make(ROOT, b"x/y"), Err(Error::Name));
    assert_eq!(make(ROOT, &[b'x'; 256]), Err(Error::Name));
    let frames = &mut machine.frames;
    assert_eq!(
        files.rename((ROOT, b"a"), (b, b"x"), frames),
        Err(Error::Invalid)
    );
    assert_eq!(
        files.rename((ROOT, b"c"), (ROOT, b"a"), frames),
        Err(Error::NotEmpty)
    );
    assert_eq!(files.exchange((ROOT, b"a"), (a, b"b")), Err(Error::Invalid));
    files.rename((a, b"b"), (ROOT, b"c"), frames).unwrap();
    assert_eq!(names(&files, ROOT), ["a", "c"]);
    assert_eq!(files.find(ROOT, b"c"), Ok(b));
    let links = |files: &FileSystem, at| files.inode(at).unwrap().links;
    assert_eq!((links(&files, ROOT), links(&files, a)), (4, 2));
    assert_eq!(files.inode(b).unwrap().parent(), ROOT);
    let file = files.create(a, b"f", Kind::File, 0o644, frames).unwrap();
    assert_eq!(files.link(ROOT, b"l", a, frames), Err(Error::IsDirectory));
    files.link(ROOT, b"l", file, frames).unwrap();
    files.exchange((ROOT, b"c"), (a, b"f")).unwrap();
    assert_eq!((links(&files, ROOT), links(&files, a)), (3, 3));
    assert_eq!(files.remove(ROOT, b"a", frames), Err(Error::NotEmpty));
    for (at, name) in [(a, b"f"), (ROOT, b"a"), (ROOT, b"c"), (ROOT, b"l")] {
        files.remove(at, name, frames).unwrap();
    }
    assert_eq!((frames.available(), files.count()), (machine.total, 1));
}

#[test]
fn a_file_that_is_held_has_its_content_without_a_name() {
    let (mut machine, mut files) = machine(400);
    let frames = &mut machine.frames;
    let file = files.create(ROOT, b"f", Kind::File, 0o644, frames).unwrap();
    files.hold(file);
    let mut at = 0;
    while at < 200 * PAGE as u64 {
        at = files
            .reserve(file, (at, 200 * PAGE as u64), true, frames)
            .unwrap();
    }
    files.remove(ROOT, b"f", frames).unwrap();
    files.write(file, 5, b"abc", frames).unwrap();
    let unnamed = files.create_unnamed(0o600, frames).unwrap();
    files.let_go(unnamed, frames);
    files.let_go(file, frames);
    // More than a step.
    assert!(frames.available() < machine.total);
    while files.reclaim(frames) {}
    assert_eq!(frames.available(), machine.total);
}

#[derive(Clone, Debug)]
enum Step {
    Create(u8, usize),
    Write(u8, u64, usize),
    Resize(u8, u64),
    Rename(u8, u8),
    Link(u8, u8),
    Remove(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let offset = || prop_oneof![0..100u64, 4000..4200u64, 0..20_000u64];
    let step = prop_oneof![
        (0..24u8, 0..250usize).prop_map(|(name, below)| Step::Create(name, below)),
        (0..24u8, offset(), 1..5000usize).prop_map(|(n, at, length)| Step::Write(n, at, length)),
        (0..24u8, offset()).prop_map(|(name, size)| Step::Resize(name, size)),
        (0..24u8, 0..24u8).prop_map(|(old, new)| Step::Rename(old, new)),
        (0..24u8, 0..24u8).prop_map(|(old, new)| Step::Link(old, new)),
        (0..24u8).prop_map(Step::Remove),
    ];
    prop::collection::vec(step, 0..50)
}

/// A name, the longer the higher its number, so that records of all sizes are next to each other.
fn name(number: u8) -> Vec<u8> {
    vec![b'a' + number; 1 + usize::from(number) * 11]
}

proptest! {
    #[test]
    fn files_are_those_of_a_model(steps in steps(), pages in 6..60usize) {
        let (mut machine, mut files) = machine(pages);
        let frames = &mut machine.frames;
        let mut model: BTreeMap<u8, usize> = BTreeMap::new();
        let mut contents: Vec<Vec<u8>> = Vec::new();
        for step in steps {
            match step {
                Step::Create(number, below) => {
                    let created = files.create(ROOT, &name(number), Kind::File, 0o600, frames);
                    let exists = model.contains_key(&number);
                    if exists {
                        prop_assert_eq!(created, Err(Error::Exists));
                    }
                    if let Ok(inode) = created {
                        files.set_below(inode, vec![b'.'; below].leak()).unwrap();
                        model.insert(number, contents.len());
                        contents.push(vec![b'.'; below]);
                    } else if !exists {
                        prop_assert_eq!(created, Err(Error::NoSpace));
                    }
                }
                Step::Write(number, offset, length) => {
                    let Some(&content) = model.get(&number) else { continue };
                    let inode = files.find(ROOT, &name(number)).unwrap();
                    let bytes = vec![number; length];
                    let Ok(count) = files.write(inode, offset, &bytes, frames) else { continue };
                    let (content, end) = (&mut contents[content], offset as usize + count);
                    content.resize(content.len().max(end), 0);
                    content[offset as usize..end].fill(number);
                }
                Step::Resize(number, size) => {
                    let Some(&content) = model.get(&number) else { continue };
                    let inode = files.find(ROOT, &name(number)).unwrap();
                    prop_assert_eq!(files.resize(inode, size, frames), Ok(true));
                    contents[content].resize(size as usize, 0);
                }
                Step::Rename(old, new) => {
                    match files.rename((ROOT, &name(old)), (ROOT, &name(new)), frames) {
                        // Two names of one file stay.
                        Ok(()) if model.get(&old) == model.get(&new) => {}
                        Ok(()) => {
                            let content = model.remove(&old).unwrap();
                            model.insert(new, content);
                        }
                        Err(Error::NoSpace) => {}
                        Err(error) => {
                            prop_assert_eq!(error, Error::NotFound);
                            prop_assert!(!model.contains_key(&old));
                        }
                    }
                }
                Step::Link(old, new) => {
                    let Some(&content) = model.get(&old) else { continue };
                    let inode = files.find(ROOT, &name(old)).unwrap();
                    match files.link(ROOT, &name(new), inode, frames) {
                        Ok(()) => prop_assert!(model.insert(new, content).is_none()),
                        Err(Error::Exists) => prop_assert!(model.contains_key(&new)),
                        Err(error) => prop_assert_eq!(error, Error::NoSpace),
                    }
                }
                Step::Remove(number) => {
                    let removed = files.remove(ROOT, &name(number), frames);
                    prop_assert_eq!(removed.is_ok(), model.remove(&number).is_some());
                }
            }
            let expected: Vec<String> =
                model.keys().map(|key| String::from_utf8(name(*key)).unwrap()).collect();
            prop_assert_eq!(names(&files, ROOT), expected);
            for (number, content) in &model {
                let inode = files.find(ROOT, &name(*number)).unwrap();
                let mut bytes = vec![0; 40_000];
                let length = files.read(inode, 0, &mut bytes).unwrap();
                prop_assert_eq!(&bytes[..length], &contents[*content][..]);
            }
        }
        for number in model.keys() {
            files.remove(ROOT, &name(*number), frames).unwrap();
        }
        prop_assert_eq!((frames.available(), files.count()), (machine.total, 1));
    }
}

/// The value of an attribute.
fn value(files: &FileSystem, number: u32, name: &[u8]) -> Option<Vec<u8>> {
    let found = files.attribute(number, name).unwrap()?;
    let mut bytes = vec![0; found.length];
    let read = files.read_attribute(number, &found, 0, &mut bytes);
    assert_eq!(read, Ok(found.length));
    Some(bytes)
}

/// Sets an attribute, in place of one with its name.
fn set(
    files: &mut FileSystem,
    number: u32,
    (name, bytes): (&[u8], &[u8]),
    frames: &mut Frames,
) -> Result<(), Error> {
    let replaced = files.attribute(number, name)?;
    let new = files.begin_attribute(number, name, bytes.len(), frames)?;
    if let Err(error) = files.write_attribute(number, &new, 0, bytes, frames) {
        files.cut_attribute(number, &new, frames);
        return Err(error);
    }
    match replaced {
        Some(replaced) => files.remove_attribute(number, &replaced, frames),
        None => Ok(()),
    }
}

#[test]
fn attributes_are_replaced_and_removed() {
    let (mut machine, mut files) = machine(64);
    let frames = &mut machine.frames;
    let file = files.create(ROOT, b"f", Kind::File, 0o644, frames).unwrap();
    assert_eq!(files.next_attribute(file, None), Ok(None));
    let long = vec![7; 3 * PAGE];
    for (name, bytes) in [
        (b"one", &b"1"[..]),
        (b"two", &long),
        (b"six", b""),
        (b"one", b"first"),
    ] {
        set(&mut files, file, (name, bytes), frames).unwrap();
    }
    assert_eq!(value(&files, file, b"one").unwrap(), b"first");
    assert_eq!(value(&files, file, b"two").unwrap(), long);
    assert_eq!(value(&files, file, b"six").unwrap(), b"");
    assert_eq!(value(&files, file, b"on"), None);
    let two = files.attribute(file, b"two").unwrap().unwrap();
    files.remove_attribute(file, &two, frames).unwrap();
    assert_eq!(value(&files, file, b"two"), None);
    assert_eq!(value(&files, file, b"one").unwrap(), b"first");
    files.remove(ROOT, b"f", frames).unwrap();
    while files.reclaim(frames) {}
    assert_eq!(frames.available(), machine.total);
}

#[test]
fn attributes_without_memory_change_nothing() {
    let (mut machine, mut files) = machine(12);
    let frames = &mut machine.frames;
    let file = files.create(ROOT, b"f", Kind::File, 0o644, frames).unwrap();
    set(&mut files, file, (b"small", b"1"), frames).unwrap();
    let long = vec![7; 0x1_0000];
    for name in [&b"small"[..], b"large"] {
        let refused = set(&mut files, file, (name, &long), frames);
        assert_eq!(refused, Err(Error::NoSpace));
    }
    let longer = vec![7; 0x1_1000];
    let refused = files.begin_attribute(file, b"longer", longer.len(), frames);
    assert_eq!(refused, Err(Error::NoSpace));
    assert_eq!(value(&files, file, b"small").unwrap(), b"1");
    let small = files.attribute(file, b"small").unwrap().unwrap();
    assert_eq!(files.next_attribute(file, Some(&small)), Ok(None));
    files.remove(ROOT, b"f", frames).unwrap();
    while files.reclaim(frames) {}
    assert_eq!(frames.available(), machine.total);
}

#[test]
fn bounded_files_share_the_units_of_a_quota() {
    let (mut machine, mut files) = machine(64);
    let frames = &mut machine.frames;
    let top = files
        .create(ROOT, b"d", Kind::Directory, 0o755, frames)
        .unwrap();
    files.inode_mut(top).unwrap().bounded = true;
    files.quota = Quota {
        unit: 1000,
        free: 5,
    };
    let below = files
        .create(top, b"e", Kind::Directory, 0o755, frames)
        .unwrap();
    let [file, other] = [(top, b"f"), (below, b"g")].map(|(directory, name)| {
        files
            .create(directory, name, Kind::File, 0o644, frames)
            .unwrap()
    });
    assert_eq!(files.write(file, 0, &[1; 2500], frames), Ok(2500));
    assert_eq!(files.quota.free, 2);
    // The rest of the last unit and those that are left, then none.
    assert_eq!(files.write(other, 0, &[1; 1001], frames), Ok(1001));
    assert_eq!(files.write(file, 2400, &[1; 2000], frames), Ok(600));
    assert_eq!(
        files.write(file, 3000, &[1; 1], frames),
        Err(Error::NoSpace)
    );
    assert_eq!(files.write(file, 0, &[2; 3000], frames), Ok(3000));
    assert_eq!(files.resize(file, 3001, frames), Err(Error::NoSpace));
    assert_eq!(
        files.reserve(file, (0, 3001), true, frames),
        Err(Error::NoSpace)
    );
    // What is not bounded has room, and what ends or becomes shorter gives room back.
    let free = files.create(ROOT, b"h", Kind::File, 0o644, frames).unwrap();
    assert_eq!(files.write(free, 0, &[1; 9000], frames), Ok(9000));
    assert_eq!(files.resize(file, 900, frames), Ok(true));
    assert_eq!(files.quota.free, 2);
    files.remove(below, b"g", frames).unwrap();
    assert_eq!(files.quota.free, 4);
    assert_eq!(files.reserve(file, (0, 5000), true, frames), Ok(5000));
    assert_eq!(
        (files.quota.free, files.inode(file).unwrap().size),
        (0, 5000)
    );
}

#[test]
fn data_and_holes_are_found_in_steps() {
    let (mut machine, mut files) = machine(64);
    let frames = &mut machine.frames;
    let file = files.create(ROOT, b"f", Kind::File, 0o644, frames).unwrap();
    let page = PAGE as u64;
    files.set_below(file, &[1; PAGE + 1]).unwrap();
    assert_eq!(files.seek(file, 5, true), Ok((5, true)));
    assert_eq!(files.seek(file, 5, false), Ok((page + 1, true)));
    for place in [9, 600, 1 << 25] {
        files.write(file, place * page, b"x", frames).unwrap();
    }
    assert_eq!(files.resize(file, 1 << 46, frames), Ok(true));
    let to_the_end = |from: u64, data: bool| {
        let (mut at, mut steps) = (from, 0);
        loop {
            let (next, done) = files.seek(file, at, data).unwrap();
            steps += 1;
            if done {
                return (next, steps);
            }
            at = next;
        }
    };
    for (from, data, expected) in [
        (0, false, 2 * page),
        (2 * page, true, 9 * page),
        (9 * page, false, 10 * page),
        (10 * page, true, 600 * page),
        (601 * page, true, page << 25),
        ((page << 25) + 1, false, (page << 25) + page),
    ] {
        assert_eq!(to_the_end(from, data).0, expected, "{from} {data}");
    }
    // A hole of 2^34 pages is passed in few steps.
    let (end, steps) = to_the_end((page << 25) + page, true);
    assert_eq!(end, 1 << 46);
    assert!(steps < 8, "{steps}");
}
