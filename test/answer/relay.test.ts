import { expect } from 'chai';
import type { ChatChunk } from '../../host/contract/index.ts';
import { Relay } from '../../host/answer/relay.ts';
import type { RelayOptions } from '../../host/answer/relay-source.ts';
import type { RelayGuards } from '../../host/answer/relay-source.ts';
import { CommonStream } from '../../host/wire/common-wire.ts';
import { MAX_REPLY_BYTES } from '../../host/upstream/limits.ts';
import { eventsOf, sseEvent } from '../kit/index.ts';

const HEAD = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'routed' };
const CREATED = 1_700_000_123;

interface Relayed {
  readonly events: readonly any[];
  readonly out: string;
  readonly relay: Relay;
}

function relayText(body: string, options: Partial<RelayOptions> = {}): Relayed {
  const relay = new Relay({
    encoder: new CommonStream(),
    model: 'routed',
    created: CREATED,
    stripUsage: false,
    source: { speaks: 'common', framing: 'sse' },
    ...options,
  });
  let out = relay.push(Buffer.from(body));
  if (!relay.isDone && !relay.failure) out += relay.end();
  const text = Buffer.from(out, 'latin1').toString('utf8');
  return { relay, out: text, events: eventsOf(text) };
}

/** Relays these frames and an end marker. */
function relayFrames(frames: readonly unknown[], options: Partial<RelayOptions> = {}): Relayed {
  return relayText([...frames, '[DONE]'].map(sseEvent).join(''), options);
}

const passing = (holdsBack: boolean): RelayGuards => ({
  filter: (chunks) => chunks,
  holdsBack,
  awaitsVerdict: false,
});

function delta(value: object, more: object = {}): object {
  return { ...HEAD, choices: [{ index: 0, delta: value, finish_reason: null, ...more }] };
}

const assembled = ({ relay }: Relayed): any[] =>
  relay.assembly.reply({ id: '', created: 0, model: '', provider: '', usage: undefined }).choices;

