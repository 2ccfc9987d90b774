/** What vendors do in place of an answer, as the pages and threads about their errors have it (docs/errors.md). */
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { openSse, replyJson } from '../kit/index.ts';
import type { VendorName, VendorReply } from './vendors.ts';

export interface Play {
  readonly vendor: VendorName;
  readonly isStreamed: boolean;
  readonly answer: VendorReply;
  readonly response: ServerResponse;
}

export interface Fault {
  readonly title: string;
  /** Plays it; `false` where the ordinary answer follows. */
  readonly play: (play: Play) => Promise<boolean> | boolean;
  /** Where the client learns of it. Elsewhere another credential or vendor answers. */
  readonly breaks?: 'streamed';
}

const refuses = (title: string, status: number, body: object, headers: Record<string, string> = {}): Fault => ({
  title,
  play: ({ response }) => {
    replyJson(response, status, body, headers);
    return true;
  },
});

const error = (message: string, more: object = {}): object => ({ error: { message, ...more } });

export const RATE = refuses(
  '429 with a hint',
  429,
  error('Rate limit reached', { type: 'rate_limit_error', code: 'rate_limit_exceeded' }),
  { 'retry-after': '7' },
);
export const TOO_LONG = refuses(
  '400 that says the prompt is too long',
  400,
  error("This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens", {
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
  }),
);

/** It ends the connection behind this share of a stream, or before anything of an answer. */
const cuts = (title: string, share: number): Fault => ({
  title,
  ...(share > 0 && { breaks: 'streamed' as const }),
  play: async ({ answer, response, isStreamed }) => {
    if (isStreamed) openSse(response);
    if (typeof answer === 'string' && share > 0) {
      response.write(answer.slice(0, answer.length * share));
      await wait(20);
    }
    response.destroy();
    return true;
  },
});

export const FAULTS: readonly Fault[] = [
  RATE,
  refuses('401', 401, error('Incorrect API key provided', { code: 'invalid_api_key' })),
  refuses('402', 402, error('Insufficient Balance', { type: 'unknown_error', code: 'invalid_request_error' })),
  refuses('403 about a model', 403, error('Project proj_1 does not have access to model', { code: 'model_not_found' })),
  refuses('500', 500, error('The server had an error', { type: 'server_error' })),
  refuses('529', 529, error('Overloaded', { type: 'overloaded_error' })),
  TOO_LONG,
  cuts('a cut before the first event', 0),
  cuts('a cut in the middle', 0.6),
  {
    title: 'keep-alives before a slow first event',
    play: async ({ response, isStreamed }) => {
      if (!isStreamed) return false;
      openSse(response);
      for (let at = 0; at < 3; at += 1) {
        response.write(': keep-alive\n\n');
        await wait(5);
      }
      return false;
    },
  },
];

/** Refused for what it says, by a vendor that names the reason: no other one is asked. */
export const CONTENT = refuses(
  '403 about content',
  403,
  error('Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO', {
    code: 'The caller does not have permission to execute the specified operation',
  }),
);
