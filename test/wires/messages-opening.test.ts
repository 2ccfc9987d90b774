import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { VendorStream } from '../../builtins/wires/messages/same-wire-stream.ts';
import { Relay } from '../../host/answer/relay.ts';
import {
  eventually,
  fakeClock,
  MASTER_KEY,
  openSse,
  startHost,
  type StubHandler,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { eventsOf, eventText, hello, PATH, VENDOR_EVENTS, type VendorEvent } from './messages-kit.ts';

const VARIABLES = { ANTHROPIC_API_KEY: 'vendor-key-0123456789', OPENAI_API_KEY: 'vendor-key-9876543210' };
const START = VENDOR_EVENTS[0] as VendorEvent;
const PING = { type: 'ping' };
const ERROR = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
const begins = (content_block: object): VendorEvent => ({ type: 'content_block_start', index: 0, content_block });
const TEXT = begins({ type: 'text', text: '' });
const THINKING = begins({ type: 'thinking', thinking: '', signature: '' });
const CALL = begins({ type: 'tool_use', id: 't', name: 'tide', input: {} });
const SAID = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'sea' } };
const THOUGHT = { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } };

interface Scene {
  readonly host: TestHost;
  readonly ask: () => Promise<Response>;
}

/** The vendor, and another one behind it that answers `fine`. */
async function scene(vendor: StubHandler, options: object = {}, config: object = {}): Promise<Scene> {
  const upstream = await stubUpstream((request, response) => {
    if (request.url.includes('/messages')) return vendor(request, response);
    openSse(response);
    const delta = { content: 'fine' };
    response.end(
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
    );
    return undefined;
  });
  const url = `${upstream.url}/v1`;
  const host = await startHost(
    {
      strategy: { mode: 'fallback' },
      targets: [
        { virtual_key: 'anthropic', models: ['m'] },
        { virtual_key: 'openai', models: ['m'] },
      ],
      ...config,
    },
    { variables: { ...VARIABLES, ANTHROPIC_BASE_URL: url, OPENAI_BASE_URL: url }, ...options },
  );
  const ask = (): Promise<Response> =>
    fetch(host.url + PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...hello, model: 'm', stream: true }),
    });
  return { host, ask };
}

const sending =
  (...texts: readonly string[]): StubHandler =>
  (_request, response) => {
    openSse(response);
    response.end(texts.join(''));
  };

const texts = (events: readonly VendorEvent[]): string => events.map(eventText).join('');

const OPENINGS: Readonly<Record<string, string>> = {
  nothing: '',
  'a comment': ': busy\n\n',
  'its head': texts([START]),
  'its head, and signs of life': texts([START, PING, PING]),
  'its head, and a text that has not begun': texts([START, TEXT]),
  'its head, and a thought that has not begun': texts([START, PING, THINKING, PING]),
  'a comment between all of it': `: a\n\n${texts([START])}: b\n\n${texts([THINKING])}: c\n\n`,
};