describe('relay, chunk normalisation', () => {
  it('fills object and created when they are missing, with one time for all chunks', () => {
    const { object: _object, created: _created, ...bare } = HEAD;
    const { events } = relayFrames(
      [1, 2, 3].map(() => ({ ...bare, choices: [] })).concat({ ...bare, created: 0, choices: [] } as never),
    );
    expect(events.map(({ object, created }) => [object, created])).to.deep.equal(
      Array.from({ length: 4 }, () => ['chat.completion.chunk', CREATED]),
    );
  });

  it('keeps the object and created of the upstream', () => {
    const { events } = relayFrames([{ ...HEAD, object: 'its.own', choices: [] }]);
    expect(events[0]).to.include({ object: 'its.own', created: 1_760_000_000 });
  });

  it('carries the id forward, and invents none', () => {
    const { id: _id, ...bare } = HEAD;
    const ids = [undefined, '', 'a', undefined, '', 'b', undefined].map((id) => ({
      ...bare,
      ...(id !== undefined && { id }),
      choices: [],
    }));
    expect(relayFrames(ids).events.map(({ id }) => id)).to.deep.equal(['', '', 'a', 'a', 'a', 'b', 'b']);
  });

  it('names the routed model on every chunk, whatever the upstream calls it', () => {
    const { events } = relayFrames(
      ['routed-2026-01-15', '', undefined].map((model) => ({ ...HEAD, model, choices: [] })),
    );
    expect(events.map(({ model }) => model)).to.deep.equal(['routed', 'routed', 'routed']);
  });

  it('makes absent choices an empty list', () => {
    const { events } = relayFrames([
      { ...HEAD, choices: null },
      { ...HEAD, usage: null },
    ]);
    expect(events.map(({ choices }) => choices)).to.deep.equal([[], []]);
  });

  it('says the role once per choice, on its first chunk', () => {
    const frame = (index: number, role?: string): object => ({
      ...HEAD,
      choices: [{ index, delta: { ...(role !== undefined && { role }), content: 'x' }, finish_reason: null }],
    });
    const { events } = relayFrames([
      frame(0),
      frame(1, 'assistant'),
      frame(0, 'assistant'),
      frame(1),
      frame(1, 'assistant'),
      frame(2, ''),
    ]);
    expect(events.map(({ choices: [choice] }) => choice.delta.role)).to.deep.equal([
      'assistant',
      'assistant',
      undefined,
      undefined,
      undefined,
      'assistant',
    ]);
    expect(events[2].choices[0].delta).to.have.all.keys('content');
  });

  it('omits content where the provider sent none', () => {
    expect(relayFrames([delta({ role: 'assistant' })]).events[0].choices[0].delta).to.deep.equal({ role: 'assistant' });
  });

  // Perplexity repeats the answer so far in every chunk. Source: crmne/ruby_llm, recordings of sonar streams, 2026-11-23.
  it('leaves out the whole message beside a piece: official clients would count the last piece twice', () => {
    const { events, relay } = relayFrames([
      delta({ role: 'assistant', content: 'a' }, { message: { role: 'assistant', content: 'a' } }),
      delta({ content: 'b' }, { message: { role: 'assistant', content: 'ab' }, finish_reason: 'stop' }),
    ]);
    expect(events.flatMap(({ choices }) => choices ?? [])).to.deep.equal([
      { index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null },
      { index: 0, delta: { content: 'b' }, finish_reason: 'stop' },
    ]);
    expect(assembled({ relay } as Relayed)[0].message.content).to.equal('ab');
  });

  it('takes a whole message for the piece where it is all that comes', () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const { events, relay } = relayFrames([
      {
        ...HEAD,
        choices: [
          { index: 0, message: { role: 'assistant', content: 'ab', tool_calls: [call] }, finish_reason: 'tool_calls' },
        ],
      },
      { ...HEAD, choices: [{ index: 0, message: { content: 'ab' } }] },
    ]);
    expect(events.flatMap(({ choices }) => choices ?? [])).to.deep.equal([
      {
        index: 0,
        delta: { role: 'assistant', content: 'ab', tool_calls: [{ ...call, index: 0 }] },
        finish_reason: 'tool_calls',
      },
      { index: 0, delta: {}, finish_reason: null },
    ]);
    expect(assembled({ relay } as Relayed)[0].message).to.deep.include({ content: 'ab' });
  });

  it('gives reasoning its one name', () => {
    const { events } = relayFrames([
      delta({ reasoning: 'a' }),
      delta({ reasoning_content: 'b' }),
      delta({ reasoning: 'lost', reasoning_content: 'c' }),
    ]);
    expect(events.map(({ choices: [choice] }) => choice.delta.reasoning_content)).to.deep.equal(['a', 'b', 'c']);
    for (const {
      choices: [choice],
    } of events)
      expect(choice.delta).to.not.have.property('reasoning');
  });

  it('gives finish reasons their canonical names, and null until then', () => {
    const reasons = [undefined, null, '', 'END_TURN', 'max_tokens', 'tool_use', 'refusal', 'pause_turn'];
    const { events } = relayFrames(reasons.map((finish_reason) => delta({}, { finish_reason })));
    expect(events.map(({ choices: [choice] }) => choice.finish_reason)).to.deep.equal([
      null,
      null,
      null,
      'stop',
      'length',
      'tool_calls',
      'content_filter',
      'pause_turn',
    ]);
  });

  it('removes an error member from a healthy chunk', () => {
    const { events, relay } = relayFrames([
      { ...HEAD, error: null, choices: [] },
      { ...HEAD, error: {}, choices: [] },
      { ...HEAD, error: '', choices: [] },
    ]);
    expect(relay.failure).to.equal(undefined);
    for (const event of events) expect(event).to.not.have.property('error');
    expect(events).to.have.length(3);
  });

  it('passes tool calls with their index, and merges their fragments', () => {
    const call = (more: object): object => delta({ tool_calls: [{ index: 0, ...more }] });
    const relayed = relayFrames([
      call({ id: 'call_1', type: 'function', function: { name: 'look', arguments: '' } }),
      ...['{"a"', ':"\\u00e9', '"}'].map((text) => call({ function: { arguments: text } })),
    ]);
    expect(relayed.events[2].choices[0].delta.tool_calls).to.deep.equal([
      { index: 0, function: { arguments: ':"\\u00e9' } },
    ]);
    expect(assembled(relayed)[0].message.tool_calls).to.deep.equal([
      { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":"\\u00e9"}' } },
    ]);
  });

  it('keeps tool-call fragments without an index as separate calls', () => {
    const relayed = relayFrames(
      ['a', 'b'].map((name) => delta({ tool_calls: [{ id: name, function: { name, arguments: '{}' } }] })),
    );
    expect(assembled(relayed)[0].message.tool_calls.map(({ id }: any) => id)).to.deep.equal(['a', 'b']);
  });

  it('repairs tool calls that are not calls, also beside a reasoning member', () => {
    for (const reasoning of [{}, { reasoning: null }]) {
      const relayed = relayFrames([
        delta({ ...reasoning, tool_calls: [null, { index: 0, function: { name: 'f', arguments: { a: 1 } } }] }),
      ]);
      expect(relayed.relay.failure, JSON.stringify(reasoning)).to.equal(undefined);
      expect(relayed.events[0].choices[0].delta.tool_calls).to.deep.equal([
        { index: 0, type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
      ]);
    }
  });

  it('gives a piece of a call without a function an empty one', () => {
    const call = { index: 0, id: 'c', type: 'function', function: { name: 'f' } };
    const relayed = relayFrames([delta({ tool_calls: [call] }), delta({ tool_calls: [{ index: 0 }] })]);
    expect(relayed.events.slice(0, 2).map(({ choices: [choice] }) => choice.delta.tool_calls)).to.deep.equal([
      [call],
      [{ index: 0, function: {} }],
    ]);
  });
});

describe('relay, frames of one shape', () => {
  /** How many texts are parsed while so many frames pass. */
  function parsedWhile(frame: object, count: number): number {
    const { parse } = JSON;
    let calls = 0;
    JSON.parse = (...args: Parameters<typeof parse>): unknown => {
      calls += 1;
      return parse(...args);
    };
    try {
      const relay = new Relay({
        encoder: new CommonStream(),
        model: 'routed',
        created: CREATED,
        stripUsage: false,
        source: { speaks: 'common', framing: 'sse' },
      });
      relay.push(Buffer.from(sseEvent(HEAD_OF_CALL) + sseEvent(frame).repeat(count)));
    } finally {
      JSON.parse = parse;
    }
    return calls;
  }

  const HEAD_OF_CALL = delta({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f' } }] });
  const frames = {
    'a call that says its id in every piece': delta({
      tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: 'x' } }],
    }),
    content: delta({ content: 'x' }),
    reasoning: delta({ reasoning_content: 'x' }),
    arguments: delta({ tool_calls: [{ index: 0, function: { arguments: 'x' } }] }),
  };
  for (const [what, frame] of Object.entries(frames)) {
    it(`are parsed until the shape is known, and no longer: ${what}`, () => {
      expect(parsedWhile(frame, 500)).to.equal(parsedWhile(frame, 20)).and.be.within(1, 10);
    });
  }
});

