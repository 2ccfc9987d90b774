import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { AddressRange } from '../environment/settings.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** No longer text is an address: IPv6 with brackets, a zone and a port. */
const MAX_ADDRESS = 100;
/** Hops that are looked at, the last ones: each is a proxy of ours, up to the client. */
const MAX_HOPS = 50;

interface Peer {
  readonly text: string;
  readonly isTrusted: boolean;
}

/** Finds the client behind trusted proxies. A peer is judged once per connection. See docs/reference/server.md#the-clients-address. */
export function createAddressFinder(trusted: readonly AddressRange[]): (request: IncomingMessage) => string {
  const peers = new WeakMap<Socket, Peer>();

  const isTrusted = (address: Address): boolean =>
    trusted.some(([range, bits]) => address.kind() === range.kind() && address.match(range, bits));

  const peerOf = (socket: Socket): Peer => {
    const known = peers.get(socket);
    if (known) return known;
    const address = parseAddress(socket.remoteAddress ?? '');
    const peer = {
      text: address?.toString() ?? socket.remoteAddress ?? '',
      isTrusted: address !== undefined && isTrusted(address),
    };
    peers.set(socket, peer);
    return peer;
  };

  return (request) => {
    const peer = peerOf(request.socket);
    const chain = request.headers['x-forwarded-for'];
    const real = request.headers['x-real-ip'];
    if (!peer.isTrusted || (chain === undefined && real === undefined)) return peer.text;
    const client = typeof chain === 'string' ? clientOf(chain, isTrusted) : undefined;
    const found = client ?? (typeof real === 'string' ? parseAddress(real) : undefined);
    return found?.toString() ?? peer.text;
  };
}

/**
 * The last hop that is not a trusted proxy. The search ends at a hop that is not an address: the proxy that wrote it cannot be trusted about what is on its left.
 */
function clientOf(chain: string, isTrusted: (address: Address) => boolean): Address | undefined {
  let end = chain.length;
  for (let hops = 0; hops < MAX_HOPS && end >= 0; hops += 1) {
    const comma = end === 0 ? -1 : chain.lastIndexOf(',', end - 1);
    const address = parseAddress(chain.slice(comma + 1, end));
    if (!address || !isTrusted(address)) return address;
    end = comma;
  }
  return undefined;
}

/** An address with or without a port, IPv4-mapped IPv6 as IPv4; `undefined` for anything else. */
function parseAddress(written: string): Address | undefined {
  if (written.length > MAX_ADDRESS) return undefined;
  const text = written.trim();
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text;
  const isFourPart = ipaddr.IPv4.isValidFourPartDecimal(bare);
  return isFourPart || ipaddr.IPv6.isValid(bare) ? ipaddr.process(bare) : undefined;
}

/** What a per-address limit counts by: the address, or of IPv6 its network of 64 bits, which one client owns whole. */
export function limiterKey(address: string): string {
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address;
  return `${ipaddr.IPv6.parse(address)
    .parts.slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
