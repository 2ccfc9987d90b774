import { generateKeyPairSync, sign } from 'node:crypto';

/** One DER element: tag, length, content. */
function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const length = body.length < 0x80 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const ED25519 = der(0x30, der(0x06, Buffer.from([0x2b, 0x65, 0x70])));
const time = (text: string): Buffer => der(0x17, Buffer.from(text));

/** The extension that says which names and IPv4 addresses a certificate is for (RFC 5280 4.2.1.6). */
function alternativeNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) => {
    const numbers = host.split('.').map(Number);
    return numbers.every(Number.isInteger) ? der(0x87, Buffer.from(numbers)) : der(0x82, Buffer.from(host));
  });
  return der(0xa3, der(0x30, der(0x30, der(0x06, Buffer.from([0x55, 0x1d, 0x11])), der(0x04, der(0x30, ...names)))));
}

/** A certificate that no authority has signed, with its key (X.509 version 3, Ed25519, without a name), for these hosts. */
export function selfSigned(...hosts: readonly string[]): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const noName = der(0x30);
  const version = der(0xa0, der(0x02, Buffer.from([2])));
  const validity = der(0x30, time('200101000000Z'), time('491231235959Z'));
  const facts = der(
    0x30,
    version,
    der(0x02, Buffer.from([1])),
    ED25519,
    noName,
    validity,
    noName,
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(hosts.length > 0 ? [alternativeNames(hosts)] : []),
  );
  const whole = der(0x30, facts, ED25519, der(0x03, Buffer.from([0]), sign(null, facts, privateKey)));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    cert: `-----BEGIN CERTIFICATE-----\n${whole.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
}
