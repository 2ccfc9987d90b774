import type { ImagesRequest, Translator } from 'gw/contract';
import { fieldsBeside, invalidRequest, isGiven, objectOf, withoutAbsent } from 'gw/common-wire';
import { destinationOf } from './models.ts';
import { isSuccess, outputTexts } from './predictions.ts';
import { WAIT } from './request.ts';

const KNOWN = ['model', 'prompt', 'n', 'size', 'response_format'];

/** Images of any model, as addresses. See docs/reference/providers.md#images. */
export const images: Translator<'images'> = {
  toUpstream(request, call) {
    const { path, version } = destinationOf(call);
    const input = withoutAbsent({ prompt: request.prompt, num_outputs: request.n, ...sizeOf(request) });
    return { path, headers: WAIT, body: withoutAbsent({ version, input }), ignored: fieldsBeside(request, KNOWN) };
  },
  fromUpstream(reply) {
    const prediction = objectOf(reply);
    if (!isSuccess(prediction)) throw new Error('the prediction did not succeed');
    const urls = outputTexts(prediction).filter((url) => url !== '');
    if (urls.length === 0) throw new Error('the prediction holds no image');
    return { data: urls.map((url) => ({ url })) };
  },
};

/** `1024x768`; `auto` leaves it to the model. */
function sizeOf({ size }: ImagesRequest): { width?: number; height?: number } {
  if (!isGiven(size) || size === 'auto') return {};
  const [, width, height] = /^([1-9]\d{0,5})x([1-9]\d{0,5})$/.exec(String(size)) ?? [];
  if (width === undefined) throw invalidRequest(`size "${String(size)}" is not "WIDTHxHEIGHT" with positive numbers`);
  return { width: Number(width), height: Number(height) };
}
