import { expect } from 'chai';
import { answerOf } from '../differential/answers/answer.ts';
import { eventsOf, type Habits, habitsOf, responseOf, responses, USUAL } from '../differential/answers/responses.ts';
import { sse } from '../differential/answers/answer.ts';
import { cases, Dice, some } from '../kit/index.ts';
import { cutAtRandom } from './native-support.ts';
import { readStream, readWhole, saidIn } from './responses-support.ts';

type Fields = Record<string, any>;

const MESSAGE = (...texts: string[]): Fields => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: texts.map((text) => ({ type: 'output_text', text, annotations: [] })),
});
const CALL = (id: string, name: string, args: string): Fields => ({
  id: `fc_${id}`,
  type: 'function_call',
  call_id: id,
  name,
  arguments: args,
  status: 'completed',
});
const THOUGHT = (...texts: string[]): Fields => ({
  id: 'rs_1',
  type: 'reasoning',
  summary: texts.map((text) => ({ type: 'summary_text', text })),
});

/** The answer whole and streamed, which must be one. */
function bothWays(response: Fields, request: object = {}): Fields {
  const whole = saidIn(readWhole(response, request));
  const { reply, failure } = readStream(eventsOf(response, new Dice(1)), { request });
  expect(failure).to.equal(undefined);
  expect(saidIn(reply)).to.deep.equal(whole);
  return whole;
}

