"""How much of everything the kernels have room for, and the grain of memory."""

PAGE = 4096
"""The smallest piece of memory that is mapped."""

BLOCK = 2 << 20
"""Stage-2 block size: uncoloured VMs are mapped in blocks (paper section 4.3)."""

BLOCKS = 128
"""Blocks that the reserve may have (pool/core/memory counts them in words of bits)."""

CHUNK = 64
"""What addresses of the pieces that fill a VM are multiples of."""

VCPUS = 8
"""vCPUs the status page has room for."""

NAME = 32
"""Bytes of a name (pool/core/manifest)."""

VMS, TASKS, INTERRUPTS, MAPPINGS = 8, 8, 32, 16
"""What the manifest has room for (pool/core/manifest)."""

PAYLOADS = 4
"""Pieces from which a VM is filled before each start (pool/core/manifest)."""

TEMPLATES, CHANNELS, VLIBS, DISKS = 8, 16, 4, 8
"""What a system may have of these (pool/core/manifest)."""

DRIVES = 2
"""Disks of a board that Mortise may have (pool/mortise/drive)."""

ENDS = 8
"""Ends of channels and vLibs a VM may have: as many as its header has room for, and as SGIs."""
