import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { AddressRange } from '../settings.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

interface Peer {
  readonly text: string;
  readonly isTrusted: boolean;
}

/** Finds the client behind trusted proxies. A peer is judged once per connection. Source: configuration reference 8.8. */
export function createAddressFinder(trusted: readonly AddressRange[]): (request: IncomingMessage) => string {
  const peers = new WeakMap<Socket, Peer>();

  const isTrusted = (address: Address): boolean => trusted.some(([range, bits]) => address.kind() === range.kind() && address.match(range, bits));

  const peerOf = (socket: Socket): Peer => {
    const known = peers.get(socket);
    if (known) return known;
    const address = parseAddress(socket.remoteAddress ?? '');
    const peer = { text: address?.toString() ?? socket.remoteAddress ?? '', isTrusted: address !== undefined && isTrusted(address) };
    peers.set(socket, peer);
    return peer;
  };

  return (request) => {
    const peer = peerOf(request.socket);
    const chain = request.headers['x-forwarded-for'];
    const real = request.headers['x-real-ip'];
    if (!peer.isTrusted || (chain === undefined && real === undefined)) return peer.text;
    for (const hop of String(chain ?? '').split(',').toReversed()) {
      const address = parseAddress(hop.trim());
      if (address && !isTrusted(address)) return address.toString();
    }
    return (typeof real === 'string' ? parseAddress(real.trim())?.toString() : undefined) ?? peer.text;
  };
}

/** An address with or without a port, IPv4-mapped IPv6 as IPv4; `undefined` for anything else. */
function parseAddress(text: string): Address | undefined {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text;
  const isFourPart = ipaddr.IPv4.isValidFourPartDecimal(bare);
  return isFourPart || ipaddr.IPv6.isValid(bare) ? ipaddr.process(bare) : undefined;
}

/** What a per-address limit counts by: the address, or of IPv6 its network of 64 bits, which one client owns whole. */
export function limiterKey(address: string): string {
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address;
  return `${ipaddr.IPv6.parse(address).parts.slice(0, 4).map((part) => part.toString(16)).join(':')}::/64`;
}