describe('chats by the Responses API, the answer', () => {
  it('is a choice with id, model, time and tier', () => {
    const reply = readWhole(responseOf([MESSAGE('a', 'b')], { created_at: 1_764_000_000.7 }));
    const { choices, usage, ...head } = reply;
    expect(head).to.deep.equal({
      id: 'resp_7Kq2',
      object: 'chat.completion',
      created: 1_764_000_000,
      model: 'routed',
      provider: 'p',
      service_tier: 'default',
    });
    expect(choices).to.deep.equal([{ index: 0, message: { role: 'assistant', content: 'ab' }, finish_reason: 'stop' }]);
    expect(usage).to.deep.equal({ prompt_tokens: 40, completion_tokens: 12, total_tokens: 52 });
  });

  it('has the head of the response in every chunk, and role, end and usage once', () => {
    const { chunks } = readStream(eventsOf(responseOf([MESSAGE('harbour')]), new Dice(1)));
    for (const chunk of chunks)
      expect(chunk).to.include({ id: 'resp_7Kq2', created: 1_764_000_000, service_tier: 'default' });
    expect(chunks[0]!.choices[0]!.delta.role).to.equal('assistant');
    expect(chunks.filter(({ choices: [choice] }) => choice?.finish_reason)).to.have.length(1);
    expect(chunks.filter(({ usage }) => usage)).to.deep.equal([chunks.at(-1)]);
    expect(chunks.at(-1)!.choices).to.deep.equal([]);
  });

  it('joins messages with a blank line, and moves the places of sources along', () => {
    const cited = (url: string, start: number, end: number): Fields => ({
      type: 'url_citation',
      url,
      title: 'T',
      start_index: start,
      end_index: end,
    });
    const [first, second] = [MESSAGE('one', 'two'), MESSAGE('three')];
    first['content'][1].annotations = [cited('https://a', 0, 3), { type: 'file_citation', file_id: 'f', index: 1 }];
    second['content'][0].annotations = [cited('https://b', 1, 2)];
    const said = bothWays(responseOf([first, { type: 'web_search_call', id: 'ws_1', status: 'completed' }, second]));
    expect(said['content']).to.equal('onetwo\n\nthree');
    expect(
      said['annotations'].map(({ url_citation: { url, start_index: start, end_index: end } }: Fields) => [
        url,
        start,
        end,
      ]),
    ).to.deep.equal([
      ['https://a', 3, 6],
      ['https://b', 9, 10],
    ]);
  });

  it('is a refusal beside a content of nothing, and ends as others do', () => {
    const refused = { ...MESSAGE(), content: [{ type: 'refusal', refusal: 'I will not.' }] };
    expect(readWhole(responseOf([refused])).choices[0]).to.deep.equal({
      index: 0,
      message: { role: 'assistant', content: null, refusal: 'I will not.' },
      finish_reason: 'stop',
    });
    expect(bothWays(responseOf([refused]))['refusal']).to.equal('I will not.');
    expect(readWhole(responseOf([])).choices[0]!.message.content).to.equal('');
  });

  it('tells how likely its tokens were, with bytes of null where there are none', () => {
    const token = { token: 'a', logprob: -0.1, top_logprobs: [{ token: 'b', logprob: -2, bytes: [98] }] };
    const message = MESSAGE('a');
    message['content'][0].logprobs = [token];
    const expected = { content: [{ ...token, bytes: null }] };
    expect(readWhole(responseOf([message])).choices[0]!['logprobs']).to.deep.equal(expected);
    const events = eventsOf(responseOf([message]), new Dice(1)).map((event) =>
      event['type'] === 'response.output_text.delta' ? { ...event, logprobs: [token] } : event,
    );
    expect(readStream(events).reply.choices[0]!['logprobs']).to.deep.equal(expected);
  });

  it('has calls in the order of the output, by their call id, and the item id where that is missing', () => {
    const said = bothWays(
      responseOf([
        MESSAGE('look'),
        CALL('call_1', 'read', '{"a":1}'),
        { id: 'ct_2', type: 'custom_tool_call', call_id: 'call_2', name: 'sql', input: 'SELECT 1' },
        { id: 'fc_3', type: 'function_call', name: 'list', arguments: '{}' },
      ]),
    );
    expect(said['finish']).to.equal('tool_calls');
    expect(said['calls']).to.deep.equal([
      { callId: 'call_1', type: 'function', called: { name: 'read', arguments: '{"a":1}' } },
      { callId: 'call_2', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } },
      { callId: 'fc_3', type: 'function', called: { name: 'list', arguments: '{}' } },
    ]);
    expect(readWhole(responseOf([CALL('c', 'f', '{}')])).choices[0]!.message.content).to.equal(null);
  });

  it('shows thoughts: parts and items with a blank line between, in the form that comes first', () => {
    const text = { id: 'rs_2', type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'plain' }] };
    const said = bothWays(responseOf([THOUGHT('one', 'two'), text, MESSAGE('x')]));
    expect(said['reasoning_content']).to.equal('one\n\ntwo\n\nplain');
    const both = { ...THOUGHT('short'), content: [{ type: 'reasoning_text', text: 'long' }] };
    expect(readWhole(responseOf([both])).choices[0]!.message.reasoning_content).to.equal('short');
  });

  it('leaves out what the vendor ran itself, and what is not known', () => {
    const types = [
      'web_search_call',
      'file_search_call',
      'code_interpreter_call',
      'mcp_call',
      'mcp_list_tools',
      'compaction',
    ];
    const others = ['image_generation_call', 'shell_call', 'of_next_year'];
    const said = bothWays(responseOf([...[...types, ...others].map((type) => ({ id: 'x', type })), MESSAGE('done')]));
    expect(said).to.include({ content: 'done', finish: 'stop' });
    expect(said['calls']).to.deep.equal([]);
  });

  describe('the wrapper of calls that is not declared', () => {
    const wrapped = (recipient: string): string =>
      JSON.stringify({
        tool_uses: [
          { recipient_name: 'functions.tide', parameters: { at: 'Brest' } },
          { recipient_name: recipient, parameters: {} },
        ],
      });
    const declared = (...names: string[]): object => ({
      tools: names.map((name) => ({ type: 'function', function: { name } })),
    });

    it('is the calls that it holds', () => {
      const response = responseOf([
        THOUGHT(),
        CALL('c1', 'parallel', wrapped('functions.wind')),
        CALL('c2', 'tide', '{}'),
      ]);
      expect(bothWays(response, declared('tide', 'wind'))['calls']).to.deep.equal([
        { callId: 'c1_0', type: 'function', called: { name: 'tide', arguments: '{"at":"Brest"}' } },
        { callId: 'c1_1', type: 'function', called: { name: 'wind', arguments: '{}' } },
        { callId: 'c2', type: 'function', called: { name: 'tide', arguments: '{}' } },
      ]);
    });

    it('is a call as it came where its id is so long that its calls would repeat megabytes of it', () => {
      const uses = Array.from({ length: 900 }, () => ({ recipient_name: 'functions.tide', parameters: {} }));
      const response = responseOf([CALL('c'.repeat(20_000), 'parallel', JSON.stringify({ tool_uses: uses }))]);
      expect(readWhole(response, declared('tide')).choices[0]!.message.tool_calls).to.have.length(1);
    });

    it('is a call as it came where it is declared, or holds anything else', () => {
      for (const [args, names] of [
        [wrapped('functions.wind'), ['tide', 'wind', 'parallel']],
        [wrapped('functions.wind'), ['tide']],
        [wrapped('wind'), ['tide', 'wind']],
        ['{"tool_uses":[]}', ['tide']],
        ['{"tool_uses":[{"recipient_name":"functions.tide"}]}', ['tide']],
        ['no JSON', ['tide']],
        ['', ['tide']],
      ] as const)
        expect(bothWays(responseOf([CALL('c1', 'parallel', args)]), declared(...names))['calls'], args).to.deep.equal([
          { callId: 'c1', type: 'function', called: { name: 'parallel', arguments: args } },
        ]);
    });
  });

  it('ends as the response says', () => {
    const ends: readonly (readonly [object, string])[] = [
      [{}, 'stop'],
      [{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'length'],
      [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'content_filter'],
      [{ status: 'incomplete', incomplete_details: { reason: 'of_next_year' } }, 'length'],
      [{ status: 'incomplete', incomplete_details: null }, 'length'],
    ];
    for (const [more, finish] of ends)
      expect(bothWays(responseOf([MESSAGE('x')], more))['finish'], JSON.stringify(more)).to.equal(finish);
  });

  it('counts cache writes beside the prompt, and believes no part that is larger than the whole', () => {
    const counted = (input: number, read: number, written: number): unknown =>
      bothWays(
        responseOf([MESSAGE('x')], {
          usage: {
            input_tokens: input,
            input_tokens_details: { cached_tokens: read, cache_write_tokens: written },
            output_tokens: 30,
            output_tokens_details: { reasoning_tokens: 20 },
            total_tokens: input + 30,
            orchestration_input_tokens: 4,
          },
        }),
      )['usage'];
    expect(counted(1000, 300, 500)).to.deep.equal({
      prompt_tokens: 500,
      completion_tokens: 30,
      total_tokens: 530,
      reasoning_tokens: 20,
      cache_read_tokens: 300,
      cache_write_tokens: 500,
      prompt_tokens_details: { cached_tokens: 300 },
      completion_tokens_details: { reasoning_tokens: 20 },
      orchestration_input_tokens: 4,
    });
    expect(counted(1000, 300, 20)).to.include({ prompt_tokens: 980, completion_tokens: 30, total_tokens: 1010 });
    expect(counted(100, 60, 50))
      .to.include({ prompt_tokens: 100, total_tokens: 130 })
      .and.not.have.property('cache_write_tokens');
    expect(readWhole(responseOf([], { usage: null })).usage).to.equal(undefined);
  });

  it('is unusable while it is not over, and without a list of output', () => {
    for (const more of [{ status: 'in_progress' }, { status: 'queued' }, { status: 'cancelled' }, { output: null }])
      expect(() => readWhole(responseOf([], more)), JSON.stringify(more)).to.throw();
  });
});

