import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { Relay } from '../../host/answer/relay.ts';
import type { RelayGuards } from '../../host/answer/relay-source.ts';
import { CommonStream } from '../../host/wire/common-wire.ts';
import { cases, eventsOf, seeded } from '../kit/index.ts';
import { FACTS, type Fields, FINISH, type Outcome, plainRelay } from './plain-relay.ts';

/**
 * The relay forwards most frames without parsing them. Here its output is compared, for generated streams cut anywhere,
 * with a plain implementation of docs/reference/data-plane.md#answers: every line parsed, corrected and written again.
 */

const TEXTS = [
  '',
  ' ',
  'word',
  ' two words',
  '"',
  '\\',
  '\\"',
  '"}',
  'a"b\\c',
  '\\u0041',
  'line\nbreak',
  '\r\n',
  '\ttab',
  '\u0001\u001f',
  'é',
  'ß∂',
  '😀',
  '👩‍👩‍👧',
  '\u2028',
  '\ud83d',
  'data: x',
  '[DONE]',
  '"content":"trap"',
  '{"arguments":"x"}',
  '\u007f',
  'null',
  '0',
  'x'.repeat(60),
  '\uFEFF',
  '$&',
  '</script>',
];

class Generator {
  readonly #random: () => number;
  readonly #hasSpacing: boolean;
  readonly #lineEnd: string;
  readonly #prefix: string;
  readonly #head: Fields;
  readonly #choiceCount: number;
  /** How the upstream tells fragments of one call from those of another. */
  readonly #numbering: string;
  readonly #called = new Map<number, number>();

