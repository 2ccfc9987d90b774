import { expect } from 'chai';
import { Relay } from '../../host/answer/relay.ts';
import type { RelayOptions } from '../../host/answer/relay-source.ts';
import { CommonStream } from '../../host/wire/common-wire.ts';
import { GatewayError, type ChatChunk } from '../../host/contract/index.ts';
import { eventsOf, sseEvent } from '../kit/index.ts';

const HEAD = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'routed' };

function open(options: Partial<RelayOptions> = {}): Relay {
  return new Relay({
    encoder: new CommonStream(),
    model: 'routed',
    created: 1,
    stripUsage: false,
    source: { speaks: 'common', framing: 'sse' },
    ...options,
  });
}

function delta(value: object, more: object = {}): object {
  return { ...HEAD, choices: [{ index: 0, delta: value, finish_reason: null, ...more }] };
}

const reply = (relay: Relay): any =>
  relay.assembly.reply({ id: '', created: 0, model: '', provider: '', usage: undefined }).choices[0];
const first = sseEvent(delta({ role: 'assistant', content: '' }));

describe('relay, bytes', () => {
  it('sends runs that need no change as the bytes they arrived in', () => {
    const relay = open();
    const body =
      first +
      ['a', '\\u0062', 'c\\n', '\u00e9\ud83d\ude00', 'd', 'e']
        .map(
          (text) =>
            `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"routed","choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":null}]}\n\n`,
        )
        .join('');
    expect(Buffer.from(relay.push(Buffer.from(body)), 'latin1').equals(Buffer.from(body))).to.equal(true);
    expect(reply(relay).message.content).to.equal('abc\n\u00e9\ud83d\ude00de');
  });

  it('sends them so when the upstream writes spaces into its JSON', () => {
    const relay = open();
    const spaced = (value: object): string => `data: ${JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ')}\n\n`;
    const body = [
      delta({ role: 'assistant', content: '' }),
      ...['a', 'b', 'c', 'd'].map((content) => delta({ content })),
    ]
      .map(spaced)
      .join('');
    expect(relay.push(Buffer.from(body))).to.equal(body);
  });

  it('splices the routed model into frames it knows, and leaves their text alone', () => {
    const relay = open();
    const frame = (text: string): string =>
      sseEvent({ ...delta({ content: '@' }), model: 'routed-2026' }).replace('@', text);
    const out = relay.push(Buffer.from(first + ['a', 'b', '\\u0063', '\\/'].map(frame).join('')));
    expect(out).to.not.include('2026');
    expect(out).to.include('"content":"\\u0063"'); // the shortcut: a parse would have written c
    expect(eventsOf(out).map(({ choices: [choice] }) => choice.delta.content)).to.deep.equal(['', 'a', 'b', 'c', '/']);
  });

  it('frames events with LF, a space and one blank line, whatever the upstream does', () => {
    for (const end of ['\r\n', '\r']) {
      for (const gap of [1, 3]) {
        const body = [
          delta({ role: 'assistant', content: '' }),
          ...['a', 'b', 'c'].map((content) => delta({ content })),
        ]
          .map((frame) => `data:${JSON.stringify(frame)}${end.repeat(gap)}`)
          .join('');
        const out = open().push(Buffer.from(`: hello${end}${body}`));
        expect(out.split('\n\n')).to.have.length(5);
        expect(out).to.match(/^(data: \{.*\}\n\n)+$/);
      }
    }
  });

  it('writes once per read: what is complete leaves, the rest waits', () => {
    const relay = open();
    const event = sseEvent(delta({ content: 'later' }));
    expect(relay.push(Buffer.from(first + event.slice(0, 20)))).to.equal(first);
    expect(relay.push(Buffer.from(event.slice(20, -2)))).to.equal('');
    expect(relay.push(Buffer.from('\n'))).to.equal(event);
  });

  it('drops a byte order mark', () => {
    const body = Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), Buffer.from(first)]);
    const relay = open();
    expect([...body].map((byte) => relay.push(Buffer.of(byte))).join('')).to.equal(first);
  });
});

