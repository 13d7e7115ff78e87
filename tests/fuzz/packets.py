"""Random messages about outputs, and random answers to the grader's questions."""

import base64
import json
import struct

from draws import anything, changed, text

PNG = (
    b"\x89PNG\r\n\x1a\n"
    + struct.pack(">I4sIIBBBBBI", 13, b"IHDR", 3, 4, 8, 2, 0, 0, 0, 0)
    + b"IEND"
)
JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x0b\x08\x00\x03\x00\x04\x01\x01\x11\x00\xff\xd9"
ASKED = 7  # the number of the request that all messages answer
ESCAPES = (
    "\x1b[31m",
    "\x1b[0m",
    "\x1b[38;2;1;2;3m",
    "\x1b[K",
    "\x1b[" + "1;" * 40 + "m",
    "\r",
    "\b\b",
)


def message(random):
    """Generate a message as the notebook's process sends it, or nearly one."""
    kind = random.choice(KINDS)
    made = [ASKED, kind, _content(random, kind)]
    return changed(random, made) if random.random() < 0.4 else made


def sent(random):
    """Generate a message's line, possibly corrupted by code in the notebook."""
    raw = json.dumps(message(random)).encode()
    if random.random() < 0.1:
        cut = random.randrange(len(raw) + 1)
        raw = raw[:cut] + random.randbytes(random.randrange(4)) + raw[cut + 1 :]
    end = random.choice((b"\n", b"\n", b"\n", b""))
    return b"\n" + raw[: random.randrange(len(raw))] if random.random() < 0.05 else raw + end


KINDS = (
    *("stream", "stream", "error", "display_data", "display_data", "execute_result"),
    *("update_display_data", "clear_output", "execute_input", "execute_reply", "status"),
    *("comm_open", "comm_msg", "done", "odd"),
)


def _content(random, kind):
    data = {}
    for _ in range(random.randrange(3)):
        name = random.choice(("text/plain", "text/html", "image/png", "image/jpeg", text(random)))
        data[name] = _picture(random) if name.startswith("image/") else _printed(random)
    display = {"display_id": random.choice(("one", "two", text(random)))}
    shown = {"data": data, "metadata": {}, "transient": display if random.random() < 0.5 else {}}
    contents = {
        "stream": {"name": random.choice(("stdout", "stderr")), "text": _printed(random)},
        "error": {"ename": text(random), "evalue": text(random), "traceback": [_printed(random)]},
        "display_data": shown,
        "update_display_data": shown,
        "execute_result": shown | {"execution_count": random.choice((1, 1 << 70, -1, True))},
        "execute_input": {"code": text(random), "execution_count": 1},
        "execute_reply": {"status": random.choice(("ok", "error", "odd")), "execution_count": 1},
        "status": {"execution_state": random.choice(("busy", "idle", text(random)))},
        "clear_output": {"wait": random.choice((True, False, None))},
    }
    return contents.get(kind, anything(random))


def _printed(random):
    return "".join(random.choice((text, _escaped))(random) for _ in range(random.randrange(1, 4)))


def _escaped(random):
    return "".join(random.choices((*ESCAPES, "a", "\n"), k=random.randrange(30)))


def _picture(random):
    """Generate base64 of an image header, often corrupted, or arbitrary text."""
    content = bytearray(random.choice((PNG, JPEG)))
    for _ in range(random.randrange(3)):
        content[random.randrange(len(content))] = random.randrange(256)
    if random.random() < 0.2:
        content = content[: random.randrange(len(content))]
    written = base64.b64encode(bytes(content)).decode()
    return random.choice((written, written, f"{written[:9]}\n{written[9:]}", text(random)))


def line(random, keys):
    """Generate a line from a fork of the kernel: hello, an answer, or invalid JSON."""
    made = random.choice(
        (
            {"part": random.choice((*keys, 7))},
            {"value": anything(random)},
            {"problem": random.choice(("raised", "nan", 7, text(random)))},
            {"end": random.choice(("cpu", "wall", "starved", text(random)))},
            anything(random),
        )
    )
    raw = json.dumps(made).encode()
    odd = random.random()
    if odd < 0.05:
        raw = random.choice(
            (b"[" * 50_000, b'{"value": ' + b"9" * 5_000 + b"}", b"NaN", b"\xff\xfe")
        )
    elif odd < 0.1:
        raw = raw[: random.randrange(len(raw) + 1)]
    return raw + b"\n"
