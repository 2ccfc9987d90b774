import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../contract/index.ts';
import type { CredentialPlace } from '../wire/client-wire.ts';
import { bearerOf, invalidKey } from './bearer.ts';
import type { RequestContext } from './context.ts';

/** Takes what the query holds in the place of a credential out of the address: neither logs, spans nor upstreams see it. */
export function takeQueryKeys(request: IncomingMessage, context: RequestContext): void {
  const name = context.wire.credentials
    ?.map((place) => (typeof place === 'object' && 'query' in place ? place.query : undefined))
    .find((query) => query !== undefined);
  const { url = '' } = request;
  const start = url.indexOf('?');
  if (name === undefined || start < 0) return;
  const keys: string[] = [];
  const kept = url
    .slice(start + 1)
    .split('&')
    .filter((pair) => {
      const [[found, value] = ['', '']] = new URLSearchParams(pair);
      if (found === name) keys.push(value);
      return found !== name;
    });
  if (keys.length === 0) return;
  context.queryKeys = keys;
  request.url = kept.length > 0 ? `${url.slice(0, start)}?${kept.join('&')}` : url.slice(0, start);
}

/** The credentials of a request, in the order in which they count; or why there is none to look up. */
export function credentialsOf(
  request: IncomingMessage,
  { wire: { credentials: places }, queryKeys }: RequestContext,
): readonly string[] | GatewayError {
  if (!places) {
    const bearer = bearerOf(request);
    return typeof bearer === 'string' ? [bearer] : bearer;
  }
  if (queryKeys && queryKeys.length > 1) return new GatewayError('invalid_api_key', 'the query holds several API keys');
  const found = places
    .map((place) => credentialAt(place, request, queryKeys))
    .filter((credential) => credential !== undefined && credential !== '');
  return found.length > 0
    ? (found as string[])
    : new GatewayError('missing_api_key', `the API key is missing: it belongs into ${namesOf(places)}`);
}

function credentialAt(
  place: CredentialPlace,
  request: IncomingMessage,
  queryKeys: readonly string[] | undefined,
): string | undefined {
  if (place === 'bearer') {
    const bearer = bearerOf(request);
    return typeof bearer === 'string' ? bearer : undefined;
  }
  if ('query' in place) return queryKeys?.[0];
  const value = request.headers[place.header];
  return Array.isArray(value) ? value[0] : value;
}

/** The refusal of credentials that are not known. */
export function unknownKey({ wire: { credentials: places } }: RequestContext): GatewayError {
  return places
    ? new GatewayError('invalid_api_key', `the API key is not valid, whether in ${namesOf(places)}`)
    : invalidKey();
}

function namesOf(places: readonly CredentialPlace[]): string {
  const names = places.map((place) => {
    if (place === 'bearer') return 'the header Authorization (Bearer)';
    return 'query' in place ? `the query parameter ${place.query}` : `the header ${place.header}`;
  });
  return names.join(' or ');
}
