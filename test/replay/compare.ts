import { DURATIONS, type Moment, OF_PIECES, pinned } from './pinned.ts';
import type { Recorded, Recording } from './record.ts';
import type { Numbered } from './scenes/scenes.ts';
import type { Sent } from './upstream.ts';

/** One part of an exchange that is not what it was: absent on a side that does not have it. */
export interface Difference {
  readonly scene: Numbered;
  readonly part: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The first difference of each exchange that has any. */
export function differences(before: Recording, after: Recording): readonly Difference[] {
  return before.exchanges.flatMap((old, at) => {
    const now = after.exchanges[at];
    if (now?.scene.number !== old.scene.number) throw new Error('the recordings are not of the same exchanges');
    return firstDifference(old.scene, partsOf(old, before), partsOf(now, after)) ?? [];
  });
}

type Parts = ReadonlyMap<string, string>;

function firstDifference(scene: Numbered, before: Parts, after: Parts): Difference | undefined {
  const part = [...new Set([...before.keys(), ...after.keys()])].find((name) => before.get(name) !== after.get(name));
  return part === undefined ? undefined : { scene, part, before: before.get(part), after: after.get(part) };
}

/** Everything of an exchange as named texts, without what is of the moment: what the client got, then what was sent. */
function partsOf({ scene, got, sent }: Recorded, { from, to }: Recording): Parts {
  const inPieces = scene.answers.some(({ manner }) => manner === 'events' || manner === 'odd');
  const moment = { from, to, id: valueOf(got.headers, 'x-request-id') };
  return new Map(
    [
      ['client: status', String(got.status)] as const,
      ...headerParts('client', inPieces ? without(got.headers, OF_PIECES) : got.headers),
      ...bodyParts('client', got.body, valueOf(got.headers, 'content-type')),
      ['client: end', got.end] as const,
      ...sent.flatMap(requestParts),
    ].map(([name, text]) => [name, pinned(text, moment satisfies Moment)]),
  );
}

type Part = readonly [name: string, text: string];

function requestParts({ vendor, method, path, headers, body }: Sent, at: number): Part[] {
  const who = `upstream call ${at + 1}`;
  return [
    [`${who}: vendor`, vendor],
    [`${who}: method`, method],
    [`${who}: path`, path],
    ...headerParts(who, headers),
    ...bodyParts(who, body, valueOf(headers, 'content-type')),
  ];
}

const pairsOf = (headers: readonly string[]): Part[] =>
  headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1] ?? ''] as const] : []));

function valueOf(headers: readonly string[], name: string): string | undefined {
  return pairsOf(headers).find(([each]) => each.toLowerCase() === name)?.[1];
}

const without = (headers: readonly string[], names: ReadonlySet<string>): readonly string[] =>
  pairsOf(headers)
    .filter(([name]) => !names.has(name.toLowerCase()))
    .flat();

function headerParts(who: string, headers: readonly string[]): Part[] {
  const pairs = pairsOf(headers);
  const seen = new Map<string, number>();
  const values = pairs.map(([name, value]): Part => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    const place = count === 1 ? '' : ` (${count})`;
    return [`${who}: header ${name}${place}`, DURATIONS.has(name.toLowerCase()) ? '<duration>' : value];
  });
  return [...values, [`${who}: order of headers`, pairs.map(([name]) => name).join(', ')]];
}

/** An event each of a stream; text as it is, other bytes one character each. */
function bodyParts(who: string, body: Buffer, type = ''): Part[] {
  const isText = /json|text|multipart/.test(type) || type === '';
  const text = body.toString(isText ? 'utf8' : 'latin1');
  if (!type.startsWith('text/event-stream')) return [[`${who}: body`, text]];
  const events = text.split(/(?<=\n\n)/);
  return events.map((event, at): Part => [`${who}: event ${at + 1}`, event]);
}
