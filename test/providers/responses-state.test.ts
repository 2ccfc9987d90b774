import { expect } from 'chai';
import type { CallInfo } from '../../host/contract/index.ts';
import { eventsOf, responseOf } from '../differential/answers/responses.ts';
import { cases, Dice } from '../kit/index.ts';
import { decoderFor, inputFor, readStream, readWhole, SEALING } from './responses-support.ts';

type Fields = Record<string, any>;

const FORMAT = 'openai-responses-v1';
const reasoning = (data?: string): Fields => ({
  id: `rs_${data}`,
  type: 'reasoning',
  summary: [],
  ...(data !== undefined && { encrypted_content: data }),
});
const message = (text: string, phase?: string): Fields => ({
  id: 'msg',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
  ...(phase !== undefined && { phase }),
});
const call = (id: string): Fields => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'f',
  arguments: '{}',
});
const search = { type: 'web_search_call', id: 'ws', status: 'completed' };
const sealed = (index: number, data: string, place: object, origin: string | null = 'openai'): Fields => ({
  type: 'reasoning.encrypted',
  format: FORMAT,
  index,
  ...(origin !== null && { origin }),
  data,
  ...place,
});

/** The details of the answer, which are the same whole and streamed. */
function detailsOf(output: readonly Fields[]): readonly unknown[] | undefined {
  const whole = readWhole(responseOf(output)).choices[0]!.message.reasoning_details;
  const streamed = readStream(eventsOf(responseOf(output), new Dice(2))).reply.choices[0]!.message.reasoning_details;
  expect(streamed).to.deep.equal(whole);
  return whole;
}

/** An earlier answer, as a client sends it back that keeps the message whole. */
const sentBack = (output: readonly Fields[], more: Partial<CallInfo> = {}): Fields[] =>
  inputFor([readWhole(responseOf(output)).choices[0]!.message], { facts: SEALING, ...more });

/** Items of the API as they are to come back: without ids, without summaries, texts in the easy form. */
const expected = (output: readonly Fields[]): Fields[] =>
  output.map(({ type, encrypted_content: data, content, phase, call_id: id, name, arguments: args }) => {
    if (type === 'reasoning') return { type, summary: [], encrypted_content: data };
    if (type === 'message') return { role: 'assistant', content: content[0].text, ...(phase && { phase }) };
    return { type, call_id: id, name, arguments: args };
  });