  constructor(seed: number) {
    this.#random = seeded(seed);
    this.#hasSpacing = this.#chance(0.4);
    this.#lineEnd = this.#pick(['\n', '\n', '\n', '\r\n', '\r']);
    this.#prefix = this.#pick(['data: ', 'data: ', 'data:']);
    this.#choiceCount = this.#pick([1, 1, 2]);
    this.#numbering = this.#pick(['from 0', 'from 0', 'from 1', 'none', 'all 0', 'ids', 'new ids']);
    this.#head = {
      ...(this.#chance(0.8) && { id: this.#pick(['chatcmpl-1', 'é"1', '']) }),
      ...(this.#chance(0.8) && { object: 'chat.completion.chunk' }),
      ...(this.#chance(0.8) && { created: this.#pick([1_760_000_000, 0]) }),
      ...(this.#chance(0.9) && { model: this.#pick(['routed', 'routed-2026-01-15']) }),
      ...(this.#chance(0.3) && { system_fingerprint: null, 'x-more': { a: [1, 'two'] } }),
      ...(this.#chance(0.2) && { error: this.#pick([null, {}]) }),
    };
  }

  /** A stream of about so many frames. */
  stream(frames = 6 + Math.floor(this.#random() * 20)): string {
    const kinds = this.#pick([
      ['content'],
      ['content', 'reasoning_content'],
      ['reasoning', 'content'],
      ['arguments'],
      ['content', 'arguments'],
      ['parts', 'content'],
    ]);
    let body = this.#chance(0.1) ? '\uFEFF' : '';
    for (let index = 0; index < this.#choiceCount; index += 1)
      if (this.#chance(0.7))
        body += this.#frame([this.#choice(index, { role: 'assistant', content: this.#pick(['', null]) })]);
    for (let count = frames; count > 0; count -= 1) body += this.#noise() + this.#piece(this.#pick(kinds));
    for (let index = 0; index < this.#choiceCount; index += 1)
      body += this.#frame([this.#choice(index, {}, this.#pick(Object.keys(FINISH)))]);
    if (this.#chance(0.1))
      body += this.#frame([this.#choice(0, { content: '' })], {
        usage: { prompt_tokens: 11, completion_tokens: 6, total_tokens: 17 },
      });
    if (this.#chance(0.7))
      body += this.#frame(this.#pick([[], null]), {
        usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: this.#pick([18, 0]) },
      });
    const after = this.#chance(0.2) ? this.#piece('content') : '';
    return body + this.#pick([`${this.#prefix}[DONE]${this.#lineEnd.repeat(2)}${after}`, `${this.#prefix}[DONE]`, '']);
  }

  #piece(kind: string): string {
    const index = Math.floor(this.#random() * this.#choiceCount);
    const text = this.#pick(TEXTS) + (this.#chance(0.5) ? this.#pick(TEXTS) : '');
    const repeats = this.#chance(0.1) && { role: 'assistant' };
    if (kind === 'parts')
      return this.#frame([
        this.#choice(index, {
          ...repeats,
          content: [
            { type: 'thinking', thinking: [{ type: 'text', text }] },
            { type: 'text', text: this.#pick(TEXTS) },
          ],
        }),
      ]);
    const usage = this.#chance(0.1) && {
      usage: { prompt_tokens: 11, completion_tokens: Math.ceil(this.#random() * 5), total_tokens: 0 },
    };
    if (kind !== 'arguments') return this.#frame([this.#choice(index, { ...repeats, [kind]: text })], usage || {});
    const call = this.#call(index, text);
    return this.#frame([
      this.#choice(index, { ...repeats, ...(this.#chance(0.2) && { content: null }), tool_calls: [call] }),
    ]);
  }

  /** A fragment of the call that began last, mostly; with all there is to say of it where it begins. */
  #call(choice: number, text: string): Fields {
    const called = this.#called.get(choice) ?? 0;
    const begins = called === 0 || this.#chance(0.15);
    const at = begins
      ? called
      : this.#numbering === 'none' || this.#numbering === 'all 0'
        ? called - 1
        : Math.floor(this.#random() * called);
    if (begins) this.#called.set(choice, called + 1);
    const index = { 'from 0': at, 'from 1': at + 1, none: undefined, 'all 0': 0, ids: undefined, 'new ids': at }[
      this.#numbering
    ];
    const id =
      { ids: `call_${at}`, 'new ids': `call_${at}_${Math.floor(this.#random() * 1e9)}` }[this.#numbering] ??
      (begins ? `call_${at}` : this.#pick([undefined, undefined, '']));
    const repeats = !begins && this.#chance(0.2) && { type: this.#pick([null, 'function']) };
    return {
      ...(index !== undefined && { index }),
      ...(id !== undefined && { id }),
      ...(begins ? this.#chance(0.8) && { type: 'function' } : repeats),
      function: { ...(begins ? { name: `tool ${at}` } : this.#chance(0.1) && { name: '' }), arguments: text },
    };
  }

  #choice(index: number, delta: Fields, finish?: string): Fields {
    const open = this.#pick([{ finish_reason: null }, { finish_reason: null }, {}, { finish_reason: '' }]);
    return {
      index,
      delta,
      ...(this.#chance(0.2) && { logprobs: null }),
      ...(finish === undefined ? open : { finish_reason: finish }),
    };
  }

  #frame(choices: Fields[] | null, more: Fields = {}): string {
    const id = this.#chance(0.03) && { id: 'chatcmpl-2' };
    const ends = this.#lineEnd.repeat(this.#chance(0.95) ? 2 : 1);
    return this.#prefix + this.#json({ ...this.#head, ...id, choices, ...more }) + this.#space() + ends;
  }

  /** Lines that say nothing: comments, other fields, pings, frames that cannot be decoded. */
  #noise(): string {
    if (this.#chance(0.75)) return '';
    const line = this.#pick([
      ': ping',
      'event: message',
      'id: 7',
      'retry: 10',
      'data:',
      'data: {"choices":[',
      'data: "text"',
      'data: [1]',
      'data: {"type":"ping"}',
      'nonsense',
      '',
    ]);
    return line + this.#lineEnd.repeat(this.#chance(0.5) ? 2 : 1);
  }

  #json(value: any): string {
    if (typeof value === 'string') return this.#quoted(value);
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const between = `${this.#space()},${this.#space()}`;
    if (Array.isArray(value)) return `[${value.map((item) => this.#json(item)).join(between)}]`;
    return `{${Object.entries(value)
      .map(([key, member]) => `${JSON.stringify(key)}${this.#space()}:${this.#space()}${this.#json(member)}`)
      .join(between)}}`;
  }

  /** Any of the ways JSON has to write a string. */
  #quoted(text: string): string {
    const escaped = text.replace(/[^]/g, (unit) => {
      const hex = `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
      if (/[\ud800-\udfff]/.test(unit)) return hex;
      return this.#chance(0.05) || unit === '\uFEFF' ? hex : JSON.stringify(unit).slice(1, -1);
    });
    return `"${this.#chance(0.5) ? JSON.stringify(text).slice(1, -1) : escaped}"`;
  }

  #space(): string {
    return this.#hasSpacing ? this.#pick(['', ' ', ' ', '\t']) : '';
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T;
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }
}

