//! Tests of [`Volume`]: against a model, with power cuts, full and failing disks.

use crate::host::empty;
use crate::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use tenon_block::host::Disk;
use tenon_block::{BlockDevice, SECTOR};

/// Files by their paths; `None` is a directory.
type Files = BTreeMap<String, Option<Vec<u8>>>;

fn clusters() -> Vec<u64> {
    vec![0; 1100]
}

/// Adds what is in a directory to the files.
fn list<D: BlockDevice>(
    volume: &mut Volume<'_, D>,
    (directory, path): (Directory, &str),
    files: &mut Files,
) -> Result<(), Error> {
    let mut cursor = Cursor::new(directory);
    while let Some(entry) = volume.next_entry(&mut cursor)? {
        let path = format!("{path}/{}", str::from_utf8(entry.name()).unwrap());
        let content = match entry.directory() {
            Some(below) => {
                list(volume, (below, &path), files)?;
                None
            }
            None => Some(content(volume, &entry)?),
        };
        assert!(files.insert(path, content).is_none());
    }
    Ok(())
}

fn content<D: BlockDevice>(volume: &mut Volume<'_, D>, entry: &Entry) -> Result<Vec<u8>, Error> {
    let mut all = Vec::new();
    volume.read(entry, |offset, piece| {
        assert_eq!(offset, all.len() as u64);
        all.extend_from_slice(piece);
        Ok::<(), Error>(())
    })?;
    Ok(all)
}

/// The files of a disk, and its free clusters.
fn files_of(disk: Vec<u8>) -> Result<(Files, u64), Error> {
    let mut clusters = clusters();
    let mut volume = Volume::open(Disk::new(disk), &mut clusters)?;
    let mut files = Files::new();
    list(&mut volume, (ROOT, ""), &mut files)?;
    Ok((files, volume.space().1))
}

/// The directory of a path and the last name.
fn walk<'p, D: BlockDevice>(
    volume: &mut Volume<'_, D>,
    path: &'p str,
) -> Result<(Directory, &'p [u8]), Error> {
    let mut at = ROOT;
    let (above, name) = path[1..].rsplit_once('/').unwrap_or(("", &path[1..]));
    for part in above.split('/').filter(|part| !part.is_empty()) {
        let found = volume.find(at, part.as_bytes())?;
        at = found
            .and_then(|found| found.directory())
            .expect("it exists");
    }
    Ok((at, name.as_bytes()))
}

/// A change of a file.
#[derive(Clone, Debug)]
enum Change {
    Write(String, Vec<u8>),
    Append(String, Vec<u8>),
    Directory(String),
    Remove(String),
}

impl Change {
    fn apply<D: BlockDevice>(&self, volume: &mut Volume<'_, D>) -> Result<(), Error> {
        match self {
            Self::Write(path, bytes) => {
                let (at, name) = walk(volume, path)?;
                let mut entry = match volume.find(at, name)? {
                    Some(entry) => entry,
                    None => volume.create(at, name, false, 1_000_000_000)?,
                };
                let size = bytes.len() as u64;
                volume.write(&mut entry, size, 1_100_000_000, |offset, to| {
                    to.copy_from_slice(&bytes[offset as usize..][..to.len()]);
                    Ok::<(), Error>(())
                })?;
            }
            Self::Append(path, bytes) => {
                let (at, name) = walk(volume, path)?;
                let mut entry = match volume.find(at, name)? {
                    Some(entry) => entry,
                    None => volume.create(at, name, false, 1_000_000_000)?,
                };
                let start = u64::from(entry.size);
                let length = bytes.len() as u32;
                volume.append(&mut entry, length, 1_200_000_000, |offset, to| {
                    to.copy_from_slice(&bytes[(offset - start) as usize..][..to.len()]);
                    Ok::<(), Error>(())
                })?;
            }
            Self::Directory(path) => {
                let (at, name) = walk(volume, path)?;
                volume.create(at, name, true, 1_000_000_000)?;
            }
            Self::Remove(path) => {
                let (at, name) = walk(volume, path)?;
                let entry = volume.find(at, name)?.expect("it exists");
                volume.remove(&entry)?;
            }
        }
        Ok(())
    }

    fn path(&self) -> &str {
        match self {
            Self::Write(path, _)
            | Self::Append(path, _)
            | Self::Directory(path)
            | Self::Remove(path) => path,
        }
    }

