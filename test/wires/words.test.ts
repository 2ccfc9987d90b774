import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { GEMINI_DIALECT } from '../../builtins/wires/gemini/dialect.ts';
import { readGenerate } from '../../builtins/wires/gemini/request/request.ts';
import { messagesDialect } from '../../builtins/wires/messages/dialect.ts';
import { readMessages } from '../../builtins/wires/messages/request.ts';
import { RESPONSES_DIALECT } from '../../builtins/wires/responses/dialect.ts';
import { readResponses } from '../../builtins/wires/responses/request.ts';
import { WORDS } from '../../builtins/wires/words.ts';
import type { ChatRequest } from '../../host/contract/index.ts';
import type { TargetFacts } from '../../host/wire/client-request.ts';
import { type Answer, startHost, stubUpstream, type TestHost } from '../kit/index.ts';
import { everySurface } from '../surfaces/kit.ts';
import { saying } from './messages-kit.ts';

type Json = Record<string, any>;
type Wire = keyof typeof WORDS;

/** A member of a wire's body that holds a word of a list, and what is lost for a word that the list does not have. */
interface Place {
  readonly wire: Wire;
  readonly list: string;
  readonly words: readonly string[];
  readonly lost: string;
  readonly body: (word: unknown) => Json;
  /** What a word that the list does not have comes to. */
  readonly without: Json;
}

const MARKED = { type: 'text', text: 'a' };
const TOOL = { name: 'f', input_schema: { type: 'object' } };
const CALL = { type: 'tool_use', id: 'c', name: 'f', input: {} };

/** A conversation in which each holder of a mark stands, and the paths of these holders. */
const MARK_HOLDERS: Readonly<Record<string, (mark: object) => Json>> = {
  '': (mark) => mark,
  'system[0].': (mark) => ({ system: [{ ...MARKED, ...mark }] }),
  'tools[0].': (mark) => ({ tools: [{ ...TOOL, ...mark }] }),
  'messages[0].content[0].': (mark) => ({ messages: [{ role: 'user', content: [{ ...MARKED, ...mark }] }] }),
  'messages[1].content[0].': (mark) => ({ messages: conversation({ call: mark }) }),
  'messages[2].content[0].': (mark) => ({ messages: conversation({ result: mark }) }),
  'messages[2].content[0].content[0].': (mark) => ({ messages: conversation({ part: mark }) }),
};

function conversation({ call = {}, result = {}, part = {} }: Record<string, object>): object[] {
  return [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [{ ...CALL, ...call }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'c', ...result, content: [{ ...MARKED, ...part }] }],
    },
  ];
}

const PIXEL = 'https://vendor.example/pixel.png';
const BASE: Readonly<Record<Wire, Json>> = {
  messages: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] },
  gemini: { contents: [{ parts: [{ text: 'hi' }] }] },
  responses: { model: 'm', input: 'hi' },
};
const PATHS: Readonly<Record<Wire, string>> = {
  messages: '/v1/messages',
  gemini: '/v1beta/models/m:generateContent',
  responses: '/v1/responses',
};

/** The object that holds the value at a path of names. */
const at = (path: string, value: unknown): Json =>
  path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Json;

