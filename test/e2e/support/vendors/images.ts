import { allowOnly, type Dialect, refuse, requireFields, sendBytes, sendJson } from './dialect.ts';

/** Bytes that stand for a picture of a prompt. */
export const pictureOf = (prompt: string): Buffer => Buffer.from(`picture of ${prompt}`);

const addressOf = (prompt: string): string => `https://pictures.example/${encodeURIComponent(prompt)}.png`;

const COMMON = ['model', 'prompt', 'n', 'size', 'response_format', 'user'];

/** Images as most vendors make them: addresses unless data is asked for. */
export function images(only: readonly string[] = COMMON): Dialect {
  return ({ body }, response) => {
    requireFields(body, ['model', 'prompt']);
    allowOnly(body, only);
    const { prompt, n = 1, response_format: format = 'url' } = body;
    const item =
      format === 'b64_json'
        ? { b64_json: pictureOf(prompt).toString('base64') }
        : { url: addressOf(prompt), revised_prompt: `${prompt}, at dawn` };
    sendJson(response, { created: 1_763_700_000, data: Array.from({ length: n }, () => item) });
  };
}

const GPT_IMAGE = [
  'model',
  'prompt',
  'n',
  'size',
  'user',
  'quality',
  'background',
  'moderation',
  'output_compression',
  'output_format',
];

/** OpenAI's edits of images: a form with the pictures, whose answer is data. */
export const openaiEdits: Dialect = async ({ form }, response) => {
  const fields = form ?? refuse('multipart/form-data is expected');
  const prompt = fields.get('prompt');
  const pictures = [...fields.getAll('image'), ...fields.getAll('image[]')];
  if (typeof prompt !== 'string') refuse("'prompt' is a required property");
  if (pictures.length === 0 || pictures.some((picture) => typeof picture === 'string'))
    refuse("'image' is a required property");
  allowOnly(Object.fromEntries(fields), [...GPT_IMAGE, 'image', 'image[]', 'mask', 'input_fidelity']);
  const names = pictures.map((picture) => (typeof picture === 'string' ? '' : picture.name));
  sendJson(response, {
    created: 1_763_700_000,
    data: [{ b64_json: pictureOf(`${prompt} of ${names.join(' and ')}`).toString('base64') }],
  });
};

/** OpenAI's two generations of models: the newer ones answer with data only, and count tokens. */
export const openaiImages: Dialect = (asked, response) => {
  const { body, model } = asked;
  if (model.startsWith('dall-e')) return images([...COMMON, 'quality', 'style'])(asked, response);
  requireFields(body, ['model', 'prompt']);
  allowOnly(body, GPT_IMAGE);
  if (body['size'] !== undefined && !['auto', '1024x1024', '1536x1024', '1024x1536'].includes(body['size']))
    refuse(`Invalid value: '${body['size']}'`);
  return sendJson(response, {
    created: 1_763_700_000,
    background: 'opaque',
    output_format: 'png',
    quality: body['quality'] ?? 'high',
    size: '1024x1024',
    data: Array.from({ length: body['n'] ?? 1 }, () => ({ b64_json: pictureOf(body['prompt']).toString('base64') })),
    usage: {
      input_tokens: 13,
      output_tokens: 272,
      total_tokens: 285,
      input_tokens_details: { image_tokens: 0, text_tokens: 13 },
    },
  });
};

/** Hugging Face's task: the picture itself. */
export const textToImage: Dialect = ({ body }, response) => {
  allowOnly(body, ['inputs', 'parameters']);
  requireFields(body, ['inputs']);
  allowOnly(body['parameters'] ?? {}, [
    'width',
    'height',
    'guidance_scale',
    'negative_prompt',
    'num_inference_steps',
    'scheduler',
    'seed',
  ]);
  sendBytes(response, 'image/png', pictureOf(body['inputs']));
};
