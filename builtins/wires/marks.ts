import type { ChatMessage, ChatTool, ContentPart, Fields, MarkPlace } from '../../host/contract/index.ts';
import type { TargetFacts } from '../../host/wire/client-request.ts';
import type { NotedHistory, MarkSpot } from './history-notes.ts';
import { isSystem } from './late-system.ts';
import { plainContent } from './plain-content.ts';

const NO_PLACES: readonly MarkPlace[] = Object.freeze([]);

const placesOf = ({ traits: { history } }: TargetFacts): readonly MarkPlace[] =>
  history?.marks === undefined || history.marks === 'unasked' ? NO_PLACES : history.marks;

/** Whether a mark that is left out changes nothing, because the target caches by itself. */
export const cachesUnasked = ({ traits: { history } }: TargetFacts): boolean => history?.marks === 'unasked';

/** Whether marks of texts stay on them. */
export function readsPartMarks(target: TargetFacts): boolean {
  const places = placesOf(target);
  return places.includes('parts') || places.includes('texts');
}

/** Where a mark goes at a target that reads marks in these places; `undefined`: it is left out. */
function homeOf(spot: MarkSpot, places: readonly MarkPlace[]): 'here' | 'message' | 'part' | undefined {
  const takes = (place: MarkPlace): boolean => places.includes(place);
  const takesPart = (isText: boolean): boolean => takes('parts') || (takes('texts') && isText);
  switch (spot.kind) {
    case 'tool':
      return takes('tools') ? 'here' : undefined;
    case 'part':
      return takesPart(spot.isText) ? 'here' : undefined;
    case 'message':
      if (takes('messages')) return 'here';
      return spot.last !== 'nothing' && takesPart(spot.last === 'text') ? 'part' : undefined;
    case 'call':
      if (takes('calls')) return 'here';
      return takes('messages') && spot.isLast ? 'message' : undefined;
    default:
      return undefined; // nothing holds it
  }
}

/** Paths of the marks that a target does not get. */
export function lostMarks({ marks }: NotedHistory, target: TargetFacts): string[] {
  if (cachesUnasked(target)) return [];
  const places = placesOf(target);
  return marks.filter(({ spot }) => homeOf(spot, places) === undefined).map(({ path }) => path);
}

const isMarked = (holder: Readonly<Fields>): boolean => holder['cache_control'] !== undefined;

function withoutMark<T extends Readonly<Fields>>(holder: T): T {
  const { cache_control: _mark, ...rest } = holder;
  return rest as unknown as T;
}

export const partSpot = ({ type }: Pick<ContentPart, 'type'>): MarkSpot => ({ kind: 'part', isText: type === 'text' });

/** Where the mark of a message stands, by what its content ends with. */
export function messageSpot(content: ChatMessage['content']): MarkSpot {
  if (!Array.isArray(content)) return { kind: 'message', last: content ? 'text' : 'nothing' };
  const last = (content as readonly ContentPart[]).at(-1);
  return { kind: 'message', last: last ? (last.type === 'text' ? 'text' : 'other') : 'nothing' };
}

/** Tools with the marks that the target reads. */
export function markedTools(tools: readonly ChatTool[], target: TargetFacts): readonly ChatTool[] {
  return homeOf({ kind: 'tool' }, placesOf(target)) === 'here'
    ? tools
    : tools.map((tool) => (isMarked(tool) ? withoutMark(tool) : tool));
}

/** A message with the marks that the target reads, each in a place where it does. */
export function markedMessage(message: ChatMessage, target: TargetFacts): ChatMessage {
  const places = placesOf(target);
  return messageMark(callMarks(partMarks(message, places), places), places);
}

function partMarks(message: ChatMessage, places: readonly MarkPlace[]): ChatMessage {
  const { content } = message;
  if (!Array.isArray(content) || !content.some(isMarked)) return message;
  const parts: readonly ContentPart[] = content;
  const kept = parts.map((part) =>
    isMarked(part) && homeOf(partSpot(part), places) === undefined ? withoutMark(part) : part,
  );
  // A text that is marked in one request and not in the next is one string in both.
  return { ...message, content: isSystem(message) || kept.some(isMarked) ? kept : plainContent(kept) };
}

function callMarks(message: ChatMessage, places: readonly MarkPlace[]): ChatMessage {
  const { tool_calls: calls } = message;
  if (!calls?.some(isMarked)) return message;
  const homes = calls.map((call, at) =>
    isMarked(call) ? homeOf({ kind: 'call', isLast: at === calls.length - 1 }, places) : undefined,
  );
  const kept = calls.map((call, at) => (isMarked(call) && homes[at] !== 'here' ? withoutMark(call) : call));
  const moved = calls.find((_call, at) => homes[at] === 'message');
  return { ...message, tool_calls: kept, ...(moved && { cache_control: moved['cache_control'] }) };
}

function messageMark(message: ChatMessage, places: readonly MarkPlace[]): ChatMessage {
  if (!isMarked(message)) return message;
  const home = homeOf(messageSpot(message.content), places);
  if (home === 'here') return message;
  const rest = withoutMark(message);
  return home === 'part' ? { ...rest, content: markedEnd(rest.content, message['cache_control']) } : rest;
}

/** Content whose last part has the mark, unless that one has its own. */
function markedEnd(content: ChatMessage['content'], mark: unknown): readonly ContentPart[] {
  const parts: readonly ContentPart[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  return parts.map((part, at) =>
    at === parts.length - 1 && !isMarked(part) ? { ...part, cache_control: mark } : part,
  );
}
