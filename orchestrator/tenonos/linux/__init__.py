"""Additional content of Linux VMs, beyond Debian's kernel and busybox.

A system may list Debian packages, kernel modules and files; each becomes an archive that the kernel
unpacks over the initramfs.
"""
