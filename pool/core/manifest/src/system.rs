//! The whole system, for Mortise.

use crate::node::Node;
use crate::{Error, Vm, check, limits};
use heapless::Vec;

/// What may change while a system runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing: each VM has its cores for itself and for good.
    Static,
    /// VMs share cores, come and go.
    Dynamic,
}

/// The system that Mortise is to run.
#[derive(Clone, Debug)]
pub struct System<'a> {
    /// Its name.
    pub name: &'a str,
    /// The board it was built for.
    pub board: &'a str,
    /// Whether VMs come, go and share cores.
    pub mode: Mode,
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
        let root = Node::root(bytes)?;
        root.require_compatible("tenonos,system-1")?;
        let mode = match root.find_text("mode")? {
            None | Some("static") => Mode::Static,
            Some("dynamic") => Mode::Dynamic,
            Some(_) => return Err(root.invalid("mode", "be static or dynamic")),
        };
        let mut vms = Vec::new();
        for node in root.child("vms")?.children() {
            let vm = Vm::parse(&node)?;
            vms.push(vm)
                .map_err(|_| root.too_many("vms", limits::VMS))?;
        }
        if vms.is_empty() {
            return Err(root.invalid("vms", "hold at least one VM"));
        }
        check::vms(&vms, mode)?;
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
            mode,
            console_input,
            vms,
        })
    }
}
