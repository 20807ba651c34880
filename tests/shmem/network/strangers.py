#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""strangers.py OSHRUN PROGRAM DRIVER COUNT: COUNT connections of strangers to the ports of a running job over
DRIVER (tcp, ucx, ofi): silent, slow, partial, reset, random bytes, greetings that are wrong, and well-formed
messages of the driver's library with forged ones of ours inside, of every kind. The job must end as if no one had
connected, and each PE must have said that it dropped some: else the attack has not reached it. The whole: COUNT 10000.

UCX and libfabric greet anyone, so forged messages follow a valid greeting of theirs. Over tcp a valid greeting needs
the key of the listener: what a PE does that has it is in tcp.c."""
import glob, os, random, re, shutil, socket, struct, subprocess, sys, tempfile, time

oshrun, program, driver, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
random.seed(4711)
folder = tempfile.mkdtemp()
KINDS, TOKENS = 15, (0, 0xffffffffffffffff)


def ports_of(pid):
    inodes = set()
    for fd in glob.glob(f"/proc/{pid}/fd/*"):
        try:
            inodes.add(os.readlink(fd))
        except OSError:
            pass
    found = []
    for line in open(f"/proc/{pid}/net/tcp").readlines()[1:]:
        part = line.split()
        if part[3] == "0A" and f"socket:[{part[9]}]" in inodes:
            address, port = part[1].split(":")
            found.append((socket.inet_ntoa(struct.pack("<I", int(address, 16))), int(port, 16)))
    return found


def ours(kind):
    """A message of Memspan's that a stranger can make: all but the token is as it should be."""
    token = random.choice(TOKENS + (random.getrandbits(64),))
    pe = random.choice((0, 1, -1, 2 ** 31 - 1))
    head = struct.pack("<QBBBBiHHHHII", token, kind, random.choice((0, 1, 4)), 8, 0, pe, 0, random.choice((0, 3, 65535)),
                       0, random.choice((0, 1, 65535)), random.choice((0, 8, 2 ** 32 - 1)), random.getrandbits(32))
    return head + struct.pack("<QQQ", random.randrange(0, 4096, 8), 0x4141414141414141, 0x4141414141414140)


def to_tcp(sock, kind):
    frame = struct.Struct("<BBHIQQ")
    if kind % 2:
        sock.send(frame.pack(0, 1, 0, 0, random.choice((0, 1, 2 ** 64 - 1)), 77))  # HELLO, then a wrong proof
        sock.send(frame.pack(2, 0, 0, 0, 0, random.getrandbits(64)))
    message = ours(kind)
    sock.send(frame.pack(random.randrange(256), 1, len(message), 0, 8, 8) + message + b"A" * 8)


def to_ucx(sock, kind):
    connect = bytes([0x20, 0x1d, 0, 0, 0, 1]) + b"\0" * 12 + bytes([2, 0]) + struct.pack(">H", 4321)
    sock.send(bytes.fromhex("78563412bebafeca") + connect + bytes([127, 0, 0, 1]) + b"\0" * 8)
    time.sleep(0.002)
    message = ours(kind)
    body = struct.pack("<HHI", 1, 2, len(message)) + message
    sock.send(struct.pack("<BI", 0x17, len(body)) + body)


def to_ofi(sock, kind):
    hello = bytearray(bytes.fromhex("03000018" + "00" * 20 + "0100000000000000" + "01020403" + "1585" +
                                    "0200004000008000000000000000" + "0a480000"))
    hello[36:38] = struct.pack(">H", 4321)
    sock.send(bytes(hello))
    sock.settimeout(0.2)
    sock.recv(200)
    message = ours(kind)
    data = struct.pack("<Q", len(message)) + message
    rxm = bytearray(64)
    rxm[0], rxm[32] = 4, 2
    rxm[40:48] = struct.pack("<Q", len(data))
    sock.send(bytes.fromhex("0300000000001000") + struct.pack("<Q", 16 + 64 + len(data)) + bytes(rxm) + data)


# What a PE says of an attack that has reached it; of tcp to SHMEM_DEBUG alone.
DROPPED = {"tcp": ("tcp: something before a greeting", "tcp: a wrong proof", "tcp: a greeting of another job"),
           "ucx": ("a message that is not of this job was dropped",),
           "ofi": ("a message that is not of this job was dropped",)}[driver]


def unreached(said):
    """PEs that have not said one of it."""
    return [f"PE {pe}: {what}" for pe in (0, 1) for what in DROPPED
            if not re.search(rf"^memspan: PE {pe} of 2: .*{what}", said, re.MULTILINE)]


forge = {"tcp": to_tcp, "ucx": to_ucx, "ofi": to_ofi}[driver]
held = []


def connect_once(number, place):
    sock = socket.create_connection(place, timeout=5)
    manner = number % 6
    try:
        if manner == 0:
            held.append(sock)  # silent
            sock = None
        elif manner == 1:
            sock.send(random.randbytes(random.randrange(1, 200)))
        elif manner == 2:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # reset
        elif manner == 3:
            for byte in b"\0\1\0\0":  # slow, and partial
                sock.send(bytes([byte]))
        else:
            forge(sock, number // 6 % KINDS)
    except OSError:
        pass
    if sock is not None:
        sock.close()
    while len(held) > 100:
        held.pop(0).close()


job = None
try:
    environment = dict(os.environ, SHMEMX_TRANSPORT=driver + ":1", **({"SHMEM_DEBUG": "1"} if driver == "tcp" else {}))
    output = open(folder + "/said", "w+", errors="replace")
    job = subprocess.Popen([oshrun, "-n", "2", program, folder], env=environment, stdout=output, stderr=output)
    limit = time.time() + 60
    while len(glob.glob(folder + "/pe*")) < 2 or not all(open(p).read() for p in glob.glob(folder + "/pe*")):
        if time.time() > limit or job.poll() is not None:
            sys.exit("the job does not come up: " + open(folder + "/said").read())
        time.sleep(0.05)
    places = [place for p in glob.glob(folder + "/pe*") for place in ports_of(int(open(p).read()))]
    if not places:
        sys.exit("the job listens nowhere")
    done = 0
    for number in range(count):
        try:
            connect_once(number, random.choice(places))
            done += 1
        except OSError:
            if job.poll() is not None:
                break
    for sock in held:
        sock.close()
    open(folder + "/end", "w").close()
    status = job.wait(timeout=120)
    said = open(folder + "/said", errors="replace").read()
    missing = unreached(said)
    print(f"{driver}: {done} connections, status {status}, not dropped: {missing}")
    if status != 0 or missing:
        sys.exit(said[-5000:] or "the job says nothing")
finally:
    if job is not None and job.poll() is None:
        job.kill()
    shutil.rmtree(folder)
