import type { ChatChunk, ChunkDelta } from '../contract/index.ts';
import { isFields } from '../contract/index.ts';

/** A stretch of a made-up stream: pieces of one text with nothing between them, or an item that is sealed. */
export const STRETCHES = ['thought', 'content', 'refusal', 'call 0', 'call 1', 'sealed'] as const;
export type StretchKind = (typeof STRETCHES)[number];

/** Every order of up to `most` stretches without two alike side by side. */
export function ordersUpTo(most: number): StretchKind[][] {
  let last: StretchKind[][] = [[]];
  const all: StretchKind[][] = [];
  for (let length = 1; length <= most; length += 1) {
    last = last.flatMap((order) => STRETCHES.filter((kind) => kind !== order.at(-1)).map((kind) => [...order, kind]));
    for (const order of last) all.push(order);
  }
  return all;
}

export interface StreamForm {
  /** The text of a stretch, by its kind and number. */
  readonly textOf: (kind: StretchKind, number: number) => string;
  /** Cuts a text into the pieces that arrive. */
  readonly cut: (text: string) => readonly string[];
  readonly choice?: number;
  /** Whether each thought is said twice: as `reasoning_content` and in an item. It is where a signature stands beside. */
  readonly isTwice?: boolean;
  /** Where the signature of a thought stands: in a chunk of its own, beside its last piece, or nowhere. */
  readonly signature?: 'apart' | 'beside';
  /** Whether the head of a call comes with its first piece. */
  readonly isHeadBeside?: boolean;
  /** Where the finish stands: in a chunk of its own, with the last piece, or nowhere. */
  readonly finish?: 'apart' | 'beside' | 'none';
}

const chunkOf = (choice: number, delta: ChunkDelta, finish: string | null = null): ChatChunk => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: choice, delta, finish_reason: finish }],
});

/** The chunks of a made-up stream with these stretches. */
export function streamOf(order: readonly StretchKind[], form: StreamForm): ChatChunk[] {
  const { choice = 0, finish = 'apart' } = form;
  const begun = new Set<StretchKind>();
  const deltas: ChunkDelta[] = [{ role: 'assistant', content: '' }];
  for (const [number, kind] of order.entries()) {
    for (const delta of stretchOf(kind, number, form, !begun.has(kind))) deltas.push(delta);
    begun.add(kind);
  }
  const chunks = deltas.map((delta, at) =>
    chunkOf(choice, delta, finish === 'beside' && at === deltas.length - 1 ? 'stop' : null),
  );
  return finish === 'apart' ? [...chunks, chunkOf(choice, {}, 'stop')] : chunks;
}

function stretchOf(kind: StretchKind, number: number, form: StreamForm, isFirst: boolean): ChunkDelta[] {
  if (kind === 'sealed')
    return [{ reasoning_details: [{ type: 'reasoning.encrypted', index: number, data: `sealed ${number}` }] }];
  const pieces = form.cut(form.textOf(kind, number));
  if (kind === 'content' || kind === 'refusal') return pieces.map((piece) => ({ [kind]: piece }));
  if (kind === 'thought') return thoughtOf(pieces, number, form);
  const index = Number(kind.slice('call '.length));
  const deltas: ChunkDelta[] = pieces.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] }));
  if (!isFirst) return deltas;
  const head = { index, id: `call_${index}`, type: 'function' as const };
  if (!form.isHeadBeside) return [{ tool_calls: [{ ...head, function: { name: 'tide', arguments: '' } }] }, ...deltas];
  const [begin = '', ...rest] = pieces;
  return [
    { tool_calls: [{ ...head, function: { name: 'tide', arguments: begin } }] },
    ...rest.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ];
}

function thoughtOf(pieces: readonly string[], number: number, { isTwice, signature }: StreamForm): ChunkDelta[] {
  const item = { type: 'reasoning.text', index: number };
  const sign = { signature: `signed ${number}` };
  const deltas = pieces.map((piece, at): ChunkDelta => {
    const isSigned = signature === 'beside' && at === pieces.length - 1;
    if (!isTwice && signature !== 'beside') return { reasoning_content: piece };
    return { reasoning_content: piece, reasoning_details: [{ ...item, text: piece, ...(isSigned && sign) }] };
  });
  return signature === 'apart' ? [...deltas, { reasoning_details: [{ ...item, ...sign }] }] : deltas;
}

/** Something that an answer says: a text, in as many pieces as may be, or a mark. */
export interface Said {
  readonly what: string;
  readonly text: string;
}

/** What a stream says, by choice and in its order: pieces of one text that stand side by side are one. */
export function joined(chunks: readonly ChatChunk[]): Record<number, Said[]> {
  const all = new Map<number, Said[]>();
  for (const { choices } of chunks)
    for (const { index, delta, finish_reason: finish } of choices) {
      const said = all.get(index) ?? [];
      all.set(index, said);
      for (const one of [...saidIn(delta), ...(finish ? [{ what: `finish ${finish}`, text: '' }] : [])]) {
        const last = said.at(-1);
        if (last?.what === one.what && one.text !== '')
          said.splice(-1, 1, { what: one.what, text: last.text + one.text });
        else said.push(one);
      }
    }
  return Object.fromEntries(all);
}

/** What a delta says, in the order of its members. */
function saidIn(delta: ChunkDelta): Said[] {
  const said: Said[] = [];
  const add = (what: string, text: unknown): void => {
    if (typeof text === 'string' && text !== '') said.push({ what, text });
  };
  if (delta.role) said.push({ what: 'role', text: '' });
  let whole = delta.reasoning_content;
  const marks: Said[] = [];
  for (const item of delta.reasoning_details ?? []) {
    if (!isFields(item)) continue;
    for (const field of ['text', 'summary']) {
      if (whole && item[field] !== whole) add('another thought', item[field]);
      else add('thought', item[field]);
      if (item[field] === whole) whole = undefined;
    }
    for (const name of ['signature', 'data']) {
      const mark = item[name];
      if (typeof mark === 'string' && mark !== '') marks.push({ what: `${name} ${mark}`, text: '' });
    }
  }
  add('thought', whole);
  for (const mark of marks) said.push(mark);
  add('content', delta.content);
  add('refusal', delta.refusal);
  for (const call of delta.tool_calls ?? []) {
    const { index = 0, id, function: called } = call;
    if (id || called?.name) said.push({ what: `call ${index}: ${String(id)} ${String(called?.name)}`, text: '' });
    add(`arguments ${index}`, called?.arguments);
  }
  return said;
}
