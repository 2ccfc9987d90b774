import { expect } from 'chai';
import { type ChatChunk, type ChunkDelta, type Scan, windowGuard } from '../../host/contract/index.ts';
import { cases, expectProportion, seeded } from '../kit/index.ts';

const WORDS = ['secret', 'se\u00e9\ud83d\ude00cret', 'ab'];
const LONGEST = Math.max(...WORDS.map((word) => word.length));

const scan = (text: string): Scan => ({ isMatch: WORDS.some((word) => text.includes(word)), keep: LONGEST - 1 });

type Channel = 'content' | 'reasoning_content' | 'tool 0' | 'tool 1' | 'custom 0';
const CHANNELS: readonly Channel[] = ['content', 'reasoning_content', 'tool 0', 'tool 1', 'custom 0'];

function deltaOf(channel: Channel, text: string): ChunkDelta {
  if (channel === 'custom 0') return { tool_calls: [{ index: 0, custom: { input: text } }] };
  if (!channel.startsWith('tool')) return { [channel]: text };
  return { tool_calls: [{ index: Number(channel.slice(5)), function: { arguments: text } }] };
}

/** Adds what a chunk delivers to the texts by choice and channel. */
function collect(into: Map<string, string>, { choices }: ChatChunk): void {
  const add = (key: string, text: string | null | undefined): void => {
    if (text) into.set(key, (into.get(key) ?? '') + text);
  };
  for (const { index, delta } of choices) {
    add(`${index} content`, delta.content);
    add(`${index} reasoning_content`, delta.reasoning_content);
    for (const call of delta.tool_calls ?? []) {
      add(`${index} tool ${call.index}`, call.function?.arguments);
      add(`${index} custom ${call.index}`, (call['custom'] as { readonly input?: string } | undefined)?.input);
    }
  }
}

interface Piece {
  readonly index: number;
  readonly channel: Channel;
  readonly text: string;
}

/** Texts over two choices and all channels, in pieces that may split words and characters, in a random but fair order. */
function piecesOf(random: () => number, alphabet: readonly string[]): Piece[] {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const queues = [0, 1].flatMap((index) =>
    CHANNELS.map((channel) => {
      const text = Array.from({ length: Math.floor(random() * 14) }, () => pick(alphabet)).join('');
      const cut: Piece[] = [];
      for (let at = 0; at < text.length;) {
        const end = Math.min(text.length, at + 1 + Math.floor(random() * 7));
        cut.push({ index, channel, text: text.slice(at, end) });
        at = end;
      }
      return cut;
    }),
  );
  const pieces: Piece[] = [];
  while (queues.some((queue) => queue.length > 0)) {
    const piece = pick(queues.filter((queue) => queue.length > 0)).shift();
    if (piece) pieces.push(piece);
  }
  return pieces;
}

/** The pieces in the same order of choices, but with each text of a choice in one stretch. */
function inStretches(pieces: readonly Piece[]): Piece[] {
  const queues = [0, 1].map((index) =>
    CHANNELS.flatMap((channel) => pieces.filter((piece) => piece.index === index && piece.channel === channel)),
  );
  return pieces.map(({ index }) => queues[index]?.shift() as Piece);
}

interface Run {
  readonly delivered: Map<string, string>;
  readonly chunks: readonly ChatChunk[];
  readonly rejection: string | undefined;
}

function runGuard(
  chunks: readonly ChatChunk[],
  look: (delivered: Map<string, string>, at: number) => void = () => {},
): Run {
  const guard = windowGuard(scan, 'blocked');
  const delivered = new Map<string, string>();
  const passed: ChatChunk[] = [];
  for (const [at, step] of [...chunks.map((chunk) => () => guard.push(chunk)), () => guard.end()].entries()) {
    const result = step();
    if ('action' in result) return { delivered, chunks: passed, rejection: result.reason };
    for (const chunk of result) {
      passed.push(structuredClone(chunk));
      collect(delivered, chunk);
    }
    look(delivered, at);
  }
  return { delivered, chunks: passed, rejection: undefined };
}

