#!/bin/busybox sh
# Makes a root file system on the first disk: unpacks the archive on the second one, has dpkg
# configure it, and copies the initramfs that results to the third one.
set -e
trap '[ $? = 0 ] || echo "root-disk: failed"; sync; poweroff -f' EXIT
mkfs.ext4 -q -F -L root -E lazy_itable_init=0,lazy_journal_init=0 /dev/vda
mkdir /target
mount -t ext4 -o noatime /dev/vda /target
tar -x -f /dev/vdb -C /target
for folder in proc sys dev run tmp; do mkdir -p /target/$folder; done
chmod 1777 /target/tmp
mount -t proc proc /target/proc
mount -t sysfs sysfs /target/sys
mount -t devtmpfs dev /target/dev
mount -t tmpfs tmpfs /target/run
chroot /target /configure
rm /target/configure
set -- /target/boot/initrd.img-*
dd if="$1" of=/dev/vdc bs=1M
size=$(stat -c %s "$1")
for folder in run dev sys proc; do umount /target/$folder || umount -l /target/$folder; done
umount /target || mount -o remount,ro /target
echo "root-disk: initramfs $size"
