import { expect } from 'chai';
import Joi from 'joi';
import {
  definePlugin,
  defineProvider,
  defineStrategy,
  reject,
  rewrite,
  type ProviderModule,
  windowGuard,
} from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import {
  chatChunks,
  chatReply,
  expectGolden,
  golden,
  pluginContract,
  providerContract,
  rank,
  replyJson,
  strategyContract,
  stubUpstream,
  tryPlugin,
  type Check,
} from 'gw/testing';
import { MODULES } from '../../builtins/manifest.ts';
import { atEnd, temporaryFolder } from '../kit/index.ts';
import { join } from 'node:path';

/** Titles of the checks that fail, with what they say. */
async function failuresOf(checks: readonly Check[]): Promise<string[]> {
  const failed: string[] = [];
  for (const { title, run } of checks)
    await run().catch((error: unknown) => failed.push(`${title}: ${(error as Error).message}`));
  return failed;
}

const connection = { env: ['ACME_API_KEY'], baseUrl: 'https://acme.test/v1', authorize: () => ({}) };
const sound = defineProvider({
  name: 'acme',
  wire: 'common',
  params: {},
  translators: commonTranslators(['chat', 'embeddings'], {}),
  connection,
});
const withChat = (changes: object): ProviderModule =>
  defineProvider({ ...sound, translators: { chat: { ...sound.translators.chat!, ...changes } } });
const guard = (handlers: object, settings: object = {}): ReturnType<typeof definePlugin> =>
  definePlugin({
    name: 'own',
    type: 'guardrail',
    summary: 's',
    stages: ['before_request'],
    settings: Joi.object(settings),
    create: () => handlers as never,
  });
const strategy = (rankTargets: unknown): ReturnType<typeof defineStrategy> =>
  defineStrategy({ name: 'own', summary: 's', settings: Joi.object({}), create: () => rankTargets as never });

