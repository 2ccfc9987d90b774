import { expect } from 'chai';
import type { Turn } from '../agents/script.ts';
import { type Speak, type Target, type TargetName, TARGETS } from '../agents/targets.ts';
import { type ShippedGuard, shippedGuards } from '../e2e/support/guards.ts';
import { MASTER_KEY, openSse, some, startHost, type StubHandler, stubUpstream, type TestHost } from '../kit/index.ts';

/**
 * An upstream that stops between a thought, a text and a call, until the client has the beginning of each: what a guard holds of a stretch is its end
 * alone, so every stretch begins at the client while the upstream has not gone on.
 */
const TURN: Turn = {
  thought: '~ it may rise until noon, and then fall again for the rest of the day',
  say: '^ low water was in the morning, as far as anybody in the harbour could say',
  calls: [
    { tool: 'tide', args: { note: '` the hours of high water, for the harbour and for the bay', place: 'Brest' } },
  ],
};
/** By what the beginning of each stretch is known at the client: its first character. */
const BEGINNINGS = ['~', '^', '"tide"'];
/** By what the stretches that the upstream waits before are known in its bytes, whatever a checksum between them holds. */
const FIRST_PIECES = ['"^ low w"', '"tide"'];
/** No time is asserted: a client that waits as long has waited in vain. */
const IN_VAIN_MS = 30_000;

interface Client {
  readonly path: (model: string) => string;
  readonly body: (model: string) => object;
  /** Whether a call is shown before it is whole; on one wire it has no pieces. */
  readonly showsCalls: boolean;
}

const PARAMETERS = { type: 'object', properties: { note: { type: 'string' }, place: { type: 'string' } } };
const FUNCTION = { name: 'tide', parameters: PARAMETERS };
const ASKED = [{ role: 'user', content: 'how is the tide?' }];

const CLIENTS: Readonly<Record<string, Client>> = {
  chat: {
    path: () => '/v1/chat/completions',
    body: (model) => ({ model, messages: ASKED, stream: true, tools: [{ type: 'function', function: FUNCTION }] }),
    showsCalls: true,
  },
  Messages: {
    path: () => '/v1/messages',
    body: (model) => ({
      model,
      messages: ASKED,
      stream: true,
      max_tokens: 2_000,
      thinking: { type: 'adaptive' },
      tools: [{ name: 'tide', input_schema: PARAMETERS }],
    }),
    showsCalls: true,
  },
  Responses: {
    path: () => '/v1/responses',
    body: (model) => ({
      model,
      input: 'how is the tide?',
      stream: true,
      reasoning: { summary: 'auto' },
      tools: [{ type: 'function', ...FUNCTION, strict: false }],
    }),
    showsCalls: true,
  },
  Gemini: {
    path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    body: () => ({
      contents: [{ role: 'user', parts: [{ text: 'how is the tide?' }] }],
      generationConfig: { thinkingConfig: { includeThoughts: true } },
      tools: [{ functionDeclarations: [{ name: 'tide', parametersJsonSchema: PARAMETERS }] }],
    }),
    showsCalls: false,
  },
};

/** The parts of a stream before the frame in which each stretch begins, and what is left. */
function partsOf(stream: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let from = 0;
  for (const beginning of FIRST_PIECES) {
    const at = frameAt(stream, stream.indexOf(beginning));
    parts.push(stream.subarray(from, at));
    from = at;
  }
  return [...parts, stream.subarray(from)];
}

/** Where the frame around a place begins. Binary frames begin with their length. */
function frameAt(stream: Buffer, place: number): number {
  if (stream[0] !== 0) {
    const end = stream.includes('\r\n') ? '\r\n\r\n' : '\n\n';
    return stream.lastIndexOf(end, place) + end.length;
  }
  let begin = 0;
  for (let next = stream.readUInt32BE(0); next <= place; next += stream.readUInt32BE(next)) begin = next;
  return begin;
}

/** A gateway before one target of the upstream, which waits for its gates. */
class Scene {
  readonly host: TestHost;
  readonly #gates: PromiseWithResolvers<void>[];

  private constructor(host: TestHost, gates: PromiseWithResolvers<void>[]) {
    this.host = host;
    this.#gates = gates;
  }

  static async open(name: TargetName, plugins: readonly object[]): Promise<Scene> {
    const gates = FIRST_PIECES.map(() => Promise.withResolvers<void>());
    const upstream = await stubUpstream(pausing(TARGETS[name], gates));
    const { model, variables } = TARGETS[name];
    const host = await startHost(
      { targets: [{ virtual_key: name, models: [model] }], responses: { translate: 'auto' }, plugins },
      { variables: variables(upstream.url) },
    );
    return new Scene(host, gates);
  }

  /** Reads a client's stream to its end; lets the upstream go on each time a stretch has begun here. */
  async read({ path, body, showsCalls }: Client, model: string): Promise<string> {
    const answer = await fetch(this.host.url + path(model), {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body(model)),
      signal: AbortSignal.timeout(IN_VAIN_MS),
    });
    const waited = BEGINNINGS.slice(0, showsCalls ? 3 : 2);
    let text = '';
    let begun = 0;
    try {
      for await (const bytes of answer.body ?? []) {
        text += Buffer.from(bytes).toString('utf8');
        while (waited[begun] !== undefined && text.includes(waited[begun] ?? '')) this.#gates[begun++]?.resolve();
      }
    } catch (error) {
      throw new Error(`${waited[begun]} did not begin at the client, which has: ${text}`, { cause: error });
    }
    return text;
  }
}

function pausing({ speaks, model }: Target, gates: readonly PromiseWithResolvers<void>[]): StubHandler {
  return async ({ url }, response) => {
    const [path = ''] = url.split('?');
    const speak: Speak | undefined = speaks.find(([end]) => end.test(path))?.[1];
    const stream = Buffer.from(speak?.(TURN, 1, model) ?? '');
    if (stream[0] === 0) response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
    else openSse(response);
    for (const [at, part] of partsOf(stream).entries()) {
      response.write(part);
      await gates[at]?.promise;
    }
    response.end();
  };
}

/** Those that wait for a verdict over the whole answer hold all of it. */
const flows = ({ name }: ShippedGuard): boolean => !/^(schema-guard|webhook).*window/.test(name);

describe('a stream whose upstream pauses', () => {
  const guards = [{ name: 'no guard', plugins: async () => [] }, ...shippedGuards().filter(flows)];

  const ways = Object.entries(CLIENTS).flatMap(([name, client]) =>
    (['anthropic', 'deepseek', 'gemini', 'bedrock'] as const).flatMap((target) =>
      guards.map((guard) => ({ name, client, target, guard })),
    ),
  );
  for (const { name, client, target, guard } of some(ways, { every: 4 }))
    it(`begins each stretch before the next comes: a client of ${name}, ${target}, ${guard.name}`, async () => {
      const scene = await Scene.open(target, await guard.plugins());
      const text = await scene.read(client, TARGETS[target].model);
      expect(text).to.include('Brest');
      expect(text).to.not.match(/"error":\{|event: error/);
    });
});
