//! A short way to write trees.

// Each test binary uses a part of it.
#![allow(dead_code)]

use core_manifest::{Room, limits};
use dtoolkit::Node as _;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};

/// Room for as many VMs as there can be.
pub const fn room<'a>() -> Room<'a, { limits::VMS }> {
    Room::new()
}

/// A node under construction.
pub struct Builder(DeviceTreeNode);

impl Builder {
    pub fn new(name: &str) -> Self {
        Self(DeviceTreeNode::builder(name).unwrap().build())
    }

    pub fn with(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.0.remove_property(name);
        self.0
            .add_property(DeviceTreeProperty::new(name, value.into()).unwrap());
        self
    }

    pub fn text(self, name: &str, text: &str) -> Self {
        self.with(name, format!("{text}\0"))
    }

    pub fn cells(self, name: &str, cells: &[u32]) -> Self {
        self.with(
            name,
            cells
                .iter()
                .flat_map(|cell| cell.to_be_bytes())
                .collect::<Vec<_>>(),
        )
    }

    /// Numbers of two cells each.
    pub fn wide(self, name: &str, numbers: &[u64]) -> Self {
        self.with(
            name,
            numbers
                .iter()
                .flat_map(|number| number.to_be_bytes())
                .collect::<Vec<_>>(),
        )
    }

    pub fn without(mut self, name: &str) -> Self {
        self.0.remove_property(name).unwrap();
        self
    }

    pub fn child(mut self, child: Builder) -> Self {
        assert!(self.0.child(child.0.name().as_ref()).is_none());
        self.0.add_child(child.0);
        self
    }

    /// The tree whose root has this node's properties and children.
    pub fn tree(self) -> Vec<u8> {
        let mut tree = DeviceTree::new();
        tree.root = self.0;
        tree.to_dtb()
    }
}

/// A root node of this kind.
pub fn root(compatible: &str) -> Builder {
    Builder(DeviceTree::new().root)
        .text("compatible", compatible)
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[2])
}

/// The VM of the demonstration that controls a motor.
pub fn motor() -> Builder {
    Builder::new("motor")
        .text("kind", "tenon")
        .cells("cpus", &[3])
        .text("irq-mode", "direct")
        .text("wfi", "pass")
        .wide("entry", &[0x4008_0000])
        .wide("argument", &[0x4000_0000])
        .text("on-fault", "restart")
        .cells("restart-limit", &[3])
        .text("console", "ring")
        .wide("status", &[0x5100_0000])
        .wide("log", &[0x5100_1000, 0x1_0000])
        .wide("memory", &[0x4000_0000, 0x5000_0000, 0x100_0000])
        .cells(
            "shared",
            &[
                [0, 0x8000_0000, 0, 0x5100_0000, 0, 0x1000, 0],
                [0, 0x8000_1000, 0, 0x5100_1000, 0, 0x1_0000, 1],
            ]
            .concat(),
        )
        .wide("load", &[0x4008_0000, 0x4040_0000, 0x1234])
}

/// The VM of the demonstration that runs Linux.
pub fn linux() -> Builder {
    Builder::new("linux")
        .text("kind", "linux")
        .cells("cpus", &[0, 1, 2])
        .text("irq-mode", "shared")
        .text("wfi", "trap")
        .wide("entry", &[0x6020_0000])
        .wide("argument", &[0x6000_0000])
        .text("on-fault", "stop")
        .text("console", "pl011")
        .wide("status", &[0x5200_0000])
        .wide("memory", &[0x6000_0000, 0x6000_0000, 0x2000_0000])
        .wide("device", &[0x0a00_0000, 0x0a00_0000, 0x1000])
        .cells("interrupts", &[48, 49])
}

/// A system of these VMs.
pub fn system(vms: impl IntoIterator<Item = Builder>) -> Builder {
    let vms = vms.into_iter().fold(Builder::new("vms"), Builder::child);
    root("tenonos,system-1")
        .text("system", "motor-linux")
        .text("board", "qemu-virt")
        .text("console-input", "linux")
        .child(vms)
}

