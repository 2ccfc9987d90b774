import { openai, type FaultVector } from './vector.ts';

export const RATES: readonly FaultVector[] = [
  {
    id: 'E8',
    vendor: 'openai',
    status: 429,
    body: openai(
      'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 35000. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more.',
      'rate_limit_exceeded',
      'tokens',
    ),
    reason: 'over_rate',
  },
  ...[400, 429].map((status): FaultVector => ({
    id: 'E15',
    vendor: 'bedrock',
    module: 'bedrock',
    status,
    headers: { 'x-amzn-errortype': 'ThrottlingException' },
    body: { message: 'Too many tokens, please wait before trying again.' },
    reason: undefined,
  })),
  ...[400, 429].map((status): FaultVector => ({
    id: 'E15',
    vendor: 'any',
    status,
    body: { error: { message: 'This request exceeds the limit of 30000 tokens per minute' } },
    reason: undefined,
  })),
  {
    id: 'E15',
    vendor: 'any, in the words of an overflow',
    status: 400,
    body: {
      error: { message: 'Rate limit: this request exceeds the context window of 30000 tokens per minute, please wait' },
    },
    reason: undefined,
  },
];
