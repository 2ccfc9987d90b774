import { NO_METADATA, parseMetadata } from '../../host/http/metadata-header.ts';

/** Entries of the header `X-Gateway-Metadata`; Node reads its bytes as Latin-1. */
export function readMetadata(header: string | string[] | undefined): Readonly<Record<string, string>> {
  if (header === undefined) return NO_METADATA;
  const bytes = typeof header === 'string' ? header : header.join(', ');
  return parseMetadata(Buffer.from(bytes, 'latin1').toString('utf8'), bytes.length);
}