    fn apply_to(&self, files: &mut Files) {
        match self {
            Self::Write(path, bytes) => files.insert(path.clone(), Some(bytes.clone())),
            Self::Append(path, bytes) => {
                let file = files.entry(path.clone()).or_insert(Some(Vec::new()));
                file.as_mut().expect("a file").extend_from_slice(bytes);
                None
            }
            Self::Directory(path) => files.insert(path.clone(), None),
            Self::Remove(path) => files.remove(path),
        };
    }
}

fn bytes(seed: u8, length: usize) -> Vec<u8> {
    (0..length).map(|at| (at / 7) as u8 ^ seed).collect()
}

fn write(path: &str, seed: u8, length: usize) -> Change {
    Change::Write(path.to_owned(), bytes(seed, length))
}

fn append(path: &str, seed: u8, length: usize) -> Change {
    Change::Append(path.to_owned(), bytes(seed, length))
}

/// A run of changes on a small disk, with names that need one slot and several.
fn script() -> Vec<Change> {
    let directory = |path: &str| Change::Directory(path.to_owned());
    let remove = |path: &str| Change::Remove(path.to_owned());
    vec![
        write("/STABLE", 1, 3000),
        directory("/logs"),
        write("/logs/a log with a long name.text", 2, 700),
        write("/settings", 3, 100),
        write("/settings", 4, 2000),
        write("/logs/a log with a long name.text", 2, 5000),
        write("/logs/a log with a long name.text", 2, 600),
        directory("/logs/one more directory"),
        write("/logs/one more directory/file", 5, 513),
        remove("/logs/one more directory/file"),
        remove("/logs/one more directory"),
        write("/empty", 6, 0),
        write("/empty", 6, 512),
        write("/empty", 6, 0),
        remove("/empty"),
        write("/settings", 7, 1024),
        append("/settings", 8, 20),
        append("/settings", 9, 492),
        append("/settings", 10, 1300),
        append("/log", 11, 20),
        append("/log", 12, 4096),
        append("/log", 13, 0),
        append("/log", 14, 600),
    ]
}

#[test]
fn files_are_found_again_on_each_kind_of_volume() {
    for (sectors, cluster) in [(600, 1), (6000, 1), (9000, 4), (70_000, 1)] {
        let mut model = Files::new();
        let mut clusters = clusters();
        let disk = Disk::new(empty(sectors, cluster));
        let mut volume = Volume::open(disk, &mut clusters).unwrap();
        for change in script() {
            change.apply(&mut volume).unwrap();
            change.apply_to(&mut model);
        }
        volume.finish().unwrap();
        let free = volume.space().1;
        let disk = volume.into_device().content();
        assert_eq!(files_of(disk), Ok((model, free)), "{sectors}");
    }
}

#[test]
fn a_power_cut_leaves_each_file_as_before_or_after_its_change() {
    let start = empty(300, 1);
    let run = |fails_from: Option<u64>| {
        let mut disk = Disk::new(start.clone());
        disk.fails_from = fails_from;
        let mut clusters = clusters();
        let mut done = Vec::new();
        let Ok(mut volume) = Volume::open(&mut disk, &mut clusters) else {
            return (disk, done, None);
        };
        for change in script() {
            // Each change is synced.
            let applied = change.apply(&mut volume).and_then(|()| volume.finish());
            if applied.is_err() {
                return (disk, done, Some(change));
            }
            done.push(change);
        }
        (disk, done, None)
    };
    let (whole, ..) = run(None);
    for cut in 0..whole.accesses {
        let (disk, done, interrupted) = run(Some(cut));
        let mut model = Files::new();
        done.iter().for_each(|change| change.apply_to(&mut model));
        let mut after = model.clone();
        if let Some(change) = &interrupted {
            change.apply_to(&mut after);
        }
        // All, none, and every second one of the cached writes persist.
        for kept in [
            &(|_| true) as &dyn Fn(usize) -> bool,
            &|_| false,
            &|n| n % 2 == 0,
            &|n| n % 2 == 1,
        ] {
            let (mut files, _) = files_of(disk.after_cut(kept)).unwrap();
            if let Some(change) = &interrupted {
                let path = change.path();
                let found = files.remove(path);
                let one = [model.get(path).cloned(), after.get(path).cloned()];
                // A new file can be empty.
                let is_new = !model.contains_key(path) && found == Some(Some(Vec::new()));
                assert!(
                    one.contains(&found) || is_new,
                    "{cut}: {change:?} {found:?}"
                );
                let mut others = model.clone();
                others.remove(path);
                assert_eq!(files, others, "{cut}: {change:?}");
            } else {
                assert_eq!(files, model, "{cut}");
            }
        }
    }
}