describe('chats by the Responses API, what comes back with the next turn', () => {
  it('is handed out with its place: the call or the text that follows, or none', () => {
    expect(detailsOf([reasoning('A'), call('c1'), reasoning('B'), call('c2')])).to.deep.equal([
      sealed(0, 'A', { id: 'c1' }),
      sealed(2, 'B', { id: 'c2' }),
    ]);
    expect(detailsOf([reasoning('A'), message('one'), reasoning('B'), message('two')])).to.deep.equal([
      sealed(0, 'A', { start: 0 }),
      sealed(2, 'B', { start: 5 }),
    ]);
    expect(detailsOf([reasoning('A'), reasoning('B'), call('c1'), reasoning('C')])).to.deep.equal([
      sealed(0, 'A', { id: 'c1' }),
      sealed(1, 'B', { id: 'c1' }),
      sealed(3, 'C', {}),
    ]);
  });

  it('is not handed out where it stands in front of what the vendor ran itself', () => {
    expect(detailsOf([reasoning('A'), search, reasoning('B'), message('x')])).to.deep.equal([
      sealed(2, 'B', { start: 0 }),
    ]);
    expect(detailsOf([reasoning('A'), search])).to.equal(undefined);
    expect(detailsOf([reasoning(), message('x')])).to.equal(undefined);
  });

  it('tells which texts were said on the way', () => {
    expect(detailsOf([message('look', 'commentary'), call('c1'), message('done', 'final_answer')])).to.deep.equal([
      { type: 'reasoning.phase', format: FORMAT, index: 0, start: 0, end: 4, phase: 'commentary' },
      { type: 'reasoning.phase', format: FORMAT, index: 2, start: 6, end: 10, phase: 'final_answer' },
    ]);
  });

  it('is what the last event of an item says, or the whole output where that says nothing', () => {
    const response = responseOf([reasoning('late'), message('x')]);
    const events = eventsOf(response, new Dice(1)).map((event) =>
      event['type'] === 'response.output_item.done' && event['output_index'] === 0
        ? { ...event, item: reasoning() }
        : event,
    );
    expect(readStream(events).reply.choices[0]!.message.reasoning_details).to.deep.equal([
      sealed(0, 'late', { start: 0 }),
    ]);
  });

  it('comes before the call whose wrapper it stood in front of', () => {
    const wrapper = {
      ...call('c1'),
      name: 'parallel',
      arguments: '{"tool_uses":[{"recipient_name":"functions.f","parameters":{}}]}',
    };
    const request = { tools: [{ type: 'function', function: { name: 'f' } }] };
    const output = [reasoning('A'), wrapper];
    for (const reply of [
      readWhole(responseOf(output), request),
      readStream(eventsOf(responseOf(output), new Dice(1)), { request }).reply,
    ])
      expect(reply.choices[0]!.message.reasoning_details).to.deep.equal([sealed(0, 'A', { id: 'c1_0' })]);
  });

  it('waits within a bound, which counts what stays behind no more', () => {
    const read = (followed: Fields | undefined): number => {
      const decode = decoderFor();
      let chunks = 0;
      const say = (type: string, at: number, item: Fields): void => {
        const event = { type: `response.output_item.${type}`, output_index: at, item };
        chunks += decode({ type: '', data: JSON.stringify(event) })?.length ?? 0;
      };
      for (let at = 0; at < 40; at += 2) {
        say('done', at, reasoning('x'.repeat(1024 * 1024)));
        if (followed) say('added', at + 1, followed);
      }
      return chunks;
    };
    expect(() => read(undefined)).to.throw('the sealed thoughts have no end');
    expect(read(search)).to.equal(0);
    expect(read(call('c'))).to.be.above(40);
  });

  it('goes back as the items that it was, each in its place, for any answer', () => {
    for (let seed = 1; seed <= cases(2000); seed += 1) {
      const dice = new Dice(seed);
      const output = carriedOutput(dice);
      const texts = output.filter(({ type }) => type === 'message');
      const calls = output.filter(({ type }) => type === 'function_call');
      const first = output.findIndex(({ type }) => type === 'function_call');
      const isOrdered = first < 0 || output.slice(first).every(({ type }) => type !== 'message');
      const items = sentBack(output);
      const shown = JSON.stringify({ seed, output, items });
      if (isOrdered) expect(items, shown).to.deep.equal(expected(output));
      expect(
        items.filter(({ role }) => role),
        shown,
      ).to.deep.equal(expected(texts));
      expect(
        items.filter(({ type }) => type === 'function_call'),
        shown,
      ).to.deep.equal(expected(calls));
      for (const [at, item] of items.entries()) {
        if (item['type'] !== 'reasoning') continue;
        const was = output.findIndex((each) => each['encrypted_content'] === item['encrypted_content']);
        const [follows, followed] = [items.slice(at + 1), output.slice(was + 1)].map((list) =>
          list.find(({ type }) => type !== 'reasoning'),
        );
        expect(follows, shown).to.deep.equal(expected([followed!])[0]);
      }
    }
  });

  it('stays behind where another provider made it, or another vendor, or the model takes none', () => {
    const turn = (details: readonly object[]): Fields[] => [
      { role: 'assistant', content: 'x', reasoning_content: 'thoughts', reasoning_details: details },
    ];
    const own = sealed(0, 'A', { start: 0 });
    const sent = (details: readonly object[], more: Partial<CallInfo> = {}): unknown[] =>
      inputFor(turn(details), { facts: SEALING, ...more }).filter(({ type }) => type === 'reasoning');
    expect(sent([own])).to.have.length(1);
    expect(sent([sealed(0, 'A', { start: 0 }, null)])).to.have.length(1);
    expect(sent([own], { provider: 'xai' })).to.deep.equal([]);
    expect(sent([sealed(0, 'A', {}, 'azure-openai')])).to.deep.equal([]);
    expect(sent([{ ...own, format: 'anthropic-claude-v1' }])).to.deep.equal([]);
    expect(
      sent([
        { ...own, data: '' },
        { ...own, type: 'reasoning.text', text: 'A' },
      ]),
    ).to.deep.equal([]);
    expect(sent([own], { leavesThoughts: true })).to.deep.equal([]);
    for (const facts of [undefined, {}, { ...SEALING, thoughts_back: 'none' as const }])
      expect(sent([own], { facts }), JSON.stringify(facts)).to.deep.equal([]);
    expect(JSON.stringify(inputFor(turn([own])))).not.to.include('thoughts');
  });

  it('keeps the marks of texts where the thoughts stay behind, for models that know them', () => {
    const output = [reasoning('A'), message('look', 'commentary'), call('c1')];
    const refused = sentBack(output, { leavesThoughts: true });
    expect(refused).to.deep.equal(expected(output.slice(1)));
    expect(sentBack(output, { facts: { ...SEALING, phases: false } })[1]).to.deep.equal({
      role: 'assistant',
      content: 'look',
    });
  });

  it('does no harm where a client brings it back changed, or in part', () => {
    const turn = (content: unknown, details: readonly unknown[], more: object = {}): Fields[] =>
      inputFor([{ role: 'assistant', content, reasoning_details: details, ...more }], { facts: SEALING });
    const item = { type: 'reasoning', summary: [], encrypted_content: 'A' };
    expect(turn('short', [sealed(0, 'A', { start: 400 })])).to.deep.equal([
      { role: 'assistant', content: 'short' },
      item,
    ]);
    expect(turn('a🌊b', [sealed(0, 'A', { start: 2 })])).to.deep.equal([
      { role: 'assistant', content: 'a' },
      item,
      { role: 'assistant', content: '🌊b' },
    ]);
    expect(turn('x', [sealed(0, 'A', { id: 'gone' })])).to.deep.equal([{ role: 'assistant', content: 'x' }]);
    expect(turn(null, [sealed(0, 'A', {})])).to.deep.equal([item]);
    const called = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const [again, sent] = [
      [sealed(0, 'A', { id: 'c' }), sealed(1, 'A', { id: 'c' })],
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    ];
    expect(turn(null, again, { tool_calls: [called, called] })).to.deep.equal([item, item, sent, sent]);
    for (const odd of [[null, 7, 'x'], [{ format: FORMAT }], [sealed(0, 'A', { start: -1, id: '' })], 'odd'])
      expect(() => turn('x', odd as never)).not.to.throw();
  });
});

/** An answer whose thoughts each stand in front of a text or a call. */
function carriedOutput(dice: Dice): Fields[] {
  const output: Fields[] = [];
  for (let left = 1 + dice.below(4); left > 0; left -= 1) {
    for (let thoughts = dice.below(3); thoughts > 0; thoughts -= 1) output.push(reasoning(`sealed ${output.length}`));
    output.push(
      dice.below(2) === 0
        ? message(dice.pick(['look', 'two\n\nlines', 'ends\n', '🌊']), dice.pick(['commentary', 'final_answer']))
        : call(`c${output.length}`),
    );
  }
  return output;
}
