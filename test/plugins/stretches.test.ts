import { expect } from 'chai';
import { type ChatChunk, filterGuard, type StreamGuard, windowGuard } from '../../host/contract/index.ts';
import type { PluginModule } from '../../host/contract/plugin.ts';
import { madeUpExchange, madeUpPluginDeps, nothingHeard } from '../../host/testing/made-up.ts';
import {
  joined,
  ordersUpTo,
  type Said,
  STRETCHES,
  type StreamForm,
  streamOf,
  type StretchKind,
} from '../../host/testing/stretches.ts';
import piiRedact from '../../plugins/pii-redact/index.ts';
import regexGuard from '../../plugins/regex-guard.ts';
import schemaGuard from '../../plugins/schema-guard.ts';
import secretScan from '../../plugins/secret-scan/index.ts';
import wordFilter from '../../plugins/word-filter.ts';
import { cases, isSoak, seeded } from '../kit/index.ts';

/**
 * What guards do to the order of a stream, on generated ones: every order of its stretches, every cut, every end. Texts end, half of the time, with
 * the beginning of what a guard looks for, and hold all of it only where a test says so.
 */
type Open = () => StreamGuard;

const REQUEST = {
  model: 'm',
  messages: [{ role: 'user' as const, content: 'mail jane.doe@example.com' }],
  stream: true,
};

async function opened<S extends object>(module: PluginModule<S>, settings: object): Promise<Open> {
  const { value, error } = module.settings.validate(settings);
  if (error) throw error;
  const handlers = await module.create(value, madeUpPluginDeps(nothingHeard(), {}));
  const exchange = madeUpExchange({ surface: 'chat', request: REQUEST }, nothingHeard());
  await handlers.before_request?.(exchange);
  return () => handlers.stream?.(exchange) ?? { push: (chunk) => [chunk], end: () => [] };
}

const withoutRelease = (): StreamGuard =>
  filterGuard(() => {
    let held = '';
    return (piece, isLast) => {
      const out = isLast ? held + piece : (held + piece).slice(0, -3);
      held = isLast ? '' : (held + piece).slice(-3);
      return out;
    };
  }, 'none');
const holdingAll = (): StreamGuard =>
  filterGuard(() => {
    let held = '';
    const filter = (piece: string, isLast: boolean): string => {
      held += piece;
      return isLast ? held : '';
    };
    return Object.assign(filter, {
      release: () => {
        const out = held;
        held = '';
        return out;
      },
    });
  }, 'none');

/** Guards that keep back at most so many characters; `Infinity` for those that follow what they look for. */
const WINDOWS: Record<string, { readonly open: Open | Promise<Open>; readonly keep: number }> = {};
for (const keep of [0, 1, 7, Infinity])
  WINDOWS[`a window of ${keep}`] = { open: () => windowGuard(() => ({ isMatch: false, keep }), 'none'), keep };
Object.assign(WINDOWS, {
  'a filter that holds all': { open: holdingAll, keep: Infinity },
  'a filter without release': { open: withoutRelease, keep: 3 },
  'word-filter': { open: opened(wordFilter, { blocked_words: ['forbidden'], stream: 'window' }), keep: 8 },
  'regex-guard': {
    open: opened(regexGuard, { patterns: ['forb[a-z]*den', 'secret.*key', 'x$', '^x'], stream: 'window' }),
    keep: Infinity,
  },
  'pii-redact that masks': { open: opened(piiRedact, {}), keep: Infinity },
  'pii-redact that refuses': { open: opened(piiRedact, { action: 'reject', stream: 'window' }), keep: Infinity },
  'pii-redact that restores': { open: opened(piiRedact, { restore: true }), keep: Infinity },
  'secret-scan that masks': { open: opened(secretScan, { action: 'mask' }), keep: Infinity },
  'secret-scan that refuses': { open: opened(secretScan, { stream: 'window' }), keep: Infinity },
  'schema-guard': { open: opened(schemaGuard, { schema: {}, stream: 'window' }), keep: Infinity },
});