const chunkOf = ({ index, channel, text }: Piece): ChatChunk => ({
  id: 'c',
  model: 'm',
  choices: [{ index, delta: deltaOf(channel, text), finish_reason: null }],
});
const finishOf = (index: number, delta: ChunkDelta = {}): ChatChunk => ({
  id: 'c',
  choices: [{ index, delta, finish_reason: 'stop' }],
});
const USAGE: ChatChunk = { id: 'c', choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } };

const CLEAN = ['s', 'se', 'sec', 'secr', 'x', ' ', '\u00e9', '\ud83d\ude00', 'a', 'ca'];
const DIRTY = [...CLEAN, 'cret', 'ret', 'b', 'cret '];

describe('window guard, on generated streams', () => {
  it('delivers a clean text whole, in its order, before the finish, while it runs', () => {
    let clean = 0;
    for (let seed = 1; seed <= cases(500); seed += 1) {
      const pieces = piecesOf(seeded(seed), CLEAN);
      const whole = new Map<string, string>();
      for (const piece of pieces) collect(whole, chunkOf(piece));
      if ([...whole.values()].some((text) => scan(text).isMatch)) continue;
      clean += 1;
      const sofar = new Map<string, string>();
      const run = runGuard([...pieces.map(chunkOf), finishOf(0), finishOf(1), USAGE], (delivered, at) => {
        const piece = pieces[at];
        if (!piece) return;
        collect(sofar, chunkOf(piece));
        for (const [key, text] of sofar)
          expect(text.length - (delivered.get(key)?.length ?? 0), `seed ${seed}`).to.be.at.most(LONGEST); // the window, and half a character
      });
      expect(run.rejection, `seed ${seed}`).to.equal(undefined);
      expect(Object.fromEntries(run.delivered), `seed ${seed}`).to.deep.equal(Object.fromEntries(whole));
      expect(run.chunks.at(-1)).to.deep.equal(USAGE);
      for (const index of [0, 1]) {
        const last = run.chunks.findLastIndex(({ choices }) => choices.some((choice) => choice.index === index));
        expect(run.chunks[last]?.choices[0]?.finish_reason).to.equal('stop');
      }
    }
    expect(clean).to.be.above(cases(100));
  });

  it('delivers no byte of a match that stands in one stretch, and ends the stream at it', () => {
    let dirty = 0;
    for (let seed = 1; seed <= cases(1000); seed += 1) {
      const pieces = inStretches(piecesOf(seeded(seed), DIRTY));
      const whole = new Map<string, string>();
      const starts = new Map<string, number>();
      for (const piece of pieces) collect(whole, chunkOf(piece));
      for (const [key, text] of whole) {
        const found = WORDS.map((word) => text.indexOf(word)).filter((at) => at >= 0);
        if (found.length > 0) starts.set(key, Math.min(...found));
      }
      const run = runGuard([...pieces.map(chunkOf), finishOf(0), finishOf(1)]);
      expect(run.rejection, `seed ${seed}`).to.equal(starts.size > 0 ? 'blocked' : undefined);
      if (starts.size > 0) dirty += 1;
      for (const [key, text] of run.delivered) {
        expect(whole.get(key)?.startsWith(text), `seed ${seed}: ${key}`).to.equal(true);
        expect(text.length, `seed ${seed}: ${key}`).to.be.at.most(starts.get(key) ?? Infinity);
      }
    }
    expect(dirty).to.be.above(cases(300));
  });

  it('never delivers half of a character', () => {
    const text = `${'\ud83d\ude00'.repeat(30)}x${'\ud83d\ude00'.repeat(30)}`;
    for (let size = 2; size <= 9; size += 1) {
      const points = Array.from(text);
      const chunks: ChatChunk[] = [];
      for (let at = 0; at < points.length; at += size)
        chunks.push(chunkOf({ index: 0, channel: 'content', text: points.slice(at, at + size).join('') }));
      for (const { choices } of runGuard(chunks).chunks)
        expect(choices[0]?.delta.content?.isWellFormed()).to.equal(true);
    }
  });
});