/// Accesses of the script.
fn accesses(start: &[u8]) -> u64 {
    let mut disk = Disk::new(start.to_vec());
    let mut clusters = clusters();
    let mut volume = Volume::open(&mut disk, &mut clusters).unwrap();
    for change in script() {
        change.apply(&mut volume).unwrap();
        volume.finish().unwrap();
    }
    disk.accesses
}

#[test]
fn each_failing_access_is_an_error_and_harms_no_other_file() {
    let start = empty(300, 1);
    let failure = Error::Device(tenon_block::Error::Failed);
    for at in 0..accesses(&start) {
        let mut disk = Disk::new(start.clone());
        disk.fails_at = Some(at);
        let mut model = Files::new();
        let mut failed = None;
        let mut clusters = clusters();
        match Volume::open(&mut disk, &mut clusters) {
            Err(error) => assert_eq!(error, failure),
            Ok(mut volume) => {
                for change in script() {
                    let applied = change.apply(&mut volume).and_then(|()| volume.finish());
                    if let Err(error) = applied {
                        assert_eq!(error, failure, "{at}");
                        failed = Some(change);
                        break;
                    }
                    change.apply_to(&mut model);
                }
                assert!(failed.is_some(), "{at}");
            }
        }
        // Opened again, the disk is used as before.
        let (mut files, _) = files_of(disk.content()).unwrap();
        if let Some(change) = failed {
            files.remove(change.path());
            model.remove(change.path());
        }
        assert_eq!(files, model, "{at}");
    }
}

#[test]
fn a_full_disk_changes_nothing() {
    let mut clusters = clusters();
    let mut volume = Volume::open(Disk::new(empty(100, 1)), &mut clusters).unwrap();
    let (total, free) = volume.space();
    assert_eq!(total, free);
    write("/a", 1, total as usize / 2)
        .apply(&mut volume)
        .unwrap();
    // The new content needs room beside the present one.
    for change in [
        write("/a", 2, total as usize / 2 + 512),
        write("/a", 1, total as usize + 1),
        write("/b", 1, total as usize / 2 + 513),
    ] {
        let before = volume.space();
        assert_eq!(change.apply(&mut volume), Err(Error::NoSpace));
        assert_eq!(volume.space(), before);
    }
    // What is appended does not.
    let more = append("/a", 1, total as usize / 2 + 1);
    let before = volume.space();
    assert_eq!(more.apply(&mut volume), Err(Error::NoSpace));
    assert_eq!(volume.space(), before);
    write("/a", 1, total as usize).apply(&mut volume).unwrap();
    let directory = Change::Directory("/c".to_owned());
    assert_eq!(directory.apply(&mut volume), Err(Error::NoSpace));
    volume.finish().unwrap();
    let (files, free) = files_of(volume.into_device().content()).unwrap();
    assert_eq!(free, 0);
    assert_eq!(files["/a"], Some(bytes(1, total as usize)));
    assert_eq!(files["/b"], Some(Vec::new()));
    assert_eq!(files.len(), 2);
}

#[test]
fn the_root_directory_of_fat12_is_full_with_its_last_entry() {
    let mut clusters = clusters();
    let mut volume = Volume::open(Disk::new(empty(300, 1)), &mut clusters).unwrap();
    let made = |volume: &mut Volume<'_, Disk>, name: &str| {
        volume.create(ROOT, name.as_bytes(), false, 0).map(|_| ())
    };
    for number in 0..64 {
        made(&mut volume, &format!("F{number}")).unwrap();
    }
    assert_eq!(made(&mut volume, "F64"), Err(Error::NoSpace));
    let last = volume.find(ROOT, b"F63").unwrap().unwrap();
    volume.remove(&last).unwrap();
    assert_eq!(made(&mut volume, "a long name"), Err(Error::NoSpace));
    made(&mut volume, "F64").unwrap();
}

