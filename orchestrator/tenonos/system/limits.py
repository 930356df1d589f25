"""Limits of the kernels' tables, and sizes of pages and blocks."""

PAGE = 4096
"""Page size: the smallest unit of mapping."""

BLOCK = 2 << 20
"""Stage-2 block size: uncoloured VMs are mapped in blocks (paper section 4.3)."""

LINUX_LEAST = 64 << 20
"""Memory that an arm64 distribution kernel and a busybox need to reach a shell; with 48 MiB the
kernel panics on its way, with 32 MiB before its console is there."""

BLOCKS = 128
"""The most blocks of the reserve (pool/core/memory has bitmaps)."""

CHUNK = 64
"""Alignment of the payloads of a VM."""

CORES = 8
"""The most cores of a machine (`MORTISE_CORES`)."""

SHARED_CORES = 4
"""The first cores, which VMs can share (pool/mortise/dispatch)."""

TENON_CORES = 4
"""The most cores of a Tenon VM (`TENON_THREAD_CORES`)."""

VCPUS = 8
"""The most vCPUs in a status page."""

PRIORITIES = range(1, 64)
"""Priorities of a task's thread; a larger number is more urgent."""

NAME = 32
"""Bytes of a name (pool/core/manifest)."""

VMS, TASKS, INTERRUPTS, MAPPINGS = 8, 8, 32, 16
"""The most VMs, mappings and interrupts in a manifest (pool/core/manifest)."""

PAYLOADS = 4
"""The most payloads of a VM (pool/core/manifest)."""

TEMPLATES, CHANNELS, VLIBS, DISKS = 8, 16, 4, 8
"""The most of each in a system (pool/core/manifest)."""

PORTS = 16
"""The most ports of networks between VMs (pool/core/manifest)."""

DRIVES = 2
"""The most disks of a board that Mortise drives (pool/mortise/drive)."""

ENDS = 8
"""The most ends of channels and vLibs of a VM, by its header and the SGIs."""
