"""What servers of Python's make of paths: a list of targets as JSON comes in, for each a list of paths goes out."""
import json
import posixpath
import sys
import unicodedata
from urllib.parse import unquote, unquote_plus, urlparse, urlsplit


def decoders(target):
    yield target
    for split in (urlsplit, urlparse):
        try:
            path = split('http://h/' + target.lstrip('/')).path
        except ValueError:
            continue
        yield path
        for errors in ('replace', 'ignore'):
            once = unquote(path, errors=errors)
            yield from (once, unquote(once, errors=errors), unquote(unquote(once, errors=errors), errors=errors))
        yield unquote_plus(path)
        yield unquote(path, encoding='latin-1')


def readings(target):
    found = set()
    for path in decoders(target):
        for each in (path, path.split('?')[0], path.split('#')[0], path.replace('\\', '/'), unicodedata.normalize('NFKC', path)):
            found.add(posixpath.normpath(each.strip()))
            found.add(each)
    return sorted(found)


json.dump([readings(target) for target in json.load(sys.stdin)], sys.stdout)
