// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/tenon/NAME: this VM's end of each channel that its device tree names.
 *
 * A read takes one message and a write sends one, as with a message queue: messages are never split
 * or joined. When the peer has disconnected, a reader gets end of file after all messages, and a
 * writer gets EPIPE, once each; then the file waits for the next epoch of the peer.
 */
#include "module.h"
#include "mapping.h"
#include "queue.h"

#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/log2.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/of_address.h>
#include <linux/platform_device.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <tenon.h>

enum { PRODUCER_PART, CONSUMER_PART, STATUS_PART, PARTS };

struct channel {
	struct miscdevice device;
	struct tenon_channel shape;
	struct resource parts[PARTS];
	struct tenon_queue queue;
	struct mutex lock; /* protects the queue, which all open files share */
	wait_queue_head_t waiting;
	char nodename[TENON_NAME + 8];
	char label[TENON_NAME + 8];
};

static struct channel *channel_of(const struct file *file)
{
	/* Set by misc_open(). */
	return container_of(file->private_data, struct channel, device);
}

static void ring(const struct channel *channel)
{
	mortise_call(MORTISE_RING, channel->shape.number, 0, 0, 0, NULL);
}

static ssize_t take(struct channel *channel, u64 *slot, char __user *user, size_t room)
{
	u32 length = tenon_queue_length(&channel->queue, slot);

	if (length > room)
		return -EMSGSIZE;
	if (copy_to_user(user, slot + 1, length))
		return -EFAULT;
	if (tenon_queue_taken(&channel->queue))
		ring(channel);
	return length;
}

static ssize_t send(struct channel *channel, u64 *slot, char __user *user, size_t length)
{
	if (copy_from_user(slot + 1, user, length))
		return -EFAULT;
	if (tenon_queue_sent(&channel->queue, slot, length))
		ring(channel);
	return length;
}

/* Transfers one message. After -EAGAIN, the peer rings the doorbell when it can succeed. */
static ssize_t try_transfer(struct channel *channel, char __user *user, size_t count)
{
	struct tenon_queue *queue = &channel->queue;
	ssize_t result;
	u64 *slot;

	if (mutex_lock_interruptible(&channel->lock))
		return -ERESTARTSYS;
	do
		result = tenon_queue_next(queue, &slot);
	while (result == -EAGAIN && !tenon_queue_ask(queue));
	if (!result)
		result = queue->producer ? send(channel, slot, user, count) :
					   take(channel, slot, user, count);
	else if (result == -EPIPE && !queue->producer)
		result = 0; /* end of file */
	mutex_unlock(&channel->lock);
	return result;
}

static ssize_t transfer(struct file *file, char __user *user, size_t count)
{
	struct channel *channel = channel_of(file);
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	ssize_t result;

	add_wait_queue(&channel->waiting, &wait);
	for (;;) {
		result = try_transfer(channel, user, count);
		if (result != -EAGAIN || file->f_flags & O_NONBLOCK)
			break;
		if (signal_pending(current)) {
			result = -ERESTARTSYS;
			break;
		}
		wait_woken(&wait, TASK_INTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT);
	}
	remove_wait_queue(&channel->waiting, &wait);
	return result;
}

static ssize_t channel_read(struct file *file, char __user *user, size_t count, loff_t *offset)
{
	return transfer(file, user, count);
}

static ssize_t channel_write(struct file *file, const char __user *user, size_t count,
			     loff_t *offset)
{
	if (count > channel_of(file)->shape.size)
		return -EMSGSIZE;
	if (!count) /* a reader would take an empty message for end of file */
		return 0;
	return transfer(file, (char __user *)user, count);
}

static __poll_t channel_poll(struct file *file, poll_table *table)
{
	struct channel *channel = channel_of(file);
	__poll_t ready = channel->shape.producer ? EPOLLOUT | EPOLLWRNORM : EPOLLIN | EPOLLRDNORM;
	bool now;

	poll_wait(file, &channel->waiting, table);
	mutex_lock(&channel->lock);
	now = tenon_queue_ready(&channel->queue);
	mutex_unlock(&channel->lock);
	return now ? ready : 0;
}

static int channel_open(struct inode *inode, struct file *file)
{
	const struct channel *channel = channel_of(file);
	fmode_t other = channel->shape.producer ? FMODE_READ : FMODE_WRITE;

	/*
	 * Read and write access permits a writable mapping; the opposite access only is an error.
	 */
	if ((file->f_mode & (FMODE_READ | FMODE_WRITE)) == other)
		return -EACCES;
	return stream_open(inode, file);
}

static int channel_mmap(struct file *file, struct vm_area_struct *area)
{
	const struct channel *channel = channel_of(file);
	int own = channel->shape.producer ? PRODUCER_PART : CONSUMER_PART;
	unsigned long size = area->vm_end - area->vm_start;
	unsigned long first = 0;
	int part;

	for (part = 0; part < PARTS; part++) {
		unsigned long pages = resource_size(&channel->parts[part]) >> PAGE_SHIFT;

		if (area->vm_pgoff == first && size >> PAGE_SHIFT <= pages)
			break;
		first += pages;
	}
	if (part == PARTS)
		return -EINVAL;
	return tenon_map(area, channel->parts[part].start, part == own ? 0 : VM_WRITE,
			 area->vm_page_prot);
}

