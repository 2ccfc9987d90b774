import ipaddr from 'ipaddr.js';

/** Names under which clouds answer with the identity of the machine that asks. */
const METADATA_NAMES: ReadonlySet<string> = new Set(['metadata.google.internal']);
/** Source: AWS EC2 user guide, "Use the Instance Metadata Service", 2026-11-27. */
const METADATA_ADDRESS = 'fd00:ec2::254';
/** An IPv4 address inside an IPv6 one: compatible (RFC 4291 2.5.5.1), of NAT64 (RFC 6052), of 6to4 (RFC 3056). */
const CARRIERS: readonly (readonly [network: ipaddr.IPv6, bits: number, at: number])[] = [
  [ipaddr.IPv6.parse('::'), 96, 12],
  [ipaddr.IPv6.parse('64:ff9b::'), 96, 12],
  [ipaddr.IPv6.parse('2002::'), 16, 2],
];

/** True for an IP address of this link, where clouds keep the identities of machines: no provider has one. */
export function isLinkLocal(address: string): boolean {
  const found = addressOf(address);
  if (!found) return false;
  if (found.range() === 'linkLocal' || found.toString() === METADATA_ADDRESS) return true;
  return found instanceof ipaddr.IPv6 && carriedBy(found)?.range() === 'linkLocal';
}

/** True for the host of an address, as a URL has it, that is link-local or stands for that. Names are not looked up. */
export function isLinkLocalHost(host: string): boolean {
  const name = plainHost(host);
  return METADATA_NAMES.has(name) || isLinkLocal(name);
}

const PRIVATE_RANGES: ReadonlySet<string> = new Set(['loopback', 'private', 'uniqueLocal', 'linkLocal', 'unspecified']);

/** True for a host that is reached over networks of others: neither loopback nor private, nor a name without a dot. */
export function isPublicHost(host: string): boolean {
  const name = plainHost(host);
  const address = addressOf(name);
  if (address) return !PRIVATE_RANGES.has(address.range());
  return name.includes('.') && !name.endsWith('.localhost');
}

/** Without the brackets of IPv6 and the dot that ends an absolute name. */
const plainHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');

/** Without its zone; one of IPv4 where IPv6 only carries it. Only the notation that URLs and sockets give is read. */
function addressOf(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const plain = text.replace(/%.*$/, '');
  const isAddress = plain.includes(':') ? ipaddr.IPv6.isValid(plain) : ipaddr.IPv4.isValidFourPartDecimal(plain);
  return isAddress ? ipaddr.process(plain) : undefined;
}

function carriedBy(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const carrier = CARRIERS.find(([network, bits]) => address.match(network, bits));
  if (!carrier) return undefined;
  const [, , at] = carrier;
  return new ipaddr.IPv4(address.toByteArray().slice(at, at + 4));
}