describe('window guard', () => {
  it('delivers what it held before the text of the chunk that finishes, with that text or before it', () => {
    const { chunks, delivered } = runGuard([
      chunkOf({ index: 0, channel: 'content', text: 'se' }),
      finishOf(0, { content: 'en' }),
    ]);
    expect(delivered.get('0 content')).to.equal('seen');
    expect(chunks.at(-1)).to.deep.equal(finishOf(0, { content: 'seen' }));
  });

  it('keeps usage, and other members, once', () => {
    const text = { ...chunkOf({ index: 0, channel: 'content', text: 'seen' }), usage: USAGE.usage ?? null };
    const { chunks } = runGuard([text, { ...finishOf(0), usage: USAGE.usage ?? null }]);
    expect(chunks.filter(({ usage }) => usage).length).to.equal(2);
  });

  it('keeps the names of a tool call whose arguments it holds', () => {
    const { chunks } = runGuard([
      {
        choices: [
          {
            index: 0,
            delta: {
              tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: 's' } }],
            },
          },
        ],
      },
    ]);
    expect(chunks[0]?.choices[0]?.delta.tool_calls?.[0]).to.deep.equal({
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'f', arguments: '' },
    });
    expect(chunks[1]?.choices[0]?.delta.tool_calls).to.deep.equal([{ index: 0, function: { arguments: 's' } }]);
  });

  it('lets everything go at the end of a stream that never finished', () => {
    expect(runGuard([chunkOf({ index: 1, channel: 'content', text: 'sec' })]).delivered.get('1 content')).to.equal(
      'sec',
    );
  });

  it('delivers held text in no other member: neither its log probabilities nor its reasoning details', () => {
    const said = { ...chunkOf({ index: 0, channel: 'content', text: 'sec' }) };
    if (said.choices[0]) said.choices[0].logprobs = { content: [{ token: 'sec', logprob: -1, top_logprobs: [] }] };
    const thought = chunkOf({ index: 0, channel: 'reasoning_content', text: 'secr' });
    if (thought.choices[0])
      thought.choices[0].delta.reasoning_details = [{ index: 0, type: 'reasoning.text', text: 'secr' }];
    for (const chunk of [said, thought])
      expect(JSON.stringify(windowGuard(scan, 'blocked').push(chunk))).to.not.include('sec');
  });

  it('rejects with the reason it was made for', () => {
    const guard = windowGuard(() => ({ isMatch: true, keep: 0 }), 'not this');
    expect(guard.push(chunkOf({ index: 0, channel: 'content', text: 'x' }))).to.deep.equal({
      action: 'reject',
      reason: 'not this',
    });
  });
});

describe('window guard, of hostile streams', () => {
  it('takes work in proportion, however much other choices hold and however often one finishes', async () => {
    const stream = (size: number): ChatChunk[] => [
      ...Array.from({ length: size }, (_, index) => ({
        choices: [{ index: 1, delta: { tool_calls: [{ index, function: { arguments: 'x' } }] }, finish_reason: null }],
      })),
      ...Array.from({ length: size }, () => ({
        choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }],
      })),
    ];
    const run = (chunks: readonly ChatChunk[]): void => {
      const guard = windowGuard(scan, 'blocked');
      for (const chunk of structuredClone(chunks)) guard.push(chunk);
    };
    await expectProportion(2000, (size) => {
      const chunks = stream(size);
      return () => run(chunks);
    });
  });

  it('reads reasoning details whatever stands in the place of their index', () => {
    for (const index of [
      { toString: 1, valueOf: 1 },
      { constructor: {} },
      [[[]]],
      null,
      true,
      4294967294,
      -1,
      '__proto__',
    ]) {
      const details = (text: string): ChatChunk => ({
        choices: [{ index: 0, delta: { reasoning_details: [{ index, text }] }, finish_reason: null }],
      });
      expect(runGuard([details('se'), details('cret')]).rejection, JSON.stringify(index)).to.equal('blocked');
    }
  });
});
