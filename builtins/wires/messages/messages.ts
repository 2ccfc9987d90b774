import type { IncomingMessage } from 'node:http';
import { defineBuiltin } from '../../../host/builtin.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import type { JsonObject } from '../../../host/http/json-body.ts';
import { readMetadata } from '../../../host/http/metadata-header.ts';
import { jsonBody, type ReadRequest } from '../../../host/http/surface-route.ts';
import { surfaceBuiltin } from '../../../host/surface-builtin.ts';
import { ClientRequest } from '../../../host/wire/client-request.ts';
import { repeats } from '../../../host/wire/json-changes.ts';
import { checkCoding } from '../coding.ts';
import { countingWith } from '../counting.ts';
import { MESSAGES } from './dialect.ts';
import { checkMessages, readMessages } from './request.ts';
import { MESSAGES_WIRE } from './wire.ts';

const VERSION_HEADER = 'anthropic-version';

/** An empty one says nothing. */
const saysVersion = ({ [VERSION_HEADER]: version }: IncomingMessage['headers']): boolean => version !== undefined && version !== '';

const surface = surfaceBuiltin({
  surface: 'messages',
  path: '/v1/messages',
  read: jsonBody((body, request, bytes) => readRequest(body, request, bytes, 'messages')),
});

const counting = surfaceBuiltin({
  surface: 'messages',
  path: '/v1/messages/count_tokens',
  read: jsonBody((body, request, bytes) => readRequest(body, request, bytes, 'count_tokens')),
  serving: countingWith((tokens) => ({ input_tokens: tokens })),
});

/** `POST /v1/messages`, whole or as a stream of events, and what a message counts. */
export default defineBuiltin({
  name: 'messages',
  apply: (host) => {
    host.hooks.clientWires.tap('messages', (wires) => {
      wires.claim('/v1/messages', MESSAGES_WIRE);
      wires.claim('/v1/models', MESSAGES_WIRE, saysVersion);
      wires.claim('/v1/files', MESSAGES_WIRE, saysVersion);
    });
    surface.apply(host);
    counting.apply(host);
  },
});

/** A body in both forms: its own, for targets that speak this wire, and the common one. */
function readRequest(body: JsonObject, httpRequest: IncomingMessage, bytes: Buffer, operation: string): ReadRequest {
  const isCounting = operation !== 'messages';
  const { headers } = httpRequest;
  const { [VERSION_HEADER]: version } = headers;
  checkCoding(httpRequest);
  if (repeats(bytes.toString('utf8'), 'model')) throw invalidRequest('model stands there twice');
  checkMessages(body, isCounting);
  const { request, notes } = readMessages(body, typeof version === 'string' ? version : undefined);
  return {
    request,
    streaming: !isCounting && body['stream'] === true,
    metadata: readMetadata(headers['x-gateway-metadata']),
    clientRequest: new ClientRequest({ dialect: MESSAGES, operation, bytes, value: body, refusal: notes.refusal, lost: notes.lost }),
  };
}
