import { invalidRequest } from '../../../host/common/invalid-request.ts';
import type { ChatMessage, Fields } from '../../../host/contract/index.ts';
import type { HistoryNotes, ThoughtNote } from '../history-notes.ts';
import { itemNote } from '../taken-thoughts.ts';
import type { Content } from './content.ts';

/** A call of an earlier turn, waiting for its result. */
interface Waiting {
  readonly turn: AssistantTurn;
  readonly path: string;
}

/** Reasoning, texts and calls that stand side by side are one turn of the assistant, and their results follow it. */
class AssistantTurn {
  readonly texts: string[] = [];
  readonly thoughts: string[] = [];
  readonly details: Fields[] = [];
  readonly notes: ThoughtNote[] = [];
  readonly calls: Fields[] = [];
  readonly results: ChatMessage[] = [];

  *messages(): Generator<ChatMessage> {
    const { texts, thoughts, details, calls } = this;
    const [text, ...others] = texts;
    if (texts.length + calls.length + thoughts.length + details.length > 0) {
      yield {
        role: 'assistant',
        content: others.length > 0 ? texts.map((part) => ({ type: 'text', text: part })) : (text ?? null),
        ...(thoughts.length > 0 && { reasoning_content: thoughts.join('\n') }),
        ...(details.length > 0 && { reasoning_details: details }),
        ...(calls.length > 0 && { tool_calls: calls as unknown as NonNullable<ChatMessage['tool_calls']> }),
      };
    }
    yield* this.results;
  }
}

/** A conversation of items, as the messages of the common wire. */
export class History {
  readonly #turns: (AssistantTurn | ChatMessage)[] = [];
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #answered = new Set<string>();
  /** What items of the assistant join; `undefined` once something else came after it. */
  #open: AssistantTurn | undefined;

  addMessage(role: string, content: Content): ChatMessage {
    const message = { role, content };
    this.#open = undefined;
    this.#turns.push(message);
    return message;
  }

  addTexts(texts: readonly string[]): void {
    const turn = this.#assistant();
    for (const text of texts) turn.texts.push(text);
  }

  /** `path` is where the item stands. */
  addReasoning(text: string, details: readonly Fields[], path: string): void {
    const turn = this.#assistant();
    turn.notes.push({ path, hasText: text !== '', items: details.map(itemNote) });
    if (text !== '') turn.thoughts.push(text);
    for (const detail of details) turn.details.push(detail);
  }

  addCall(id: string, name: string, args: string, path: string): void {
    const turn = this.#assistant();
    turn.calls.push({ id, type: 'function', function: { name, arguments: args } });
    const waiting = this.#waiting.get(id);
    if (waiting) waiting.push({ turn, path });
    else this.#waiting.set(id, [{ turn, path }]);
  }

  /** The result goes where its call is, also where something stands between the two. */
  addResult(id: string, content: Content, path: string): void {
    const call = this.#waiting.get(id)?.shift();
    if (!call)
      throw invalidRequest(
        `${path}.call_id ${this.#answered.has(id) ? 'is the call of an earlier output' : 'is not the id of an earlier call'}`,
      );
    this.#answered.add(id);
    if (call.turn === this.#open) this.#open = undefined;
    call.turn.results.push({ role: 'tool', tool_call_id: id, content });
  }

  /** Throws for a call without a result: no vendor takes one. */
  messages(notes: HistoryNotes): ChatMessage[] {
    for (const calls of this.#waiting.values()) {
      const [open] = calls;
      if (open) throw invalidRequest(`${open.path} has no output: each call needs one`);
    }
    return this.#turns.flatMap((turn) => {
      if (!(turn instanceof AssistantTurn)) return [turn];
      notes.turn(turn.notes, {
        calls: new Set(turn.calls.map(({ id }) => id)),
        saysMore: turn.calls.length > 0 || turn.texts.length > 0,
      });
      return [...turn.messages()];
    });
  }

  #assistant(): AssistantTurn {
    if (!this.#open) {
      this.#open = new AssistantTurn();
      this.#turns.push(this.#open);
    }
    return this.#open;
  }
}

/** The arguments that stand for the input of a custom tool. */
export function customArguments(input: string): string {
  return JSON.stringify({ input });
}
