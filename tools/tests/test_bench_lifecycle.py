"""Image of the life-cycle benchmark: a VM's file, enlarged but otherwise unchanged."""

from tools.bench.lifecycle import _COUNT, _SEGMENT, IMAGE, enlarged


def file(*segments):
    """A VM's file as `build --vm-image` writes it."""
    first = 256 + _COUNT.size
    at = first + len(segments) * _SEGMENT.size
    at += -at % 64
    head, body = bytes(range(256)) + _COUNT.pack(len(segments)), b""
    for target, content in segments:
        head += _SEGMENT.pack(target, at + len(body), len(content))
        body += content
    return head.ljust(at, b"\0") + body


def loaded(image):
    (count,) = _COUNT.unpack_from(image, 256)
    first = 256 + _COUNT.size
    for number in range(count):
        target, offset, size = _SEGMENT.unpack_from(image, first + number * _SEGMENT.size)
        yield target, image[offset : offset + size]


def test_an_image_grows_to_the_size_that_is_measured():
    segments = [(0x4000_0000, b"header" * 32), (0x4008_0000, b"code" * 1024)]
    image = enlarged(file(*segments), b"guest")
    parts = list(loaded(image))
    assert parts[:2] == segments, "what it was made of is where it was"
    assert sum(len(content) for _, content in parts) == IMAGE
    target, filler = parts[2]
    assert target == 0x4010_0000 and target % 64 == 0 and 0 not in filler
    assert image[8:40] == b"guest".ljust(32, b"\0")
    assert image[:8] + image[40:256] == bytes(range(8)) + bytes(range(40, 256))
    assert all(_SEGMENT.unpack_from(image, 264 + 24 * n)[1] % 64 == 0 for n in range(3))
