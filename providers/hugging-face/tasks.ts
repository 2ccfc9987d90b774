import { Buffer } from 'node:buffer';
import type { CallInfo, EmbeddingsReply, ImagesReply, Translator, UnaryReply } from 'gw/contract';
import {
  embeddingsOf,
  fieldsBeside,
  inputTexts,
  invalidRequest,
  isGiven,
  isVector,
  pathSegments,
  withoutTail,
} from 'gw/common-wire';

/** Tasks stand beside the compatible root. See docs/providers.md#what-differs. */
const taskPath = ({ root, model }: CallInfo): string =>
  `${withoutTail(root, '/v1')}/hf-inference/models/${pathSegments(model)}`;

/** Feature extraction: vectors in the order of the texts; nothing is counted, and no size can be chosen. */
export const embeddings: Translator<'embeddings'> = {
  toUpstream(request, call) {
    inputTexts(request); // refuses token ids
    return {
      path: `${taskPath(call)}/pipeline/feature-extraction`,
      body: { inputs: request.input },
      ignored: fieldsBeside(request, ['model', 'input', 'encoding_format']),
    };
  },
  fromUpstream(reply, call, request): EmbeddingsReply {
    const vectors = reply.json();
    return embeddingsOf(isVector(vectors) ? [vectors] : vectors, request, call, 0);
  },
};

const IMAGE_FIELDS = ['model', 'prompt', 'n', 'size', 'response_format'];

/** Text to image: one image per call, as its bytes. */
export const images: Translator<'images'> = {
  toUpstream(request, call) {
    const { prompt, n, size } = request;
    if (isGiven(n) && n !== 1) throw invalidRequest('n must be 1: hugging-face makes one image per call');
    const parameters = sizeOf(size);
    const ignored = fieldsBeside(request, IMAGE_FIELDS);
    return {
      path: taskPath(call),
      body: { inputs: prompt, ...(parameters && { parameters }) },
      ignored: isGiven(size) && !parameters ? ['size', ...ignored] : ignored,
    };
  },
  fromUpstream: readImage,
};

/** `1024x768`; what names no size, such as `auto`, leaves it to the model. */
function sizeOf(size: unknown): { width: number; height: number } | undefined {
  const [, width, height] = /^([1-9]\d*)x([1-9]\d*)$/.exec(String(size)) ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}

function readImage({ body, headers }: UnaryReply): ImagesReply {
  const isImage = body.length > 0 && !/json|text/.test(headers['content-type'] ?? '');
  if (!isImage) throw new Error('the answer is not an image');
  return { data: [{ b64_json: Buffer.from(body).toString('base64') }] };
}
