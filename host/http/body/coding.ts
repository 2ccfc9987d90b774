import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { invalidRequest } from '../../common/invalid-request.ts';
import { quoted } from '../../contract/index.ts';

/** Bodies are read as they come. See docs/reference/ingress.md#request-headers. */
export function checkCoding({ headers }: IncomingMessage): void {
  const coding = headers['content-encoding']?.trim().toLowerCase();
  if (coding !== undefined && coding !== '' && coding !== 'identity')
    throw invalidRequest(`the Content-Encoding ${quoted(coding)} is not supported`);
}

/** Refuses a coded body that is not text: one that only says that it is coded may be read. */
export function checkCodedBytes(request: IncomingMessage, bytes: Buffer): void {
  if (request.headers['content-encoding'] !== undefined && !isUtf8(bytes)) checkCoding(request);
}
