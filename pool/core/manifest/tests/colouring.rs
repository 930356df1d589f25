//! Colouring: what is accepted, and how the rest is refused.

mod common;

use common::{Builder, linux, motor, system};
use core_manifest::Colouring;
use core_memory::PhysicalRange;

fn node() -> Builder {
    Builder::new("colouring")
        .wide("memory", &[0x4100_0000, 0x10_0000])
        .wide("tables", &[0x40e0_0000, 0x1_0000])
        .cells("colours", &[16])
        .wide("parts", &[0x000f, 0xfff0])
}

fn parse(node: Builder) -> Result<Option<Colouring>, String> {
    let tree = system([motor(), linux()]).child(node).tree();
    Colouring::parse(&tree).map_err(|error| error.to_string())
}

#[test]
fn it_is_understood() {
    let expected = Colouring {
        memory: PhysicalRange::new(0x4100_0000, 0x10_0000).unwrap(),
        tables: PhysicalRange::new(0x40e0_0000, 0x1_0000).unwrap(),
        colours: 16,
        parts: [0x000f, 0xfff0].into_iter().collect(),
    };
    assert_eq!(parse(node()), Ok(Some(expected)));
    assert_eq!(parse(Builder::new("other")), Ok(None));
}

#[test]
fn what_is_wrong_is_named() {
    for (node, expected) in [
        (node().without("memory"), "memory"),
        (node().wide("memory", &[0x800, 0x1000]), "memory"),
        (node().without("tables"), "tables"),
        (node().wide("tables", &[0x4100_0000, 0x1000]), "tables"),
        (node().without("colours"), "colours"),
        (node().cells("parts", &[1]), "parts"),
        (node().wide("parts", &[1; 9]), "parts"),
    ] {
        let error = parse(node).unwrap_err();
        assert!(
            error.starts_with("colouring: ") && error.contains(expected),
            "{error}"
        );
    }
}
