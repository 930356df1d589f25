//! A FAT volume of arbitrary bytes: what it has is read, changed and found again.
#![cfg_attr(fuzzing, no_main)]

#[macro_use]
mod any;

use tenon_block::host::Disk;
use tenon_fs_fat::{Cursor, DEPTH, Directory, Error, ROOT, Volume};

/// Bytes of the device.
const BYTES: usize = 64 * 1024;
const NAME: &[u8] = b"a new file";

type Found = Vec<(Vec<u8>, Vec<u8>)>;

/// Adds all files of a directory with their content.
fn list(volume: &mut Volume<'_, Disk>, directory: Directory, depth: usize, found: &mut Found) {
    assert!(depth < DEPTH, "the depth is bounded");
    let mut cursor = Cursor::new(directory);
    while let Some(entry) = volume.next_entry(&mut cursor).expect("it was checked") {
        if let Some(below) = entry.directory() {
            list(volume, below, depth + 1, found);
            continue;
        }
        let mut content = Vec::new();
        let read = volume.read(&entry, |_, piece| {
            content.extend_from_slice(piece);
            Ok::<(), Error>(())
        });
        read.expect("it was checked");
        found.push((entry.name().to_vec(), content));
    }
}

fn files(disk: Disk) -> Result<(Found, Disk), Error> {
    let mut clusters = [0; 1024];
    let mut volume = Volume::open(disk, &mut clusters)?;
    let mut found = Vec::new();
    list(&mut volume, ROOT, 0, &mut found);
    volume.finish()?;
    Ok((found, volume.into_device()))
}

parser!("fat", |bytes| {
    let mut content = bytes.to_vec();
    content.resize(BYTES, 0);
    let Ok((before, disk)) = files(Disk::new(content)) else {
        return;
    };
    let mut clusters = [0; 1024];
    let mut volume = Volume::open(disk, &mut clusters).expect("it was opened");
    let content = [7; 2000];
    let written = volume.create(ROOT, NAME, false, 0).and_then(|mut entry| {
        volume.write(&mut entry, 2000, 0, |offset, to| {
            to.copy_from_slice(&content[offset as usize..][..to.len()]);
            Ok::<(), Error>(())
        })
    });
    volume.finish().expect("the device does not fail");
    // What was there is still there, and what was written too.
    let (mut after, _) = files(volume.into_device()).expect("it was opened");
    if written.is_ok() {
        assert!(after.contains(&(NAME.to_vec(), content.to_vec())));
    }
    after.retain(|(name, content)| {
        before.contains(&(name.clone(), content.clone())) || name != NAME
    });
    assert_eq!(after, before);
});
