import { type Fields, isFields } from 'gw/common-wire';

/** The common form of a candidate's `logprobsResult`; `undefined` when it holds none. Source: ai.google.dev, API reference, "LogprobsResult", 2026-11-21. */
export function readLogprobs(result: unknown): Fields | undefined {
  if (!isFields(result) || !Array.isArray(result['chosenCandidates'])) return undefined;
  const tops: readonly unknown[] = Array.isArray(result['topCandidates']) ? result['topCandidates'] : [];
  const content = result['chosenCandidates'].flatMap((chosen: unknown, place) => {
    const token = readToken(chosen);
    const top = tops[place];
    const candidates: readonly unknown[] = isFields(top) && Array.isArray(top['candidates']) ? top['candidates'] : [];
    return token ? [{ ...token, top_logprobs: candidates.flatMap((candidate) => readToken(candidate) ?? []) }] : [];
  });
  return { content };
}

function readToken(value: unknown): Fields | undefined {
  if (!isFields(value)) return undefined;
  const { token, logProbability: logprob } = value;
  if (typeof token !== 'string' || typeof logprob !== 'number') return undefined;
  return { token, logprob, bytes: [...new TextEncoder().encode(token)] };
}
