import bedrock from '../../providers/bedrock/index.ts';
import { sealEnvelope } from '../../builtins/wires/envelope.ts';
import { messagesDialect } from '../../builtins/wires/messages/dialect.ts';
import { readMessages } from '../../builtins/wires/messages/request.ts';
import { callFor, expectProportion, some } from '../kit/index.ts';
import { factsOfTarget, targetNamed } from './agent-conversation.ts';

type Turns = object[];

const times = (count: number, make: (at: number) => object | readonly object[]): Turns =>
  Array.from({ length: count }, (_, at) => make(at)).flat();
const user = (content: unknown): object => ({ role: 'user', content });
const system = (content: unknown): object => ({ role: 'system', content });
const assistant = (content: unknown): object => ({ role: 'assistant', content });
const text = (words: string): object => ({ type: 'text', text: words, cache_control: { type: 'ephemeral' } });
const call = (at: number): object => ({ type: 'tool_use', id: `c${at}`, name: 'f', input: {} });
const result = (at: number, more: object = {}): object => ({ type: 'tool_result', tool_use_id: `c${at}`, ...more });
const thought = (at: number, id?: string): object => ({
  type: 'thinking',
  thinking: `thought ${at}`,
  signature: sealEnvelope([
    {
      type: 'reasoning.encrypted',
      index: at,
      format: 'google-gemini-v1',
      data: 'c2ln',
      ...(id !== undefined && { id }),
    },
  ]),
});

/** Conversations that hold much of one thing which is looked at beside others of its kind. */
const HISTORIES: Readonly<Record<string, (size: number) => Turns>> = {
  'late system messages side by side': (size) => [user('a'), ...times(size, () => system('x'))],
  'late system messages behind the assistant': (size) => [user('a'), assistant('b'), ...times(size, () => system('x'))],
  'late system messages between blank turns': (size) => [
    user('a'),
    ...times(size, () => [user(' '), system(' ')]),
    user('b'),
  ],
  'late system messages between turns': (size) => times(size, () => [user('a'), system('x'), assistant('b')]),
  'late system messages between calls and results': (size) =>
    times(size, (at) => [assistant([call(at)]), system('x'), user([result(at)])]),
  'calls with thoughts of their own': (size) => [
    user('a'),
    assistant(times(size, (at) => [thought(at, `c${at}`), call(at)])),
    user(times(size, (at) => result(at))),
  ],
  'calls with thoughts of no call': (size) => [
    user('a'),
    assistant(times(size, (at) => [thought(at, `none${at}`), call(at)])),
    user(times(size, (at) => result(at))),
  ],
  'turns with thoughts': (size) => times(size, (at) => [user('a'), assistant([thought(at), text('b')])]),
  'marks on every text': (size) => [user(times(size, () => text('a'))), assistant('b'), user('c')],
  'marks on blocks that are left out': (size) => [user(times(size, () => text('')).concat(text('a')))],
  'references in one result': (size) => [
    user('a'),
    assistant([call(0)]),
    user([result(0, { content: times(size, (at) => ({ type: 'tool_reference', tool_name: `tool${at}` })) })]),
  ],
  'results that failed': (size) =>
    times(size, (at) => [assistant([call(at)]), user([result(at, { is_error: true, content: 'no' })])]),
};

const TARGETS = [
  targetNamed('azure-foundry', 'claude-opus-4-8'),
  targetNamed('azure-foundry', 'claude-sonnet-4-6'),
  targetNamed('bedrock', 'claude-opus-4-8'),
  targetNamed('bedrock', 'nova'),
  targetNamed('gemini'),
  targetNamed('cohere'),
  targetNamed('mistral'),
  targetNamed('qwen'),
  targetNamed('openai'),
  targetNamed('openrouter'),
  targetNamed('deepseek'),
  targetNamed('groq'),
];

/** How much of each: copying a list again and again stands out from some thousands on. */
const SIZE = 10_000;
const bodyOf = (messages: Turns): { model: string; max_tokens: number; messages: Turns } => ({
  model: 'm',
  max_tokens: 64,
  messages,
});

describe('what a client brings along takes work in proportion', () => {
  const cases = Object.entries(HISTORIES).flatMap(([what, make]) => TARGETS.map((target) => ({ what, make, target })));
  for (const { what, make, target } of some(cases, { every: 27, from: 5 }))
    it(`${what}, to ${target.title}`, () =>
      expectProportion(SIZE, (size) => {
        const value = bodyOf(make(size));
        return () => {
          const { request, notes } = readMessages(value, undefined);
          const { module, model, facts } = target;
          const asked = messagesDialect(notes.history).adapt({ ...request, model }, factsOfTarget(target), value);
          return module.translators.chat?.toUpstream(asked.request, {
            ...callFor(model),
            facts,
            clientWire: 'messages',
          });
        };
      }));

  for (const [what, make] of some(
    Object.entries(HISTORIES).filter(([name]) => name.startsWith('late')),
    { every: 5, from: 3 },
  ))
    it(`${what}, to Claude on Bedrock in its own wire`, () =>
      expectProportion(SIZE, (size) => {
        const value = bodyOf(make(size));
        const texts = { ...messagesDialect({ marks: [], turns: [] }).texts };
        return () =>
          bedrock.sameWire?.messages?.toUpstream(
            { wire: 'messages', operation: 'messages', texts, value },
            callFor('us.anthropic.claude-sonnet-4-6'),
          );
      }));
});
