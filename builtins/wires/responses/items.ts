import { type Fields, isFields, isText, parseExactJson } from '../../../host/contract/index.ts';
import { sealEnvelope } from '../envelope.ts';
import { JsonEnd } from './json-end.ts';
import { Stretch } from './reasoning.ts';
import { inputOf, type KnownTool } from './tools.ts';

export type ItemStatus = 'completed' | 'incomplete';

/** Writes one event; does nothing for an answer that is sent whole. */
export type Emit = (type: string, members: Fields) => void;

/** Where an item stands in the answer. */
export interface ItemPlace {
  readonly emit: Emit;
  readonly requestId: string;
  /** Its `output_index`. */
  readonly index: number;
}

/** An item of the answer while it is written. */
export interface OpenItem {
  readonly kind: 'reasoning' | 'text' | 'refusal' | 'call';
  /** As it would be if it ended here. */
  finished(status: ItemStatus): Fields;
  /** Writes the events that end it. */
  close(status: ItemStatus): Fields;
}

const itemId = (prefix: string, { requestId, index }: ItemPlace): string => `${prefix}_${requestId}_${index}`;

export class ReasoningItem implements OpenItem {
  readonly kind = 'reasoning';
  readonly stretch = new Stretch();
  readonly #place: ItemPlace;
  /** Whether its text is shown; what must come back with the next turn is always there. */
  readonly #isShown: boolean;
  readonly #id: string;

  constructor(place: ItemPlace, isShown: boolean) {
    this.#place = place;
    this.#isShown = isShown;
    this.#id = itemId('rs', place);
    place.emit('response.output_item.added', {
      output_index: place.index,
      item: { type: 'reasoning', id: this.#id, status: 'in_progress', summary: [] },
    });
  }

  addText(text: string): void {
    const isFirst = this.stretch.text === '';
    this.stretch.text += text;
    if (!this.#isShown) return;
    if (isFirst) this.#emit('part.added', { part: { type: 'summary_text', text: '' } });
    this.#emit('text.delta', { delta: text });
  }

  finished(status: ItemStatus): Fields {
    const { stretch } = this;
    return {
      type: 'reasoning',
      id: this.#id,
      status,
      summary: this.#isShown && stretch.text !== '' ? [this.#part()] : [],
      encrypted_content: sealEnvelope(stretch.sealed(this.#isShown)),
    };
  }

  close(status: ItemStatus): Fields {
    if (this.#isShown && this.stretch.text !== '') {
      this.#emit('text.done', { text: this.stretch.text });
      this.#emit('part.done', { part: this.#part() });
    }
    const item = this.finished(status);
    this.#place.emit('response.output_item.done', { output_index: this.#place.index, item });
    return item;
  }

  #part(): Fields {
    return { type: 'summary_text', text: this.stretch.text };
  }

  #emit(name: string, members: Fields): void {
    this.#place.emit(`response.reasoning_summary_${name}`, {
      item_id: this.#id,
      output_index: this.#place.index,
      summary_index: 0,
      ...members,
    });
  }
}

/** What is said, or why nothing is: a message with one part. */
export class MessageItem implements OpenItem {
  readonly kind: 'text' | 'refusal';
  readonly #place: ItemPlace;
  readonly #id: string;
  readonly #annotations: Fields[] = [];
  readonly #logprobs: unknown[] = [];
  #text = '';

