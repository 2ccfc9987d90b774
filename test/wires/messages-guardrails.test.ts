import { expect } from 'chai';
import { replyJson } from '../kit/index.ts';
import { sealEnvelope } from '../../builtins/wires/envelope.ts';
import {
  crossWire,
  eventsOf,
  eventText,
  hello,
  sameWire,
  saying,
  VENDOR_EVENTS,
  type VendorEvent,
  vendorMessage,
} from './messages-kit.ts';

const MAIL = 'ann@example.com';
const regex = (stage: string, more: object = {}): object => ({
  name: 'regex-guard',
  stage,
  enabled: true,
  config: { patterns: ['canary'], ...more },
});
const guarded = { plugins: [regex('before_request')] };

const turn = (...content: object[]): object => ({ messages: [{ role: 'user', content }] });
const answered = (...content: object[]): object => ({
  messages: [
    { role: 'user', content: 'a' },
    { role: 'assistant', content },
  ],
});

/** Every place of a request that holds text. See docs/reference/ingress.md#what-guardrails-read. */
const PLACES: Readonly<Record<string, object>> = {
  system: { system: 'a canary' },
  'a block of the system': { system: [{ type: 'text', text: 'canary' }] },
  text: { messages: [{ role: 'user', content: 'canary' }] },
  'a block of text': turn({ type: 'text', text: 'canary' }),
  'neighbouring texts': turn({ type: 'text', text: 'can' }, { type: 'text', text: 'ary' }),
  thinking: answered({ type: 'thinking', thinking: 'canary', signature: 'c2ln' }),
  'an envelope': answered({
    type: 'redacted_thinking',
    data: sealEnvelope([{ type: 'reasoning.text', text: 'canary' }]),
  }),
  'a document': turn({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'canary' } }),
  'the title of a document': turn({
    type: 'document',
    title: 'canary',
    source: { type: 'text', media_type: 'text/plain', data: 'a' },
  }),
  'the context of a document': turn({
    type: 'document',
    context: 'canary',
    source: { type: 'text', media_type: 'text/plain', data: 'a' },
  }),
  'the blocks of a document': turn({
    type: 'document',
    source: { type: 'content', content: [{ type: 'text', text: 'canary' }] },
  }),
  'what was found': turn({
    type: 'search_result',
    title: 'a',
    source: 'canary',
    content: [{ type: 'text', text: 'a' }],
  }),
  'an input of a tool': answered({ type: 'tool_use', id: 't', name: 'n', input: { a: { id: 'canary' } } }),
  'a name in an input of a tool': answered({ type: 'tool_use', id: 't', name: 'n', input: { a: [{ 'a canary': 1 }] } }),
  'JSON in an input of a tool': answered({
    type: 'tool_use',
    id: 't',
    name: 'n',
    input: { a: '{"b":"c\\u0061nary"}' },
  }),
  'a result of a tool': {
    messages: [
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: {} }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'canary' }] }],
      },
    ],
  },
  'a tool that was found': {
    messages: [
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't', content: [{ type: 'tool_reference', tool_name: 'a_canary' }] },
        ],
      },
    ],
  },
  'the name of a tool': { tools: [{ name: 'canary', input_schema: {} }] },
  'the description of a tool': { tools: [{ name: 'n', description: 'canary', input_schema: {} }] },
  'the schema of a tool': {
    tools: [{ name: 'n', input_schema: { properties: { type: { type: 'string', description: 'canary' } } } }],
  },
  'a sequence that ends': { stop_sequences: ['canary'] },
  metadata: { metadata: { user_id: 'canary' } },
  'an unknown member': { newest: { id: 'canary' } },
  'an unknown block': turn({ type: 'hologram', of: ['a canary'] }),
  'a cited text': turn({ type: 'text', text: 'a', citations: [{ type: 'char_location', cited_text: 'canary' }] }),
};

