import type { IncomingMessage } from 'node:http';
import { isFields, tryParseJson } from '../../../host/contract/index.ts';
import type { JsonObject } from '../../../host/http/body/json-body.ts';
import { readMetadata } from '../../../host/http/metadata-header.ts';
import type { ReadForwarded } from '../../../host/http/surface-route.ts';
import { ClientRequest } from '../../../host/wire/client-request.ts';
import { changedJson } from '../../../host/wire/json-changes.ts';
import { responsesDialect, withoutEnvelopes } from './dialect.ts';
import { readResponses } from './request.ts';
import { ResponsesWire } from './wire.ts';

/** A body without reasoning that its vendor could not read. What is not JSON is left to the vendor. */
export function cleaned(bytes: Buffer): Buffer | undefined {
  const body = tryParseJson(bytes.toString('utf8'));
  if (!isFields(body)) return undefined;
  const { request: value } = withoutEnvelopes(body);
  return value === body ? undefined : Buffer.from(changedJson(bytes.toString('utf8'), body, value));
}

export function read(body: JsonObject, { headers }: IncomingMessage, bytes: Buffer): ReadForwarded {
  const { request, streaming, asked, lost, history } = readResponses(body);
  return {
    surface: 'responses.translated',
    request,
    streaming,
    wire: new ResponsesWire(asked),
    metadata: readMetadata(headers['x-gateway-metadata']),
    clientRequest: new ClientRequest({
      dialect: responsesDialect(history),
      operation: 'create',
      bytes,
      value: body,
      lost,
    }),
  };
}