  constructor(place: ItemPlace, kind: 'text' | 'refusal') {
    this.kind = kind;
    this.#place = place;
    this.#id = itemId('msg', place);
    place.emit('response.output_item.added', {
      output_index: place.index,
      item: { type: 'message', id: this.#id, role: 'assistant', status: 'in_progress', content: [] },
    });
    this.#emit('content_part.added', { part: this.#part() });
  }

  addText(delta: string, logprobs: readonly unknown[]): void {
    this.#text += delta;
    if (this.kind === 'refusal') {
      this.#emit('refusal.delta', { delta });
      return;
    }
    for (const one of logprobs) this.#logprobs.push(one);
    this.#emit('output_text.delta', { delta, logprobs });
  }

  annotate(annotation: Fields): void {
    this.#emit('output_text.annotation.added', { annotation, annotation_index: this.#annotations.length });
    this.#annotations.push(annotation);
  }

  finished(status: ItemStatus): Fields {
    return { type: 'message', id: this.#id, role: 'assistant', status, content: [this.#part()] };
  }

  close(status: ItemStatus): Fields {
    if (this.kind === 'refusal') this.#emit('refusal.done', { refusal: this.#text });
    else this.#emit('output_text.done', { text: this.#text, logprobs: [...this.#logprobs] });
    this.#emit('content_part.done', { part: this.#part() });
    const item = this.finished(status);
    this.#place.emit('response.output_item.done', { output_index: this.#place.index, item });
    return item;
  }

  #part(): Fields {
    if (this.kind === 'refusal') return { type: 'refusal', refusal: this.#text };
    return {
      type: 'output_text',
      text: this.#text,
      annotations: [...this.#annotations],
      logprobs: [...this.#logprobs],
    };
  }

  #emit(name: string, members: Fields): void {
    this.#place.emit(`response.${name}`, {
      item_id: this.#id,
      output_index: this.#place.index,
      content_index: 0,
      ...members,
    });
  }
}

/** A citation of the common wire in this wire's form; `undefined` for what has none. */
export function annotationOf(value: unknown): Fields | undefined {
  const cited = isFields(value) && value['type'] === 'url_citation' ? value['url_citation'] : undefined;
  if (!isFields(cited) || !isText(cited['url'])) return undefined;
  const { start_index: start, end_index: end, title, url } = cited;
  return {
    type: 'url_citation',
    start_index: numberOf(start),
    end_index: numberOf(end),
    title: typeof title === 'string' ? title : '',
    url,
  };
}

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

const PREFIXES = { function: 'fc', custom: 'ctc', search: 'tsc' } as const;

/** A call, as the client knows its tool. */
export class CallItem implements OpenItem {
  readonly kind = 'call';
  readonly #place: ItemPlace;
  readonly #tool: KnownTool;
  readonly #callId: string;
  readonly #id: string;
  readonly #end = new JsonEnd();
  #arguments = '';

  constructor(place: ItemPlace, tool: KnownTool, callId: string) {
    this.#place = place;
    this.#tool = tool;
    this.#callId = callId;
    this.#id = itemId(PREFIXES[tool.kind], place);
    place.emit('response.output_item.added', { output_index: place.index, item: this.#item('in_progress', true) });
  }

  /** Whether its arguments are a whole object: another call may begin. */
  get isWhole(): boolean {
    return this.#end.isReached;
  }

  addArguments(fragment: string): void {
    if (fragment === '') return;
    this.#arguments += fragment;
    this.#end.see(fragment);
    if (this.#tool.kind === 'function') this.#emit('function_call_arguments.delta', { delta: fragment });
  }

  finished(status: ItemStatus): Fields {
    return this.#item(status, false);
  }

  close(status: ItemStatus): Fields {
    const { kind, name } = this.#tool;
    if (kind === 'function') {
      if (this.#arguments.trim() === '') this.addArguments('{}');
      this.#emit('function_call_arguments.done', { name, arguments: this.#arguments });
    } else if (kind === 'custom') {
      const input = inputOf(this.#arguments);
      this.#emit('custom_tool_call_input.delta', { delta: input });
      this.#emit('custom_tool_call_input.done', { input });
    }
    const item = this.finished(status);
    this.#place.emit('response.output_item.done', { output_index: this.#place.index, item });
    return item;
  }

  #item(status: ItemStatus | 'in_progress', isEmpty: boolean): Fields {
    const { kind, name, namespace } = this.#tool;
    const [head, within] = [{ id: this.#id, call_id: this.#callId }, namespace === undefined ? {} : { namespace }];
    if (kind === 'custom')
      return {
        type: 'custom_tool_call',
        ...head,
        name,
        ...within,
        input: isEmpty ? '' : inputOf(this.#arguments),
        status,
      };
    if (kind === 'search')
      return {
        type: 'tool_search_call',
        ...head,
        execution: 'client',
        arguments: isEmpty ? {} : objectOf(this.#arguments),
        status,
      };
    return { type: 'function_call', ...head, name, ...within, arguments: isEmpty ? '' : this.#arguments, status };
  }

  #emit(name: string, members: Fields): void {
    this.#place.emit(`response.${name}`, { item_id: this.#id, output_index: this.#place.index, ...members });
  }
}

function objectOf(text: string): Fields {
  try {
    const value = parseExactJson(text);
    return isFields(value) ? value : {};
  } catch {
    return {};
  }
}
