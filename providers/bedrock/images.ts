import type { CallInfo, ImagesRequest, Translator, UnaryReply, WireRequest } from 'gw/contract';
import { type Fields, fieldsBeside, invalidRequest, isFields, objectOf } from 'gw/common-wire';
import { present } from './common.ts';
import { modelPath, routingId } from './models.ts';

type Wire = 'amazon' | 'stability';

function wireOf({ model }: CallInfo): Wire {
  const id = routingId(model);
  if (id.startsWith('amazon.nova-canvas') || id.startsWith('amazon.titan-image-')) return 'amazon';
  if (id.startsWith('stability.stable-diffusion-xl')) return 'stability';
  throw invalidRequest(`bedrock cannot make images with the model "${model}"`);
}

/** Images of Amazon's own models, and of Stable Diffusion XL. See docs/reference/providers.md#images. */
export const images: Translator<'images'> = {
  toUpstream: (request, call) => (wireOf(call) === 'amazon' ? toAmazon(request, call) : toStability(request, call)),
  fromUpstream: (reply, call) => ({
    data: (wireOf(call) === 'amazon' ? readAmazon(reply) : readStability(reply)).map((b64_json) => ({ b64_json })),
  }),
};

function toAmazon(request: ImagesRequest, call: CallInfo): WireRequest {
  const { prompt, n, size, quality } = request;
  const [, width, height] = /^(\d+)x(\d+)$/i.exec(size ?? '') ?? [];
  const config = present({
    numberOfImages: n,
    ...(width !== undefined && { width: Number(width), height: Number(height) }),
    quality: quality === 'hd' ? 'premium' : quality || undefined,
  });
  return {
    path: modelPath(call.model, 'invoke'),
    body: {
      taskType: 'TEXT_IMAGE',
      textToImageParams: { text: prompt },
      ...(config && { imageGenerationConfig: config }),
    },
    ignored: fieldsBeside(request, [...KNOWN, 'quality', ...(width === undefined ? [] : ['size'])]),
  };
}

const KNOWN = ['model', 'prompt', 'n', 'response_format'];

function toStability(request: ImagesRequest, call: CallInfo): WireRequest {
  const { prompt, n } = request;
  return {
    path: modelPath(call.model, 'invoke'),
    body: { text_prompts: [{ text: prompt }], ...present({ samples: n }) },
    ignored: fieldsBeside(request, KNOWN),
  };
}

/** Throws when the model refused some image, or made none. */
function readAmazon(reply: UnaryReply): string[] {
  const { images: given, error } = objectOf(reply);
  if (typeof error === 'string' && error !== '') throw new Error(error);
  return someOf(Array.isArray(given) ? given : []);
}

function readStability(reply: UnaryReply): string[] {
  const { artifacts } = objectOf(reply);
  const made = (Array.isArray(artifacts) ? artifacts : []).filter(
    (artifact: unknown): artifact is Fields => isFields(artifact) && !isRefused(artifact),
  );
  return someOf(made.map(({ base64 }) => base64));
}

const isRefused = ({ finishReason }: Fields): boolean =>
  finishReason === 'CONTENT_FILTERED' || finishReason === 'ERROR';

function someOf(given: readonly unknown[]): string[] {
  const made = given.filter((image): image is string => typeof image === 'string' && image !== '');
  if (made.length === 0) throw new Error('the answer holds no image');
  return made;
}