#[test]
fn a_directory_with_the_most_entries_gets_no_cluster() {
    let mut disk = empty(70_000, 1);
    let mut clusters = clusters();
    let volume = Volume::open(Disk::new(disk.clone()), &mut clusters).unwrap();
    let (layout, _) = (volume.layout, volume.into_device());
    let data = layout.data as usize * SECTOR;
    for cluster in 2..4098u32 {
        let next = if cluster == 4097 {
            0x0fff_ffff
        } else {
            cluster + 1
        };
        for number in 0..2 {
            let table = (layout.table + number * layout.table_sectors) as usize * SECTOR;
            disk[table + 4 * cluster as usize..][..4].copy_from_slice(&next.to_le_bytes());
        }
    }
    for number in 0..65_536 {
        let name = format!("F{number:<10}");
        disk[data + 32 * number..][..11].copy_from_slice(name.as_bytes());
    }
    let mut clusters = self::clusters();
    let mut volume = Volume::open(Disk::new(disk), &mut clusters).unwrap();
    let before = volume.space();
    let refused = volume.create(ROOT, b"MORE", false, 0);
    assert_eq!(refused.map(|_| ()), Err(Error::NoSpace));
    assert_eq!(volume.space(), before);
}

#[test]
fn names_are_those_of_fat() {
    let mut clusters = clusters();
    let mut volume = Volume::open(Disk::new(empty(600, 1)), &mut clusters).unwrap();
    let long = "n".repeat(255);
    let names = [
        "README",
        "A.TXT",
        "lower",
        "Mixed.Case",
        ".profile",
        "a.b.c",
        "ä € 😀",
        "two words.c",
        "archive.tar.gz",
        "exactly13char",
        long.as_str(),
        "+[];,=",
        "archive.tar.xz",
        "x.jpeg",
        "archive.tar.bz",
        "archive.tar.Z",
        "archive.tar.lz",
        "archive.tar.zst",
        "archive.tar.7z",
    ];
    for name in names {
        let made = volume.create(ROOT, name.as_bytes(), false, 0).unwrap();
        assert_eq!(made.name(), name.as_bytes());
        let exists = volume.create(ROOT, name.to_ascii_uppercase().as_bytes(), true, 0);
        assert_eq!(exists.map(|_| ()), Err(Error::Exists), "{name}");
    }
    for name in [
        "", ".", "..", "a:b", "a*", "end.", "end ", "a/b", "a\n", "\u{7f}", "b\\",
    ] {
        let made = volume.create(ROOT, name.as_bytes(), false, 0);
        assert_eq!(made.map(|_| ()), Err(Error::Name), "{name}");
    }
    let invalid = volume.create(ROOT, b"\xff", false, 0);
    assert_eq!(invalid.map(|_| ()), Err(Error::Name));
    volume.finish().unwrap();
    let (files, _) = files_of(volume.into_device().content()).unwrap();
    let mut expected: Vec<_> = names.iter().map(|name| format!("/{name}")).collect();
    expected.sort();
    assert_eq!(files.into_keys().collect::<Vec<_>>(), expected);
}

#[test]
fn a_damaged_volume_is_refused() {
    let mut clusters = clusters();
    let mut volume = Volume::open(Disk::new(empty(600, 1)), &mut clusters).unwrap();
    for name in ["/A", "/B"] {
        write(name, 1, 2000).apply(&mut volume).unwrap();
    }
    volume.finish().unwrap();
    let good = volume.into_device().content();
    let opened = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut disk = good.clone();
        change(&mut disk);
        files_of(disk).map(|_| ())
    };
    assert_eq!(opened(&|_| ()), Ok(()));
    let root = Disk::new(good.clone());
    let mut clusters = self::clusters();
    let entries = Volume::open(root, &mut clusters).unwrap().layout.root as usize * SECTOR;
    // The second file begins where the first one does, beyond the end, and nowhere.
    for first in [2u16, 5000, 0, 1] {
        let other = opened(&|disk| {
            let at = entries + 32 + 26;
            disk[at..at + 2].copy_from_slice(&first.to_le_bytes());
        });
        assert_eq!(other, Err(Error::Damaged), "{first}");
    }
    let short = opened(&|disk| disk[SECTOR..3 * SECTOR].fill(0));
    assert_eq!(short, Err(Error::Damaged));
    for at in [12, 13, 14, 16, 17, 22, 510] {
        let other = opened(&|disk| disk[at] = 0);
        assert!(other.is_err(), "{at}");
    }
    assert_eq!(opened(&|disk| disk.truncate(512)), Err(Error::NotFat));
    let mut few = [0; 1];
    let refused = Volume::open(Disk::new(good.clone()), &mut few);
    assert_eq!(refused.map(|_| ()), Err(Error::TooManyClusters));
}

