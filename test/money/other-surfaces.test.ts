import { expect } from 'chai';
import type { MemoryLedger } from '../../host/state/memory-ledger.ts';
import { eventually, replyJson, startHost, type StubHandler, stubUpstream, type TestHost } from '../kit/index.ts';

interface Scene {
  readonly t: TestHost;
  readonly seen: () => number;
  readonly post: (path: string, body: object | FormData) => Promise<Response>;
  /** Micro-dollars. */
  readonly booked: () => Promise<number>;
}

const MODELS = {
  openai: [
    'tts-1',
    'gpt-4o-mini-tts',
    'whisper-1',
    'gpt-4o-transcribe',
    'gpt-image-1',
    'text-embedding-3-small',
    'omni-moderation-latest',
  ],
  xai: ['grok-imagine-image'],
  cohere: ['rerank-v3.5'],
};

async function scene(handler: StubHandler, plugins: readonly object[] = [], budgetUsd = 100): Promise<Scene> {
  const upstream = await stubUpstream(handler);
  const t = await startHost(
    {
      strategy: { mode: 'fallback' },
      targets: Object.entries(MODELS).map(([virtual_key, models]) => ({ virtual_key, models })),
      plugins,
    },
    {
      variables: Object.fromEntries(
        Object.keys(MODELS).flatMap((name) => [
          [`${name.toUpperCase()}_API_KEY`, 'k-0123456789'],
          [`${name.toUpperCase()}_BASE_URL`, `${upstream.url}/v1`],
        ]),
      ),
    },
  );
  const {
    key,
    record: { id },
  } = await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits: { budget_usd: budgetUsd } });
  return {
    t,
    seen: () => upstream.seen.length,
    post: (path, body) =>
      fetch(`${t.url}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          ...(!(body instanceof FormData) && { 'content-type': 'application/json' }),
        },
        body: body instanceof FormData ? body : JSON.stringify(body),
      }),
    booked: async () => {
      await eventually(() => t.host.slot.leases === 0);
      const carryover = t.host.carryover.open();
      const ledger = carryover.lease<MemoryLedger>('ledger key budgets', () => {
        throw new Error('there is no ledger');
      });
      void carryover.release();
      return ledger.committed(id);
    },
  };
}

const sound: StubHandler = (_seen, response) => {
  response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(Buffer.alloc(4000, 1));
};

/** A WAV of silence of so many seconds, 16 kHz. */
function wav(seconds: number): Blob {
  const head = Buffer.from(
    '524946460000000057415645666d74201000000001000100803e0000007d0000020010006461746100000000',
    'hex',
  );
  return new Blob([head, Buffer.alloc(seconds * 32_000)]);
}

function recording(model: string, file: Blob, more: Readonly<Record<string, string>> = {}): FormData {
  const form = new FormData();
  form.set('file', file, 'a.wav');
  for (const [name, value] of Object.entries({ model, ...more })) form.set(name, value);
  return form;
}

describe('what is booked beside chat', () => {
  it('is the characters that are spoken, those beyond the basic plane once', async () => {
    const { post, booked } = await scene(sound);
    expect(
      (await post('/v1/audio/speech', { model: 'tts-1', input: 'a\u{1f600}'.repeat(500), voice: 'alloy' })).status,
    ).to.equal(200);
    expect(await booked()).to.equal(1000 * 15);
  });

  it('is a guess of the tokens of speech that is priced by them', async () => {
    const { post, booked } = await scene(sound);
    await (
      await post('/v1/audio/speech', { model: 'gpt-4o-mini-tts', input: 'word '.repeat(200), voice: 'alloy' })
    ).arrayBuffer();
    expect(await booked()).to.be.within(1000 * 1.4 * 12, 1000 * 1.4 * 12 + 400);
  });

  const minute = 6000; // micro-dollars of whisper-1
  for (const [what, form, answer, micro] of [
    [
      'the seconds that the vendor counts',
      recording('whisper-1', wav(1)),
      { text: 'hi', usage: { type: 'duration', seconds: 30 } },
      minute / 2,
    ],
    [
      'the duration that a detailed answer tells',
      recording('whisper-1', wav(1), { response_format: 'verbose_json' }),
      { text: 'hi', duration: 120.0 },
      minute * 2,
    ],
    [
      'the length of the recording where the vendor says nothing',
      recording('whisper-1', wav(10)),
      { text: 'hi' },
      minute / 6,
    ],
    [
      'the length of the recording where the answer is plain text',
      recording('whisper-1', wav(10), { response_format: 'text' }),
      { text: 'hi' },
      minute / 6,
    ],
    [
      'a guess from the size of a file of another kind',
      recording('whisper-1', new Blob([Buffer.alloc(160_000)])),
      { text: 'hi' },
      minute / 6,
    ],
    [
      'tokens of a model that is priced by them',
      recording('gpt-4o-transcribe', wav(1)),
      { text: 'hi', usage: { type: 'tokens', input_tokens: 100, output_tokens: 10, total_tokens: 110 } },
      100 * 2.5 + 10 * 10,
    ],
    [
      'seconds that cannot be: the length of the recording',
      recording('whisper-1', wav(10)),
      { text: 'hi', usage: { type: 'duration', seconds: 1e9 } },
      minute / 6,
    ],
  ] as const) {
    for (const path of ['/v1/audio/transcriptions', '/v1/audio/translations']) {
      it(`is ${what}: ${path}`, async () => {
        const { post, booked } = await scene((_seen, response) => replyJson(response, 200, answer));
        const response = await post(path, form);
        expect(response.status, await response.text()).to.equal(200);
        expect(await booked()).to.be.closeTo(micro, 5);
      });
    }
  }

  it('is the tokens of a recording by its length, where a model that is priced by them has none in its answer', async () => {
    const { post, booked } = await scene((_seen, response) => replyJson(response, 200, { text: 'hi' }));
    await (await post('/v1/audio/transcriptions', recording('gpt-4o-transcribe', wav(6)))).text();
    expect(await booked()).to.be.within(100 * 2.5, 100 * 2.5 + 200);
  });

  it('is images by their number, or by their tokens, reported or guessed', async () => {
    const images = { created: 1, data: [{ url: 'https://x.example/1' }, { url: 'https://x.example/2' }] };
    const { post, booked } = await scene((seen, response) =>
      replyJson(response, 200, {
        ...images,
        ...(seen.json()['prompt'] === 'reported' && {
          usage: { input_tokens: 50, output_tokens: 1000, total_tokens: 1050 },
        }),
      }),
    );
    const after = async (body: object): Promise<number> => {
      const before = await booked().catch(() => 0);
      expect((await post('/v1/images/generations', { n: 2, ...body })).status).to.equal(200);
      return (await booked()) - before;
    };
    expect(await after({ model: 'grok-imagine-image', prompt: 'x' })).to.equal(40_000);
    expect(await after({ model: 'gpt-image-1', prompt: 'reported' })).to.equal(50 * 5 + 1000 * 40);
    expect(await after({ model: 'gpt-image-1', prompt: 'x', quality: 'low' })).to.be.within(
      2 * 400 * 40,
      2 * 400 * 40 + 100,
    );
    expect(await after({ model: 'gpt-image-1', prompt: 'x' })).to.be.greaterThan(2 * 6000 * 40);
  });

  it('is the units of a search over documents: those that the vendor bills, else as many as there may be', async () => {
    let meta: object = {};
    const { post, booked } = await scene((_seen, response) =>
      replyJson(response, 200, { id: 'r', results: [{ index: 0, relevance_score: 0.5 }], ...meta }),
    );
    const documents = Array.from({ length: 250 }, (_, at) => `document ${at}`);
    const after = async (): Promise<number> => {
      const before = await booked().catch(() => 0);
      const response = await post('/v1/rerank', { model: 'rerank-v3.5', query: 'x', documents });
      expect(response.status, await response.text()).to.equal(200);
      return (await booked()) - before;
    };
    expect(await after()).to.equal(3 * 2000);
    meta = { meta: { billed_units: { search_units: 1 } } };
    expect(await after()).to.equal(2000);
  });

  it('is the tokens of embeddings, guessed where none are reported, ids of tokens by their number', async () => {
    const { post, booked } = await scene((_seen, response) =>
      replyJson(response, 200, {
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: [1] }],
        model: 'x',
      }),
    );
    await (
      await post('/v1/embeddings', {
        model: 'text-embedding-3-small',
        input: Array.from({ length: 100_000 }, (_, at) => at),
      })
    ).text();
    expect(await booked()).to.be.within(2000, 2001); // 0.02 a token
  });

  for (const [path, body] of [
    ['/v1/audio/speech', { model: 'tts-1', input: 'hello', voice: 'alloy' }],
    ['/v1/images/generations', { model: 'grok-imagine-image', prompt: 'x' }],
    ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'x' }],
    ['/v1/moderations', { model: 'omni-moderation-latest', input: 'x' }],
    ['/v1/rerank', { model: 'rerank-v3.5', query: 'x', documents: ['y'] }],
    ['/v1/audio/transcriptions', recording('whisper-1', wav(1))],
    ['/v1/audio/translations', recording('whisper-1', wav(1))],
  ] as const) {
    it(`a spent key is refused before any call: ${path}`, async () => {
      const { post, seen } = await scene(sound, [], 0.000001);
      await (await post('/v1/audio/speech', { model: 'tts-1', input: 'spends it', voice: 'alloy' })).arrayBuffer();
      const before = seen();
      expect((await post(path, body)).status).to.equal(402);
      expect(seen()).to.equal(before);
    });
  }
});