const WORDS = ['low', ' tide ', 'at', 'Gr\u00fc\u00dfe', '"quoted"', '\ud83c\udf0a', '1 2', '. '];
const BEGINNINGS = ['jane.doe@', 'sk-', '4111 11', 'forbid', '[EMA', 'secret ', '\ud83c', 'ghp_'];

function textsOf(random: () => number): StreamForm['textOf'] {
  const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)] ?? '';
  return (kind) => {
    const words = Array.from({ length: 1 + Math.floor(random() * 5) }, () => pick(WORDS)).join(' ');
    if (kind.startsWith('call'))
      return JSON.stringify({ place: words, rest: random() < 0.5 ? pick(BEGINNINGS.slice(0, 6)) : '' });
    return `${words} ${random() < 0.5 ? pick(BEGINNINGS) : ''}`;
  };
}

function cutsOf(random: () => number): StreamForm['cut'] {
  const way = Math.floor(random() * 3);
  if (way === 0) return (text) => [text];
  if (way === 1) return (text) => text.split('');
  return (text) => {
    const pieces: string[] = [];
    for (let at = 0; at < text.length;) {
      const end = at + 1 + Math.floor(random() * 9);
      pieces.push(text.slice(at, end));
      at = end;
    }
    return pieces;
  };
}

const formOf = (random: () => number, more: Partial<StreamForm> = {}): StreamForm => ({
  textOf: textsOf(random),
  cut: cutsOf(random),
  isTwice: random() < 0.5,
  signature: random() < 0.5 ? 'apart' : 'beside',
  isHeadBeside: random() < 0.5,
  finish: (['apart', 'beside', 'none'] as const)[Math.floor(random() * 3)] ?? 'apart',
  ...more,
});

const ORDERS = ordersUpTo(5);

/** Every order in the soak, else some of each length; and long ones at random. */
function* orders(random: () => number, count: number): Generator<StretchKind[]> {
  if (isSoak()) yield* ORDERS;
  else for (let at = 0; at < count; at += 1) yield ORDERS[Math.floor(random() * ORDERS.length)] ?? [];
  for (let at = 0; at < count / 10; at += 1)
    yield Array.from({ length: 40 }, () => STRETCHES[Math.floor(random() * STRETCHES.length)] ?? 'content').filter(
      (kind, place, all) => kind !== all[place - 1],
    );
}

const USAGE = { id: 'c', choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } };

/** Chunks with half surrogate pairs joined to whole texts are compared; a lone half stays as it is. */
interface Passed {
  readonly left: readonly ChatChunk[];
  readonly rejection: string | undefined;
}

function pass(
  guard: StreamGuard,
  chunks: readonly ChatChunk[],
  look?: (left: readonly ChatChunk[], at: number) => void,
): Passed {
  const left: ChatChunk[] = [];
  for (const [at, chunk] of chunks.entries()) {
    const passed = guard.push(structuredClone(chunk));
    if ('action' in passed) return { left, rejection: passed.reason };
    left.push(...structuredClone(passed));
    look?.(left, at);
  }
  const rest = guard.end();
  return 'action' in rest ? { left, rejection: rest.reason } : { left: [...left, ...rest], rejection: undefined };
}

const lengthOf = (said: readonly Said[] | undefined): number =>
  (said ?? []).reduce((sum, { text }) => sum + text.length, 0);