#[test]
fn a_read_only_disk_is_read() {
    let mut clusters = clusters();
    let mut volume = Volume::open(Disk::new(empty(600, 1)), &mut clusters).unwrap();
    write("/a", 1, 2000).apply(&mut volume).unwrap();
    volume.finish().unwrap();
    let mut disk = volume.into_device();
    disk.read_only = true;
    let mut clusters = self::clusters();
    let mut volume = Volume::open(disk, &mut clusters).unwrap();
    let mut files = Files::new();
    list(&mut volume, (ROOT, ""), &mut files).unwrap();
    assert_eq!(files["/a"], Some(bytes(1, 2000)));
    let refused = write("/a", 2, 2000).apply(&mut volume);
    assert_eq!(refused, Err(Error::Device(tenon_block::Error::ReadOnly)));
}

/// A random change of the present files.
fn random(files: &Files, (kind, pick, name): (u8, u16, u8), length: usize) -> Change {
    let all: Vec<&String> = files.keys().collect();
    let folders = files.iter().filter(|(_, content)| content.is_none());
    let folders: Vec<&str> = folders.map(|(path, _)| path.as_str()).chain([""]).collect();
    let picked = (!all.is_empty()).then(|| all[usize::from(pick) % all.len()].clone());
    let folder = folders[usize::from(pick) % folders.len()];
    let path = format!(
        "{folder}/{}",
        "name of a file ".repeat(usize::from(name % 4)) + &name.to_string()
    );
    let has_entries = |path: &str| {
        files
            .keys()
            .any(|other| other.starts_with(&format!("{path}/")))
    };
    match (kind % 6, picked) {
        (0, Some(path)) if !has_entries(&path) => Change::Remove(path),
        (1, _) if !files.contains_key(&path) && folder.matches('/').count() < 4 => {
            Change::Directory(path)
        }
        (2 | 3, Some(path)) if files[&path].is_some() => Change::Write(path, bytes(7, length)),
        (4, Some(path)) if files[&path].is_some() => Change::Append(path, bytes(9, length)),
        _ if files.get(&path).is_none_or(Option::is_some) => {
            Change::Write(path, bytes(name, length))
        }
        _ => Change::Write("/other".to_owned(), bytes(name, length)),
    }
}

proptest! {
    // A large volume takes its time.
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn files_are_those_of_a_model(
        steps in prop::collection::vec((any::<(u8, u16, u8)>(), 0..9000usize), 1..60),
        kind in prop::sample::select(vec![(260, 1), (5000, 1), (4000, 8), (68_000, 1)]),
        reopens in any::<u64>(),
    ) {
        let mut disk = empty(kind.0, kind.1);
        let mut model = Files::new();
        for (number, steps) in steps.chunks(8).enumerate() {
            let mut clusters = clusters();
            let mut volume = Volume::open(Disk::new(disk), &mut clusters).unwrap();
            for (what, length) in steps {
                let change = random(&model, *what, *length);
                match change.apply(&mut volume) {
                    Ok(()) => change.apply_to(&mut model),
                    Err(Error::NoSpace) => {
                        // A new file can be empty.
                        let (at, name) = walk(&mut volume, change.path()).unwrap();
                        let found = volume.find(at, name).unwrap();
                        if let (Some(_), false) = (found, model.contains_key(change.path())) {
                            model.insert(change.path().to_owned(), Some(Vec::new()));
                        }
                    }
                    Err(error) => prop_assert!(false, "{error} {change:?}"),
                }
                if reopens >> (number % 64) & 1 == 0 {
                    volume.finish().unwrap();
                }
            }
            volume.finish().unwrap();
            let free = volume.space().1;
            disk = volume.into_device().content();
            prop_assert_eq!(files_of(disk.clone()), Ok((model.clone(), free)));
        }
    }

    #[test]
    fn any_change_of_a_volume_is_an_error_or_another_volume(
        changes in prop::collection::vec((0..8192usize, any::<u8>()), 1..12),
    ) {
        let mut clusters = clusters();
        let mut volume = Volume::open(Disk::new(empty(260, 1)), &mut clusters).unwrap();
        for change in script() {
            change.apply(&mut volume).unwrap();
        }
        volume.finish().unwrap();
        let mut disk = volume.into_device().content();
        for (at, byte) in changes {
            disk[at] = byte;
        }
        let mut clusters = self::clusters();
        if let Ok(mut volume) = Volume::open(Disk::new(disk), &mut clusters) {
            let mut cursor = Cursor::new(ROOT);
            while let Ok(Some(entry)) = volume.next_entry(&mut cursor) {
                let _ = volume.read(&entry, |_, _| Ok::<(), Error>(()));
            }
            let _ = volume.create(ROOT, b"a new file", false, 0);
            let _ = volume.finish();
        }
    }
}