describe('the beginning of an answer in the Messages wire of its vendor', () => {
  for (const [what, opening] of Object.entries(OPENINGS)) {
    it(`is a failed attempt where an error comes behind ${what}`, async () => {
      const { ask } = await scene(sending(opening, eventText(ERROR)));
      const answer = await ask();
      const text = await answer.text();
      expect([answer.status, answer.headers.get('x-gateway-attempts')], text).to.deep.equal([200, '2']);
      expect(text).to.include('fine').and.not.include('msg_vendor');
    });

    it(`is a failed attempt where the connection ends behind ${what}`, async () => {
      const { ask } = await scene((_request, response) => {
        openSse(response);
        response.write(opening || ': a', () => response.destroy());
      });
      const answer = await ask();
      expect([answer.status, answer.headers.get('x-gateway-attempts')]).to.deep.equal([200, '2']);
      expect(await answer.text()).to.include('fine');
    });
  }

  for (const [what, event] of Object.entries({ text: SAID, thought: THOUGHT, call: CALL }))
    it(`has begun with a ${what}: an error behind it ends the stream`, async () => {
      const opening = texts([START, TEXT, event]);
      const { ask } = await scene(sending(opening, eventText(ERROR)));
      const answer = await ask();
      const text = await answer.text();
      expect([answer.status, answer.headers.get('x-gateway-attempts')], text).to.deep.equal([200, '1']);
      expect(text.slice(0, opening.length)).to.equal(opening);
      expect(eventsOf(text.slice(opening.length)).map(({ error }) => error.type)).to.deep.equal(['overloaded_error']);
    });

  it('is an error with its status where no other target is left', async () => {
    const { ask } = await scene(
      sending(texts([START, PING]), eventText(ERROR)),
      {},
      {
        targets: [{ virtual_key: 'anthropic', models: ['m'] }],
      },
    );
    const answer = await ask();
    expect(answer.status).to.be.greaterThan(499);
    expect(((await answer.json()) as any).type).to.equal('error');
  });

  it('waits 3 seconds, and no longer', async () => {
    const clock = fakeClock();
    const vendor = Promise.withResolvers<ServerResponse>();
    const opening = texts([START, PING]);
    const { ask } = await scene(
      (_request, response) => {
        openSse(response);
        response.write(opening);
        vendor.resolve(response);
      },
      { clock },
    );
    let status = 0;
    const asked = ask().then((answer) => {
      status = answer.status;
      return answer;
    });
    const upstream = await vendor.promise;
    await eventually(() => clock.next === 3000);
    clock.advance(2999);
    expect(clock.next).to.equal(1);
    expect(status).to.equal(0);
    clock.advance(1);
    const answer = await asked;
    upstream.end(eventText(ERROR));
    const text = await answer.text();
    expect(answer.headers.get('x-gateway-attempts')).to.equal('1');
    expect(text.slice(0, opening.length)).to.equal(opening);
    expect(eventsOf(text.slice(opening.length)).map(({ type }) => type)).to.deep.equal(['error']);
  });

  it('waits from its head on: comments before it may last as long as they like', () => {
    const stream = new VendorStream();
    const relay = new Relay({
      encoder: stream,
      model: 'm',
      created: 0,
      stripUsage: false,
      source: { speaks: 'client', framing: 'sse', stream, decode: () => [], readsAsides: false },
    });
    for (const [text, isWaiting] of [
      [': busy\n\n', false],
      [texts([START]), true],
      [texts([SAID]), false],
    ] as const) {
      relay.push(Buffer.from(text));
      expect(relay.isWaiting, text).to.equal(isWaiting);
    }
  });

  it('waits for 64 KiB, and no more', async () => {
    const small = texts([START]) + eventText(PING).repeat(100);
    const large = texts([START]) + eventText(PING).repeat(Math.ceil((64 * 1024) / eventText(PING).length));
    for (const [opening, attempts] of [
      [small, '2'],
      [large, '1'],
    ] as const) {
      const { ask } = await scene(sending(opening, eventText(ERROR)));
      const answer = await ask();
      await answer.text();
      expect(answer.headers.get('x-gateway-attempts')).to.equal(attempts);
    }
  });

  it('leaves in the bytes it came in, with what it waited for', async () => {
    const whole = `: busy\n\n${texts(VENDOR_EVENTS)}`;
    const { ask } = await scene(sending(whole));
    expect(await (await ask()).text()).to.equal(whole);
    const empty = texts([START, TEXT, { type: 'content_block_stop', index: 0 }, ...VENDOR_EVENTS.slice(-2)]);
    const { ask: askEmpty } = await scene(sending(empty));
    expect(await (await askEmpty()).text()).to.equal(empty);
  });

  it('is refused as ever where a guardrail refuses its first text', async () => {
    const plugins = [
      {
        name: 'word-filter',
        stage: 'after_request',
        enabled: true,
        config: { blocked_words: ['sea'], stream: 'window' },
      },
    ];
    const { ask } = await scene(sending(texts([START, TEXT, SAID, ...VENDOR_EVENTS.slice(-3)])), {}, { plugins });
    const answer = await ask();
    const text = await answer.text();
    expect([answer.status, answer.headers.get('x-gateway-attempts')], text).to.deep.equal([200, '1']);
    expect(eventsOf(text).at(-1)).to.include({ type: 'error' });
    expect(text).to.not.include('sea');
  });
});
