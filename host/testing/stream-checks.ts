import { ok } from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { ChatChunk, PluginModule, StreamGuard } from '../contract/index.ts';
import { madeUpExchange, madeUpPluginDeps, nothingHeard } from './made-up.ts';
import { joined, ordersUpTo, type Said, streamOf, type StreamForm } from './stretches.ts';

/** Words of the made-up streams: nothing that a guard should look for. */
const TEXTS = {
  thought: 'a thought of it',
  content: 'the tide is low',
  refusal: 'that will not do',
  sealed: '',
} as const;

const FORMS: readonly StreamForm[] = [
  { textOf, cut: (text) => [text] },
  { textOf, cut: (text) => Array.from(text), signature: 'apart', isTwice: true, isHeadBeside: true },
];

function textOf(kind: keyof typeof TEXTS | 'call 0' | 'call 1'): string {
  return kind === 'call 0' || kind === 'call 1' ? '{"place":"Kiel"}' : TEXTS[kind];
}

/**
 * Holds the guard of a plugin against the order of streams: whatever stands in an answer leaves in the order in which it came, whole and once,
 * and what is held of a text leaves before anything else of its choice. Guards that await a verdict may hold everything.
 */
export async function keepsOrder<S extends object>(module: PluginModule<S>, settings: object): Promise<void> {
  const checked = module.settings.validate(settings, { convert: false }).value as S;
  const handlers = await module.create(checked, madeUpPluginDeps(nothingHeard(), {}));
  const open = (): StreamGuard | undefined =>
    handlers.stream?.(madeUpExchange({ surface: 'chat', request: REQUEST }, nothingHeard()));
  try {
    for (const form of FORMS) {
      const changed = new Set<string>(); // kinds of text that the plugin changes: of those the order alone is compared
      for (const order of ordersUpTo(3)) {
        const chunks = streamOf(order, form);
        const left = passInOrder(open(), chunks, order.join(', '));
        if (!left) continue;
        const [is, was] = [joined(left), joined(chunks)];
        const isSame = isDeepStrictEqual(is, was);
        if (order.length === 1 && !isSame) changed.add(order[0] ?? '');
        ok(
          isSame || (order.some((kind) => changed.has(kind)) && isDeepStrictEqual(namesOf(is), namesOf(was))),
          `a stream of ${order.join(', ')} leaves in another order, or not whole`,
        );
      }
    }
  } finally {
    await handlers.dispose?.();
  }
}

const REQUEST = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }], stream: true };

const namesOf = (said: Record<number, Said[]>): unknown =>
  Object.values(said).map((all) => all.map(({ what }) => what));

/** The chunks that leave; `undefined` where the plugin does not guard this stream, or its settings refuse the words of it. */
function passInOrder(
  guard: StreamGuard | undefined,
  chunks: readonly ChatChunk[],
  order: string,
): readonly ChatChunk[] | undefined {
  if (!guard) return undefined;
  const left: ChatChunk[] = [];
  for (const [at, chunk] of chunks.entries()) {
    const passed = guard.push(structuredClone(chunk));
    if ('action' in passed) return undefined;
    for (const one of structuredClone(passed)) left.push(one);
    if (guard.awaitsVerdict !== true) leavesAllBefore(left, chunks.slice(0, at + 1), order);
  }
  const rest = guard.end();
  return 'action' in rest ? undefined : [...left, ...rest];
}

/** Everything but the last text of a choice has left by then. */
function leavesAllBefore(left: readonly ChatChunk[], came: readonly ChatChunk[], order: string): void {
  const [said = []] = Object.values(joined(left));
  const [all = []] = Object.values(joined(came));
  const last = all.at(-1);
  const most = last && last.text !== '' ? all.length - 1 : all.length;
  ok(
    said.length >= most,
    `of a stream of ${order}, ${all[said.length]?.what ?? 'something'} is still held when ${last?.what ?? 'more'} has come`,
  );
}
