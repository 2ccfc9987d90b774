"""Sends refused requests as Python's own clients do: the whole body first, then the answer is read.

Arguments: a client (socket-1.0, socket-close, http.client, urllib), rounds, bytes of the body, and the requests as JSON: [{url, method, headers}].
Prints JSON: per request a list of [status, whether the body of the answer is whole], or of what went wrong.
"""
import http.client
import json
import socket
import sys
import urllib.error
import urllib.parse
import urllib.request

client, rounds, size, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4])
body = b"x" * size


def is_whole(text):
    try:
        return "error" in json.loads(text)
    except ValueError:
        return text == b"404 page not found"


def by_socket(version, more, url, method, headers):
    address = urllib.parse.urlsplit(url)
    lines = ["%s %s HTTP/%s" % (method, address.path, version), "Host: " + address.netloc, "Content-Length: %d" % size] + more
    lines += ["%s: %s" % header for header in headers.items()]
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall("\r\n".join(lines + ["", ""]).encode() + body)
        received = b""
        while True:
            piece = connection.recv(65536)
            if not piece:
                break
            received += piece
    head, _, rest = received.partition(b"\r\n\r\n")
    return [int(head.split(b" ")[1]), is_whole(rest)]


def by_http_client(url, method, headers):
    address = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname, address.port)
    connection.request(method, address.path, body=body, headers={**headers, "Connection": "close"})
    response = connection.getresponse()
    return [response.status, is_whole(response.read())]


def by_urllib(url, method, headers):
    try:
        urllib.request.urlopen(urllib.request.Request(url, data=body, headers=headers, method=method)).read()
        return "no refusal"
    except urllib.error.HTTPError as error:
        return [error.code, is_whole(error.read())]


calls = {
    "socket-1.0": lambda **request: by_socket("1.0", [], **request),
    "socket-close": lambda **request: by_socket("1.1", ["Connection: close"], **request),
    "http.client": by_http_client,
    "urllib": by_urllib,
}


def call(request):
    try:
        return calls[client](**request)
    except Exception as error:  # what went wrong is what the test wants to see
        return repr(error)


print(json.dumps([[call(request) for _ in range(rounds)] for request in requests]))