/** Has every chunk written again, as a wire does whose chunks are not those of the common one. */
class RewrittenStream extends CommonStream {
  override readonly frames = undefined;
}

interface Run {
  readonly stripUsage: boolean;
  readonly encoder?: CommonStream;
  readonly guards?: RelayGuards;
}

function relayed(pieces: readonly Buffer[], run: Run): Outcome {
  const relay = new Relay({
    encoder: new CommonStream(),
    ...FACTS,
    source: { speaks: 'common', framing: 'sse' },
    ...run,
  });
  let out = '';
  for (const piece of pieces) if (!relay.isDone && !relay.failure) out += relay.push(piece);
  if (!relay.isDone && !relay.failure) out += relay.end();
  if (!relay.failure) out += relay.flush();
  const { choices } = relay.assembly.reply({ id: '', created: 0, model: '', provider: '', usage: undefined });
  return {
    events: eventsOf(Buffer.from(out, 'latin1').toString('utf8')),
    choices,
    usage: relay.usage,
    failed: relay.failure !== undefined,
  };
}

function cutAt(bytes: Buffer, ...offsets: readonly number[]): Buffer[] {
  const bounds = [0, ...offsets.toSorted((a, b) => a - b), bytes.length];
  return bounds.slice(1).map((end, index) => bytes.subarray(bounds[index], end));
}

function compare(seed: number, pieces: readonly Buffer[], expected: Outcome, run: Run, how: string): void {
  const actual = relayed(pieces, run);
  if (!isDeepStrictEqual(actual, expected)) expect(actual, `seed ${seed}, ${how}`).to.deep.equal(expected); // chai's comparison is for the message
}

describe('relay, on generated streams', () => {
  it('says what a plain parse of every line says, whole, byte by byte, and cut at random', () => {
    for (let seed = 1; seed <= cases(300); seed += 1) {
      const body = new Generator(seed).stream();
      const bytes = Buffer.from(body);
      const random = seeded(-seed);
      const run = { stripUsage: seed % 4 === 0 };
      const expected = plainRelay(body, run.stripUsage);
      compare(seed, [bytes], expected, run, 'whole');
      compare(
        seed,
        Array.from(bytes, (byte) => Buffer.of(byte)),
        expected,
        run,
        'byte by byte',
      );
      for (let turn = 0; turn < 2; turn += 1) {
        const offsets = Array.from({ length: 1 + Math.floor(random() * 40) }, () =>
          Math.floor(random() * bytes.length),
        );
        compare(seed, cutAt(bytes, ...offsets), expected, run, `cut at ${offsets.join(' ')}`);
      }
    }
  }).timeout(60_000);

  it('says the same when cut in two at any byte', () => {
    for (let seed = 1001; seed <= 1000 + cases(20); seed += 1) {
      const body = new Generator(seed).stream(5);
      const bytes = Buffer.from(body);
      const expected = plainRelay(body, false);
      for (let offset = 0; offset <= bytes.length; offset += 1)
        compare(seed, cutAt(bytes, offset), expected, { stripUsage: false }, `cut at ${offset}`);
    }
  }).timeout(60_000);

  it('says the same when the wire of the client has every chunk written again', () => {
    for (let seed = 3001; seed <= 3000 + cases(60); seed += 1) {
      const body = new Generator(seed).stream();
      const run = { stripUsage: seed % 4 === 0, encoder: new RewrittenStream() };
      compare(seed, [Buffer.from(body)], plainRelay(body, run.stripUsage), run, 'written again');
    }
  });

  it('says the same when a filter has every chunk parsed', () => {
    for (let seed = 2001; seed <= 2000 + cases(60); seed += 1) {
      const body = new Generator(seed).stream();
      compare(
        seed,
        [Buffer.from(body)],
        plainRelay(body, false),
        {
          stripUsage: false,
          guards: { filter: (chunks) => chunks, holdsBack: false, awaitsVerdict: false },
        },
        'with a filter',
      );
    }
  });
});
