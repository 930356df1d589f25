//! The file tree of an archive with arbitrary bytes: what a path leads to is found again.
#![cfg_attr(fuzzing, no_main)]

#[macro_use]
mod any;

use tenon_vfs::{Kind, PATH, Tree};

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
    // An image has its archive for good.
    let tree = Tree::new(bytes.to_vec().leak());
    for path in PATHS {
        for follow in [false, true] {
            let Ok(node) = tree.find("", path, follow) else {
                continue;
            };
            let own = format!("/{}", node.path);
            if own.len() >= PATH {
                continue;
            }
            let again = tree
                .find("", &own, false)
                .expect("its own path leads to it");
            assert_eq!((again.number, again.path), (node.number, node.path));
            assert!(
                !(follow && matches!(node.kind, Kind::Link(_))),
                "links are followed"
            );
        }
    }
    for name in tree.find("", "/", true).into_iter().map(|root| root.path) {
        let _ = tree.find(name, "../../bin", true);
    }
});
