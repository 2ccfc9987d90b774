import type { IncomingMessage } from 'node:http';
import { GatewayError, quoted } from '../../../host/contract/index.ts';

export const etagOf = (version: number): string => `"${version}"`;

const TAGS = /^\s*"\d{1,15}"\s*(?:,\s*"\d{1,15}"\s*)*$/;

/**
 * The version that a request wants to change, as `GET /admin/config` gave it; `undefined` when it takes any. Of several the newest one
 * counts that this process knows. Throws `version_conflict` for a text that cannot name a version.
 */
export function wantedVersion(
  { headers: { 'if-match': written } }: Pick<IncomingMessage, 'headers'>,
  newest: number,
): number | undefined {
  if (written === undefined || written.trim() === '*') return undefined;
  if (!TAGS.test(written))
    throw new GatewayError(
      'version_conflict',
      `If-Match is ${quoted(written)}; send the ETag of GET /admin/config, which is ${etagOf(newest)} now`,
    );
  const versions = [...written.matchAll(/\d+/g)].map(([digits]) => Number(digits));
  return versions.includes(newest) ? newest : versions.reduce((a, b) => Math.max(a, b));
}
