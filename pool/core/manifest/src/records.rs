//! Tables of the manifest: number, record type and name of each one.

use crate::tables::{Record, SIZES};
use crate::{
    Authority, Channel, Colouring, Disk, Lending, Regulation, Reserve, Template, Vlib, Vm,
};

macro_rules! tables {
    ($($number:literal $record:ident $name:literal)*) => {
        $(impl Record for $record {
            const TABLE: usize = $number;
            const NAME: &'static str = $name;
        })*

        const _: () = {
            let sizes = [$(size_of::<$record>()),*];
            assert!(sizes.len() == SIZES.len());
            $(assert!(sizes[$number] == SIZES[$number], $name);)*
        };
    };
}

tables! {
    0 Vm "vms"
    1 Lending "lendings"
    2 Authority "managers"
    3 Reserve "reserve"
    4 Colouring "colouring"
    5 Regulation "regulation"
    6 Template "templates"
    7 Channel "channels"
    8 Vlib "vlibs"
    9 Disk "disks"
}
