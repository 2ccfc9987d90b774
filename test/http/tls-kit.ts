import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { findTool } from '../kit/index.ts';

/** A certificate with its key, as PEM files. */
export interface Made {
  readonly cert: string;
  readonly key: string;
}

/** An authority that signs certificates, made with openssl. */
export interface Authority extends Made {
  sign(name: string, options?: { readonly days?: number }): Made;
}

const openssl = (args: readonly string[]): Buffer =>
  execFileSync(findTool('openssl'), args, { stdio: ['ignore', 'pipe', 'pipe'] });

const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export function authority(folder: string, name: string): Authority {
  mkdirSync(folder, { recursive: true });
  const at = (file: string): string => join(folder, `${name}-${file}`);
  const own = { cert: at('ca.pem'), key: at('ca.key') };
  openssl(['req', '-x509', ...EC, '-keyout', own.key, '-out', own.cert, '-days', '3650', '-subj', `/CN=${name}`]);
  return {
    ...own,
    sign: (common, { days = 90 } = {}) => {
      const made = { cert: at(`${common}.pem`), key: at(`${common}.key`) };
      const [request, extensions] = [at(`${common}.csr`), at(`${common}.ext`)];
      openssl(['req', ...EC, '-keyout', made.key, '-out', request, '-subj', `/CN=${common}`]);
      writeFileSync(extensions, 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
      const dates = ['-days', String(days)];
      openssl([
        'x509',
        '-req',
        '-in',
        request,
        '-CA',
        own.cert,
        '-CAkey',
        own.key,
        '-CAcreateserial',
        '-out',
        made.cert,
        '-extfile',
        extensions,
        ...dates,
      ]);
      chmodSync(made.key, 0o600);
      return made;
    },
  };
}

/** What a client of TLS presents. */
export const presents = ({ cert, key }: Made): ConnectionOptions => ({
  cert: readFileSync(cert),
  key: readFileSync(key),
});

/** Resolves with a connection that has said hello, or with the code of why there is none. */
export async function shake(port: number, options: ConnectionOptions): Promise<TLSSocket | string> {
  const { promise, resolve } = Promise.withResolvers<TLSSocket | string>();
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ALPNProtocols: ['http/1.1'], ...options });
  socket.once('secureConnect', () => resolve(socket));
  socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  socket.once('close', () => resolve('closed'));
  return promise;
}

/** The answer to one request on a connection of its own, its head included; what ended it where there is none. TLS 1.3 tells a client of a refused certificate only then. */
export async function answerTo(port: number, options: ConnectionOptions, text: string): Promise<string> {
  const socket = await shake(port, options);
  if (typeof socket === 'string') return socket;
  const { promise, resolve } = Promise.withResolvers<string>();
  let read = '';
  socket.setEncoding('latin1');
  socket.on('data', (data: string) => (read += data));
  socket.on('error', (error: NodeJS.ErrnoException) => resolve(read || (error.code ?? error.message)));
  socket.on('close', () => resolve(read || 'closed'));
  socket.write(text);
  return promise;
}

export const GET = (path: string, headers = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}Connection: close\r\n\r\n`;