describe('relay, a call that is not in a list', () => {
  it('is a list of one', () => {
    const call = { index: 0, id: 'call_a', type: 'function', function: { name: 'f', arguments: '{}' } };
    expect(relayFrames([delta({ tool_calls: call })]).events[0].choices[0].delta.tool_calls).to.deep.equal([call]);
  });
});

describe('relay, usage', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 0 };

  it('passes usage where the provider put it, with its total', () => {
    const { events, relay } = relayFrames([delta({ content: 'x' }), { ...HEAD, choices: [], usage }]);
    expect(events[0]).to.not.have.property('usage');
    expect(events[1]).to.deep.include({ choices: [], usage: { ...usage, total_tokens: 7 } });
    expect(relay.usage).to.deep.equal({ ...usage, total_tokens: 7 });
  });

  describe('of vendors with ways of their own', () => {
    const end = (more: object = {}): object => delta({ content: '' }, { finish_reason: 'stop', ...more });
    const final = { ...usage, total_tokens: 7 };
    const usages = (frames: readonly object[], options: Partial<RelayOptions> = {}): unknown[] => {
      const { relay, events } = relayFrames(frames, options);
      const all = [...events, ...eventsOf(Buffer.from(relay.flush(), 'latin1').toString('utf8'))];
      expect(relay.usage).to.deep.equal(final);
      return all.map((event) => event.usage ?? event.choices.map(({ finish_reason: reason }: any) => reason).join());
    };

    it('does not stand beside text, and comes once the answer has ended, where the vendor sends it then', () => {
      const early = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
      const text = { ...delta({ content: 'x' }), usage: early };
      expect(usages([text, text, { ...end(), usage }])).to.deep.equal(['', '', final]);
      expect(usages([text, text, end(), { ...HEAD, choices: [], usage }])).to.deep.equal(['', '', 'stop', final]);
    });

    it('is the last event, where the vendor sends it with text alone', () => {
      const text = { ...delta({ content: 'x' }), usage };
      expect(usages([text, end()])).to.deep.equal(['', 'stop', final]);
      expect(usages([text, end()], { stripUsage: true })).to.deep.equal(['', 'stop']);
      expect(usages([text, end()], { guards: passing(false) })).to.deep.equal(['', 'stop', final]);
    });

    it('is found in the choice and in a member of the vendor, unless it follows', () => {
      for (const last of [end({ usage }), { ...end(), x_groq: { id: 'req_1', usage } }]) {
        expect(usages([delta({ content: 'x' }), last])).to.deep.equal(['', 'stop', final]);
        expect(usages([delta({ content: 'x' }), last], { guards: passing(true) })).to.deep.equal(['', 'stop', final]);
        expect(usages([delta({ content: 'x' }), last, { ...HEAD, choices: [], usage }])).to.deep.equal([
          '',
          'stop',
          final,
        ]);
      }
    });

    it('stands alone where the vendor repeats the end of the choices beside it', () => {
      for (const repeated of [delta({ role: 'assistant', content: '' }), end()]) {
        const { events } = relayFrames([delta({ content: 'x' }), end(), { ...repeated, usage }]);
        expect(events.at(-1)).to.deep.include({ choices: [], usage: final });
      }
      const second = { ...delta({ content: 'late' }), usage };
      expect(relayFrames([end(), second]).events.at(-1).choices[0].delta).to.deep.equal({ content: 'late' });
      const others = { ...HEAD, choices: [{ index: 1, delta: {}, finish_reason: 'length' }], usage };
      expect(relayFrames([end(), others]).events.at(-1).choices).to.have.lengthOf(1);
    });
  });

  it('strips usage alone for a client that opted out, and still counts it', () => {
    const { events, relay } = relayFrames(
      [delta({ content: 'x' }), { ...HEAD, choices: [], usage }, { ...delta({ content: 'y' }), usage: null }],
      { stripUsage: true },
    );
    expect(events).to.have.length(3);
    for (const event of events) expect(event).to.not.have.property('usage');
    expect(events[1].choices).to.deep.equal([]);
    expect(relay.usage?.total_tokens).to.equal(7);
  });

  it('counts the last usage that counts something', () => {
    const counts = [
      { prompt_tokens: 1, completion_tokens: 1 },
      { prompt_tokens: 5, completion_tokens: 2 },
      { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    ];
    expect(relayFrames(counts.map((one) => ({ ...HEAD, choices: [], usage: one }))).relay.usage?.total_tokens).to.equal(
      7,
    );
  });

  it('counts usage that returns to an earlier value beside text', () => {
    const frames = [5, 6, 7, 6, 6].map((total) => ({
      ...delta({ content: 'x' }),
      usage: { prompt_tokens: total, completion_tokens: 0, total_tokens: total },
    }));
    for (const stripUsage of [false, true])
      expect(relayFrames(frames, { stripUsage }).relay.usage?.total_tokens).to.equal(6);
  });
});

