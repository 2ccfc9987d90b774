import { expect } from 'chai';
import type { ChatRequest, Exchange } from 'gw/contract';
import { AnswerStore } from '../../plugins/response-cache/store.ts';
import { keyOf } from '../../plugins/response-cache/key.ts';

describe('the key of a cached answer', () => {
  const FULL: ChatRequest = {
    model: 'm',
    messages: [
      {
        role: 'user',
        name: 'n',
        content: [
          { type: 'text', text: 't' },
          { type: 'image_url', image_url: { url: 'u', detail: 'low' } },
          { type: 'input_audio', input_audio: { data: 'd', format: 'wav' } },
          { type: 'file', file: { file_id: 'f' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'r',
        reasoning_details: [{ text: 'x' }],
        tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'ok' },
    ],
    temperature: 1,
    top_p: 1,
    n: 1,
    seed: 1,
    max_tokens: 1,
    max_completion_tokens: 1,
    presence_penalty: 1,
    frequency_penalty: 1,
    stop: ['s'],
    tools: [{ type: 'function', function: { name: 'f' } }],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    response_format: { type: 'text' },
    logprobs: true,
    top_logprobs: 1,
    user: 'u',
    logit_bias: { 1: 2, 3: 4 },
    only_forwarded: { deep: [1] },
  };
  const base = {
    surface: 'chat',
    principal: { id: 'a', name: 'a', scopes: [] },
    model: 'm',
    streaming: false,
    metadata: { team: 'x' },
    request: FULL,
  };
  const key = (more: object = {}): string => keyOf({ ...base, ...more } as unknown as Exchange);
  const asking = (more: object): string => key({ request: { ...FULL, ...more } });

  it('differs in everything that travels upstream, wherever it stands', () => {
    const places: string[] = [];
    const visit = (value: unknown, change: (next: unknown) => object, path: string): void => {
      if (typeof value !== 'object' || value === null) {
        places.push(path);
        expect(key({ request: change(typeof value === 'string' ? `${value}!` : 99) }), path).to.not.equal(key());
        expect(key({ request: change(undefined) }), `${path} absent`).to.not.equal(key());
        return;
      }
      for (const [name, member] of Object.entries(value)) {
        visit(
          member,
          (next) => change(Array.isArray(value) ? value.with(Number(name), next) : { ...value, [name]: next }),
          `${path}.${name}`,
        );
      }
    };
    const { model: _model, ...rest } = FULL;
    visit(rest, (next) => next as object, '');
    expect(places).to.have.length.above(40);
  });

  it('differs by credential, model, stream and metadata, and not by stream_options', () => {
    for (const more of [
      { principal: undefined },
      { principal: { id: 'b' } },
      { model: 'm2' },
      { streaming: true },
      { metadata: {} },
      { metadata: { team: 'y' } },
    ])
      expect(key(more), JSON.stringify(more)).to.not.equal(key());
    expect(asking({ stream_options: { include_usage: true } })).to.equal(key());
  });

  it('does not depend on the order of members', () => {
    const turned = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(turned);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .toReversed()
          .map(([name, member]) => [name, turned(member)]),
      );
    };
    expect(key({ request: turned(FULL) })).to.equal(key());
  });

  it('tells apart what looks alike once it is joined', () => {
    const messages = (...contents: readonly string[]): string =>
      asking({ messages: contents.map((content) => ({ role: 'user', content })) });
    expect(messages('a', 'b')).to.not.equal(messages('ab'));
    expect(messages('1:a')).to.not.equal(messages('a'));
    expect(asking({ parallel_tool_calls: false })).to.not.equal(asking({ parallel_tool_calls: undefined }));
    expect(messages('\ud800')).to.not.equal(messages('\ud801'));
    expect(messages('\ud800')).to.not.equal(messages('\ufffd'));
    expect(messages('\ud800')).to.equal(messages('\ud800'));
    expect(asking({ seed: '1' })).to.not.equal(asking({ seed: 1 }));
    expect(
      asking({ seed: (JSON as unknown as { rawJSON(text: string): object }).rawJSON('9007199254740993') }),
    ).to.not.equal(asking({ seed: 9007199254740992 }));
  });
});

describe('the store of answers', () => {
  const kept = (bytes: number): { body: Uint8Array; reportedModel: undefined } => ({
    body: new Uint8Array(bytes),
    reportedModel: undefined,
  });

  it('overwrites without driving anything else out', () => {
    const store = new AnswerStore({ maxAgeMs: 10, maxEntries: 2, maxBytes: 100 });
    for (const key of ['a', 'b', 'b', 'a']) store.set(key, kept(50), 0);
    expect([store.size, store.bytes]).to.deep.equal([2, 100]);
  });

  it('counts what it holds, whatever comes and goes', () => {
    const store = new AnswerStore({ maxAgeMs: 10, maxEntries: 5, maxBytes: 100 });
    for (let step = 0; step < 2000; step += 1) {
      store.set(`k${(step * 7) % 11}`, kept((step * 13) % 60), step);
      store.get(`k${(step * 3) % 11}`, step);
      expect(store.bytes).to.be.within(0, 100);
      expect(store.size).to.be.at.most(5);
    }
    for (let key = 0; key < 11; key += 1) store.get(`k${key}`, 1e9);
    expect([store.size, store.bytes]).to.deep.equal([0, 0]);
  });
});
