import type { IncomingMessage } from 'node:http';
import { defineBuiltin, ORDER } from '../../../host/builtin.ts';
import { translatesResponses } from '../../../host/config/responses-mode.ts';
import { isFields, tryParseJson } from '../../../host/contract/index.ts';
import type { Host } from '../../../host/host.ts';
import type { JsonObject } from '../../../host/http/json-body.ts';
import { readMetadata } from '../../../host/http/metadata-header.ts';
import type { ReadForwarded } from '../../../host/http/surface-route.ts';
import { ClientRequest } from '../../../host/wire/client-request.ts';
import { changedJson } from '../../../host/wire/json-changes.ts';
import { RESPONSES_DIALECT, withoutEnvelopes } from './dialect.ts';
import { readResponses } from './request.ts';
import { pathWire, ResponsesWire } from './wire.ts';

const PATH = '/v1/responses';

/** Requests of the Responses API for targets that do not have it: read into a chat, and answered in their own wire. */
export default defineBuiltin({
  name: 'responses',
  apply: ({ hooks }) => {
    let host: Host | undefined;
    const translates = (): boolean => host?.current !== undefined && translatesResponses(host.current.config);
    hooks.surfaces.tap('responses', (surfaces) => surfaces.add('responses.translated'));
    hooks.clientWires.tap('responses', (wires) => wires.claim(PATH, pathWire(translates)));
    hooks.mount.tap({ name: 'responses', stage: ORDER.surfaces }, (_router, mounted) => { host = mounted; });
    hooks.readForwarded.tap('responses', read);
    hooks.cleanForwarded.tap('responses', cleaned);
  },
});

/** What every envelope begins with. */
const ENVELOPE = 'Z3cxO';

/** A body without reasoning that its vendor could not read. What is not JSON is left to the vendor. */
function cleaned(bytes: Buffer): Buffer | undefined {
  const body = bytes.includes(ENVELOPE) ? tryParseJson(bytes.toString('utf8')) : undefined;
  if (!isFields(body)) return undefined;
  const { request: value } = withoutEnvelopes(body);
  return value === body ? undefined : Buffer.from(changedJson(bytes.toString('utf8'), body, value));
}

function read(body: JsonObject, { headers }: IncomingMessage, bytes: Buffer): ReadForwarded {
  const { request, streaming, asked, lost } = readResponses(body);
  return {
    surface: 'responses.translated', request, streaming, wire: new ResponsesWire(asked), metadata: readMetadata(headers['x-gateway-metadata']),
    clientRequest: new ClientRequest({ dialect: RESPONSES_DIALECT, operation: 'create', bytes, value: body, lost }),
  };
}
