import type { OutgoingRequest } from '../../host/contract/index.ts';
import { contextOf } from '../../host/http/context.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { addressAt, type Destination } from './destination.ts';
import type { MemberScanner } from './models/member-scanner.ts';
import { leavingBody, type Splice } from './read-ahead.ts';
import type { Forwarding } from './read-forwarded.ts';
import { forwardedHeaders, withoutAccounts } from './request-headers.ts';

/** The request as it goes on, before the credential. `isRead` says that its answer will be read, and so must not be compressed in an unknown way. */
export function leavingRequest(
  { family, request, response, body, scanner, taken, listed }: Forwarding,
  exchange: LiveExchange,
  { target, provider }: Destination,
  isRead: boolean,
): OutgoingRequest {
  const forwarded = forwardedHeaders(request, contextOf(response), isRead);
  const headers = target.instance ? withoutAccounts(forwarded) : forwarded;
  if (listed && taken) delete headers['sec-websocket-extensions']; // compressed frames cannot be looked through
  const leaving = leavingBody(
    body,
    family.asks ? modelSplice(scanner, target.upstreamModel(exchange.model)) : undefined,
  );
  if (leaving.length !== undefined && leaving.body !== undefined) headers['content-length'] = String(leaving.length);
  return {
    method: request.method ?? 'GET',
    url: addressAt(provider, request.url ?? '/v1/'),
    headers,
    body: taken ? undefined : leaving.body,
  };
}

/** The model as the provider knows it, where that is not what the client wrote. */
function modelSplice(scanner: MemberScanner | undefined, model: string): Splice | undefined {
  const found = scanner?.found.get('model');
  if (!found || model === '' || typeof found.value !== 'string' || found.value === model) return undefined;
  return { start: found.start, end: found.end, bytes: Buffer.from(JSON.stringify(model)) };
}
