import { invalidRequest } from '../../../../host/common/invalid-request.ts';
import { type ChatMessage, type ContentPart, type Fields, quoted } from '../../../../host/contract/index.ts';
import { plainContent } from '../../plain-content.ts';
import { cannotCarry, listOf, type Lost, Members } from './members.ts';
import { contentParts, type OpenPart, openPart } from './parts.ts';
import { type Call, ModelTurn } from './model-turn.ts';

const CONTENT = new Set(['role', 'parts']);
const ROLES = new Set(['user', 'model', 'function']);
const RESPONSE = new Set(['id', 'name', 'response', 'parts', 'willContinue', 'scheduling']);

/** The system's text; empty where there is none. What a system prompt holds beside text has no place in the common format. */
export function readSystem(value: unknown, lost: Lost): string {
  if (value === undefined) return '';
  const at = 'systemInstruction';
  const content = new Members(value, CONTENT, at);
  lost.addUnknown(content.fields, CONTENT, at);
  const texts = (content.list('parts') ?? []).map((part, index) => {
    const open = openPart(part, `${at}.parts[${index}]`, lost);
    if (open.kind !== 'text')
      throw cannotCarry(open.members.path(open.kind ?? 'thoughtSignature'), 'a system instruction takes text only');
    return open.members.text('text') ?? '';
  });
  return texts.filter((text) => text !== '').join('\n');
}

/**
 * The turns in the common format. Neighbouring contents of the model are one turn: clients keep each piece of a streamed answer
 * as a content of its own. Results of a turn's calls come first, then what else the user says. Which call a result answers is not looked
 * at where nothing but its tokens is asked for. Throws a 400 that names the path. See docs/reference/ingress.md#gemini-the-conversation.
 */
export function readContents(value: unknown, lost: Lost, isCounting = false): readonly ChatMessage[] {
  if (value === undefined) throw invalidRequest('contents is required');
  const contents = listOf(value);
  if (!contents) throw invalidRequest('contents must be a list');
  const reader = new ContentsReader(lost, isCounting);
  contents.forEach((content, index) => reader.read(content, index));
  const messages = reader.end();
  if (messages.length === 0) throw invalidRequest('contents must hold at least one part');
  return messages;
}

class ContentsReader {
  readonly #lost: Lost;
  readonly #isCounting: boolean;
  readonly #messages: ChatMessage[] = [];
  #turn: ModelTurn | undefined;
  /** The calls of the last turn of the model that wait for their results. */
  #calls = new WaitingCalls([]);

  constructor(lost: Lost, isCounting: boolean) {
    this.#lost = lost;
    this.#isCounting = isCounting;
  }

