import type { CallInfo, EmbeddingsReply, EmbeddingsRequest, Translator, UnaryReply } from 'gw/contract';
import { type BodyOptions, commonBody } from './body.ts';
import { countOf, type Fields, invalidRequest, isFields, isGiven, itemsOf, objectOf } from './fields.ts';
import { type Path, pathOf } from './paths.ts';

export interface EmbeddingsOptions extends BodyOptions {
  readonly path?: Path;
  /**
   * When `encoding_format` travels: `float` (the default) only where the client asks for float by name, `any` also for
   * base64, where the vendor documents it, `always` in every request. The host answers in the client's format anyway.
   */
  readonly encodingFormat?: 'float' | 'any' | 'always';
}

/** Embeddings on the common wire. Token ids and unknown fields are sent too. See docs/reference/providers.md#embeddings. */
export function commonEmbeddings(options: EmbeddingsOptions = {}): Translator<'embeddings'> {
  return {
    toUpstream(request, call) {
      const { encoding_format: asked, ...fields } = request;
      const format = wireFormat(asked, options.encodingFormat ?? 'float');
      const { body, ignored } = commonBody(
        format === undefined ? fields : { ...fields, encoding_format: format },
        call,
        options,
      );
      return { path: pathOf(options.path, '/embeddings', call), body, ignored };
    },
    fromUpstream: readEmbeddings,
  };
}

function wireFormat(asked: unknown, style: 'float' | 'any' | 'always'): unknown {
  if (style === 'always') return isGiven(asked) ? asked : 'float';
  return asked === 'float' || (style === 'any' && asked === 'base64') ? asked : undefined;
}

function readEmbeddings(reply: UnaryReply, call: CallInfo): EmbeddingsReply {
  const body = objectOf(reply);
  const data = itemsOf(body['data'], 'embeddings').map(readItem);
  const { usage: _usage, ...fields } = body;
  const usage = readTokens(body['usage']);
  return {
    ...fields,
    object: 'list',
    data,
    model: typeof body['model'] === 'string' ? body['model'] : call.model,
    ...(usage && { usage }),
  };
}

function readItem({ embedding, index }: Fields, at: number): EmbeddingsReply['data'][number] {
  if (!isVector(embedding) && typeof embedding !== 'string') throw new Error(`embedding ${at} is not a vector`);
  return { object: 'embedding', embedding, index: typeof index === 'number' ? index : at };
}

function readTokens(value: unknown): EmbeddingsReply['usage'] {
  if (!isFields(value)) return undefined;
  const prompt = countOf(value['prompt_tokens']);
  return { prompt_tokens: prompt, total_tokens: countOf(value['total_tokens']) || prompt };
}

/** Whether a value is a list of numbers; only the first one is checked, because a vector has thousands. */
export function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && typeof value[0] === 'number';
}

/** The texts to embed, for wires that take no token ids. Throws a 400 for those. */
export function inputTexts({ input }: EmbeddingsRequest): readonly string[] {
  const texts: readonly unknown[] = typeof input === 'string' ? [input] : input;
  if (!texts.every((text) => typeof text === 'string'))
    throw invalidRequest('input must be text: this provider takes no token ids');
  return texts;
}

/** The common reply of a wire that answers with bare vectors in the order of the input. Throws when some are missing. */
export function embeddingsOf(
  vectors: unknown,
  request: EmbeddingsRequest,
  call: CallInfo,
  tokens: number,
): EmbeddingsReply {
  const expected = inputTexts(request).length;
  if (!Array.isArray(vectors) || vectors.length !== expected || !vectors.every(isVector))
    throw new Error(`the answer does not hold ${expected} vectors`);
  return {
    object: 'list',
    data: vectors.map((embedding, index) => ({ object: 'embedding', embedding, index })),
    model: call.model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}
