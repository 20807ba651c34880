#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# pmi_launcher.py LAUNCH-PE: a PMI-1 launcher of two PEs that serves them well, and then one whose replies are
# malformed, late pieces or none: PE 0 refuses each of them with a message.
import os
import socket
import subprocess
import sys

pe = sys.argv[1]


def serve(request, values, lies):
    """The reply to a line; a lie replaces that of a command."""
    words = dict(word.split('=', 1) for word in request.split(' '))
    command = words['cmd']
    if command == 'put':
        if words['key'] in values:  # some launchers let a value be put once
            return 'cmd=put_result rc=-1 msg=duplicate_key'
        values[words['key']] = words['value']
    if command == 'get' and words['key'] in lies:
        return lies[words['key']]
    if command in lies:
        return lies[command]
    if command == 'get':
        if words['key'] not in values:
            return 'cmd=get_result rc=-1 msg=no_such_key'
        return 'cmd=get_result rc=0 msg=success value=' + values[words['key']]
    return {
        'init': 'cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0',
        'get_maxes': 'cmd=maxes kvsname_max=64 keylen_max=64 vallen_max=70',
        'get_my_kvsname': 'cmd=my_kvsname kvsname=job',
        'put': 'cmd=put_result rc=0 msg=success',
        'barrier_in': 'cmd=barrier_out',
        'finalize': 'cmd=finalize_ack',
        'abort': None,
    }[command]


def start(rank, size, *actions):
    ours, theirs = socket.socketpair()
    process = subprocess.Popen([pe, *actions], pass_fds=[theirs.fileno()], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env={**os.environ, 'PMI_FD': str(theirs.fileno()), 'PMI_RANK': str(rank),
                                    'PMI_SIZE': str(size)})
    theirs.close()
    ours.settimeout(60)
    return process, ours, ours.makefile('r', newline='\n')


def answer(connection, reply):
    data = reply if isinstance(reply, bytes) else (reply + '\n').encode()
    for part in (data[:len(data) // 2], data[len(data) // 2:]):
        connection.sendall(part)


def run(values, lies):
    """One PE of two; PE 1 is what the values say."""
    process, connection, lines = start(0, 2)
    try:
        for line in lines:
            reply = serve(line.rstrip('\n'), values, lies)
            if reply is None:
                break
            answer(connection, reply)
    except (BrokenPipeError, ConnectionResetError):
        pass
    lines.close()
    connection.close()
    said = process.communicate(timeout=60)[0]
    return process.returncode, said


def good(mapping):
    pes = [start(rank, 2, 'print', 'rounds', 'again') for rank in (0, 1)]
    values = {'PMI_process_mapping': mapping}
    waiting = []
    ended = 0
    while ended < 2:
        for process, connection, lines in pes:
            if connection in waiting:
                continue
            line = lines.readline().rstrip('\n')
            if not line:
                continue
            if line.startswith('cmd=barrier_in'):
                waiting.append(connection)
                continue
            answer(connection, serve(line, values, {}))
            ended += line.startswith('cmd=finalize')
        if len(waiting) == 2:
            for connection in waiting:
                answer(connection, 'cmd=barrier_out')
            waiting = []
    for process, connection, lines in pes:
        said = process.communicate(timeout=60)[0]
        assert process.returncode == 0 and 'of 2, local' in said and 'of 2, by' in said, said
        assert 'warning' not in said, said


def shared():
    """Another library of the process ends the connection at exit, and the launcher closes it at the first end."""
    process, connection, lines = start(0, 1, 'share')
    values = {}
    for line in lines:
        answer(connection, serve(line.rstrip('\n'), values, {}))
        if line.startswith('cmd=finalize'):
            break
    lines.close()
    connection.close()
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 0, (process.returncode, said)


for mapping in ('(vector,(3,1,2))', '(vector,[3]x2)', '(vector,[(3,1,1)]x2)'):
    good(mapping)
shared()
peer = {'pid.1.1.0': '4:01000000', 'round.0.1.1.0': '8:0000000001000000',
        'PMI_process_mapping': '(vector,(0,1,2))'}
code, said = run(dict(peer), {})
assert code == 0, (code, said)
# With mappings that are none each PE is alone on its node; where the launcher does not say that, PE 0 does.
for mapping in ('', '()', '(vector,(0,1,1),(1,1,1))', 'x', '(vector,)', '(vector,(0,1,2)',
                '(vector,' + '(0,1,1),' * 800 + ')'):
    code, said = run({**peer, 'PMI_process_mapping': mapping}, {})
    is_read = mapping in ('', '()', '(vector,(0,1,1),(1,1,1))')
    assert code == 0 and ('PMI_process_mapping' in said) != is_read, (mapping, code, said)

value = 'round.0.1.1.0'
result = 'cmd=get_result rc=0 msg=success value='
lies = [(command, reply)
        for command in ('init', 'get_maxes', 'get_my_kvsname', 'put', 'barrier_in', value)
        for reply in (b'', None, 'cmd=', 'x', '', 'cmd=no_such_reply rc=0', b'\0' * 64 + b'\n', b'a' * 20000,
                      b'a' * 20000 + b'\n', 'cmd=put_result rc=-1', 'cmd=get_result rc=-1 msg=none')
        if reply != b'']
lies += [('init', 'cmd=response_to_init rc=-1'), ('get_maxes', 'cmd=maxes vallen_max=0'),
         ('get_maxes', 'cmd=maxes vallen_max=-x'), ('get_my_kvsname', 'cmd=my_kvsname kvsname='),
         ('get_my_kvsname', 'cmd=my_kvsname kvsname=' + 'n' * 300)]
lies += [(value, result + text)
         for text in ('', '8', '8:', ':', '8:00', '8:zz00000000000000', '8:000000000', '9:000000000000000000',
                      '-8:0000000000000000', '99999999:00', '8:00000000010000000', '8:000000000100000000')]
for command, reply in lies:
    code, said = run(dict(peer), {command: reply})
    assert code == 3 and 'launch-pe: ' in said, (command, reply, code, said)
    if str(reply).startswith(result + '9'):
        assert 'are expected' in said, (reply, said)
print(len(lies), 'malformed replies refused')