function placesOf(wire: Wire, list: string, words: readonly string[]): Place[] {
  const place = (lost: string, body: (word: unknown) => Json, without: Json = body(null)): Place => ({
    wire,
    list,
    words,
    lost,
    body,
    without,
  });
  if (list.startsWith('cache_control.')) {
    const isType = list.endsWith('.type');
    return Object.entries(MARK_HOLDERS).map(([path, body]) =>
      place(
        path + (isType ? 'cache_control' : list),
        (word) => body({ cache_control: isType ? { type: word } : { type: 'ephemeral', ttl: word } }),
        body(isType ? {} : { cache_control: { type: 'ephemeral' } }),
      ),
    );
  }
  if (list === 'detail')
    return [
      place('input[0].content[0].detail', (detail) => ({
        input: [{ role: 'user', content: [{ type: 'input_image', image_url: PIXEL, detail }] }],
      })),
      place('input[1].output[0].detail', (detail) => ({
        input: [
          { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', image_url: PIXEL, detail }] },
        ],
      })),
    ];
  if (list === 'thinking.type')
    return [
      place('thinking', (type) => ({ max_tokens: 2000, thinking: { type, ...BUDGET.get(type) } }), {
        max_tokens: 2000,
      }),
    ];
  if (list === 'thinking.display') return [place(list, (display) => ({ thinking: { type: 'adaptive', display } }))];
  return [place(list, (word) => at(list, word))];
}

const BUDGET: ReadonlyMap<unknown, object> = new Map([['enabled', { budget_tokens: 1024 }]]);

const PLACES: readonly Place[] = (Object.keys(WORDS) as Wire[]).flatMap((wire) =>
  Object.entries<readonly string[]>(WORDS[wire]).flatMap(([list, words]) => placesOf(wire, list, words)),
);

/** Takes whatever a request may hold, so that only words can be lost. */
const TAKER = {
  provider: 'x',
  wire: 'native',
  traits: {
    history: { marks: ['tools', 'parts', 'messages', 'calls'] },
    fields: ['prompt_cache_key', 'service_tier', 'verbosity'],
  },
  entry: undefined,
  facts: {},
  streaming: false,
} as const satisfies TargetFacts;

/** What a body becomes for a target, and what is lost of it. */
function read(wire: Wire, more: Json, target: TargetFacts = TAKER): { request: ChatRequest; lost: readonly string[] } {
  const body = { ...BASE[wire], ...more };
  const { request, lost, dialect } = READERS[wire](body);
  const adapted = dialect.adapt(request, target, body);
  return { request: adapted.request, lost: [...new Set([...lost, ...adapted.lost])] };
}

const READERS = {
  messages: (body: Json) => {
    const { request, notes } = readMessages(body, undefined);
    expect(notes.refusal).to.equal(undefined);
    return { request, lost: notes.lost, dialect: messagesDialect(notes.history) };
  },
  gemini: (body: Json) => ({ ...readGenerate(body, 'm'), dialect: GEMINI_DIALECT }),
  responses: (body: Json) => ({ ...readResponses(body), dialect: RESPONSES_DIALECT }),
};

/** What a word that asks for nothing in the common format comes to. */
const lostByItself = (word: string): readonly string[] => (word === 'auto' ? ['truncation'] : []);

describe('words of closed lists', () => {
  for (const { wire, list, words, lost, body, without } of PLACES) {
    it(`are taken as ${wire} has them, at ${lost}`, () => {
      for (const word of words)
        expect(read(wire, body(word)).lost, word).to.deep.equal(list === 'truncation' ? lostByItself(word) : []);
    });

    it(`are lost by name where ${wire} does not have them, at ${lost}`, () => {
      for (const word of ['newest', '', words[0] + 'x', '__proto__', 'constructor']) {
        const { request, lost: names } = read(wire, body(word));
        expect(names, word).to.deep.equal([lost]);
        expect(request).to.deep.equal(read(wire, without).request);
      }
    });
  }

  it('of a file have no place, but for the one that asks for nothing', () => {
    const file = { type: 'input_file', file_url: 'https://vendor.example/a.pdf' };
    for (const detail of [...WORDS.responses.detail, 'newest'])
      expect(
        read('responses', { input: [{ role: 'user', content: [{ ...file, detail }] }] }).lost,
        detail,
      ).to.deep.equal(detail === 'auto' ? [] : ['input[0].content[0].detail']);
  });

  it('of marks are named where the target does not cache by itself', () => {
    for (const { wire, list, lost, body } of PLACES.filter((place) => place.list.startsWith('cache_control.'))) {
      const unasked = { ...TAKER, traits: { ...TAKER.traits, history: { marks: 'unasked' } } } as const;
      expect(read(wire, body('newest'), unasked).lost).to.deep.equal([]);
      const { history: _history, ...traits } = TAKER.traits;
      const mark = lost.replace(/\.ttl$/, '');
      expect(read(wire, body('newest'), { ...TAKER, traits }).lost, lost).to.have.members(
        list === 'cache_control.ttl' ? [mark, lost] : [mark],
      );
    }
  });

  it('of a summary each ask for one', () => {
    for (const summary of [...typed('openai/resources/shared.d.ts', 'summary'), 'newest'])
      for (const name of ['summary', 'generate_summary']) {
        const { asked, lost } = readResponses({ ...BASE.responses, reasoning: { [name]: summary } });
        expect([asked.showsReasoning, lost], summary).to.deep.equal([true, []]);
      }
    expect(readResponses({ ...BASE.responses, reasoning: { summary: null } }).asked.showsReasoning).to.equal(false);
  });

  it('for how a model thinks leave the effort to decide', () => {
    for (const thinking of [{ type: 'newest' }, { block_binding: {} }, { type: null, display: 'omitted' }]) {
      const { request, lost } = read('messages', { thinking, output_config: { effort: 'low' } });
      expect([request.reasoning_effort, lost]).to.deep.equal(['low', ['thinking']]);
      expect(read('messages', { thinking }).request.reasoning_effort).to.equal(undefined);
    }
    expect(
      read('messages', { thinking: { type: 'adaptive', block_binding: {}, budget_tokens: 5 } }).lost,
    ).to.deep.equal(['thinking.block_binding', 'thinking.budget_tokens']);
    const known = read('messages', {
      max_tokens: 9000,
      thinking: { type: 'enabled', budget_tokens: 8192 },
      output_config: { effort: 'newest' },
    });
    expect([known.request.reasoning_effort, known.lost]).to.deep.equal(['medium', ['output_config.effort']]);
  });

  it('of the level are read in either case, and other members beside it are lost', () => {
    const config = (thinkingConfig: object): Json => ({ generationConfig: { thinkingConfig } });
    expect(read('gemini', config({ thinkingLevel: 'high' })).request.reasoning_effort).to.equal('high');
    expect(read('gemini', config({ thinking_level: 'newest', including: 1 })).lost).to.deep.equal([
      'generationConfig.thinkingConfig.including',
      'generationConfig.thinkingConfig.thinkingLevel',
    ]);
  });
});

describe('words of closed lists, asked through the gateway', () => {
  const hosts: Partial<Record<'warn' | 'drop' | 'reject', TestHost>> = {};
  beforeEach(async () => {
    for (const policy of ['warn', 'drop', 'reject'] as const) {
      const upstream = await stubUpstream(saying({ content: 'ok' }));
      hosts[policy] = await startHost({
        strategy: { mode: 'single' },
        responses: { translate: 'auto' },
        compatibility: { on_unsupported_param: policy },
        targets: [upstream.target('a', { models: ['m'] }, everySurface)],
      });
    }
  });

  const ask = (policy: 'warn' | 'drop' | 'reject', wire: Wire, more: Json): Promise<Answer> =>
    (hosts[policy] as TestHost).post(PATHS[wire], { ...BASE[wire], ...more });

  it('answer as the policy for what is not supported wants it', async () => {
    for (const { wire, lost, body } of PLACES) {
      const warned = await ask('warn', wire, body('newest'));
      expect([warned.status, lost], warned.text).to.deep.equal([200, lost]);
      expect(warned.headers.get('x-gateway-ignored-params')?.split(', ')).to.include(lost);
      const dropped = await ask('drop', wire, body('newest'));
      expect([dropped.status, dropped.headers.get('x-gateway-ignored-params')]).to.deep.equal([200, null]);
      const rejected = await ask('reject', wire, body('newest'));
      expect([rejected.status, rejected.text.includes(lost)], rejected.text).to.deep.equal([400, true]);
      expect(rejected.text.toLowerCase()).to.include('unsupported_parameter');
    }
  });

  it('are refused where they are not texts', async () => {
    for (const { wire, lost, body } of PLACES)
      for (const value of [7, true, ['auto'], { type: 'auto' }]) {
        const { status, text } = await ask('warn', wire, body(value));
        expect([status, lost, value], text).to.deep.equal([400, lost, value]);
      }
  });

  for (const [what, wire, more] of [
    ['a role', 'messages', { messages: [{ role: 'newest', content: 'hi' }] }],
    ['a block', 'messages', { messages: [{ role: 'user', content: [{ type: 'newest' }] }] }],
    [
      'a source',
      'messages',
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'newest' } }] }] },
    ],
    ['a choice', 'messages', { tools: [TOOL], tool_choice: { type: 'newest' } }],
    ['a format', 'messages', { output_config: { format: { type: 'newest' } } }],
    ['a tool', 'messages', { tools: [{ type: 'newest_20260101', name: 'f' }] }],
    ['a role', 'gemini', { contents: [{ role: 'newest', parts: [{ text: 'hi' }] }] }],
    ['a part', 'gemini', { contents: [{ parts: [{ newest: {} }] }] }],
    ['a mode', 'gemini', { toolConfig: { functionCallingConfig: { mode: 'NEWEST' } } }],
    ['a type', 'gemini', { generationConfig: { responseMimeType: 'text/newest' } }],
    ['a modality', 'gemini', { generationConfig: { responseModalities: ['NEWEST'] } }],
    ['a role', 'responses', { input: [{ role: 'newest', content: 'hi' }] }],
    ['an item', 'responses', { input: [{ type: 'newest' }] }],
    ['a part', 'responses', { input: [{ role: 'user', content: [{ type: 'newest' }] }] }],
    ['a format', 'responses', { text: { format: { type: 'newest' } } }],
    ['a choice', 'responses', { tools: [{ type: 'function', name: 'f' }], tool_choice: { type: 'newest' } }],
    ['a way to think without a type', 'messages', { thinking: {} }],
    ['a mark without a type', 'messages', { cache_control: { ttl: '5m' } }],
  ] as const)
    it(`are refused for ${what} of ${wire}: another answer would come without them`, async () => {
      expect((await ask('warn', wire, more)).status).to.equal(400);
    });
});

