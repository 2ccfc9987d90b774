/**
 * What the codes and words of vendors mean, for all of them alike. Codes count before words, words before the status.
 * Sources: the vendors' pages of errors (developers.openai.com "Error codes"; platform.claude.com "Errors";
 * api-docs.deepseek.com "Error Codes"; openrouter.ai "Errors"; ai.google.dev "Troubleshooting"; docs.aws.amazon.com "Common
 * errors" of Bedrock) and answers that their callers print on GitHub, 2026-11-26. See docs/reference/data-plane.md#classes-of-faults.
 */
import type { FaultReason, UpstreamFault } from '../contract/index.ts';
import { MODERATED } from './fault-body.ts';

/** What is known of a failure before its kind is. `status` is `undefined` for one inside an answer. */
export interface FaultSigns {
  readonly status: number | undefined;
  readonly codes: readonly string[];
  readonly message: string | undefined;
}

export interface FaultMeaning {
  readonly reason: FaultReason;
  /** The code that says so. */
  readonly code?: string;
  /** The words that say so, in lower case. */
  readonly words?: string;
  /** Another request may still be paid for. */
  readonly ofRequest?: boolean;
  /** What the vendor's own status should have been. */
  readonly status?: number;
}

/** Characters of a message that are looked at. */
const LOOKED_AT = 4096;
/** Stands for an answer that says 200, whole or streamed, and holds an error. */
const IN_ANSWER = 200;

/** Where the code of refused content stands for that; elsewhere for a trouble of the provider's own. */
const OF_CONTENT: readonly number[] = [400, 403, 422, 451, IN_ANSWER];
const OF_ACCESS: readonly number[] = [401, 403, 404, IN_ANSWER];
const OF_BILLING: readonly number[] = [400, 402, 403, 429, IN_ANSWER];
const OF_LENGTH: readonly number[] = [400, 413, 422, IN_ANSWER];
const OF_LOAD: readonly number[] = [429, 500, 503, 529, IN_ANSWER];

interface Codes {
  readonly reason: FaultReason;
  /** Statuses at which the codes mean it; any unless said. */
  readonly at?: readonly number[];
  readonly status?: number;
  readonly codes: readonly string[];
}

const CODES: ReadonlyMap<string, Codes> = new Map(
  (
    [
      { reason: 'context_length', codes: ['context_length_exceeded', 'exceed_context_size_error', '1261'] },
      {
        reason: 'content_policy',
        at: OF_CONTENT,
        codes: [
          'content_policy_violation',
          'image_content_policy_violation',
          'moderation_blocked',
          'content_filter',
          'contentFilter',
          'cyber_policy',
          'bio_policy',
          'misalignment_policy_violation',
          'ResponsibleAIPolicyViolation',
          'data_inspection_failed',
          MODERATED,
        ],
      },
      {
        reason: 'billing',
        codes: [
          'billing_error',
          'enforced_spend_limit_reached',
          'insufficient_quota',
          'billing_hard_limit_reached',
          'credit_balance_exhausted',
          'billing_not_active',
          'Arrearage',
          'BILLING_DISABLED',
          'exceeded_current_quota_error',
        ],
      },
      {
        reason: 'overload',
        codes: ['overloaded_error', 'server_is_overloaded', 'slow_down', 'MODEL_CAPACITY_EXHAUSTED'],
      },
      { reason: 'model_access', at: OF_ACCESS, codes: ['model_not_found'] },
      {
        reason: 'key',
        codes: [
          'UnrecognizedClientException',
          'InvalidSignatureException',
          'ExpiredTokenException',
          'IncompleteSignature',
          'unsupported_country_region_territory',
        ],
      },
      { reason: 'key', status: 401, codes: ['API_KEY_INVALID'] },
      { reason: 'too_large', codes: ['request_too_large'] },
    ] satisfies readonly Codes[]
  ).flatMap((row) => row.codes.map((code): [string, Codes] => [code, row])),
);

/** Words that all stand in a message. */
type Phrase = string | readonly [string, ...(string | RegExp)[]];

interface Words {
  readonly reason: FaultReason;
  readonly at: readonly number[];
  readonly phrases: readonly Phrase[];
  readonly ofRequest?: boolean;
  /** A message about a rate does not say this. */
  readonly isGuarded?: boolean;
}

/** Finds any of some words in one pass. */
const anyOf = (words: readonly string[]): RegExp =>
  new RegExp(words.map((word) => word.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)).join('|'));

/** Said of rates, where a count of tokens is one of a minute or a day. Such a message never says that a request is too long. */
const OF_RATES = anyOf([
  'per minute',
  'per day',
  'tpm',
  'rpm',
  'rate limit',
  'ratelimit',
  'throttl',
  'too many requests',
  'quota',
  'please wait',
  'retry after',
]);