  read(value: unknown, index: number): void {
    const at = `contents[${index}]`;
    const content = new Members(value, CONTENT, at);
    this.#lost.addUnknown(content.fields, CONTENT, at);
    const role = content.text('role') || 'user';
    if (!ROLES.has(role))
      throw invalidRequest(`${content.path('role')} ${quoted(role)} is not supported, use user or model`);
    const parts = content.list('parts');
    if (!parts) throw invalidRequest(`${content.path('parts')} is required`);
    const open = parts.map((part, place) => openPart(part, `${at}.parts[${place}]`, this.#lost));
    if (open.length === 0) return;
    if (role === 'model') this.#addToTurn(open, index);
    else this.#addUser(open);
  }

  end(): readonly ChatMessage[] {
    if (!this.#turn) {
      this.#refuseWaiting();
      // A user who says nothing behind the last answer says so: without a turn of their own, the model would go on with that answer.
      if (this.#messages.at(-1)?.role === 'assistant') this.#messages.push({ role: 'user', content: '' });
    }
    this.#endTurn();
    return this.#messages;
  }

  #addToTurn(parts: readonly OpenPart[], index: number): void {
    if (!this.#turn) this.#refuseWaiting();
    const turn = (this.#turn ??= new ModelTurn(this.#lost));
    parts.forEach((part, place) => turn.add(part, `call_${index}_${place}`));
  }

  #endTurn(): void {
    if (!this.#turn) return;
    this.#calls = new WaitingCalls(this.#turn.calls);
    const message = this.#turn.message();
    if (message) this.#messages.push(message);
    this.#turn = undefined;
  }

  /** Vendors refuse a history that goes on behind a call without its result, and name nothing of the client's then. */
  #refuseWaiting(): void {
    const [call] = this.#isCounting ? [] : this.#calls.waiting;
    if (call) throw invalidRequest(`${call.at}: the content after this call holds no functionResponse for it`);
  }

  #addUser(parts: readonly OpenPart[]): void {
    this.#endTurn();
    const said: ContentPart[] = [];
    for (const part of parts) {
      if (part.kind === 'functionResponse') this.#messages.push(this.#result(part));
      else for (const each of contentParts(part, this.#lost)) said.push(each);
    }
    if (said.length > 0) this.#messages.push({ role: 'user', content: plainContent(said) });
  }

  #result({ members }: OpenPart): ChatMessage {
    const given = new Members(members.object('functionResponse'), RESPONSE, members.path('functionResponse'));
    this.#lost.addGiven(given.fields, ['willContinue', 'scheduling'], given.path('').slice(0, -1));
    this.#lost.addUnknown(given.fields, RESPONSE, given.path('').slice(0, -1));
    const id = this.#callOf(given);
    const { text, isError } = resultOf(given.object('response'));
    const media = (given.list('parts') ?? []).flatMap((part, index) =>
      contentParts(openPart(part, `${given.path('parts')}[${index}]`, this.#lost), this.#lost),
    );
    const content = media.length > 0 ? [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...media] : text;
    return { role: 'tool', tool_call_id: id, content, ...(isError && { is_error: true }) };
  }

  #callOf(given: Members): string {
    const [id, name] = [given.text('id'), given.text('name')];
    if (!name) throw invalidRequest(`${given.path('name')} is required`);
    const call = this.#calls.take(id, name);
    if (call === undefined && this.#isCounting) return id || name;
    if (call === undefined)
      throw invalidRequest(
        `${given.path(id ? 'id' : 'name')} ${quoted(id || name)}: no call of the turn before waits for this result`,
      );
    return call;
  }
}

/** The calls of one turn that wait for their results; those that the client gave no id are found by their name alone. */
class WaitingCalls {
  readonly #waiting: Set<Call>;
  readonly #byId: ReadonlyMap<string, readonly Call[]>;
  readonly #byName: ReadonlyMap<string, readonly Call[]>;
  /** By list, how many from its start have their results. */
  readonly #answered = new Map<readonly Call[], number>();

  constructor(calls: readonly Call[]) {
    this.#waiting = new Set(calls);
    this.#byId = Map.groupBy(calls, ({ id }) => id);
    this.#byName = Map.groupBy(calls, ({ name }) => name);
  }

  get waiting(): Iterable<Call> {
    return this.#waiting;
  }

  /** The id of the call that a result belongs to: by its own id, else the earliest of the name. */
  take(id: string | undefined, name: string): string | undefined {
    const call = id
      ? (this.#first(this.#byId.get(id)) ?? this.#first(this.#byName.get(name), true))
      : this.#first(this.#byName.get(name));
    if (call) this.#waiting.delete(call);
    return call?.id;
  }

  #first(calls: readonly Call[] = NO_CALLS, isUnnamed = false): Call | undefined {
    let at = this.#answered.get(calls) ?? 0;
    while (at < calls.length && !this.#waiting.has(calls[at] as Call)) at += 1;
    this.#answered.set(calls, at);
    const call = calls[at];
    return isUnnamed && call?.isNamed ? undefined : call;
  }
}

const NO_CALLS: readonly Call[] = Object.freeze([]);

interface Result {
  readonly text: string;
  readonly isError: boolean;
}

/** What a function answered, as the text of a tool message. See docs/reference/ingress.md#gemini-the-conversation. */
function resultOf(response: Fields | undefined): Result {
  if (!response) return { text: '', isError: false };
  const [[name, value] = [], second] = Object.entries(response);
  const isOnly = second === undefined;
  if (isOnly && (name === 'output' || name === 'result') && typeof value === 'string')
    return { text: value, isError: false };
  if (isOnly && name === 'error')
    return { text: typeof value === 'string' ? value : JSON.stringify(value), isError: true };
  return { text: JSON.stringify(response), isError: false };
}
