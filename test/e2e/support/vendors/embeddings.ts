import { allowOnly, type Dialect, refuse, requireFields, sendJson } from './dialect.ts';

/** The vector of an input; float32 holds its numbers exactly. */
export const vectorOf = (input: unknown, size = 4): number[] =>
  Array.from({ length: size }, (_, at) => ((JSON.stringify(input).length + at) % 16) / 8 - 1);

/** A text, texts, token ids, or lists of them: what each vector stands for. */
function itemsOf(input: any): readonly unknown[] {
  if (typeof input === 'string') return [input];
  return typeof input[0] === 'number' ? [input] : input;
}

function base64Of(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [at, value] of vector.entries()) bytes.writeFloatLE(value, at * 4);
  return bytes.toString('base64');
}

export interface EmbeddingsDialect {
  readonly only?: readonly string[];
  readonly required?: readonly string[];
  /** Encodings it can answer in. */
  readonly formats?: readonly string[];
  /** What it calls the wanted length. */
  readonly size?: string;
}

/** Embeddings as most vendors speak them. */
export function embeddings({
  only,
  required = [],
  formats = ['float'],
  size = 'dimensions',
}: EmbeddingsDialect = {}): Dialect {
  return ({ body, model }, response) => {
    requireFields(body, ['model', 'input', ...required]);
    if (only) allowOnly(body, only);
    const format: unknown = body['encoding_format'];
    if ('encoding_format' in body && !formats.includes(format as string))
      refuse(`'encoding_format' only supports ${formats.join(', ')}`);
    const data = itemsOf(body['input']).map((item, index) => {
      const vector = vectorOf(item, body[size]);
      return { object: 'embedding', index, embedding: format === 'base64' ? base64Of(vector) : vector };
    });
    sendJson(response, { object: 'list', data, model, usage: { prompt_tokens: 5, total_tokens: 5 } });
  };
}

/** Hugging Face's feature extraction: bare vectors. */
export const featureExtraction: Dialect = ({ body }, response) => {
  allowOnly(body, ['inputs', 'normalize', 'prompt_name', 'truncate', 'truncation_direction', 'dimensions']);
  requireFields(body, ['inputs']);
  const vectors = itemsOf(body['inputs']).map((input) => vectorOf(input));
  sendJson(response, typeof body['inputs'] === 'string' ? vectors[0] : vectors);
};

/** Ollama's own embeddings. */
export const ollamaEmbed: Dialect = ({ body, model }, response) => {
  requireFields(body, ['model', 'input']);
  allowOnly(body, ['model', 'input', 'truncate', 'dimensions', 'keep_alive', 'options']);
  sendJson(response, {
    model,
    embeddings: itemsOf(body['input']).map((input) => vectorOf(input, body['dimensions'])),
    total_duration: 14_143_917,
    prompt_eval_count: 5,
  });
};
