import { type Fields, isFields } from '../../../../host/contract/index.ts';

/** Sources of an answer; nothing without any. */
export function groundingOf(annotations: unknown): Fields {
  const cited = (Array.isArray(annotations) ? annotations : [])
    .map((annotation: unknown) => (isFields(annotation) ? annotation['url_citation'] : undefined))
    .filter(isFields);
  const chunks = cited
    .filter(({ url }) => typeof url === 'string')
    .map(({ url, title }) => ({ web: { uri: url, ...(typeof title === 'string' && { title }) } }));
  return chunks.length > 0 ? { groundingMetadata: { groundingChunks: chunks } } : {};
}

/** The tokens of which probabilities are given. */
export const tokensOf = (logprobs: unknown): Fields[] =>
  isFields(logprobs) && Array.isArray(logprobs['content']) ? logprobs['content'].filter(isFields) : [];

/** Probabilities of tokens; nothing without any. Source: ai.google.dev, API reference, "LogprobsResult", 2026-11-22. */
export function logprobsOf(tokens: readonly Fields[]): Fields {
  if (tokens.length === 0) return {};
  const topCandidates = tokens.map(({ top_logprobs: tops }) => ({
    candidates: (Array.isArray(tops) ? tops.filter(isFields) : []).map(tokenOf),
  }));
  return { logprobsResult: { topCandidates, chosenCandidates: tokens.map(tokenOf) } };
}

const tokenOf = ({ token, logprob }: Fields): Fields => ({ token, logProbability: logprob });