describe('the order of a stream under a guard', () => {
  for (const [name, { open, keep }] of Object.entries(WINDOWS)) {
    it(`stays where nothing matches, and what is held leaves before what follows: ${name}`, async () => {
      const make = await open;
      const random = seeded(name.length);
      for (const order of orders(random, 8)) {
        const chunks = streamOf(order, formOf(random));
        const usageAt = Math.floor(random() * (chunks.length + 1));
        const all = chunks.toSpliced(usageAt, 0, USAGE as ChatChunk);
        const guard = typeof make === 'function' ? make() : make;
        const { left, rejection } = pass(guard, all, (sofar, at) => {
          if (guard.awaitsVerdict === true) return;
          const [is, was] = [joined(sofar)[0], joined(all.slice(0, at + 1))[0]];
          const open = was?.at(-1);
          const mayHold = open && open.text !== '' ? Math.min(open.text.length, keep + 1) : 0;
          expect(lengthOf(was) - lengthOf(is), `${order.join()} after ${at}`).to.be.at.most(mayHold);
          expect((was?.length ?? 0) - (is?.length ?? 0), `${order.join()} after ${at}`).to.be.at.most(
            mayHold > 0 ? 1 : 0,
          );
        });
        expect(rejection, order.join()).to.equal(undefined);
        expect(joined(left), order.join()).to.deep.equal(joined(all));
        expect(left.filter(({ usage }) => usage)).to.deep.equal([USAGE]);
      }
    });
  }

  it('stays for each choice by itself, and a silent one delays no other', async () => {
    const random = seeded(7);
    for (const { open } of Object.values(WINDOWS)) {
      const make = await open;
      for (let at = 0; at < cases(200); at += 1) {
        const queues = [0, 1].map((choice) =>
          streamOf(ORDERS[Math.floor(random() * ORDERS.length)] ?? [], formOf(random, { choice })),
        );
        const all: ChatChunk[] = [];
        while (queues.some((queue) => queue.length > 0)) {
          const chunk = queues[random() < 0.5 ? 0 : 1]?.shift();
          if (chunk) all.push(chunk);
        }
        const { left, rejection } = pass(make(), all);
        expect(rejection).to.equal(undefined);
        expect(joined(left)).to.deep.equal(joined(all));
      }
    }
  });

  it('passes a chunk of whose text nothing is held as the same object, and nothing beside it', () => {
    const guard = windowGuard(() => ({ isMatch: false, keep: 0 }), 'none');
    for (const chunk of streamOf(['thought', 'content', 'call 0'], formOf(seeded(1)))) {
      const passed = guard.push(chunk);
      expect(passed).to.have.length(1);
      expect((passed as readonly ChatChunk[])[0]).to.equal(chunk);
    }
  });

  it('goes on when 10,000 calls come in turns, and lets a text that never decides go at a bound', () => {
    const guard = windowGuard(() => ({ isMatch: false, keep: Infinity }), 'none');
    for (let index = 0; index < 10_000; index += 1) {
      const delta = { tool_calls: [{ index, id: `c${index}`, function: { name: 'f', arguments: '{}' } }] };
      guard.push({ id: 'c', choices: [{ index: 0, delta, finish_reason: null }] });
    }
    let left = 0;
    for (let at = 0; at < 20; at += 1) {
      const chunk = { id: 'c', choices: [{ index: 0, delta: { content: 'x'.repeat(100_000) }, finish_reason: null }] };
      for (const { choices } of guard.push(chunk) as readonly ChatChunk[])
        left += choices[0]?.delta.content?.length ?? 0;
    }
    expect(left).to.be.above(900_000);
  });
});

