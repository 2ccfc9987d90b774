import { type CallInfo, type ChatRequest, type ModelFacts, nearestEffort, NO_FACTS, setMember } from 'gw/contract';
import { isFields, isGiven } from './fields.ts';
import type { Notes } from './notes.ts';
import { isThinking } from './thoughts.ts';

type Body = Record<string, unknown>;
type Limit = (body: Body, facts: ModelFacts, notes: Notes, call: Pick<CallInfo, 'maxOutputTokens'>) => void;

/** In this order: what is sampled, and whether a tool may be forced, depend on the effort that is sent. */
const LIMITS: readonly Limit[] = [
  boundEffort,
  (body, facts, notes) => leaveOut(body, unsampled(body, facts), notes),
  (body, facts, notes) => leaveOut(body, facts.refuses ?? [], notes),
  boundCeiling,
  freeChoice,
  boundBudget,
];

/**
 * Holds the body of a chat in the common format to what the rules of models say of its model. Changes the body. See
 * docs/catalog.md#rules-of-models.
 */
export function limitToModel(
  body: Body,
  facts: ModelFacts,
  notes: Notes,
  call: Pick<CallInfo, 'maxOutputTokens'>,
): void {
  for (const limit of LIMITS) limit(body, facts, notes, call);
}

/** An effort of `none` stays where the vendor has a switch of its own: its translator says so in that. */
function boundEffort(body: Body, { efforts, thinking, thinking_off: off }: ModelFacts, notes: Notes): void {
  const { reasoning_effort: asked } = body;
  if (typeof asked !== 'string' || (asked === 'none' && thinking === 'switch' && off === 'yes')) return;
  const isUnstoppable = asked === 'none' && efforts === undefined && off === 'no';
  const { effort, change } = isUnstoppable ? { change: 'lost' as const } : nearestEffort(asked, efforts);
  if (change === undefined) return;
  notes[change === 'lost' ? 'ignored' : 'bounded'].push('reasoning_effort');
  if (effort === undefined) delete body['reasoning_effort'];
  else body['reasoning_effort'] = effort;
}

const SAMPLING = ['temperature', 'top_p', 'top_k', 'logprobs', 'top_logprobs'];
const NONE: readonly string[] = [];

/** Fields of sampling that the model does not take beside the rest of the request. */
export function unsampled(body: Readonly<Body>, { sampling }: ModelFacts): readonly string[] {
  if (sampling === 'one') return isGiven(body['temperature']) && isGiven(body['top_p']) ? ['top_p'] : NONE;
  const isTaken =
    sampling === undefined ||
    sampling === 'always' ||
    (sampling === 'effort_none' && body['reasoning_effort'] === 'none');
  return isTaken ? NONE : SAMPLING;
}

/** Takes fields away; those that ask for something are reported. */
export function leaveOut(body: Body, names: readonly string[], { ignored }: Pick<Notes, 'ignored'>): void {
  for (const name of names) {
    if (!(name in body)) continue;
    if (asksForSomething(name, body[name])) ignored.push(name);
    delete body[name];
  }
}

interface Taken {
  readonly request: ChatRequest;
  /** Fields that asked for something, and are left out. */
  readonly left: readonly string[];
}

/** What a model takes of a chat that a native wire translates: without what it does not sample by, and what it refuses. */
export const takenOf = (request: ChatRequest, facts: ModelFacts = NO_FACTS): Taken =>
  withoutFields(request, [...unsampled(request, facts), ...(facts.refuses ?? NONE)]);

export function withoutFields(request: ChatRequest, names: readonly string[] = NONE): Taken {
  if (!names.some((name) => name in request)) return { request, left: NONE };
  const body = { ...request };
  const ignored: string[] = [];
  leaveOut(body, names, { ignored });
  return { request: body, left: ignored };
}

/** What services do without the field. */
const USUAL: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['temperature', 1],
  ['top_p', 1],
  ['n', 1],
  ['presence_penalty', 0],
  ['frequency_penalty', 0],
  ['logprobs', false],
]);

function asksForSomething(name: string, value: unknown): boolean {
  if (!isGiven(value) || USUAL.get(name) === value) return false;
  return Array.isArray(value) ? value.length > 0 : !isFields(value) || Object.keys(value).length > 0;
}

const CEILINGS = ['max_tokens', 'max_completion_tokens'];

function boundCeiling(
  body: Body,
  facts: ModelFacts,
  { bounded }: Notes,
  call: Pick<CallInfo, 'maxOutputTokens'>,
): void {
  const { max_output: most } = facts;
  if (most === undefined || call.maxOutputTokens !== undefined) return;
  for (const name of CEILINGS) {
    if (!(Number(body[name]) > most)) continue;
    setMember(body, name, most);
    bounded.push(name);
  }
}

/** A tool cannot be forced, at least not while the model thinks: then the model chooses. */
function freeChoice(body: Body, { forced_tool: forced }: ModelFacts, { ignored }: Notes): void {
  if (forced !== 'never' && !(forced === 'not_thinking' && isThinking(body))) return;
  const { tool_choice: choice } = body;
  if (choice !== 'required' && choice !== 'any' && !isFields(choice)) return;
  body['tool_choice'] = 'auto';
  ignored.push('tool_choice');
}

function boundBudget(body: Body, { budget }: ModelFacts, { bounded }: Notes): void {
  const { thinking_budget: asked } = body;
  if (budget === undefined || typeof asked !== 'number') return;
  const within = boundedBudget(asked, budget);
  if (within === asked) return;
  body['thinking_budget'] = within;
  bounded.push('thinking_budget');
}

/** A budget of thinking within what the model takes; 0 is off, where the model can be switched off. */
export const boundedBudget = (tokens: number, [least, most]: readonly [number, number]): number =>
  Math.min(Math.max(tokens, least), most);

/** Tokens of thinking that an effort stands for, where a model takes a budget. See docs/reference/ingress.md#effort. */
export const EFFORT_BUDGETS: ReadonlyMap<unknown, number> = new Map([
  ['minimal', 1024],
  ['low', 2048],
  ['medium', 8192],
  ['high', 16_384],
  ['xhigh', 24_576],
  ['max', 30_720],
]);