describe('relay, ends of a stream', () => {
  const text = sseEvent(delta({ content: 'x' }));
  const finish = sseEvent(delta({}, { finish_reason: 'stop' }));

  for (const [what, frame, message] of [
    ['an object with a message', { error: { message: 'overloaded' } }, 'overloaded'],
    ['a bare string', { error: 'boom' }, 'boom'],
    [
      'a message in a choice',
      delta({ content: '' }, { finish_reason: 'error', error: { code: 502, message: 'lost' } }),
      'lost',
    ],
    ['a message beside choices', { ...delta({ content: 'never' }), error: { message: 'late' } }, 'late'],
  ] as const) {
    it(`ends with an error frame: ${what}`, () => {
      const { events, relay } = relayText(text + sseEvent(frame) + text + finish);
      expect(events).to.have.length(1);
      expect(relay.failure?.fault).to.include({ message });
    });
  }

  it('reads nothing after an error frame', () => {
    const { relay } = relayText(sseEvent({ error: 'boom' }));
    expect(relay.push(Buffer.from(text))).to.equal('');
    expect(relay.chunks).to.equal(0);
  });

  it('reads nothing after the end marker', () => {
    const { events, relay } = relayText(`${text}data: [DONE]\n\n${text}data: {"error":"boom"}\n\n`);
    expect(events).to.have.length(1);
    expect(relay.failure).to.equal(undefined);
    expect(assembled({ relay, events, out: '' })[0].message.content).to.equal('x');
  });

  it('is complete with a finish reason, or the end marker, and with neither a failure', () => {
    expect(relayText(text + finish).relay.failure).to.equal(undefined);
    expect(relayText(`${text}data:[DONE]`).relay.failure).to.equal(undefined);
    expect(relayText(text).relay.failure).to.include({ code: 'upstream_error' });
    expect(relayText('').relay.failure).to.include({ code: 'upstream_error' });
  });

  it('reads a last line that has no line end', () => {
    expect(relayText(text + finish.trimEnd()).relay.failure).to.equal(undefined);
  });

  it('skips frames that cannot be decoded, and frames that are not chunks', () => {
    const { events, relay } = relayText(
      `${text}data: {"choices":[\n\ndata: [1]\n\ndata: 5\n\ndata: null\n\ndata: {"type":"ping"}\n\n: c\nevent: x\nid: 1\n\n${finish}`,
    );
    expect(events).to.have.length(2);
    expect(relay.failure).to.equal(undefined);
    expect(relay.chunks).to.equal(2);
  });
});

