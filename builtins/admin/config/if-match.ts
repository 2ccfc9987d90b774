import type { IncomingMessage } from 'node:http';
import { GatewayError, quoted } from '../../../host/contract/index.ts';
import type { Writer } from '../../../host/stores/configuration-store.ts';

/** A version, and what tells it from another one that had its number. */
type Tag = Pick<Writer, 'mark'> & { readonly version: number };

export const etagOf = ({ version, mark }: Tag): string => `"${version}${mark === undefined ? '' : `.${mark}`}"`;

/** Throws where a patch names no version, or another one than that which runs. */
export function requireVersion(request: Pick<IncomingMessage, 'headers'>, running: Tag, isNeeded = true): void {
  const wanted = wantedVersion(request, running);
  if (!wanted && isNeeded)
    throw new GatewayError('invalid_request', 'a patch names the version it was made for: send If-Match');
  if (wanted && (wanted.version !== running.version || wanted.mark !== running.mark))
    throw new GatewayError(
      'version_conflict',
      `the configuration has the ETag ${etagOf(running)} now, and the patch was made for ${etagOf(wanted)}`,
    );
}

const TAGS = /^\s*"\d{1,15}(?:\.[0-9a-f]{8})?"\s*(?:,\s*"\d{1,15}(?:\.[0-9a-f]{8})?"\s*)*$/;

/**
 * The version that a request wants to change, as `GET /admin/config` gave it; `undefined` when it takes any. Of several the newest one
 * counts that this process knows. Throws `version_conflict` for a text that cannot name a version.
 */
export function wantedVersion(
  { headers: { 'if-match': written } }: Pick<IncomingMessage, 'headers'>,
  newest: Tag,
): Tag | undefined {
  if (written === undefined || written.trim() === '*') return undefined;
  if (!TAGS.test(written))
    throw new GatewayError(
      'version_conflict',
      `If-Match is ${quoted(written)}; send the ETag of GET /admin/config, which is ${etagOf(newest)} now`,
    );
  const tags = [...written.matchAll(/"(\d+)(?:\.(\w+))?"/g)].map(([, digits, mark]) => ({
    version: Number(digits),
    mark,
  }));
  const known = tags.find(({ version, mark }) => version === newest.version && mark === newest.mark);
  return known ?? tags.reduce((a, b) => (b.version > a.version ? b : a));
}
