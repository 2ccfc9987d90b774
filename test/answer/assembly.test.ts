import { expect } from 'chai';
import { type ChatChunk, GatewayError } from '../../host/contract/index.ts';
import { Assembly } from '../../host/answer/assembly.ts';

const FACTS = { id: 'a', created: 1, model: 'm', provider: 'p', usage: undefined };

/** Adds choices as an upstream writes them: members keep whatever names the text gives them. */
function assembled(...choices: readonly string[]): any {
  const assembly = new Assembly();
  for (const choice of choices) assembly.add(JSON.parse(`{"choices":[${choice}]}`) as ChatChunk);
  return assembly.reply(FACTS).choices[0];
}

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__', 'valueOf'];

describe('an assembled answer', () => {
  const text = JSON.stringify;
  for (const name of NAMES) {
    it(`keeps members named ${name} to itself, wherever they stand`, () => {
      const member = (value: unknown): string => `{${text(name)}:${text(value)}}`;
      const twice = (make: (value: unknown) => string): any =>
        assembled(make({ a: 1 }), make({ polluted: true, b: { polluted: 2 } }));
      const delta = twice((value) => `{"index":0,"delta":${member(value)}}`);
      expect(text(delta.message)).to.include(`${text(name)}:{"a":1,"polluted":true,"b":{"polluted":2}}`);
      const logprobs = twice((value) => `{"index":0,"delta":{},"logprobs":${member(value)}}`);
      expect(text(logprobs.logprobs)).to.equal(member({ a: 1, polluted: true, b: { polluted: 2 } }));
      const inner = twice((value) => `{"index":0,"delta":{"audio":${member(value)}}}`);
      expect(text(inner.message.audio)).to.equal(member({ a: 1, polluted: true, b: { polluted: 2 } }));
      const details = twice(
        (value) => `{"index":0,"delta":{"reasoning_details":[{"index":7,${member(value).slice(1)}]}}`,
      );
      expect(text(details.message.reasoning_details)).to.equal(
        `[{"index":7,${member({ polluted: true, b: { polluted: 2 } }).slice(1)}]`,
      );
      const index = assembled(
        `{"index":0,"delta":{"reasoning_details":[{"index":${text(name)},"text":"a"},{"index":${text(name)},"text":"b"}]}}`,
      );
      expect(index.message.reasoning_details).to.deep.equal([{ index: name, text: 'ab' }]);
      expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
    });
  }

  it('puts the input of a custom tool together', () => {
    const { message } = assembled(
      '{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"custom","custom":{"name":"f","input":""}},{"index":1,"custom":{"input":"other"}}]}}',
      '{"index":0,"delta":{"tool_calls":[{"index":0,"custom":{"input":"one "}}]}}',
      '{"index":0,"delta":{"tool_calls":[{"index":0,"custom":{"input":"two"}}]}}',
    );
    expect(message.tool_calls.map(({ custom }: any) => custom)).to.deep.equal([
      { name: 'f', input: 'one two' },
      { input: 'other' },
    ]);
  });

  it('merges strings, lists and objects, and replaces the rest', () => {
    const { message, logprobs } = assembled(
      '{"index":0,"delta":{"refusal":"No","audio":{"id":"x","transcript":"a","n":1}},"logprobs":{"content":[1]}}',
      '{"index":0,"delta":{"refusal":"!","audio":{"transcript":"b","n":2,"id":null}},"logprobs":{"content":[2],"refusal":null}}',
    );
    expect(message).to.deep.include({ refusal: 'No!', audio: { id: 'x', transcript: 'ab', n: 2 } });
    expect(logprobs).to.deep.equal({ content: [1, 2], refusal: null });
  });

  it('merges reasoning details of one index and kind; a piece that names no kind belongs to the last', () => {
    const { message } = assembled(
      ...[
        { type: 'reasoning.text', index: 0, text: 'a' },
        { type: 'reasoning.text', index: 0, text: 'b' },
        { type: 'reasoning.encrypted', index: 0, data: 'k' },
        { index: 0, id: 'c' },
        { type: 'reasoning.text', index: 0, text: 'c' },
        { type: 'reasoning.text', index: 1, text: 'd' },
        { index: 2, text: 'e' },
        { type: 'reasoning.text', index: 2, text: 'f' },
      ].map((item) => text({ index: 0, delta: { reasoning_details: [item] } })),
    );
    expect(message.reasoning_details).to.deep.equal([
      { type: 'reasoning.text', index: 0, text: 'abc' },
      { type: 'reasoning.encrypted', index: 0, data: 'k', id: 'c' },
      { type: 'reasoning.text', index: 1, text: 'd' },
      { index: 2, text: 'ef', type: 'reasoning.text' },
    ]);
  });

  it('leaves the chunks as they came', () => {
    const chunk = (): ChatChunk => ({
      choices: [{ index: 0, delta: { audio: { id: 'x' }, parts: ['a'] }, logprobs: { content: [1] } }],
    });
    const assembly = new Assembly();
    const first = chunk();
    assembly.add(first);
    assembly.add(chunk());
    expect(first).to.deep.equal(chunk());
    expect(assembly.reply(FACTS).choices[0]?.message).to.deep.include({ audio: { id: 'xx' }, parts: ['a', 'a'] });
  });
});

describe('what an assembled answer keeps', () => {
  const MIB = 1024 * 1024;
  const long = 'x'.repeat(MIB);
  const pieces: readonly (readonly [what: string, choice: object])[] = [
    ['content', { delta: { content: long } }],
    ['reasoning', { delta: { reasoning_content: long } }],
    ['input of custom tools', { delta: { tool_calls: [{ index: 0, custom: { input: long } }] } }],
    ['arguments', { delta: { tool_calls: [{ index: 0, function: { arguments: long } }] } }],
    ['a refusal', { delta: { refusal: long } }],
    ['reasoning details', { delta: { reasoning_details: [{ index: 0, text: long }] } }],
    ['reasoning details without an index', { delta: { reasoning_details: [{ text: long }] } }],
    ['log probabilities', { delta: {}, logprobs: { content: [{ token: long }] } }],
    ['an unknown member', { delta: { audio: { parts: [{ deep: [long] }] } } }],
    ['long names', { delta: { [`${long}a`]: 1 } }],
    ['many small values', { delta: {}, logprobs: { content: Array.from({ length: MIB / 8 }, () => 0) } }],
    ['names of calls', { delta: { tool_calls: [{ function: { name: long } }] } }],
  ];
  for (const [what, choice] of pieces) {
    it(`is bounded: ${what}`, () => {
      const assembly = new Assembly();
      const add = (): void => assembly.add(structuredClone({ choices: [{ index: 0, ...choice }] }) as ChatChunk);
      expect(() => {
        for (let at = 0; at < 40; at += 1) add();
      }, '40 MiB').not.to.throw();
      expect(() => {
        for (let at = 0; at < 20; at += 1) add();
      }, '60 MiB')
        .to.throw(GatewayError)
        .with.property('code', 'upstream_error');
    });
  }
});
