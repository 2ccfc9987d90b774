import type { ImagesReply, ImagesRequest, UnaryReply } from 'gw/contract';
import { type Fields, fieldsBeside, isFields, isGiven, objectOf } from '../fields.ts';
import { contentRefused } from './faults.ts';

/** Aspect ratio by size; the service knows no sizes. See docs/reference/providers.md#images. */
const RATIOS: ReadonlyMap<unknown, string> = new Map([
  ['1024x1024', '1:1'],
  ['512x512', '1:1'],
  ['256x256', '1:1'],
  ['1792x1024', '16:9'],
  ['1536x1024', '16:9'],
  ['1024x1792', '9:16'],
  ['1024x1536', '9:16'],
  ['1408x1024', '4:3'],
  ['1024x1408', '3:4'],
]);

const KNOWN = ['model', 'prompt', 'n', 'size', 'response_format'];

export interface ImagenBody {
  readonly body: Fields;
  readonly ignored: readonly string[];
}

/** The body of an Imagen prediction. The ultra models make one image per call, and need a request that says so. */
export function imagenBody(request: ImagesRequest, model: string): ImagenBody {
  const { prompt, n, size } = request;
  const isUltra = /^imagen-.*-ultra/.test(model);
  const count = isUltra ? 1 : n;
  const ratio = RATIOS.get(size);
  const parameters = {
    ...(isGiven(count) && { sampleCount: count }),
    ...(ratio !== undefined && { aspectRatio: ratio }),
  };
  const ignored = fieldsBeside(request, KNOWN);
  if (isGiven(size) && size !== 'auto' && ratio === undefined) ignored.unshift('size');
  if (isUltra && isGiven(n) && n !== 1) ignored.unshift('n');
  return { body: { instances: [{ prompt }], ...(Object.keys(parameters).length > 0 && { parameters }) }, ignored };
}

/** Images that were made; what the filters held back is left out. Throws the first reason when nothing is left. */
export function readImagen(reply: UnaryReply): ImagesReply {
  const { predictions } = objectOf(reply);
  const made = Array.isArray(predictions) ? predictions.filter(isFields) : [];
  const data = made.flatMap(({ bytesBase64Encoded: bytes, prompt }) =>
    typeof bytes === 'string' && bytes !== ''
      ? [{ b64_json: bytes, ...(typeof prompt === 'string' && prompt !== '' && { revised_prompt: prompt }) }]
      : [],
  );
  if (data.length > 0) return { data };
  const reason = made
    .map(({ raiFilteredReason }) => raiFilteredReason)
    .find((text) => typeof text === 'string' && text !== '');
  if (typeof reason === 'string') throw contentRefused(reason);
  throw new Error('the answer holds no image');
}