const STREAM = [
  ...chatChunks(['hello', ' there']).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`),
  'data: [DONE]\n\n',
].join('');

describe('providerContract of gw/testing', () => {
  it('finds nothing wrong with a sound provider, on its facts', async () => {
    expect(
      await failuresOf(
        providerContract(sound, {
          reply: JSON.stringify(chatReply('hello there')),
          stream: STREAM,
          says: 'hello there',
        }),
      ),
    ).to.deep.equal([]);
  });

  for (const module of MODULES.filter(({ name }) =>
    ['openai', 'groq', 'deepseek', 'mistral', 'fireworks'].includes(name),
  )) {
    it(`finds nothing wrong with ${module.name}`, async () => {
      expect(await failuresOf(providerContract(module as ProviderModule))).to.deep.equal([]);
    });
  }

  const BAD: readonly (readonly [does: string, module: ProviderModule, facts: object, said: string])[] = [
    [
      'counts its requests',
      withChat({
        toUpstream: (() => {
          let n = 0;
          return () => ({ path: '/', body: { n: (n += 1) } });
        })(),
      }),
      {},
      'leaves in two ways',
    ],
    [
      'drops the system prompt',
      withChat({
        toUpstream: ({ model, messages }: any) => ({
          path: '/',
          body: { model, messages: messages.filter(({ role }: any) => role !== 'system') },
        }),
      }),
      {},
      'drops in silence: messages (Answer in one word.)',
    ],
    [
      'drops tools',
      withChat({ toUpstream: (request: any) => ({ path: '/', body: { ...request, tools: undefined } }) }),
      {},
      'tools (look_up)',
    ],
    [
      'changes its request',
      withChat({
        toUpstream: (body: any) => {
          body.messages[0].content = 'x';
          return { path: '/', body };
        },
      }),
      {},
      'read only',
    ],
    ['answers with a text', withChat({ fromUpstream: () => 'hello' }), {}, 'something that is not an answer'],
    [
      'fails on a body of its own errors',
      defineProvider({
        ...sound,
        toFault: ({ body }) => JSON.parse(Buffer.from(body as Uint8Array).toString()) as object,
      }),
      {},
      'reads any error body',
    ],
    [
      'reads another text than its answer holds',
      sound,
      { reply: JSON.stringify(chatReply('hello')), says: 'goodbye' },
      'chat: reads its own answer',
    ],
    [
      'reads a stream by its pieces',
      withChat({
        openStream: () => {
          let seen = 0;
          return ({ data }: any) => {
            seen += 1;
            if (seen > 3) throw new Error('too many pieces');
            return [JSON.parse(data)];
          };
        },
      }),
      { stream: STREAM },
      'chat: reads its own stream',
    ],
    [
      'breaks a rule of the gateway',
      defineProvider({ ...sound, params: { seed: { rename: 'random_seed' } } }),
      {},
      'MV08',
    ],
  ];
  for (const [does, module, facts, said] of BAD) {
    it(`finds out about one that ${does}`, async () => {
      const failed = await failuresOf(providerContract(module, facts));
      expect(
        failed.some((line) => line.includes(said)),
        failed.join('\n'),
      ).to.equal(true);
    });
  }
});

describe('pluginContract and tryPlugin of gw/testing', () => {
  it('find nothing wrong with a sound plugin', async () => {
    expect(await failuresOf(pluginContract(guard({ before_request: () => undefined })))).to.deep.equal([]);
  });

  const BAD: readonly (readonly [does: string, handlers: object, said: string])[] = [
    [
      'changes the request in place',
      {
        before_request: (exchange: any) => {
          exchange.request.model = 'other';
        },
      },
      'read only',
    ],
    ['returns something that is not a verdict', { before_request: () => false }, 'not a verdict'],
    [
      'reads chat on every surface',
      {
        before_request: (exchange: any) => {
          exchange.request.messages.length;
        },
      },
      'embeddings',
    ],
    ['lacks a handler', {}, 'no handler'],
    [
      'guards a stream asynchronously',
      { before_request: () => undefined, stream: async () => ({ push: () => [], end: () => [] }) },
      'it is synchronous',
    ],
    [
      'guards a stream by a generator',
      {
        before_request: () => undefined,
        stream: () => ({
          *push(chunk: unknown) {
            yield chunk;
          },
          end: () => [],
        }),
      },
      'push returned neither a list of chunks nor a rejection',
    ],
    [
      'lets through what is not a chunk',
      { before_request: () => undefined, stream: () => ({ push: () => ['a text'], end: () => [] }) },
      'push returned neither',
    ],
    [
      'lets through what cannot be written as JSON',
      { before_request: () => undefined, stream: () => ({ push: () => [{ choices: [], id: 1n }], end: () => [] }) },
      'push returned a chunk that cannot be written as JSON: id is a BigInt',
    ],
    [
      'fails at the end of a stream',
      { before_request: () => undefined, stream: () => ({ push: () => [], end: () => undefined }) },
      'end returned neither',
    ],
    [
      'has a handler that it does not list',
      { before_request: () => undefined, on_error: () => undefined },
      'does not list it',
    ],
  ];
  for (const [does, handlers, said] of BAD) {
    it(`find out about one that ${does}`, async () => {
      const failed = await failuresOf(pluginContract(guard(handlers)));
      expect(
        failed.some((line) => line.includes(said)),
        failed.join('\n'),
      ).to.equal(true);
    });
  }

  it('find nothing wrong with an instance of a class, whose members are its own and inherited', async () => {
    class Own {
      readonly kind = 'plugin';
      readonly contract = 1;
      readonly type = 'logging';
      readonly summary = 's';
      readonly settings = Joi.object({});
      readonly #stage = 'before_request';
      get name(): string {
        return 'own';
      }
      get stages(): readonly string[] {
        return [this.#stage];
      }
      create(): object {
        return { [this.#stage]: () => undefined };
      }
    }
    expect(await failuresOf(pluginContract(new Own() as never))).to.deep.equal([]);
  });

  it('show verdicts, log lines, headers and what a stream guard let through', async () => {
    const plugin = definePlugin<{ word: string }>({
      name: 'own',
      type: 'guardrail',
      summary: 's',
      stages: ['before_request', 'after_request'],
      settings: Joi.object<{ word: string }, true>({ word: Joi.string().required() }),
      create: ({ word }, { log, counters }) => ({
        before_request(exchange) {
          log.info('seen', { model: exchange.model });
          counters.add('own_seen', { stage: exchange.stage });
          exchange.setHeader('X-Own', 'yes');
          return rewrite({ ...exchange.request, model: 'other' });
        },
        after_request: () => undefined,
        stream: () => windowGuard((text) => ({ isMatch: text.includes(word), keep: word.length - 1 }), 'a word'),
      }),
    });
    const tried = await tryPlugin(
      plugin,
      { word: 'there' },
      {},
      { chunks: chatChunks(['hello', ' the', 're']) as never },
    );
    expect(tried.verdicts.before_request).to.deep.include({ action: 'rewrite' });
    expect([tried.rejection, tried.headers, tried.log[0]?.message, tried.counted[0]]).to.deep.equal([
      'a word',
      { 'x-own': 'yes' },
      'seen',
      { name: 'own_seen', value: 1, labels: { stage: 'before_request' } },
    ]);
    expect(tried.chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).to.equal('hello');
    expect(await tryPlugin(plugin, {}).catch((error: Error) => error.message)).to.equal(
      'config.word: setting word is required',
    );
  });

  it('show a refusal', async () => {
    expect((await tryPlugin(guard({ before_request: () => reject('too long') }), {})).rejection).to.equal('too long');
  });
});

describe('strategyContract and rank of gw/testing', () => {
  it('find nothing wrong with a sound strategy', async () => {
    expect(
      await failuresOf(strategyContract(strategy((targets: readonly unknown[]) => targets.toReversed()))),
    ).to.deep.equal([]);
  });

  const BAD: readonly (readonly [does: string, ranking: unknown, said: string])[] = [
    [
      'invents a target',
      (targets: readonly object[]) => [...targets, { ...targets[0], virtualKey: 'd' }],
      'not one of the targets',
    ],
    ['repeats a target', (targets: readonly object[]) => [targets[0], targets[0]], 'is there twice'],
    ['sorts what it is given in place', (targets: object[]) => targets.sort(() => -1), 'read only'],
    ['waits', async (targets: readonly object[]) => targets, 'not a list'],
    [
      'fails without targets',
      (targets: readonly { virtualKey: string }[]) => [
        targets.find(({ virtualKey }) => virtualKey === targets[0]!.virtualKey),
      ],
      'a single target, and none',
    ],
    ['is not a function', 7, 'neither a function nor'],
  ];
  for (const [does, ranking, said] of BAD) {
    it(`find out about one that ${does}`, async () => {
      const failed = await failuresOf(strategyContract(strategy(ranking)));
      expect(
        failed.some((line) => line.includes(said)),
        failed.join('\n'),
      ).to.equal(true);
    });
  }

  it('show the order, the notes and the variant', () => {
    const { order, variant, notes } = rank(
      strategy((targets: readonly { virtualKey: string }[], _query: unknown, told: any) => {
        told.variant('b-side');
        told.target('b', 'it is b', { share: 1 });
        return targets.toReversed();
      }),
      ['a', { virtualKey: 'b', weight: 2 }],
    );
    expect([order, variant, notes]).to.deep.equal([
      ['b', 'a'],
      'b-side',
      [{ virtualKey: 'b', why: 'it is b', figures: { share: 1 } }],
    ]);
  });
});

describe('the rest of gw/testing', () => {
  it('opens a stub upstream that keeps what it saw', async () => {
    const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hi')));
    atEnd(() => stub.close());
    const response = await fetch(`${stub.url}/x`, { method: 'POST', body: '{"a":1}' });
    expect([response.status, stub.seen.map((one) => [one.method, one.url, one.json()])]).to.deep.equal([
      200,
      [['POST', '/x', { a: 1 }]],
    ]);
  });

  it('compares with golden files, and writes them on request', async () => {
    const file = join(await temporaryFolder(), 'reply.json');
    expectGolden(file, { a: [1] }, { update: true });
    expect(golden(file)).to.equal('{\n  "a": [\n    1\n  ]\n}\n');
    expectGolden(file, { a: [1] });
    expect(() => expectGolden(file, { a: [2] })).to.throw('deep');
  });
});
