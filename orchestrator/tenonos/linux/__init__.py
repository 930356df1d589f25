"""What a Linux VM has beyond Debian's kernel and busybox.

Its system asks for packages of Debian's, kernel modules and files; each becomes an
archive that the kernel unpacks over the initramfs.
"""
