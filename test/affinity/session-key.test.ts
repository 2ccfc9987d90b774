import { expect } from 'chai';
import { fingerprint } from '../../builtins/routing/affinity/fingerprint.ts';
import { hasEarlierAnswer, openingOf } from '../../builtins/routing/affinity/opening.ts';
import { type SessionKey, sessionKeyOf } from '../../builtins/routing/affinity/session-key.ts';
import type { Surface } from '../../host/contract/index.ts';
import { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { ClientRequest } from '../../host/wire/client-request.ts';
import { fakeClock } from '../kit/index.ts';

type Turn = Readonly<Record<string, unknown>>;

const HI: readonly Turn[] = [{ role: 'user', content: 'hi' }];

interface Asked {
  readonly surface?: Surface;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** The body of a client of another wire. */
  readonly sent?: object;
}

function exchange({ surface = 'chat', headers = {}, body = {}, sent }: Asked): LiveExchange {
  const request = surface === 'responses' ? { model: 'm', json: body } : { model: 'm', messages: HI, ...body };
  return new LiveExchange({
    id: 'x',
    surface,
    clock: fakeClock(),
    principal: undefined,
    metadata: {},
    request,
    streaming: false,
    arrivedAt: 0,
    clientHeaders: headers,
    clientRequest: sent && ({ value: sent } as unknown as ClientRequest),
  });
}

const keyOf = (asked: Asked): SessionKey | undefined => sessionKeyOf(exchange(asked));

const printOf = (asked: Asked): string | undefined => {
  const one = exchange(asked);
  return fingerprint(one.model, openingOf(one));
};

describe('the key of a session', () => {
  it('is the first place that is not blank, in one order', () => {
    const places: readonly [Asked, SessionKey][] = [
      [{ headers: { 'x-gateway-session': ' one ' } }, { source: 'header', key: 'one' }],
      [{ headers: { 'x-session-id': 'two' } }, { source: 'header', key: 'two' }],
      [{ headers: { 'x-claude-code-session-id': 'three' } }, { source: 'header', key: 'three' }],
      [{ headers: { 'session-id': 'four' } }, { source: 'header', key: 'four' }],
      [{ headers: { session_id: 'five' } }, { source: 'header', key: 'five' }],
      [{ body: { prompt_cache_key: 'six' } }, { source: 'cache', key: 'six' }],
      [{ body: { safety_identifier: 'seven' } }, { source: 'user', key: 'seven' }],
      [{ body: { user: 'eight' } }, { source: 'user', key: 'eight' }],
    ];
    let headers = {};
    let body = {};
    for (const [asked, key] of places.toReversed()) {
      headers = { ...headers, ...asked.headers };
      body = { ...body, ...asked.body };
      expect(keyOf(asked)).to.deep.equal(key);
      expect(keyOf({ headers, body })).to.deep.equal(key);
      expect(keyOf({ headers: { ...headers, 'x-gateway-session': '  ' }, body })).to.deep.equal(
        key.key === 'one' ? { source: 'header', key: 'two' } : key,
      );
    }
  });

  it('is none where the first place is too long or cannot be printed, whatever the next ones hold', () => {
    for (const text of ['x'.repeat(257), 'a\u0000b', 'a\tb', 'a\u007fb']) {
      expect(keyOf({ headers: { 'x-gateway-session': text, 'x-session-id': 'two' } })).to.equal(undefined);
      expect(keyOf({ body: { prompt_cache_key: text, user: 'u' } })).to.equal(undefined);
    }
    expect(keyOf({ body: { user: `  ${'x'.repeat(256)}  ` } })?.key.length).to.equal(256);
  });

  it('of Messages stands in metadata.user_id: behind _session_, in a JSON text, or as the whole', () => {
    const user = (user_id: unknown): SessionKey | undefined =>
      keyOf({ surface: 'messages', sent: { metadata: { user_id } }, body: { user: 'other', prompt_cache_key: 'p' } });
    expect(user('user_1_account__session_abc')).to.deep.equal({ source: 'user', key: 'abc' });
    expect(user('{"device":"d","session_id":"s-1"}')).to.deep.equal({ source: 'user', key: 's-1' });
    expect(user('{"device":"d"}')).to.deep.equal({ source: 'user', key: '{"device":"d"}' });
    expect(user('{broken')).to.deep.equal({ source: 'user', key: '{broken' });
    expect(user('plain')).to.deep.equal({ source: 'user', key: 'plain' });
    expect(user(undefined)?.source).to.equal('text');
  });

  it('of a Gemini client stands in no body', () => {
    expect(
      keyOf({ surface: 'generate_content', sent: { user: 'u', prompt_cache_key: 'p' }, body: { user: 'u' } })?.source,
    ).to.equal('text');
  });

  it('of the Responses API stands in its own body, forwarded or translated', () => {
    const sent = { input: 'hi', prompt_cache_key: 'p', user: 'u' };
    expect(keyOf({ surface: 'responses', body: sent })).to.deep.equal({ source: 'cache', key: 'p' });
    expect(keyOf({ surface: 'responses.translated', sent })).to.deep.equal({ source: 'cache', key: 'p' });
    const input = { input: [{ role: 'user', content: 'hi' }], instructions: 'be brief' };
    expect(keyOf({ surface: 'responses', body: input })).to.deep.equal(
      keyOf({ surface: 'responses.translated', sent: input }),
    );
  });

  it('is none on other surfaces, and with X-Gateway-Affinity: off', () => {
    const headers = { 'x-gateway-session': 's' };
    for (const surface of ['embeddings', 'images', 'rerank', 'moderations', 'passthrough'] as const)
      expect(keyOf({ surface, headers })).to.equal(undefined);
    for (const off of ['off', 'OFF', ' Off '])
      expect(keyOf({ headers: { ...headers, 'x-gateway-affinity': off } }), off).to.equal(undefined);
  });
});

describe('the fingerprint of a conversation', () => {
  const system: Turn = { role: 'system', content: 'be brief' };
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
  const image = (data: string): Turn => ({
    role: 'user',
    content: [
      { type: 'text', text: 'see' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
    ],
  });

  it('is that of its first turn, whatever follows', () => {
    const first = [system, ...HI];
    const print = printOf({ body: { messages: first, tools } });
    expect(print).to.match(/^[0-9a-f]{64}$/);
    const later = [...first, { role: 'assistant', content: 'hello' }, { role: 'user', content: 'more' }, system];
    expect(printOf({ body: { messages: later, tools, temperature: 1 } })).to.equal(print);
  });

  it('differs by system, tools, their order and schemas, the first user turn and its images', () => {
    const prints = [
      { messages: HI },
      { messages: [{ role: 'user', content: 'hi!' }] },
      { messages: [system, ...HI] },
      { messages: [{ role: 'developer', content: 'be long' }, ...HI] },
      { messages: HI, tools },
      { messages: HI, tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'string' } } }] },
      { messages: HI, tools: [...tools, { type: 'function', function: { name: 'go' } }] },
      { messages: HI, tools: [{ type: 'function', function: { name: 'go' } }, ...tools] },
      { messages: [image('A'.repeat(5000))] },
      { messages: [image('B'.repeat(5000))] },
      { messages: [image('A'.repeat(5001))] },
    ].map((body) => printOf({ body }));
    expect(new Set(prints).size).to.equal(prints.length);
  });

  it('is cut at 64 KiB', () => {
    const of = (tail: string, length: number): string | undefined =>
      printOf({ body: { messages: [{ role: 'user', content: 'x'.repeat(length) + tail }] } });
    expect(of('a', 66_000)).to.equal(of('b', 66_000));
    expect(of('a', 60_000)).to.not.equal(of('b', 60_000));
  });

  it('is none without a user turn', () => {
    expect(printOf({ body: { messages: [system] } })).to.equal(undefined);
    expect(keyOf({ body: { messages: [system, { role: 'assistant', content: 'x' }] } })).to.equal(undefined);
    expect(printOf({ surface: 'responses', body: { input: [{ type: 'item_reference', id: 'i' }] } })).to.equal(
      undefined,
    );
  });
});

