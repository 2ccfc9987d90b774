import { invalidRequest } from '../../host/common/invalid-request.ts';
import type { SpeechRequest } from '../../host/contract/index.ts';
import type { JsonObject } from '../../host/http/body/json-body.ts';
import { jsonBody } from '../../host/http/surface-route.ts';
import { surfaceBuiltin } from '../../host/surface-builtin.ts';
import { checkFields, type FieldKind, number, requireText, text } from './fields.ts';

const FIELDS: ReadonlyMap<string, FieldKind> = new Map([
  ['model', text],
  ['input', text],
  ['voice', text],
  ['response_format', text],
  ['speed', number],
]);

/** Longest input, in Unicode code points. See docs/reference/data-plane.md#speech-requests. */
const MAX_INPUT = 4096;

/** `POST /v1/audio/speech`: text in, audio out as it arrives. */
export default surfaceBuiltin({
  surface: 'audio.speech',
  path: '/v1/audio/speech',
  read: jsonBody((body) => ({ request: readSpeech(body), streaming: false })),
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
  return body as unknown as SpeechRequest;
}
