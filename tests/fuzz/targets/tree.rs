//! The file tree of an archive with arbitrary bytes: what a path leads to is found again.
#![cfg_attr(fuzzing, no_main)]
#![expect(unsafe_code, reason = "memory of the host as frames")]

#[macro_use]
mod any;

use tenon_frames::{Frames, PAGE};
use tenon_vfs::{Kind, PATH, Path, ROOT, Tree};

/// Pages of the machine.
const PAGES: usize = 64;

const PATHS: [&str; 8] = [
    "",
    "/",
    "bin",
    "/bin/sh",
    "bin/../etc/words",
    "etc/link/x",
    "./dev/null",
    "a//b/",
];

parser!("tree", |bytes| {
    let ram = vec![[0u8; PAGE]; PAGES + 1];
    let start = (ram.as_ptr() as usize).next_multiple_of(PAGE);
    // SAFETY: nothing else uses the memory, which has its own address.
    let mut frames = unsafe { Frames::new(start..start + PAGES * PAGE) };
    // An image has its archive for good. One with more files than memory is refused.
    let Ok(tree) = Tree::new(bytes.to_vec().leak(), &mut frames) else {
        return;
    };
    let find = |path: &[u8], follow| tree.find(ROOT, &mut Path::of(path)?, follow);
    for path in PATHS {
        for follow in [false, true] {
            let Some(node) = find(path.as_bytes(), follow)
                .ok()
                .and_then(|found| found.node)
            else {
                continue;
            };
            let kind = tree.files.inode(node).expect("it exists").kind;
            assert!(!(follow && kind == Kind::Link), "links are followed");
            if kind == Kind::Directory {
                let mut own = [0; PATH - 1];
                let Ok(start) = tree.path_of(node, &mut own) else {
                    continue;
                };
                let again = find(&own[start..], false).expect("its own path leads to it");
                assert_eq!(again.node, Some(node));
            }
        }
    }
    drop(ram);
});