describe('relay, line length', () => {
  const MIB = 1024 * 1024;
  const frameOf = (bytes: number): string => {
    const empty = `data: ${JSON.stringify(delta({ content: '' }))}`;
    return `data: ${JSON.stringify(delta({ content: 'x'.repeat(bytes - empty.length) }))}\n\n`;
  };
  const inPieces = (body: string, size: number): Relay => {
    const relay = new Relay({
      encoder: new CommonStream(),
      model: 'routed',
      created: CREATED,
      stripUsage: false,
      source: { speaks: 'common', framing: 'sse' },
    });
    for (let at = 0; at < body.length && !relay.failure; at += size) relay.push(Buffer.from(body.slice(at, at + size)));
    return relay;
  };

  it('takes a line as long as a whole answer may be', () => {
    for (const size of [65_536, 60 * MIB]) {
      const relay = inPieces(frameOf(MAX_REPLY_BYTES), size);
      expect(relay.failure).to.equal(undefined);
      expect(relay.chunks).to.equal(1);
    }
  });

  it('fails on a line that exceeds it, however the line is cut', () => {
    for (const size of [16_384, 60 * MIB])
      expect(inPieces(frameOf(MAX_REPLY_BYTES + 1), size).failure, `pieces of ${size}`).to.include({
        code: 'upstream_error',
      });
  });

  it('delivers what came before it in the same read', () => {
    const relay = new Relay({
      encoder: new CommonStream(),
      model: 'routed',
      created: CREATED,
      stripUsage: false,
      source: { speaks: 'common', framing: 'sse' },
    });
    expect(
      eventsOf(relay.push(Buffer.from(frameOf(200) + frameOf(MAX_REPLY_BYTES + 1) + frameOf(200)))),
    ).to.have.length(1);
    expect(relay.failure).to.include({ code: 'upstream_error' });
  });

  it('fails on an event of a native wire that exceeds it, after those before it', () => {
    const decode = ({ data }: { readonly data: string }): ChatChunk[] => [
      { choices: [{ index: 0, delta: { content: data.slice(0, 1) } }] },
    ];
    const relay = new Relay({
      encoder: new CommonStream(),
      model: 'routed',
      created: CREATED,
      stripUsage: false,
      source: { speaks: 'native', framing: 'sse', decode },
    });
    expect(
      eventsOf(relay.push(Buffer.from(`data: a\n\ndata: ${'x'.repeat(MAX_REPLY_BYTES + 1)}\n\ndata: b\n\n`))),
    ).to.have.length(1);
    expect(relay.failure).to.include({ code: 'upstream_error' });
  });

  it('fails on a line that never ends', () => {
    expect(inPieces('x'.repeat(MAX_REPLY_BYTES + 65_536), 65_536).failure).to.include({ code: 'upstream_error' });
  });
});
