/** What refusals of providers say of a request, and what follows from it. See docs/reference/data-plane.md#corrected-requests. */
import { hasSealedThoughts } from '../../common/sealed-thoughts.ts';
import {
  type ChatRequest,
  type Effort,
  EFFORTS,
  isFields,
  type ModelFacts,
  nearestEffort,
} from '../../contract/index.ts';
import type { CorrectionKind } from '../hooks.ts';

/** A refusal, and the request that was refused. */
export interface Refusal {
  readonly message: string;
  readonly code: string | undefined;
  /** The member of the request that it blames. */
  readonly param: string | undefined;
  /** What the provider's translator was given. */
  readonly request: ChatRequest;
  readonly provider: string;
  /** Which API was asked, where the service has two and the rules of models choose; `undefined` elsewhere. */
  readonly via: 'chat' | 'responses' | undefined;
  /** Whether the configuration says which API is asked. */
  readonly isConfigured: boolean;
  /** Whether the client speaks a wire of its own. */
  readonly isTranslated: boolean;
  readonly facts: ModelFacts;
}

/** How a refused request is sent once more. */
export interface Correction {
  readonly kind: CorrectionKind;
  /** What the refusal said of the model. */
  readonly facts?: ModelFacts;
  /** It speaks of all models of the target. */
  readonly isOfTarget?: boolean;
  /** How long that counts, in milliseconds; until another configuration is applied unless said. */
  readonly keptMs?: number;
  /** The request goes without the thoughts of earlier turns. */
  readonly leavesThoughts?: boolean;
}

/** What a refusal is known by: some words that stand in it together; of several lists one. */
type Words = readonly (readonly string[])[];

/** A kind of refusal. */
interface Sign {
  readonly kind: CorrectionKind;
  /** Whether the request holds what is refused, so that it can go without. */
  readonly fits: (refusal: Refusal) => boolean;
  readonly words: Words;
  /** Whether a member of the body says it, whatever the words are. */
  readonly isSaid?: (refusal: Refusal) => boolean;
  readonly correct: (refusal: Refusal) => Omit<Correction, 'kind'>;
}

const HOUR_MS = 3_600_000;

/** Sources: section by section of docs/reference/data-plane.md#corrected-requests. */
const SIGNS: readonly Sign[] = [
  {
    // Source: GitHub openai/codex issue 1306, BerriAI/litellm issue 34569, 2026-11-26.
    kind: 'to_responses',
    fits: ({ via, isConfigured }) => via === 'chat' && !isConfigured,
    words: [['only supported in v1/responses'], ['use /v1/responses'], ['not a chat model', 'v1/chat/completions']],
    isSaid: ({ code }) => code === 'unsupported_api_for_model',
    correct: () => ({ facts: { endpoints: ['responses'] } }),
  },
  {
    // Source: GitHub openai/openai-cookbook issue 2271, windmill-labs/windmill issue 10147, 2026-11-26.
    kind: 'no_summary',
    fits: (refusal) => refusal.via === 'responses' && refusal.facts.summaries !== false && !choosesSummary(refusal),
    words: [],
    isSaid: ({ param }) => param === 'reasoning.summary',
    correct: (refusal) => ({ facts: { summaries: false }, isOfTarget: isOfAccount(refusal), keptMs: HOUR_MS }),
  },
  {
    // Source: GitHub Wei-Shaw/sub2api issue 3038, 2026-11-26.
    kind: 'no_sealed',
    fits: ({ via, request, provider }) => via === 'responses' && hasSealedThoughts(request.messages, provider),
    words: [
      ['encrypted content', 'could not be verified'],
      ['encrypted content', 'decrypted'],
    ],
    isSaid: ({ code }) => code === 'invalid_encrypted_content',
    correct: () => ({ leavesThoughts: true }),
  },
  {
    // Source: GitHub docker/docker-agent issue 4165, 2026-11-26.
    kind: 'effort',
    fits: (refusal) => blamesEffort(refusal) && takesAnother(refusal),
    words: [['Supported values are:']],
    correct: ({ message }) => ({ facts: { efforts: listedEfforts(message) }, keptMs: HOUR_MS }),
  },
  {
    // Source: GitHub vllm-project/vllm issue 57323, 2026-11-26.
    kind: 'no_include',
    fits: ({ via, facts }) => via === 'responses' && facts.thoughts_back !== 'none',
    words: [['encrypted content', 'not supported']],
    isSaid: ({ param, request }) => param === 'include' && request['include'] === undefined, // the client's own may be wrong
    correct: () => ({ facts: { thoughts_back: 'none' }, keptMs: HOUR_MS }),
  },
  {
    // Source: GitHub pydantic/pydantic-ai issue 7984, 2026-11-26.
    kind: 'no_thoughts',
    fits: ({ via, request }) => via !== 'responses' && request.messages.some(hasItems),
    words: [
      ['Invalid `signature` in `thinking` block'],
      ['bound to a different conversation'],
      ['block_binding', 'Extra inputs are not permitted'],
    ],
    correct: () => ({ leavesThoughts: true }),
  },
  {
    // Source: GitHub BerriAI/litellm issues 32831 and 33807, 2026-11-26.
    kind: 'late_system',
    fits: ({ isTranslated, request, facts }) =>
      isTranslated && facts.late_system !== false && holdsLateSystem(request.messages),
    words: [["role 'system' is not supported"], ['Unexpected role "system"']],
    correct: () => ({ facts: { late_system: false } }),
  },
];