describe('an earlier answer', () => {
  const has = (asked: Asked): boolean => hasEarlierAnswer(exchange(asked));
  it('is a message of the assistant, in the Responses API also a call, a reasoning item or the id of a response', () => {
    const said = [...HI, { role: 'assistant', content: 'x' }];
    expect(has({ body: { messages: said } })).to.equal(true);
    expect(has({ surface: 'messages', body: { messages: said } })).to.equal(true);
    expect(has({ surface: 'generate_content', body: { messages: said } })).to.equal(true);
    expect(has({ body: { messages: HI } })).to.equal(false);
    expect(has({ surface: 'completions', body: { messages: said } })).to.equal(false);
    const inResponses = (body: object): boolean[] => [
      has({ surface: 'responses', body }),
      has({ surface: 'responses.translated', sent: body }),
    ];
    for (const item of [{ role: 'assistant', content: 'x' }, { type: 'function_call' }, { type: 'reasoning' }])
      expect(inResponses({ input: [...HI, item] })).to.deep.equal([true, true]);
    expect(inResponses({ input: 'x', previous_response_id: 'resp_1' })).to.deep.equal([true, true]);
    for (const item of [{ type: 'function_call_output' }, { type: 'message', role: 'user' }])
      expect(inResponses({ input: [...HI, item] })).to.deep.equal([false, false]);
  });
});