describe('guardrails on Messages', () => {
  for (const [place, body] of Object.entries(PLACES)) {
    it(`read ${place}, whatever the target speaks`, async () => {
      const same = await sameWire(
        (_request, response) => replyJson(response, 200, vendorMessage([{ type: 'text', text: 'a' }])),
        guarded,
      );
      const cross = await crossWire(saying({ content: 'ok' }), guarded);
      for (const { upstream, post } of [same, cross]) {
        const answer = await post({ ...hello, ...body });
        expect(answer.status, answer.text).to.equal(400);
        expect(answer.json().error.details.error_code).to.equal('request_rejected');
        expect(answer.headers.get('x-should-retry')).to.equal('false');
        expect(upstream.seen).to.have.length(0);
      }
    });
  }

  const REPEATED = [
    '"content":"a canary","content":"x"',
    '"content":"a canary","\\u0063ontent":"x"',
    '"content":"x","more":{"a":"canary","a":{"b":12345678901234567890}}',
  ];
  for (const members of REPEATED) {
    it(`are not passed by where a name stands twice: ${members}`, async () => {
      const body = `{"model":"claude-x", "max_tokens":64,"messages":[{"role":"user",${members}}]}`;
      const answer: Parameters<typeof sameWire>[0] = (_request, response) =>
        replyJson(response, 200, vendorMessage([{ type: 'text', text: 'a' }]));
      const { upstream, host, post } = await sameWire(answer, guarded);
      expect((await post(body)).status).to.equal(200);
      expect((await host.post('/v1/messages/count_tokens', body)).status).to.equal(200);
      for (const { text } of upstream.seen)
        expect(text)
          .to.match(/"content":"x"/)
          .and.not.match(/canary/);
      if (members.includes('"b"')) expect(upstream.seen[0]?.text).to.include('{"a":{"b":12345678901234567890}}');
      const free = await sameWire(answer);
      await free.post(body);
      expect(free.upstream.seen[0]?.text, 'no plugin reads it').to.equal(body);
    });
  }

  it('do not read ids, signatures and bytes', async () => {
    const { post, upstream } = await sameWire(
      (_request, response) => replyJson(response, 200, vendorMessage([{ type: 'text', text: 'a' }])),
      guarded,
    );
    const answer = await post({
      ...hello,
      messages: [
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'canary==' } }],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'a', signature: 'canary' },
            { type: 'redacted_thinking', data: 'canary' },
            { type: 'tool_use', id: 'canary', name: 'n', input: {} },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'canary', content: 'a' }] },
      ],
    });
    expect(answer.status, answer.text).to.equal(200);
    expect(upstream.seen).to.have.length(1);
  });

  const READ: readonly [string, object][] = [
    ['text', { type: 'text', text: 'a canary' }],
    ['thinking', { type: 'thinking', thinking: 'canary', signature: 's' }],
    ['an input of a tool', { type: 'tool_use', id: 't', name: 'n', input: { a: 'canary' } }],
    [
      'the result of a server tool',
      {
        type: 'web_search_tool_result',
        tool_use_id: 's',
        content: [{ type: 'web_search_result', title: 'canary', url: 'u' }],
      },
    ],
  ];
  for (const [what, block] of READ) {
    it(`read an answer of the vendor: ${what}`, async () => {
      const { post } = await sameWire((_request, response) => replyJson(response, 200, vendorMessage([block])), {
        plugins: [regex('after_request')],
      });
      const answer = await post(hello);
      expect(answer.status, answer.text).to.equal(502);
      expect(answer.json().error).to.deep.include({ type: 'api_error', details: { error_code: 'response_rejected' } });
      expect(answer.headers.get('x-should-retry')).to.equal('false');
    });
  }

  it('mask a text in its place, and change nothing else', async () => {
    const body = `{ "model":"claude-x", "max_tokens":64, "big":12345678901234567890, "messages":[ {"role":"user", "content":[{"type":"text","text":"mail ${MAIL} \\u00e9"},{"type":"hologram","of":"${MAIL}"}]} ] }`;
    const { upstream, post } = await sameWire(
      (_request, response) => replyJson(response, 200, vendorMessage([{ type: 'text', text: 'to [EMAIL_1], yes' }])),
      {
        plugins: ['before_request', 'after_request'].map((stage) => ({
          name: 'pii-redact',
          stage,
          enabled: true,
          config: { restore: true },
        })),
      },
    );
    const answer = await post(body);
    expect(answer.status, answer.text).to.equal(200);
    expect(upstream.seen[0]?.text).to.equal(
      body.replace(`mail ${MAIL} \\u00e9`, 'mail [EMAIL_1] é').replace(MAIL, '[EMAIL_1]'),
    );
    expect(answer.json().content[0].text).to.equal(`to ${MAIL}, yes`);
    expect(answer.json().id).to.equal('msg_vendor');
  });

  it('refuse what they would have to mask in a thought', async () => {
    const { upstream, post } = await sameWire((_request, response) => replyJson(response, 200, vendorMessage([])), {
      plugins: [{ name: 'pii-redact', stage: 'before_request', enabled: true, config: {} }],
    });
    const answer = await post({ ...hello, ...answered({ type: 'thinking', thinking: MAIL, signature: 'c2ln' }) });
    expect(answer.status).to.equal(400);
    expect(upstream.seen).to.have.length(0);
  });

  const EVENTS = VENDOR_EVENTS.map((event) => ({
    ...event,
    ...(event['index'] === 1 &&
      event.type === 'content_block_delta' && {
        delta: {
          type: 'text_delta',
          text: String((event['delta'] as any).text)
            .replace('Grüße ', 'a cana')
            .replace('zurück', 'ry b'),
        },
      }),
  }));
  const streamOf =
    (events: readonly object[]): Parameters<typeof sameWire>[0] =>
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(events.map((event) => eventText(event as never)).join(''));
    };

  for (const stream of ['end', 'window']) {
    it(`end a stream of the vendor with an error, by ${stream}`, async () => {
      const { post } = await sameWire(streamOf(EVENTS), { plugins: [regex('after_request', { stream })] });
      const answer = await post({ ...hello, stream: true });
      const events = eventsOf(answer.text);
      expect(events.at(-1).error, answer.text).to.deep.include({ type: 'api_error' });
      expect(events.map(({ type }) => type)).to.not.include('message_stop');
      const text = events.map(({ delta }) => delta?.text ?? '').join('');
      if (stream === 'window') expect(text).to.not.include('cana');
    });

    it(`let a clean stream of the vendor pass whole, by ${stream}`, async () => {
      const { post } = await sameWire(streamOf(VENDOR_EVENTS), { plugins: [regex('after_request', { stream })] });
      const events = eventsOf((await post({ ...hello, stream: true })).text);
      expect(events.map(({ delta }) => delta?.text ?? '').join('')).to.equal('Grüße zurück');
      expect(events.find(({ delta }) => delta?.type === 'signature_delta').delta.signature).to.equal('c2ln');
      expect(events.at(-1).type).to.equal('message_stop');
    });
  }

  it('keep what only the vendor knows in a stream that they hold back', async () => {
    const events = [
      ...VENDOR_EVENTS.slice(0, 10),
      {
        type: 'content_block_start',
        index: 2,
        content_block: { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
      },
      { type: 'content_block_stop', index: 2 },
      ...VENDOR_EVENTS.slice(10),
    ];
    const { post } = await sameWire(streamOf(events), { plugins: [regex('after_request', { stream: 'window' })] });
    expect((await post({ ...hello, stream: true })).text).to.equal(
      events.map((event) => eventText(event as never)).join(''),
    );
  });

  /** A search that the vendor runs within its answer: what it looks for comes in pieces, what it found at once. */
  const searching = (query: readonly string[], title: string, cited = 'nothing'): readonly VendorEvent[] => [
    VENDOR_EVENTS[0] as VendorEvent,
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
    },
    ...query.map((partial_json) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json },
    })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'content_block_start',
      index: 1,
      content_block: {
        type: 'web_search_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: [
          { type: 'web_search_result', title, url: 'https://a.example', encrypted_content: 'RW5j', page_age: null },
        ],
      },
    },
    { type: 'content_block_stop', index: 1 },
    { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
    {
      type: 'content_block_delta',
      index: 2,
      delta: {
        type: 'citations_delta',
        citation: {
          type: 'web_search_result_location',
          cited_text: cited,
          url: 'https://a.example',
          title: 't',
          encrypted_index: 'RW5j',
        },
      },
    },
    { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'so it is' } },
    { type: 'content_block_stop', index: 2 },
    ...VENDOR_EVENTS.slice(-2),
  ];
  const PIECES = ['{"query":"', 'abc"}'];
  const ended = (more: object): readonly VendorEvent[] => [
    ...VENDOR_EVENTS.slice(0, 10),
    { ...(VENDOR_EVENTS[10] as VendorEvent), ...more },
    ...VENDOR_EVENTS.slice(11),
  ];
  const FOUND: readonly [string, readonly VendorEvent[]][] = [
    ['the result of a server tool', searching(PIECES, 'a canary sings')],
    ['what a server tool is asked', searching(['{"query":"a c', 'ana', 'ry"}'], 'a')],
    ['what is cited', searching(PIECES, 'a', 'a canary')],
    [
      'an event of tomorrow',
      [...searching(PIECES, 'a').slice(0, 4), { type: 'hologram', of: ['a canary'] }, ...VENDOR_EVENTS.slice(-2)],
    ],
    [
      'what the beginning says beside',
      [
        { type: 'message_start', message: vendorMessage([], { newest: { says: 'a canary' } }) },
        ...VENDOR_EVENTS.slice(1),
      ],
    ],
    ['the sequence that ended it', ended({ delta: { stop_reason: 'stop_sequence', stop_sequence: 'canary' } })],
    [
      'why it was refused',
      ended({
        delta: {
          stop_reason: 'refusal',
          stop_sequence: null,
          stop_details: { type: 'refusal', category: 'cyber', explanation: 'it is about a canary' },
        },
      }),
    ],
    [
      'what the end says beside',
      ended({ context_management: { applied_edits: [{ type: 'clear_tool_uses_20250919', of: 'canary' }] } }),
    ],
    ['a ping that speaks', [...VENDOR_EVENTS.slice(0, 2), { type: 'ping', of: 'canary' }, ...VENDOR_EVENTS.slice(3)]],
    [
      'the citations that a block begins with',
      [
        VENDOR_EVENTS[0] as VendorEvent,
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'text', text: '', citations: [{ type: 'char_location', cited_text: 'canary' }] },
        },
        { type: 'content_block_stop', index: 0 },
        ...VENDOR_EVENTS.slice(-2),
      ],
    ],
  ];
  for (const [what, events] of FOUND) {
    it(`read a stream of the vendor: ${what}`, async () => {
      for (const stream of ['end', 'window', 'record']) {
        const { host, post } = await sameWire(streamOf(events), { plugins: [regex('after_request', { stream })] });
        const answer = await post({ ...hello, stream: true });
        const last = eventsOf(answer.text).at(-1);
        if (stream === 'record') expect(last.type).to.equal('message_stop');
        else
          expect(last.error?.details, `${stream}: ${answer.text}`).to.deep.equal({ error_code: 'response_rejected' });
        if (stream === 'window') expect(answer.text).to.not.match(/cana|"ana"/);
        expect(
          host.lines.filter(({ plugin }) => plugin === 'regex-guard'),
          stream,
        ).to.have.length(stream === 'record' ? 1 : 0);
      }
    });
  }

  it('let a search of the vendor pass byte for byte, and mask what was found in its place', async () => {
    const clean = searching(PIECES, 'a');
    const window = await sameWire(streamOf(clean), { plugins: [regex('after_request', { stream: 'window' })] });
    expect((await window.post({ ...hello, stream: true })).text).to.equal(clean.map(eventText).join(''));
    const masking = await sameWire(streamOf(searching(['{"query":"', `${MAIL}"}`], `write to ${MAIL}`, `by ${MAIL}`)), {
      plugins: [{ name: 'pii-redact', stage: 'after_request', enabled: true, config: {} }],
    });
    const answer = await masking.post({ ...hello, stream: true });
    expect(answer.text).to.not.include(MAIL);
    const events = eventsOf(answer.text);
    expect(events.map(({ delta }) => delta?.partial_json ?? '').join('')).to.equal('{"query":"[EMAIL_1]"}');
    expect(events.find(({ index, content_block: block }) => index === 1 && block).content_block).to.deep.equal({
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: [
        {
          type: 'web_search_result',
          title: 'write to [EMAIL_1]',
          url: 'https://a.example',
          encrypted_content: 'RW5j',
          page_age: null,
        },
      ],
    });
    expect(events.find(({ delta }) => delta?.citation).delta.citation.cited_text).to.equal('by [EMAIL_1]');
    expect(events.at(-1).type).to.equal('message_stop');
  });

  it('mask a stream of the vendor', async () => {
    const masked = VENDOR_EVENTS.map((event) => ({
      ...event,
      ...(event['index'] === 1 &&
        event.type === 'content_block_delta' && {
          delta: {
            type: 'text_delta',
            text: String((event['delta'] as any).text)
              .replace('Grüße ', 'mail ann@exam')
              .replace('zurück', 'ple.com now'),
          },
        }),
    }));
    const { post } = await sameWire(streamOf(masked), {
      plugins: [
        { name: 'pii-redact', stage: 'before_request', enabled: true, config: {} },
        { name: 'pii-redact', stage: 'after_request', enabled: true, config: {} },
      ],
    });
    const answer = await post({ ...hello, stream: true });
    expect(
      eventsOf(answer.text)
        .map(({ delta }) => delta?.text ?? '')
        .join(''),
    ).to.equal('mail [EMAIL_1] now');
  });

  it('mask what stands beside the blocks of a stream, and what its blocks begin with', async () => {
    const events = (mail: string): readonly VendorEvent[] => [
      { type: 'message_start', message: vendorMessage([], { stop_reason: null, newest: { says: `a ${mail}` } }) },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: `to ${mail}, ` } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'yes' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'text', text: '', citations: [{ type: 'char_location', cited_text: mail }] },
      },
      { type: 'content_block_stop', index: 1 },
      {
        type: 'message_delta',
        delta: {
          stop_reason: 'stop_sequence',
          stop_sequence: mail,
          container: { id: 'c_1', expires_at: '2026-01-01T00:00:00Z' },
        },
        usage: { output_tokens: 9 },
        newest: mail,
      },
      { type: 'message_stop' },
    ];
    const { post } = await sameWire(streamOf(events(MAIL)), {
      plugins: [{ name: 'pii-redact', stage: 'after_request', enabled: true, config: {} }],
    });
    expect(eventsOf((await post({ ...hello, stream: true })).text)).to.deep.equal(events('[EMAIL_1]'));
  });

  it('mask what the beginning of a call holds in a stream of the vendor, and hold it back with stream: window', async () => {
    const calling = (block: object): readonly VendorEvent[] => [
      VENDOR_EVENTS[0] as VendorEvent,
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'toolu_1', name: 'f', input: {}, ...block },
      },
      { type: 'content_block_stop', index: 0 },
      ...VENDOR_EVENTS.slice(-2),
    ];
    for (const [block, masked] of [
      [{ input: { to: MAIL } }, { input: { to: '[EMAIL_1]' } }],
      [{ name: `to ${MAIL}` }, { name: 'to [EMAIL_1]' }],
    ] as const) {
      const ask = async (config: object): Promise<any[]> =>
        eventsOf(
          (
            await (
              await sameWire(streamOf(calling(block)), {
                plugins: [{ name: 'pii-redact', stage: 'after_request', enabled: true, config }],
              })
            ).post({ ...hello, stream: true })
          ).text,
        );
      const events = await ask({});
      expect(events.map(({ type }) => type)).to.deep.equal(calling({}).map(({ type }) => type));
      expect(events[1].content_block).to.deep.equal({
        type: 'tool_use',
        id: 'toolu_1',
        name: 'f',
        input: {},
        ...masked,
      });
      const refused = await ask({ action: 'reject', stream: 'window' });
      expect([JSON.stringify(refused).includes(MAIL), refused.at(-1).error?.details]).to.deep.equal([
        false,
        { error_code: 'response_rejected' },
      ]);
    }
    for (const type of ['tool_use', 'server_tool_use']) {
      const named = await sameWire(streamOf(calling({ type, input: { list: [{ canary: 1 }] } })), {
        plugins: [regex('after_request', { stream: 'window' })],
      });
      const { text } = await named.post({ ...hello, stream: true });
      expect([text.includes('canary'), eventsOf(text).at(-1).error?.details], `a name, ${type}`).to.deep.equal([
        false,
        { error_code: 'response_rejected' },
      ]);
    }
    const { post } = await sameWire(streamOf(calling({})), { plugins: [regex('after_request', { stream: 'window' })] });
    expect((await post({ ...hello, stream: true })).text).to.equal(calling({}).map(eventText).join(''));
  });

  it('keep an answer of the vendor out of the cache, and write one of another target in the wire of the client', async () => {
    const cache = {
      plugins: ['before_request', 'after_request'].map((stage) => ({
        name: 'response-cache',
        stage,
        enabled: true,
        config: {},
      })),
    };
    const same = await sameWire(
      (_request, response) => replyJson(response, 200, vendorMessage([{ type: 'text', text: 'a' }])),
      cache,
    );
    const cross = await crossWire(saying({ content: 'ok' }), cache);
    for (const gateway of [same, cross]) for (let at = 0; at < 2; at += 1) await gateway.post(hello);
    expect(same.upstream.seen).to.have.length(2);
    expect(cross.upstream.seen).to.have.length(1);
    const hit = await cross.post(hello);
    expect(hit.headers.get('x-gateway-cache')).to.equal('hit');
    expect(hit.json()).to.deep.include({ type: 'message', content: [{ type: 'text', text: 'ok', citations: null }] });
  });
});
