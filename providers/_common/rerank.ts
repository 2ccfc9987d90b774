import type { RerankReply, Translator, UnaryReply } from 'gw/contract';
import { type BodyOptions, commonBody } from './body.ts';
import { countOf, type Fields, isFields, itemsOf, objectOf } from './fields.ts';

export interface RerankOptions extends BodyOptions {
  readonly path?: string;
}

/** Rerank in the form that most vendors use; the host sorts the results and cuts the list. See docs/reference/providers.md#rerank. */
export function commonRerank(options: RerankOptions = {}): Translator<'rerank'> {
  return {
    toUpstream({ top_n: top, ...request }, call) {
      const { body, ignored } = commonBody(top ? { ...request, top_n: top } : request, call, options); // 0 means all
      return { path: options.path ?? '/rerank', body, ignored };
    },
    fromUpstream: readRerank,
  };
}

function readRerank(reply: UnaryReply): RerankReply {
  const body = objectOf(reply);
  const results = itemsOf(body['results'], 'results').map(readResult);
  const meta = tokensMeta(body['usage']) ?? (isFields(body['meta']) ? body['meta'] : undefined);
  return { ...(typeof body['id'] === 'string' && { id: body['id'] }), results, ...(meta && { meta }) };
}

function readResult({ index, relevance_score: score, document }: Fields): RerankReply['results'][number] {
  if (typeof index !== 'number' || typeof score !== 'number') throw new Error('a result holds no index and score');
  const text = isFields(document) ? document['text'] : document;
  return { index, relevance_score: score, ...(typeof text === 'string' && { document: { text } }) };
}

/** Token counts of a chat-like `usage` in a rerank's `meta`; `undefined` when there are none. */
export function tokensMeta(usage: unknown): RerankReply['meta'] {
  if (!isFields(usage)) return undefined;
  const [input, output] = [
    countOf(usage['prompt_tokens']) || countOf(usage['total_tokens']),
    countOf(usage['completion_tokens']),
  ];
  if (input + output === 0) return undefined;
  return { tokens: { ...(input > 0 && { input_tokens: input }), ...(output > 0 && { output_tokens: output }) } };
}