describe('relay, what frames carry beside their text', () => {
  const thrice = (frame: object): Relay => {
    const relay = open();
    relay.push(Buffer.from([delta({ role: 'assistant' }), frame, frame, frame].map(sseEvent).join('')));
    return relay;
  };

  it('collects the logprobs of equal chunks', () => {
    const logprobs = { content: [{ token: 'ha', logprob: -0.5 }] };
    const { message, logprobs: collected } = reply(thrice(delta({ content: 'ha' }, { logprobs })));
    expect(message.content).to.equal('hahaha');
    expect(collected.content).to.have.length(3);
  });

  it('collects the reasoning details of equal chunks', () => {
    const { message } = reply(
      thrice(delta({ content: 'x', reasoning_details: [{ index: 0, type: 'reasoning.text', text: 'ab' }] })),
    );
    expect(message.reasoning_details).to.deep.equal([{ index: 0, type: 'reasoning.text', text: 'ababab' }]);
  });

  it('does not mistake a text elsewhere for the text of the chunk', () => {
    const relay = open();
    const frames = ['a', 'b', 'c'].map((note) => ({ ...delta({ content: null }), note: { content: note } }));
    const events = eventsOf(relay.push(Buffer.from(frames.map(sseEvent).join(''))));
    expect(events.map(({ note }) => note.content)).to.deep.equal(['a', 'b', 'c']);
    expect(reply(relay).message.content).to.equal(null);
  });

  it('takes the last of two members of one name, as a parse does', () => {
    const relay = open();
    const frame = (text: string): string =>
      sseEvent(delta({ content: '@' })).replace('"content":"@"', `"content":"${text}","c\\u006fntent":"real"`);
    relay.push(Buffer.from(first + ['a', 'b', 'c'].map(frame).join('')));
    expect(reply(relay).message.content).to.equal('realrealreal');
  });
});

describe('relay, native wires', () => {
  const decode = ({ type, data }: { type: string; data: string }): ChatChunk[] => {
    if (type === 'fail')
      throw new GatewayError('upstream_error', 'the provider failed', { fault: { kind: 'reply', message: data } });
    return data === 'nothing' ? [] : [{ choices: [{ index: 0, delta: { content: `${type}|${data}` } }] }];
  };
  const contents = (out: string): string[] =>
    eventsOf(Buffer.from(out, 'latin1').toString('utf8')).map(({ choices: [choice] }) => choice.delta.content);

  it('hands whole events to the decoder: their name, and their data lines joined', () => {
    const body = Buffer.from(
      'event: text\r\ndata: one\r\ndata:two\r\n\r\ndata: nothing\n\n: comment\nid: 4\nevent: é\ndata: ü\n\n',
    );
    for (let cut = 0; cut <= body.length; cut += 1) {
      const relay = open({ source: { speaks: 'native', framing: 'sse', decode } });
      expect(contents(relay.push(body.subarray(0, cut)) + relay.push(body.subarray(cut)))).to.deep.equal([
        'text|one\ntwo',
        'é|ü',
      ]);
    }
  });

  it('completes what the decoder leaves out, and counts chunks', () => {
    const relay = open({ source: { speaks: 'native', framing: 'sse', decode } });
    const [event] = eventsOf(relay.push(Buffer.from('data: x\n\n')));
    expect(event).to.deep.equal({
      id: '',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'routed',
      choices: [{ index: 0, delta: { role: 'assistant', content: '|x' }, finish_reason: null }],
    });
    expect(relay.chunks).to.equal(1);
  });

  it('takes lines as events where the wire is framed by lines', () => {
    const relay = open({ source: { speaks: 'native', framing: 'ndjson', decode } });
    expect(contents(relay.push(Buffer.from('one\n\ntwo\r\nü')))).to.deep.equal(['|one', '|two']);
    expect(contents(relay.end())).to.deep.equal(['|ü']);
  });

  it('ends with what the decoder throws, after what came before', () => {
    const relay = open({ source: { speaks: 'native', framing: 'sse', decode } });
    expect(contents(relay.push(Buffer.from('data: a\n\nevent: fail\ndata: overloaded\n\ndata: b\n\n')))).to.deep.equal([
      '|a',
    ]);
    expect(relay.failure?.fault?.message).to.equal('overloaded');
  });

  it('turns a fault of the decoder into an unusable answer', () => {
    const relay = open({
      source: {
        speaks: 'native',
        framing: 'sse',
        decode: () => {
          throw new TypeError('x is undefined');
        },
      },
    });
    relay.push(Buffer.from('data: a\n\n'));
    expect(relay.failure).to.include({ code: 'upstream_error' });
  });
});

describe('relay, filters', () => {
  it('writes what the filter lets through, collects the same, and asks for the rest at the end', () => {
    const held: ChatChunk[] = [];
    const relay = open({
      guards: {
        filter: (chunks, moment) => (moment === 'end' ? held : chunks.filter((chunk) => !held.push(chunk))),
        holdsBack: false,
        awaitsVerdict: false,
      },
    });
    expect(relay.push(Buffer.from(`${first}${sseEvent(delta({ content: 'x' }))}data: [DONE]\n\n`))).to.equal('');
    expect(reply(relay)).to.equal(undefined);
    expect(eventsOf(relay.flush())).to.have.length(2);
    expect(reply(relay).message.content).to.equal('x');
  });
});
