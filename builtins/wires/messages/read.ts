import type { IncomingMessage } from 'node:http';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { checkCoding } from '../../../host/http/body/coding.ts';
import type { JsonObject } from '../../../host/http/body/json-body.ts';
import { readMetadata } from '../../../host/http/metadata-header.ts';
import type { ReadRequest } from '../../../host/http/surface-route.ts';
import { ClientRequest } from '../../../host/wire/client-request.ts';
import { repeats } from '../../../host/wire/json-changes.ts';
import { messagesDialect } from './dialect.ts';
import { checkMessages, readMessages } from './request.ts';
import { wireFor } from './wire.ts';

/** A body in both forms: its own, for targets that speak this wire, and the common one. */
export function readRequest(
  body: JsonObject,
  httpRequest: IncomingMessage,
  bytes: Buffer,
  operation: string,
): ReadRequest {
  const isCounting = operation !== 'messages';
  const { headers } = httpRequest;
  const { 'anthropic-version': version } = headers;
  checkCoding(httpRequest);
  if (repeats(bytes.toString('utf8'), 'model')) throw invalidRequest('model stands there twice');
  checkMessages(body, isCounting);
  const { request, notes } = readMessages(body, typeof version === 'string' ? version : undefined, isCounting);
  return {
    request,
    streaming: !isCounting && body['stream'] === true,
    metadata: readMetadata(headers['x-gateway-metadata']),
    wire: wireFor(headers['user-agent']),
    clientRequest: new ClientRequest({
      dialect: messagesDialect(notes.history),
      operation,
      bytes,
      value: body,
      refusal: notes.refusal,
      lost: notes.lost,
    }),
  };
}