static long channel_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct channel *channel = channel_of(file);

	switch (command) {
	case TENON_CHANNEL:
		if (copy_to_user((void __user *)argument, &channel->shape, sizeof(channel->shape)))
			return -EFAULT;
		return 0;
	case TENON_RING:
		ring(channel);
		return 0;
	default:
		return -ENOTTY;
	}
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = channel_open,
	.read = channel_read,
	.write = channel_write,
	.poll = channel_poll,
	.mmap = channel_mmap,
	.unlocked_ioctl = channel_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static irqreturn_t channel_rung(int irq, void *data)
{
	struct channel *channel = data;

	wake_up_interruptible_all(&channel->waiting);
	return IRQ_HANDLED;
}

static int channel_describe(struct device *device, struct channel *channel)
{
	const struct device_node *node = device->of_node;
	struct tenon_channel *shape = &channel->shape;
	const char *name, *role;

	if (of_property_read_string(node, "tenonos,name", &name) ||
	    of_property_read_string(node, "tenonos,role", &role) ||
	    of_property_read_u32(node, "tenonos,number", &shape->number) ||
	    of_property_read_u32(node, "tenonos,slots", &shape->slots) ||
	    of_property_read_u32(node, "tenonos,size", &shape->size))
		return -EINVAL;
	if (!is_power_of_2(shape->slots) || !shape->size || shape->size > 1 << 16 ||
	    strscpy(shape->name, name, sizeof(shape->name)) < 0)
		return -EINVAL;
	shape->producer = !strcmp(role, "producer");
	snprintf(channel->nodename, sizeof(channel->nodename), "tenon/%s", name);
	snprintf(channel->label, sizeof(channel->label), "tenon-%s", name);
	return 0;
}

static int channel_map(struct device *device, struct channel *channel)
{
	const u64 needed[PARTS] = {
		tenon_queue_bytes(channel->shape.slots, channel->shape.size), PAGE_SIZE, PAGE_SIZE,
	};
	void *parts[PARTS];
	int part;

	for (part = 0; part < PARTS; part++) {
		struct resource *place = &channel->parts[part];

		if (of_address_to_resource(device->of_node, part, place) ||
		    resource_size(place) < needed[part] || !PAGE_ALIGNED(place->start))
			return -EINVAL;
		/* Normal memory that this kernel does not manage. */
		parts[part] = devm_memremap(device, place->start, resource_size(place),
					    MEMREMAP_WB);
		if (IS_ERR(parts[part]))
			return PTR_ERR(parts[part]);
		channel->shape.parts[part] = resource_size(place);
	}
	tenon_queue_attach(&channel->queue, parts[PRODUCER_PART], parts[CONSUMER_PART],
			   parts[STATUS_PART], channel->shape.slots, channel->shape.size,
			   channel->shape.producer);
	return 0;
}

static void channel_withdraw(void *data)
{
	struct channel *channel = data;

	misc_deregister(&channel->device);
}

static int channel_probe(struct platform_device *platform)
{
	struct device *device = &platform->dev;
	struct channel *channel = devm_kzalloc(device, sizeof(*channel), GFP_KERNEL);
	int irq = platform_get_irq(platform, 0);
	int error;

	if (!channel)
		return -ENOMEM;
	if (irq < 0)
		return irq;
	mutex_init(&channel->lock);
	init_waitqueue_head(&channel->waiting);
	error = channel_describe(device, channel) ?: channel_map(device, channel);
	if (error)
		return dev_err_probe(device, error, "not as docs/formats.md says\n");
	error = devm_request_irq(device, irq, channel_rung, 0, channel->label, channel);
	if (error)
		return error;
	channel->device = (struct miscdevice){
		.minor = MISC_DYNAMIC_MINOR,
		.name = channel->label,
		.nodename = channel->nodename,
		.mode = channel->shape.producer ? 0200 : 0400,
		.fops = &operations,
	};
	error = misc_register(&channel->device);
	return error ?: devm_add_action_or_reset(device, channel_withdraw, channel);
}

static const struct of_device_id compatible[] = { { .compatible = "tenonos,channel" }, {} };
MODULE_DEVICE_TABLE(of, compatible);

static struct platform_driver driver = {
	.probe = channel_probe,
	.driver = {
		.name = "tenon-channel",
		.of_match_table = compatible,
		/* An open file holds the module, but not the memory of the device. */
		.suppress_bind_attrs = true,
	},
};

int tenon_channel_init(void)
{
	return platform_driver_register(&driver);
}

void tenon_channel_exit(void)
{
	platform_driver_unregister(&driver);
}
