import type { ChatMessage, ContentPart } from '../../host/contract/index.ts';
import { plainContent } from './plain-content.ts';

/**
 * Where a target takes system messages behind the first turn: wherever they stand; only between a turn of the user and one
 * of the assistant, or last; or nowhere.
 */
export type LatePlace = 'anywhere' | 'between_turns' | 'nowhere';

/** How one target takes late system messages. */
export interface LateForm {
  readonly place: LatePlace;
  /** Whether texts stay parts: a text that is marked in one request and not in the next then has one form. */
  readonly asParts: boolean;
}

export interface PlacedLate {
  readonly messages: readonly ChatMessage[];
  /** Which of the late ones, counted from 0, is the first that became a turn of the user; `undefined` where none did. */
  readonly turned: number | undefined;
}

export const isSystem = ({ role }: ChatMessage): boolean => role === 'system' || role === 'developer';

/**
 * System messages behind the first turn, in their place: moved to the front they would change the beginning of each request,
 * and a cache of the conversation would never be read. Where the target does not take the role, they are turns of the user.
 * See docs/reference/ingress.md#late-system-messages.
 */
export function placeLateSystem(messages: readonly ChatMessage[], form: LateForm): PlacedLate {
  const start = messages.findIndex((message) => !isSystem(message));
  if (start < 0 || !messages.some((message, at) => at > start && isSystem(message)))
    return { messages, turned: undefined };
  const out = messages.slice(0, start);
  const neighbours = new Neighbours(messages);
  let turned: number | undefined;
  let seen = 0;
  for (const { at, run } of stretches(messages, start)) {
    const isLate = run.every(isSystem);
    const said = isLate ? run.filter(({ content }) => partsOf(content).length > 0) : run;
    const stays = !isLate || said.length === 0 || mayStand(said, form.place, () => neighbours.of(at, at + run.length));
    if (!stays && said[0]) turned ??= seen + run.indexOf(said[0]);
    for (const message of isLate ? placedRun(said, stays, form) : run) out.push(message);
    if (isLate) seen += run.length;
  }
  return { messages: out, turned };
}

interface Stretch {
  readonly at: number;
  readonly run: readonly ChatMessage[];
}

/** Each message from here on, system messages together that stand side by side. */
function* stretches(messages: readonly ChatMessage[], start: number): Generator<Stretch> {
  for (let at = start; at < messages.length;) {
    let end = at;
    for (let next = messages[end]; next && isSystem(next); next = messages[end]) end += 1;
    end = Math.max(end, at + 1);
    yield { at, run: messages.slice(at, end) };
    at = end;
  }
}

interface Around {
  readonly before: ChatMessage | undefined;
  readonly after: ChatMessage | undefined;
}

/** What stands around a stretch, without messages that a translator leaves out. Asked from the first stretch to the last. */
class Neighbours {
  readonly #messages: readonly ChatMessage[];
  /** Where the messages stand that say something. */
  #spoken: readonly number[] | undefined;
  #next = 0;

  constructor(messages: readonly ChatMessage[]) {
    this.#messages = messages;
  }

  of(start: number, end: number): Around {
    this.#spoken ??= [...this.#messages.keys()].filter((at) => saysSomething(this.#messages[at]));
    const spoken = this.#spoken;
    while ((spoken[this.#next] ?? end) < start) this.#next += 1;
    const before = spoken[this.#next - 1];
    while ((spoken[this.#next] ?? end) < end) this.#next += 1;
    const after = spoken[this.#next];
    const messageAt = (at: number | undefined): ChatMessage | undefined =>
      at === undefined ? undefined : this.#messages[at];
    return { before: messageAt(before), after: messageAt(after) };
  }
}

function mayStand(said: readonly ChatMessage[], place: LatePlace, around: () => Around): boolean {
  if (place !== 'between_turns') return place === 'anywhere';
  const { before, after } = around();
  return (
    (before?.role === 'user' || before?.role === 'tool') &&
    (after === undefined || after.role === 'assistant') &&
    said.every(({ content }) => partsOf(content).every(({ type }) => type === 'text'))
  );
}

function saysSomething(message: ChatMessage | undefined): boolean {
  const { role, content, tool_calls: calls, reasoning_details: details, refusal } = message ?? { role: '' };
  if (role === 'tool' || (calls?.length ?? 0) > 0 || (details?.length ?? 0) > 0) return true;
  return partsOf(content ?? refusal).some((part) => part.type !== 'text' || part.text.trim() !== '');
}

/** The messages of a run that say something, where they stand. */
function placedRun(said: readonly ChatMessage[], stays: boolean, { place, asParts }: LateForm): readonly ChatMessage[] {
  const shaped = (parts: readonly ContentPart[]): ChatMessage['content'] => (asParts ? parts : plainContent(parts));
  if (!stays)
    return said.map((message) => ({ ...message, role: 'user', content: shaped(inTags(partsOf(message.content))) }));
  if (place === 'anywhere') return said.map((message) => ({ ...message, content: shaped(partsOf(message.content)) }));
  const parts = said.flatMap(({ content }) => partsOf(content));
  return parts.length > 0 ? [{ role: 'system', content: shaped(parts) }] : [];
}

function partsOf(content: unknown): readonly ContentPart[] {
  if (Array.isArray(content)) return content as readonly ContentPart[];
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
}

const [OPENING, CLOSING] = ['<system>', '</system>'];

/** Parts that say of themselves that they are the system's. */
function inTags(parts: readonly ContentPart[]): readonly ContentPart[] {
  const isText = ({ type }: ContentPart): boolean => type === 'text';
  const [first, last] = [parts.findIndex(isText), parts.findLastIndex(isText)];
  if (first < 0) return [{ type: 'text', text: OPENING }, ...parts, { type: 'text', text: CLOSING }];
  return parts.map((part, at) => {
    if (part.type !== 'text') return part;
    const [head, tail] = [at === first ? `${OPENING}\n` : '', at === last ? `\n${CLOSING}` : ''];
    return { ...part, text: head + part.text + tail };
  });
}