/// What is shared with a VM: address there, address, size, whether it may write.
pub fn shared(areas: &[[u64; 4]]) -> Vec<u8> {
    let bytes = areas.iter().flat_map(|[ipa, pa, size, writable]| {
        let wide = [ipa, pa, size].map(|number| number.to_be_bytes());
        [&wide.concat()[..], &(*writable as u32).to_be_bytes()].concat()
    });
    bytes.collect()
}

/// Linux as one that sends `jobs`, and manages.
pub fn manager() -> Builder {
    let jobs = [
        [0x5300_0000, 0x5300_0000, 0x2000, 1],
        [0x5300_2000, 0x5300_2000, 0x2000, 0],
    ];
    linux()
        .with("shared", shared(&jobs))
        .with("manages", "job\0motor\0*\0".as_bytes())
        .wide("manages-memory", &[0x100_0000])
        .cells("manages-cpus", &[2])
        .cells("manages-priority", &[31])
}

/// Linux as one that lends its last two cores.
pub fn lender() -> Builder {
    linux()
        .with("shared", shared(&[[0x9300_0000, 0x5300_0000, 0x2000, 1]]))
        .cells("lends", &[2, 1])
        .wide("lends-cells", &[0x5300_0000, 0x2000])
        .cells("lends-interrupt", &[50])
}

/// What VMs made at run time may take.
pub fn reserve() -> Builder {
    Builder::new("reserve")
        .wide("memory", &[0x5400_0000, 0x200_0000])
        .cells("cpus", &[1, 2])
        .wide("slots", &[0x5600_0000, 0x4_0000])
}

/// A VM that the first of the `jobs` makes.
pub fn job() -> Builder {
    let jobs = [
        [0x8001_2000, 0x5300_0000, 0x3000, 0],
        [0x8001_5000, 0x5300_3000, 0x1000, 1],
    ];
    Builder::new("job")
        .cells("cpus", &[2])
        .wide("memory", &[0x4000_0000, 0x40_0000])
        .wide("window", &[0x1_2000])
        .wide("entry", &[0x4008_0000])
        .wide("argument", &[0x4000_0000])
        .wide("load", &[0x4008_0000, 0x4050_0000, 0x1234])
        .with("shared", shared(&jobs))
        .text("start-on", "jobs")
}

/// Messages from Linux to the job.
pub fn jobs() -> Builder {
    let parts = [
        0x5300_0000,
        0x2000,
        0x5300_3000,
        0x1000,
        0x5300_2000,
        0x1000,
    ];
    Builder::new("jobs")
        .cells("shape", &[64, 64])
        .wide("parts", &parts)
        .text("from", "linux")
        .text("to", "job")
        .cells("interrupts", &[272, 272])
}

/// A system with VMs that come and go.
pub fn dynamic(manager: Builder, reserve: Builder, job: Builder, jobs: Builder) -> Builder {
    system([motor(), manager])
        .text("mode", "dynamic")
        .child(reserve)
        .child(Builder::new("templates").child(job))
        .child(Builder::new("channels").child(jobs))
}

/// The motor as one that calls, and Linux as one that serves.
pub fn master() -> Builder {
    let areas = [
        [0x8000_0000, 0x5100_0000, 0x1000, 0],
        [0x8000_1000, 0x5100_1000, 0x1_0000, 1],
        [0x8001_1000, 0x5300_0000, 0x1000, 0],
        [0x8001_2000, 0x5300_1000, 0x2000, 1],
    ];
    motor().with("shared", shared(&areas))
}

/// Linux as one that serves.
pub fn server() -> Builder {
    linux().with("shared", shared(&[[0x5300_1000, 0x5300_1000, 0x2000, 1]]))
}

/// What the motor calls in Linux.
pub fn helper() -> Builder {
    Builder::new("helper")
        .wide("parts", &[0x5300_0000, 0x1000, 0x5300_1000, 0x2000])
        .text("master", "motor")
        .text("server", "linux")
        .cells("interrupt", &[8])
        .text("time", "virtual")
}

/// A system with Linux as a library.
pub fn vlibs(
    master: Builder,
    server: Builder,
    helpers: impl IntoIterator<Item = Builder>,
) -> Builder {
    let vlibs = helpers
        .into_iter()
        .fold(Builder::new("vlibs"), Builder::child);
    system([master, server]).child(vlibs)
}
