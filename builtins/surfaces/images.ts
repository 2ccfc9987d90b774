import { invalidRequest } from '../../host/common/invalid-request.ts';
import { imagesUsage } from '../../host/answer/events/whole-events.ts';
import { GatewayError, quoted, type ImagesReply, type ImagesRequest } from '../../host/contract/index.ts';
import type { JsonObject } from '../../host/http/body/json-body.ts';
import { jsonBody } from '../../host/http/surface-route.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { surfaceBuiltin } from '../../host/surface-builtin.ts';
import { checkFields, type FieldKind, flag, integer, requireText, text } from './fields.ts';

const FIELDS: ReadonlyMap<string, FieldKind> = new Map([
  ['model', text],
  ['prompt', text],
  ['n', integer],
  ['size', text],
  ['quality', text],
  ['style', text],
  ['response_format', text],
  ['user', text],
  ['stream', flag],
]);

const FORMATS = new Set<unknown>(['url', 'b64_json']);

/** `POST /v1/images/generations`. */
export default surfaceBuiltin({
  surface: 'images',
  path: '/v1/images/generations',
  read: jsonBody((body) => {
    const request = readImages(body);
    return { request, streaming: request['stream'] === true, write: imagesAnswer };
  }),
});

/** Images as clients get them, with what the vendor counted. */
export function imagesAnswer({ reply }: LiveExchange): object {
  const { usage, ...shown } = reply as ImagesReply;
  return usage ? { ...shown, usage: imagesUsage(usage) } : shown;
}

function readImages(body: JsonObject): ImagesRequest {
  checkFields(body, FIELDS);
  requireText(body, 'model');
  requireText(body, 'prompt');
  if (typeof body['n'] === 'number' && body['n'] < 1) throw invalidRequest('n must be at least 1');
  const format = body['response_format'];
  if (format === '') delete body['response_format'];
  else if (format !== undefined && !FORMATS.has(format))
    throw new GatewayError(
      'unsupported_parameter',
      `response_format ${quoted(format)} is not supported, use "url" or "b64_json"`,
    );
  return body as unknown as ImagesRequest;
}
