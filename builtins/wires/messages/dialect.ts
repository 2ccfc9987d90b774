import { type ChatRequest, type Fields, isFields, isText } from '../../../host/contract/index.ts';
import type { Adapted, Dialect, TargetFacts } from '../../../host/wire/client-request.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { adaptCommon } from '../adapt.ts';
import { lastUserTurn, refuseBlankTurn } from '../blank-turn.ts';
import { strictTools } from '../strict-tools.ts';
import { type NotedHistory, NO_HISTORY } from '../history-notes.ts';
import { cachesUnasked } from '../marks.ts';
import { speaksCommon, takesLongNames } from '../targets.ts';
import { effortPath, showsThoughts } from './effort.ts';
import { latePaths } from './system.ts';
import { TEXTS } from './texts.ts';
import { envelopeOf } from './thoughts.ts';
import { withShortReferences } from './tool-reference.ts';

type Body = Readonly<Fields>;

/** What the Messages wire knows of its requests. */
export const MESSAGES: Dialect = {
  wire: 'messages',
  texts: TEXTS,
  forSameWire: (value) => {
    const { messages } = value;
    if (
      !Array.isArray(messages) ||
      !messages.some((turn) => isFields(turn) && Array.isArray(turn['content']) && turn['content'].some(isEnveloped))
    )
      return { request: value, lost: [] };
    return withoutEnvelopes(value, messages);
  },
  adapt: (request, target, value) => adapt(request, target, value, NO_HISTORY),
  pathsOf: (field, target, value) => {
    if (field === 'strict') return strictTools(value);
    if (field === 'cache_control') return cachesUnasked(target) ? [] : ['cache_control'];
    if (field === 'reasoning_effort') return [effortPath(value)];
    return [PATHS.has(field) ? (PATHS.get(field) ?? []) : field].flat();
  },
  wantsThoughts: showsThoughts,
};

/** The dialect of one request, whose history was noted while it was read. */
export const messagesDialect = (history: NotedHistory): Dialect => ({
  ...MESSAGES,
  adapt: (request, target, value) => adapt(request, target, value, history),
});

function adapt(request: ChatRequest, target: TargetFacts, value: Body, history: NotedHistory): Adapted<ChatRequest> {
  refuseAddresses(value['messages'], target);
  refuseBlankTurn(request, target, () => `messages[${lastUser(value['messages'])}].content`);
  const named = takesLongNames(target) ? request : withShortReferences(request, value['messages']);
  const { request: adapted, lost } = adaptCommon(named, target, {
    effort: effortPath(value),
    top_k: 'top_k',
    service_tier: 'service_tier',
    history,
    failures: () => failuresIn(value['messages']),
    late: (index) => latePaths(value)[index],
  });
  const isUnthinking = speaksCommon(target) && isAdaptive(value) && target.entry?.capabilities['reasoning'] !== true;
  return { request: adapted, lost: isUnthinking ? ['thinking', ...lost] : lost };
}

/** What the client calls the fields of the common format; `undefined` for those that are not worth a word. Others are called the same. */
const PATHS: ReadonlyMap<string, string | undefined> = new Map([
  ['user', undefined],
  ['metadata', undefined],
  ['max_completion_tokens', undefined],
  ['stream_options', undefined],
  ['stop', 'stop_sequences'],
  ['response_format', 'output_config.format'],
  ['parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
]);

/** The model is to decide how much it thinks: no other wire has a word for that. */
const isAdaptive = ({ thinking }: Body): boolean => isFields(thinking) && thinking['type'] === 'adaptive';

const isEnveloped = (block: unknown): boolean => isFields(block) && envelopeOf(block) !== undefined;

/** Reasoning of other vendors stays behind, and a turn that held nothing else with it. */
function withoutEnvelopes(value: Body, messages: readonly unknown[]): { request: Body; lost: readonly string[] } {
  const lost: string[] = [];
  const kept = messages.flatMap((turn, at) => {
    if (!isFields(turn) || !Array.isArray(turn['content'])) return [turn];
    const content = turn['content'].filter((block, place) => {
      if (!isEnveloped(block)) return true;
      lost.push(`messages[${at}].content[${place}]`);
      return false;
    });
    if (content.length === turn['content'].length) return [turn];
    return content.length === 0 ? [] : [{ ...turn, content }];
  });
  return { request: { ...value, messages: kept }, lost };
}

/** Targets of the common wire have no document that is an address. */
function refuseAddresses(messages: unknown, target: TargetFacts): void {
  if (!speaksCommon(target) || !Array.isArray(messages)) return;
  for (const [at, turn] of messages.entries()) {
    for (const { block, path } of blocksOf(turn, `messages[${at}]`)) {
      if (block['type'] === 'document' && isFields(block['source']) && block['source']['type'] === 'url')
        throw invalidRequest(`${path}.source: this provider does not take documents by their address`);
    }
  }
}

interface PlacedBlock {
  readonly block: Body;
  readonly path: string;
}

/** The blocks of a turn, and those of its results. */
function* blocksOf(holder: unknown, at: string): Generator<PlacedBlock> {
  if (!isFields(holder) || !Array.isArray(holder['content'])) return;
  for (const [place, block] of holder['content'].entries()) {
    if (!isFields(block)) continue;
    const path = `${at}.content[${place}]`;
    yield { block, path };
    if (block['type'] === 'tool_result') yield* blocksOf(block, path);
  }
}

/** Where results of tools say that the tool failed. */
const failuresIn = (messages: unknown): string[] =>
  (Array.isArray(messages) ? messages : []).flatMap((turn: unknown, at) =>
    [...blocksOf(turn, `messages[${at}]`)]
      .filter(({ block }) => block['type'] === 'tool_result' && block['is_error'] === true)
      .map(({ path }) => `${path}.is_error`),
  );

const lastUser = (messages: unknown): number =>
  lastUserTurn(Array.isArray(messages) ? messages : [], (role) => role === 'user');

/** Names of the client's tools. */
export function toolNames({ tools }: Body): string[] {
  return Array.isArray(tools)
    ? tools
        .filter(isFields)
        .map(({ name }) => name)
        .filter(isText)
    : [];
}