/** An event without what says nothing here, so that fewer cuts are tried. */
function shortened({ obfuscation: _filling, sequence_number: _number, item_id: _item, ...event }: Fields): Fields {
  if (event['type'] !== 'response.created' && event['type'] !== 'response.in_progress') return event;
  const { id, model, created_at: time, service_tier: tier } = event['response'];
  return { ...event, response: { id, model, created_at: time, service_tier: tier } };
}

const WORDS = ['a', ' tide', '\n', '"', '\\', 'é', '水', '🌊', '\n\n', '[DONE]', 'data: '];
const words = (dice: Dice): string => Array.from({ length: 1 + dice.below(6) }, () => dice.pick(WORDS)).join('');

/** Any output that a vendor might give. */
function outputOf(dice: Dice): Fields[] {
  return Array.from({ length: dice.below(7) }, (_, at) => itemOf(dice, at));
}

function itemOf(dice: Dice, at: number): Fields {
  const id = `item_${at}`;
  switch (dice.below(6)) {
    case 0:
      return { id, type: 'web_search_call', status: 'completed' };
    case 1:
      return { ...CALL(`call_${at}`, dice.pick(['tide', 'wind']), JSON.stringify({ at: words(dice) })), id };
    case 2:
      return { id, type: 'custom_tool_call', call_id: `call_${at}`, name: 'sql', input: words(dice) };
    case 3:
      return {
        ...THOUGHT(...Array.from({ length: dice.below(3) }, () => words(dice))),
        id,
        ...(dice.below(3) > 0 && { encrypted_content: `sealed-${at}` }),
      };
    default:
      return {
        ...MESSAGE(...Array.from({ length: dice.below(3) }, () => words(dice))),
        id,
        ...(dice.below(2) === 0 && { phase: dice.pick(['commentary', 'final_answer']) }),
      };
  }
}

