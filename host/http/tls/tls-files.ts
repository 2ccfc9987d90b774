import { constants, createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { TlsOptions } from 'node:tls';
import { errorMessage } from '../../common/error-message.ts';
import type { NamedFile, TlsSettings } from '../../environment/tls-settings.ts';

/** Files of one listener that fit together, as they were read. */
export interface LoadedTls {
  /** What `createServer` and `setSecureContext` take. */
  readonly options: TlsOptions;
  /** One digest over all files, to know when they change. */
  readonly digest: string;
  /** End of the certificate, Unix milliseconds. */
  readonly notAfter: number;
  readonly serial: string;
}

/** Why files cannot be used: names the variable and the file, and never what is in them. */
export class TlsFault extends Error {
  override readonly name = 'TlsFault';
}

const filesOf = ({ cert, key, clientCa }: TlsSettings): readonly NamedFile[] => [
  cert,
  key,
  ...(clientCa ? [clientCa] : []),
];

/** What stands in the files by now, through their links. A file that cannot be read counts as its fault. */
export function tlsDigest(settings: TlsSettings): string {
  const hash = createHash('sha256');
  for (const file of filesOf(settings)) {
    try {
      hash.update(readFileSync(file.path)).update('\n');
    } catch (error) {
      hash.update(`${(error as NodeJS.ErrnoException).code ?? ''}\n`);
    }
  }
  return hash.digest('hex');
}

/** Reads and checks the files of a listener. Throws a `TlsFault` for the first that cannot be used. */
export function loadTls(settings: TlsSettings): LoadedTls {
  const digest = tlsDigest(settings);
  const { cert, key, clientCa, clientAuth } = settings;
  const chain = readFile(cert);
  const keyText = readFile(key);
  const leaf = certificatesIn(cert, chain)[0];
  if (!leaf.checkPrivateKey(privateKeyIn(key, keyText)))
    throw new TlsFault(
      `${key.variable}: ${key.path} is the key of another certificate than ${cert.path} (${cert.variable})`,
    );
  const ca = clientCa && readFile(clientCa);
  if (clientCa && ca) certificatesIn(clientCa, ca);
  return {
    digest,
    notAfter: Date.parse(leaf.validTo),
    serial: leaf.serialNumber,
    options: {
      cert: chain,
      key: keyText,
      ...(ca && { ca }),
      requestCert: clientAuth !== 'none',
      rejectUnauthorized: clientAuth === 'require',
      minVersion: 'TLSv1.2',
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    },
  };
}

/** Whether every user of this machine may read the key. */
export function isKeyOpen({ key }: TlsSettings): boolean {
  return ((statSync(key.path, { throwIfNoEntry: false })?.mode ?? 0) & 0o004) !== 0;
}

function readFile({ variable, path }: NamedFile): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new TlsFault(
      `${variable}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? errorMessage(error)})`,
      {
        cause: error,
      },
    );
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function certificatesIn(
  { variable, path }: NamedFile,
  bytes: Buffer,
): readonly [X509Certificate, ...X509Certificate[]] {
  const texts = bytes.toString('latin1').match(CERTIFICATE) ?? [];
  try {
    const [first, ...others] = texts.map((text) => new X509Certificate(text));
    if (first) return [first, ...others];
  } catch (error) {
    throw new TlsFault(`${variable}: ${path} holds a certificate that cannot be read`, { cause: error });
  }
  throw new TlsFault(`${variable}: ${path} holds no certificate as PEM`);
}

function privateKeyIn({ variable, path }: NamedFile, bytes: Buffer): KeyObject {
  try {
    return createPrivateKey(bytes);
  } catch {
    const isLocked = bytes.includes('ENCRYPTED');
    throw new TlsFault(
      `${variable}: ${path} ${isLocked ? 'has a passphrase; write the key without one' : 'holds no private key as PEM'}`,
    );
  }
}
