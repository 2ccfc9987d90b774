import type { IncomingMessage } from 'node:http';
import { invalidRequest } from '../../host/common/invalid-request.ts';
import { quoted } from '../../host/contract/index.ts';

/** Bodies are read as they come. Source: ingress reference 2.2. */
export function checkCoding({ headers }: IncomingMessage): void {
  const coding = headers['content-encoding']?.trim().toLowerCase();
  if (coding !== undefined && coding !== '' && coding !== 'identity') throw invalidRequest(`the Content-Encoding ${quoted(coding)} is not supported`);
}