describe('chats by the Responses API, answers of any form', () => {
  it('are the same whole and streamed, whatever the habits of the server and wherever the bytes are cut', () => {
    for (let seed = 1; seed <= cases(2000); seed += 1) {
      const dice = new Dice(seed);
      const response = responseOf(outputOf(dice));
      const habits = habitsOf(dice);
      const whole = saidIn(readWhole(response));
      const { reply, failure } = readStream(eventsOf(response, dice, habits), {
        cut: (bytes) => cutAtRandom(bytes, dice),
        tail: dice.pick(['', 'data: [DONE]\n\n']),
      });
      const shown = JSON.stringify({ seed, habits, response });
      expect(failure, shown).to.equal(undefined);
      expect(saidIn(reply), shown).to.deep.equal(whole);
    }
  });

  it('are the same at every cut of a stream', () => {
    const response = responseOf([
      { ...THOUGHT('think 🌊'), encrypted_content: 'sealed' },
      { ...MESSAGE('look水'), phase: 'commentary' },
      CALL('call_1', 'tide', '{"at":"é"}'),
    ]);
    const events = eventsOf(response, new Dice(3), { ...USUAL, repeats: false }).map(shortened);
    const whole = saidIn(readWhole(response));
    const { length } = sse(events, { isNamed: true });
    for (const at of some([...Array(length).keys()].slice(1), { every: 11, from: 3 })) {
      const { reply } = readStream(events, { cut: (bytes) => [bytes.subarray(0, at), bytes.subarray(at)] });
      expect(saidIn(reply), `cut at ${at}`).to.deep.equal(whole);
    }
  });

  it('hold what was answered', () => {
    for (let seed = 1; seed <= cases(500); seed += 1) {
      const answer = answerOf(new Dice(seed));
      const said = saidIn(readWhole(responses.whole(answer, new Dice(seed))));
      const texts = answer.blocks.filter(({ kind }) => kind === 'text').map((block) => (block as Fields)['text']);
      expect(said['content'], `seed ${seed}`).to.equal(texts.join(''));
      expect(said['id']).to.equal(answer.id);
    }
  });
});

