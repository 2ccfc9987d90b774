import { invalidRequest } from '../../host/common/invalid-request.ts';
import { isText, quoted, type SpeechRequest } from '../../host/contract/index.ts';
import type { JsonObject } from '../../host/http/body/json-body.ts';
import { jsonBody } from '../../host/http/surface-route.ts';
import { surfaceBuiltin } from '../../host/surface-builtin.ts';
import { checkFields, type FieldKind, isObject, number, requireText, text } from './fields.ts';

/** A voice of the vendor's by its name, or one of the caller's own by its id. Source: npm openai 7.57.0, `SpeechCreateParams`, 2026-11-27. */
const voice: FieldKind = {
  expected: 'a string or an object with an id',
  accepts: (value) => typeof value === 'string' || (isObject(value) && isText(value['id'])),
};

const FIELDS: ReadonlyMap<string, FieldKind> = new Map([
  ['model', text],
  ['input', text],
  ['voice', voice],
  ['response_format', text],
  ['speed', number],
  ['stream_format', text],
]);

/** Longest input, in Unicode code points. See docs/reference/data-plane.md#speech-requests. */
const MAX_INPUT = 4096;

/** `POST /v1/audio/speech`: text in, audio out as it arrives, or events that hold it. */
export default surfaceBuiltin({
  surface: 'audio.speech',
  path: '/v1/audio/speech',
  read: jsonBody((body) => {
    const request = readSpeech(body);
    return { request, streaming: request.stream_format === 'sse' };
  }),
});

/** Halves of a pair count once. */
function codePoints(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

function readSpeech(body: JsonObject): SpeechRequest {
  checkFields(body, FIELDS);
  for (const name of ['model', 'input', 'voice']) requireText(body, name);
  const input = body['input'] as string;
  if (input.length > MAX_INPUT && codePoints(input) > MAX_INPUT)
    throw invalidRequest(`input exceeds ${MAX_INPUT} characters`);
  if (body['response_format'] === '') delete body['response_format'];
  const format = body['stream_format'];
  if (format === '') delete body['stream_format'];
  else if (format !== undefined && format !== 'audio' && format !== 'sse')
    throw invalidRequest(`stream_format ${quoted(format)} is not supported, use "audio" or "sse"`);
  return body as unknown as SpeechRequest;
}
