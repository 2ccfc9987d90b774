"""Runs a gateway on a terminal whose output is not read, or that is gone: does it serve, and does it end?"""
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
import urllib.request

master, slave = pty.openpty()
environment = {'PATH': os.environ['PATH'], 'HOME': os.environ.get('HOME', '/'), 'PORT': '0', 'RATE_LIMIT_RPS': '0', 'MASTER_KEY': 'gw_0123456789abcdef0123456789abcdef'}
is_gone = sys.argv[1] == 'gone'
gateway = subprocess.Popen([*sys.argv[2:], 'serve'], stdout=slave, stderr=subprocess.PIPE, env=environment)
os.close(slave)
try:
    banner = b''
    while b'Master key:' not in banner:
        banner += os.read(gateway.stderr.fileno(), 65536)
    url = re.search(rb'http://localhost:\d+', banner).group().decode().replace('localhost', '127.0.0.1')
    if is_gone:
        os.close(master)
    served = True
    for _ in range(100):
        try:
            urllib.request.urlopen(f'{url}/{"p" * 1000}', timeout=3)
        except urllib.error.HTTPError as error:
            served = served and error.code == 404
        except OSError:
            served = False
            break
    gateway.terminate()
    try:
        code = gateway.wait(5)
    except subprocess.TimeoutExpired:
        code = 'it does not end'
    print(json.dumps({'served': served, 'code': code}))
finally:
    gateway.kill()
    gateway.wait()
