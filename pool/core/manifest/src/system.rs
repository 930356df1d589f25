//! The whole system, for Mortise.

use crate::node::Node;
use crate::{Error, Vm, check, limits};
use heapless::{Vec, VecView};

/// What may change while a system runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing: each VM has its cores for itself and for good.
    Static,
    /// VMs share cores, come and go.
    Dynamic,
}

/// Room for the VMs of a system, so that whoever has one VM has no room for eight.
pub type Room<'a, const VMS: usize> = Vec<Vm<'a>, VMS>;

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
    pub vms: &'a [Vm<'a>],
}

impl<'a> System<'a> {
    /// Parses the tree at the start of `bytes`, whose VMs come to be in `room`, which is empty.
    pub fn parse<'b: 'a>(
        bytes: &'b [u8],
        room: &'a mut VecView<Vm<'b>>,
    ) -> Result<Self, Error<'a>> {
        let root = Node::root(bytes)?;
        root.require_compatible("tenonos,system-1")?;
        let mode = match root.find_text("mode")? {
            None | Some("static") => Mode::Static,
            Some("dynamic") => Mode::Dynamic,
            Some(_) => return Err(root.invalid("mode", "be static or dynamic")),
        };
        let most = room.capacity().min(limits::VMS);
        for node in root.child("vms")?.children() {
            if room.len() == most {
                return Err(root.too_many("vms", most));
            }
            let pushed = room.push(Vm::parse(&node)?);
            pushed.map_err(|_| root.too_many("vms", most))?;
        }
        let vms = room.as_slice();
        if vms.is_empty() {
            return Err(root.invalid("vms", "hold at least one VM"));
        }
        check::vms(vms, mode)?;
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