describe('a match in a stream', () => {
  const found = {
    'word-filter': 'forbidden',
    'regex-guard': 'forbidden',
    'pii-redact that refuses': 'jane.doe@example.com',
    'secret-scan that refuses': 'ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0iL3oR6',
  };
  const masked = {
    'pii-redact that masks': 'jane.doe@example.com',
    'secret-scan that masks': 'ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0iL3oR6',
  };
  const plain = (kind: StretchKind, number: number): string =>
    kind.startsWith('call') ? `{"n":"${number}"}` : `tide ${number} `;
  const kinds = STRETCHES.filter((kind) => kind !== 'sealed');

  for (const [name, value] of Object.entries(found)) {
    it(`in one stretch ends it, and nothing of the match has left: ${name}`, async () => {
      const make = await WINDOWS[name]?.open;
      const random = seeded(3);
      for (const order of orders(random, 16)) {
        const at = order.findIndex((kind) => kind !== 'sealed');
        if (at < 0) continue;
        const form = formOf(random, {
          textOf: (kind, number) => (number === at ? `a ${value} b` : plain(kind, number)),
        });
        const { left, rejection } = pass((make as Open)(), streamOf(order, form));
        expect(rejection, order.join()).to.be.a('string').that.does.not.include(value);
        expect(JSON.stringify(joined(left))).to.not.include(value.slice(0, 6));
      }
    });
  }

  for (const [name, value] of Object.entries({ ...found, ...masked })) {
    it(`that something else cuts ends it with its last piece, and nothing behind the cut has left: ${name}`, async () => {
      const make = await WINDOWS[name]?.open;
      for (const kind of kinds)
        for (const between of STRETCHES) {
          if (between === kind) continue;
          for (let cut = 8; cut < value.length - 1; cut += 3) {
            const texts = [`a ${value.slice(0, cut)}`, '', `${value.slice(cut)} b`];
            const form = formOf(seeded(cut), {
              textOf: (which, number) => (number === 1 ? plain(which, 1) : (texts[number] ?? '')),
              cut: cutsOf(seeded(cut)),
              isTwice: false,
              signature: 'apart',
              finish: 'apart',
            });
            const { left, rejection } = pass((make as Open)(), streamOf([kind, between, kind], form));
            expect(rejection, `${kind} ${between} ${cut}`).to.be.a('string').that.does.not.include(value);
            if (name in masked) expect(rejection).to.match(/found where it cannot be masked$/);
            expect(JSON.stringify(joined(left))).to.not.include(value.slice(cut));
          }
        }
    });
  }

  for (const [name, value] of Object.entries(masked)) {
    it(`in one stretch is masked there, as in a whole text, and the order stays: ${name}`, async () => {
      const make = await WINDOWS[name]?.open;
      const random = seeded(5);
      for (const order of orders(random, 16)) {
        const textOf: StreamForm['textOf'] = (kind, number) =>
          kind.startsWith('call') ? JSON.stringify({ a: `b ${value} c` }) : `a ${value} b ${number} `;
        const chunks = streamOf(order, formOf(random, { textOf }));
        const { left, rejection } = pass((make as Open)(), chunks);
        expect(rejection, order.join()).to.equal(undefined);
        const wanted = joined(chunks)[0]?.map(({ what, text }) => ({
          what,
          text: text.replaceAll(value, placeholder(name)),
        }));
        expect(joined(left)[0], order.join()).to.deep.equal(wanted);
      }
    });
  }

  const placeholder = (name: string): string => (name.startsWith('pii') ? '[EMAIL_1]' : '[SECRET_1]');
});

describe('guards one after the other', () => {
  it('leave the order as it is, in every order of theirs', async () => {
    const makers = await Promise.all(Object.values(WINDOWS).map(async ({ open }) => open));
    const random = seeded(11);
    for (let at = 0; at < cases(3000); at += 1) {
      const guards = Array.from({ length: 2 + (at % 2) }, () =>
        (makers[Math.floor(random() * makers.length)] as Open)(),
      );
      const chunks = streamOf(ORDERS[Math.floor(random() * ORDERS.length)] ?? [], formOf(random));
      const chain: StreamGuard = {
        push: (chunk) => through(guards, [chunk]),
        end: () => guards.flatMap((guard, place) => through(guards.slice(place + 1), guard.end() as ChatChunk[])),
      };
      const { left } = pass(chain, chunks);
      expect(joined(left)).to.deep.equal(joined(chunks));
    }
  });

  const through = (guards: readonly StreamGuard[], chunks: readonly ChatChunk[]): readonly ChatChunk[] =>
    guards.reduce<readonly ChatChunk[]>(
      (passed, guard) => passed.flatMap((chunk) => guard.push(chunk) as readonly ChatChunk[]),
      chunks,
    );
});