describe('chats by the Responses API, events', () => {
  const RESPONSE = responseOf([
    { ...THOUGHT('hm'), encrypted_content: 'sealed' },
    MESSAGE('fine'),
    CALL('c1', 'f', '{"a":1}'),
  ]);
  const told = (habits: Partial<Habits>): Fields[] => eventsOf(RESPONSE, new Dice(5), { ...USUAL, ...habits });

  it('that say nothing give no chunk', () => {
    const silent = [
      'response.created',
      'response.queued',
      'response.in_progress',
      'keepalive',
      'response.web_search_call.searching',
      'x',
    ];
    const { chunks, failure } = readStream(silent.map((type) => ({ type, response: {} })));
    expect(chunks).to.deep.equal([]);
    expect(failure?.message).to.equal('the provider sent an unusable answer');
  });

  it('may lack the last one: then the answer is broken off, with and without an end mark', () => {
    const cut = told({}).filter(({ type }) => type !== 'response.completed');
    for (const tail of ['', 'data: [DONE]\n\n']) {
      const { failure, chunks } = readStream(cut, { tail });
      expect(failure, JSON.stringify(tail)).to.be.instanceOf(Error);
      expect(chunks.length).to.be.greaterThan(2);
    }
  });

  it('may be the last one alone', () => {
    const [created, , ...rest] = told({});
    const { reply } = readStream([created!, rest.at(-1)!]);
    expect(saidIn(reply)).to.deep.equal(saidIn(readWhole(RESPONSE)));
  });

  it('behind the end are not heard, but for usage that has not come', () => {
    const events = told({});
    const last = events.at(-1)!;
    const { usage: _usage, ...unpriced } = RESPONSE;
    const again = { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'late' };
    const { reply, chunks } = readStream([...events.slice(0, -1), { ...last, response: unpriced }, again, last, last]);
    expect(saidIn(reply)).to.deep.equal(saidIn(readWhole(RESPONSE)));
    expect(chunks.filter(({ usage }) => usage)).to.have.length(1);
  });

  it('without a place belong to the last item', () => {
    const placeless = told({}).map(({ output_index: _at, ...event }) => event);
    expect(saidIn(readStream(placeless).reply)).to.deep.equal(saidIn(readWhole(RESPONSE)));
  });

  it('of items that never began begin them', () => {
    const events = told({}).filter(({ type }) => type !== 'response.output_item.added');
    expect(saidIn(readStream(events).reply)).to.deep.equal(saidIn(readWhole(RESPONSE)));
  });

  it('may come out of the order of the output', () => {
    const [created, begun, ...rest] = told({ repeats: false });
    const of = (at: number): Fields[] => rest.filter(({ output_index: place }) => place === at);
    const { reply } = readStream([created!, begun!, ...of(1), ...of(0), ...of(2), rest.at(-1)!]);
    const [detail] = reply.choices[0]!.message.reasoning_details as readonly Fields[];
    expect(saidIn(reply)).to.include({ content: 'fine', reasoning_content: 'hm' });
    expect(detail).to.include({ data: 'sealed', id: 'c1' }); // the text had been said by then
  });

  it('by their names alone are read as well', () => {
    const text = told({})
      .map(({ type, ...event }) => `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join('');
    expect(saidIn(readStream([], { tail: text }).reply)).to.deep.equal(saidIn(readWhole(RESPONSE)));
  });

  it('are bounded: an answer of more than 1,024 items is broken off', () => {
    const many = (count: number): Fields => responseOf(Array.from({ length: count }, () => MESSAGE('x')));
    expect(readStream(eventsOf(many(1024), new Dice(1))).failure).to.equal(undefined);
    expect(readStream(eventsOf(many(1025), new Dice(1))).failure).to.be.instanceOf(Error);
    expect(() => readWhole(many(1025))).to.throw('1024 items');
  });
});
