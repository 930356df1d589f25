//! The whole system, for Mortise.

use crate::node::Node;
use crate::{Error, Vm, check, limits, tree};
use heapless::Vec;

/// The system that Mortise is to run.
#[derive(Clone, Debug)]
pub struct System<'a> {
    /// Its name.
    pub name: &'a str,
    /// The board it was built for.
    pub board: &'a str,
    /// The index of the VM that gets the console's input first.
    pub console_input: Option<usize>,
    /// Its VMs, at least one.
    pub vms: Vec<Vm<'a>, { limits::VMS }>,
}

// It is passed by value on a kernel's stack.
const _: () = assert!(size_of::<System<'_>>() <= 0x3000);

impl<'a> System<'a> {
    /// Parses the tree at the start of `bytes`.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error<'a>> {
        let root = Node::new(tree(bytes)?.root());
        root.require_compatible("tenonos,system-1")?;
        let mut vms = Vec::new();
        for node in root.child("vms")?.children() {
            let vm = Vm::parse(&node)?;
            vms.push(vm)
                .map_err(|_| root.too_many("vms", limits::VMS))?;
        }
        if vms.is_empty() {
            return Err(root.invalid("vms", "hold at least one VM"));
        }
        check::vms(&vms)?;
        let console_input = match root.find_text("console-input")? {
            None => None,
            Some(name) => Some(
                vms.iter()
                    .position(|vm| vm.name == name)
                    .ok_or(root.invalid("console-input", "name a VM"))?,
            ),
        };
        let (name, board) = (root.text("system")?, root.text("board")?);
        Ok(Self {
            name,
            board,
            console_input,
            vms,
        })
    }
}
