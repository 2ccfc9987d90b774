import { allowOnly, type Dialect, type Fields, refuse, requireFields, sendJson } from './dialect.ts';

const CATEGORIES = ['harassment', 'hate', 'violence'];

function verdictOf(text: string): Fields {
  const categories = Object.fromEntries(CATEGORIES.map((name) => [name, text.includes(name)]));
  return {
    categories,
    category_scores: Object.fromEntries(CATEGORIES.map((name) => [name, categories[name] ? 0.875 : 0.125])),
  };
}

const textOf = (input: unknown): string => (typeof input === 'string' ? input : JSON.stringify(input));

function verdicts(input: unknown): readonly Fields[] {
  const isParts = Array.isArray(input) && typeof input[0] === 'object';
  return (Array.isArray(input) && !isParts ? input : [input]).map((item) => verdictOf(textOf(item)));
}

export const openaiModerations: Dialect = ({ body, model }, response) => {
  requireFields(body, ['input']);
  allowOnly(body, ['input', 'model']);
  const results = verdicts(body['input']).map((verdict) => ({
    flagged: Object.values(verdict['categories']).includes(true),
    ...verdict,
    category_applied_input_types: Object.fromEntries(CATEGORIES.map((name) => [name, ['text']])),
  }));
  sendJson(response, { id: 'modr-e2e', model, results });
};

/** Without `flagged`. */
export const mistralModerations: Dialect = ({ body, model }, response) => {
  requireFields(body, ['input', 'model']);
  allowOnly(body, ['input', 'model', 'metadata']);
  sendJson(response, { id: 'mod-e2e', model, results: verdicts(body['input']) });
};

/** How many words of the query a document holds. */
const scoreOf = (query: string, document: string): number =>
  query.split(' ').filter((word) => document.includes(word)).length;

export const togetherRerank: Dialect = ({ body, model }, response) => {
  requireFields(body, ['model', 'query', 'documents']);
  allowOnly(body, ['model', 'query', 'documents', 'top_n', 'return_documents', 'rank_fields']);
  const { query, documents, top_n: top = documents.length, return_documents: withTexts } = body;
  if (top < 1) refuse("'top_n' must be at least 1");
  const results = (documents as readonly string[])
    .map((text, index) => ({
      index,
      relevance_score: scoreOf(query, text) / 8,
      ...(withTexts && { document: { text } }),
    }))
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, top);
  sendJson(response, {
    object: 'rerank',
    id: 'rr-e2e',
    model,
    results,
    usage: { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 },
  });
};

/** Scores in the order of the documents; one query serves them all, or each has its own. */
export const deepinfraRerank: Dialect = ({ body }, response) => {
  requireFields(body, ['queries', 'documents']);
  allowOnly(body, ['queries', 'documents', 'instruction', 'service_tier', 'webhook']);
  const { queries, documents } = body;
  if (queries.length !== 1 && queries.length !== documents.length) refuse('as many queries as documents are needed');
  const scores = (documents as readonly string[]).map((text, at) => scoreOf(queries[at] ?? queries[0], text) / 8);
  sendJson(response, {
    scores,
    input_tokens: 9,
    request_id: null,
    inference_status: { status: 'succeeded', runtime_ms: 3, cost: 0, tokens_generated: 0, tokens_input: 9 },
  });
};

/** Logits, best first. */
export const nvidiaRerank: Dialect = ({ body }, response) => {
  requireFields(body, ['model', 'query', 'passages']);
  allowOnly(body, ['model', 'query', 'passages', 'truncate']);
  allowOnly(body['query'], ['text']);
  const rankings = (body['passages'] as readonly Fields[]).map((passage, index) => {
    allowOnly(passage, ['text']);
    return { index, logit: scoreOf(body['query'].text, passage['text']) - 2 };
  });
  sendJson(response, {
    rankings: rankings.sort((a, b) => b.logit - a.logit),
    usage: { prompt_tokens: 9, total_tokens: 9 },
  });
};