/** In this order. Lower case. */
const WORDS: readonly Words[] = [
  // Of a rate, but above it by itself: only a shorter request can succeed.
  { reason: 'context_length', at: [413, IN_ANSWER], phrases: [['request too large for', 'reduce your message size']] },
  {
    reason: 'billing',
    at: OF_BILLING,
    phrases: [
      'credit balance is too low',
      'insufficient balance',
      'make sure your account is in good standing',
      'key limit exceeded',
      'used all available credits',
      'reached its monthly spending limit',
      ['exceeded your current quota', /limit: 0(?![\d.])/],
    ],
  },
  {
    reason: 'billing',
    at: OF_BILLING,
    ofRequest: true,
    phrases: ['requires more credits, or fewer max_tokens', 'prompt tokens limit exceeded'],
  },
  {
    reason: 'content_policy',
    at: OF_CONTENT,
    phrases: [
      'limited access to this content for safety reasons',
      'flagged as potentially violating our usage policy',
      'content exists risk',
      'may contain inappropriate content',
      'considered high risk',
      'moderation block',
      'content violates usage guidelines',
      'requires moderation and your input was flagged',
    ],
  },
  {
    reason: 'context_length',
    at: OF_LENGTH,
    isGuarded: true,
    phrases: [
      'maximum context length',
      'exceeds the context window',
      'exceeds the context length',
      'exceeds the available context size',
      "longer than the model's context length",
      'greater than the context length',
      'exceeded max context length',
      'context window exceeds limit',
      'exceed context limit',
      'reduce the length of the messages',
      'maximum prompt length is',
      'exceeded model token limit',
      'prompt is too long',
      'input is too long',
      'context is too long',
      'exceeds the maximum allowed input length',
      'tokens in the prompt cannot exceed',
      'exceeds the maximum number of tokens',
      'range of input length should be',
      'prompt 超长',
      ['`inputs` tokens', 'must be <='],
    ],
  },
  {
    reason: 'model_access',
    at: OF_ACCESS,
    phrases: [
      'does not have access to model',
      "don't have access to the model",
      'missing scopes',
      'insufficient permissions',
    ],
  },
  { reason: 'over_rate', at: [429], phrases: ['request too large for'] },
  { reason: 'over_rate', at: [IN_ANSWER], phrases: [['request too large for', 'tokens must be reduced']] },
  {
    reason: 'overload',
    at: OF_LOAD,
    phrases: ['overloaded', 'capacity exceeded', 'service is currently unavailable'],
  },
];

/** Most messages hold no words of a row: one pass says so. */
const ROWS: readonly (Words & { readonly any: RegExp })[] = WORDS.map((row) => ({
  ...row,
  any: anyOf(row.phrases.map(firstOf)),
}));

const BY_STATUS: Readonly<Record<number, FaultReason>> = {
  401: 'key',
  402: 'billing',
  403: 'key',
  413: 'too_large',
  451: 'content_policy',
  503: 'overload',
  529: 'overload',
};

/** What a failure means; `undefined` where nothing tells. Work in proportion to the part of the message that is looked at. */
export function meaningOf({ status, codes, message = '' }: FaultSigns): FaultMeaning | undefined {
  const at = status ?? IN_ANSWER;
  return byCode(codes, at) ?? byWords(lowered(message), codes, at) ?? byStatus(at);
}

/** Whether a module's word that content was refused counts. */
export const isOfContent = (status: number | undefined): boolean => OF_CONTENT.includes(status ?? IN_ANSWER);

/** The words by which a fault was taken for one of the account's credit; `undefined` where its code says so, or its status. */
export function wordsOfBilling({ code, message = '' }: UpstreamFault): string | undefined {
  const { reason, words } = (code === undefined ? byWords(lowered(message), [], IN_ANSWER) : undefined) ?? {};
  return reason === 'billing' ? words : undefined;
}

/** The part of a message that is looked at. */
export const lowered = (message: string): string => message.slice(0, LOOKED_AT).toLowerCase();

function byCode(codes: readonly string[], at: number): FaultMeaning | undefined {
  for (const code of codes) {
    const row = CODES.get(code);
    if (row && (row.at === undefined || row.at.includes(at))) {
      const { reason, status } = row;
      return { reason, code, ...(status !== undefined && { status }) };
    }
  }
  return undefined;
}

function byWords(text: string, codes: readonly string[], at: number): FaultMeaning | undefined {
  if (text === '') return undefined;
  for (const { reason, at: statuses, phrases, any, ofRequest, isGuarded } of ROWS) {
    if (!statuses.includes(at) || !any.test(text)) continue;
    const phrase = phrases.find((each) => stands(each, text));
    if (phrase === undefined || (isGuarded === true && OF_RATES.test(text))) continue;
    return { reason, words: firstOf(phrase), ...(ofRequest === true && { ofRequest }) };
  }
  // Claude's wire says so of any model that the account does not have.
  const isUnknown = at === 404 && text.startsWith('model:') && codes.includes('not_found_error');
  return isUnknown ? { reason: 'model_access' } : undefined;
}

function firstOf(phrase: Phrase): string {
  return typeof phrase === 'string' ? phrase : phrase[0];
}

function stands(phrase: Phrase, text: string): boolean {
  if (typeof phrase === 'string') return text.includes(phrase);
  return phrase.every((part) => (typeof part === 'string' ? text.includes(part) : part.test(text)));
}

function byStatus(at: number): FaultMeaning | undefined {
  const reason = BY_STATUS[at];
  return reason && { reason };
}
