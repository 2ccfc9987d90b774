import { invalidRequest } from '../../host/common/invalid-request.ts';
import type { FormPart, ImageEditsRequest } from '../../host/contract/index.ts';
import type { ReadRequest, RequestSource } from '../../host/http/surface-route.ts';
import { surfaceBuiltin } from '../../host/surface-builtin.ts';
import { membersIn, streamIn, textIn } from './form-fields.ts';
import { imagesAnswer } from './images.ts';
import { isForm, readUpload } from './upload.ts';

/** Sixteen images and a mask. Source: npm openai 7.57.0, `ImageEditParams`, 2026-11-27. See docs/reference/data-plane.md#edits-of-images. */
const PICTURES = { maxBytes: 50 * 1024 * 1024, files: 17 } as const;

/** `POST /v1/images/edits` with a form. JSON bodies, and requests that name their provider, are passed through. */
export default surfaceBuiltin({
  surface: 'images.edits',
  path: '/v1/images/edits',
  takes: (request) => isForm(request) && !request.headers['x-provider'],
  read: readEdits,
});

async function readEdits(source: RequestSource): Promise<ReadRequest> {
  const upload = await readUpload(source, PICTURES);
  try {
    return {
      request: toRequest(upload.parts),
      streaming: streamIn(upload.parts),
      write: imagesAnswer,
      dispose: () => upload.dispose(),
    };
  } catch (error) {
    upload.dispose();
    throw error;
  }
}

function toRequest(form: readonly FormPart[]): ImageEditsRequest {
  const model = textIn(form, 'model');
  if (model === undefined) throw invalidRequest('model is required');
  const { n: _text, ...members } = membersIn(form);
  const n = countIn(form);
  return { ...members, model, ...(n !== undefined && { n }), form };
}

/** How many images are asked for: what a budget holds goes by it. */
function countIn(form: readonly FormPart[]): number | undefined {
  const n = textIn(form, 'n');
  if (n === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(n.trim())) throw invalidRequest('n must be an integer of at least 1');
  return Number(n);
}