const WORD = "'[^']*'";

/** The words that a member, or a type, has in the types of an official library; where `inside` is given, in the interfaces of such a name alone. */
function typed(file: string, name: string, inside = ''): Set<string> {
  const source = readFileSync(new URL(`../../node_modules/${file}`, import.meta.url), 'utf8');
  const holders = inside === '' ? [source] : source.match(new RegExp(`^export interface ${inside} \\{[^]*?^\\}`, 'gm'));
  const union = new RegExp(
    `^(?:export type ${name} =|\\s+${name}\\??:) ((?:${WORD} \\| )*${WORD})(?: \\| null)?;$`,
    'gm',
  );
  const unions = (holders ?? []).flatMap((holder) => [...holder.matchAll(union)]);
  return new Set(unions.flatMap(([, words = '']) => [...words.matchAll(/'([^']*)'/g)].map(([, word = '']) => word)));
}

/** The values of an enumeration there. */
function enumerated(file: string, name: string): Set<string> {
  const source = readFileSync(new URL(`../../node_modules/${file}`, import.meta.url), 'utf8');
  const [, body = ''] = new RegExp(`enum ${name} \\{([^}]*)\\}`).exec(source) ?? [];
  return new Set([...body.matchAll(/= "([^"]*)"/g)].map(([, word = '']) => word));
}

describe('words of the official libraries', () => {
  const BETA = '@anthropic-ai/sdk/resources/beta/messages/messages.d.ts';
  const GENAI = '@google/genai/dist/genai.d.ts';
  const OPENAI = 'openai/resources/responses/responses.d.ts';
  const TYPED: readonly (readonly [wire: Wire, list: string, words: Set<string>, unread?: readonly string[]])[] = [
    ['messages', 'thinking.type', typed(BETA, 'type', 'BetaThinkingConfig\\w+')],
    ['messages', 'thinking.display', typed(BETA, 'display'), ['updates']],
    ['messages', 'service_tier', typed(BETA, 'service_tier'), ['standard', 'priority', 'batch']], // those of answers
    ['messages', 'cache_control.type', typed(BETA, 'type', 'BetaCacheControl\\w+')],
    ['messages', 'output_config.effort', typed(BETA, 'effort')],
    ['messages', 'cache_control.ttl', typed(BETA, 'ttl')],
    ['gemini', 'generationConfig.thinkingConfig.thinkingLevel', enumerated(GENAI, 'ThinkingLevel')],
    ['gemini', 'serviceTier', enumerated(GENAI, 'ServiceTier')],
    ['responses', 'text.verbosity', typed(OPENAI, 'verbosity')],
    ['responses', 'truncation', typed(OPENAI, 'truncation')],
    ['responses', 'detail', typed(OPENAI, 'ImageDetail')],
  ];

  for (const [wire, list, words, unread = []] of TYPED)
    it(`hold the list of ${list}, and none of them is refused`, () => {
      const known = (WORDS[wire] as Record<string, readonly string[]>)[list] ?? [];
      expect([...words]).to.have.members([...known, ...unread]);
      const place = PLACES.find((each) => each.wire === wire && each.list === list) as Place;
      for (const word of unread) expect(read(wire, place.body(word)).lost, word).to.deep.equal([place.lost]);
    });
});