/**
 * What follows from a refusal; `undefined` where it says nothing of these kinds, where that is known already, and where it
 * quotes the client: such a refusal says nothing of the model, and other clients would pay for it.
 */
export function correctionFor(
  refusal: Refusal,
  isQuoted: (words: readonly string[]) => boolean,
): Correction | undefined {
  for (const { kind, fits, words, isSaid, correct } of SIGNS) {
    const found = words.find((all) => all.every((each) => refusal.message.includes(each)));
    if (!fits(refusal) || !(isSaid?.(refusal) === true || (found && !isQuoted(found)))) continue;
    return { kind, ...correct(refusal) };
  }
  return undefined;
}

/** Whether no model of this account may show summaries; else the refusal speaks of one model. */
const isOfAccount = ({ message }: Refusal): boolean => message.includes('must be verified');

/** Whether the refusal may be one of what this client alone asks for: another word than the usual, or a member of that name. */
function choosesSummary(refusal: Refusal): boolean {
  const { reasoning } = refusal.request;
  const word = isFields(reasoning) ? (reasoning['summary'] ?? 'auto') : 'auto';
  const isUsual = word === 'auto' || (isOfAccount(refusal) && (word === 'concise' || word === 'detailed'));
  return !isUsual || 'reasoning.summary' in refusal.request;
}

const blamesEffort = ({ param }: Refusal): boolean => param === 'reasoning_effort' || param === 'reasoning.effort';

/** Whether another effort, or none, is sent by what the refusal lists. */
function takesAnother({ request, facts, message }: Refusal): boolean {
  const { reasoning_effort: given, reasoning } = request;
  const wanted = given ?? (isFields(reasoning) ? reasoning['effort'] : undefined);
  if (typeof wanted !== 'string') return false;
  return nearestEffort(wanted, facts.efforts).effort !== nearestEffort(wanted, listedEfforts(message)).effort;
}

const LIST = 'Supported values are:';
const MOST_CHARACTERS = 300;

/** The efforts that a refusal lists, in their order. */
function listedEfforts(message: string): readonly Effort[] {
  const start = message.indexOf(LIST) + LIST.length;
  const [list = ''] = message.slice(start, start + MOST_CHARACTERS).split(/[.\n]/, 1);
  const named = new Set(list.toLowerCase().split(/[^a-z]+/));
  return EFFORTS.filter((effort) => named.has(effort));
}

type Message = ChatRequest['messages'][number];

const hasItems = ({ role, reasoning_details: details }: Message): boolean =>
  role === 'assistant' && Array.isArray(details) && details.length > 0;

function holdsLateSystem(messages: readonly Message[]): boolean {
  const isSystem = ({ role }: Message): boolean => role === 'system' || role === 'developer';
  const start = messages.findIndex((message) => !isSystem(message));
  return start >= 0 && messages.slice(start).some(isSystem);
}
