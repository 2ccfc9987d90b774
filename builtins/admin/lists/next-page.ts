import type { FlatHeaders } from '../../../host/http/reply.ts';

/** Says where a list goes on (RFC 8288), if it does: behind `after`. Parameters that are empty are left out. */
export function nextPage(
  path: string,
  after: string | undefined,
  parameters: Readonly<Record<string, string>>,
): FlatHeaders {
  if (after === undefined) return [];
  const given = Object.entries({ ...parameters, after }).filter(([, value]) => value !== '');
  return ['Link', `<${path}?${new URLSearchParams(given).toString()}>; rel="next"`];
}
