import type { Dice } from '../../kit/index.ts';
import { type Answer, callsOf, piecesOf, sse, type Teller, textsOf } from './answer.ts';

type Fields = Record<string, any>;

/** How a server writes the events of a response. Source: vercel/ai, recordings of `packages/openai/src/responses`, 2026-11-26. */
export interface Habits {
  /** Texts, summaries and arguments come in pieces, at once with the first event of their item, or with its last. */
  readonly pieces: 'deltas' | 'done' | 'item' | 'added';
  /** Ids of items are the same in all events, change from event to event, or are not given. */
  readonly ids: 'steady' | 'rotating' | 'none';
  /** Events that say nothing of the answer. */
  readonly isChatty: boolean;
  /** The last event has the whole output. */
  readonly repeats: boolean;
}

export const USUAL: Habits = { pieces: 'deltas', ids: 'steady', isChatty: false, repeats: true };

export const habitsOf = (dice: Dice): Habits => ({
  pieces: dice.pick(['deltas', 'deltas', 'done', 'item', 'added']),
  ids: dice.pick(['steady', 'rotating', 'none']),
  isChatty: dice.below(2) === 0,
  repeats: dice.below(2) === 0,
});

/** The events of a stream that tells a response, in the order in which its vendor sends them. */
export function eventsOf(response: Fields, dice: Dice, habits: Habits = USUAL): Fields[] {
  const events: Fields[] = [];
  let number = 0;
  const send = (type: string, members: Fields): void => {
    if (habits.isChatty && dice.below(4) === 0) events.push({ type: 'keepalive', sequence_number: number++ });
    events.push({ type, sequence_number: number++, ...members });
  };
  const begun = { ...response, status: 'in_progress', output: [], usage: null, incomplete_details: null, error: null };
  send('response.created', { response: begun });
  send('response.in_progress', { response: begun });
  for (const [at, item] of (response['output'] as readonly Fields[]).entries())
    new ItemTeller(send, at, item, dice, habits).tell();
  const type = response['status'] === 'incomplete' ? 'response.incomplete' : 'response.completed';
  send(type, { response: habits.repeats ? response : { ...response, output: [] } });
  return events;
}

class ItemTeller {
  readonly #send: (type: string, members: Fields) => void;
  readonly #at: number;
  readonly #item: Fields;
  readonly #dice: Dice;
  readonly #habits: Habits;
  #turn = 0;

  constructor(send: (type: string, members: Fields) => void, at: number, item: Fields, dice: Dice, habits: Habits) {
    this.#send = send;
    this.#at = at;
    this.#item = item;
    this.#dice = dice;
    this.#habits = habits;
  }

  tell(): void {
    const { type } = this.#item;
    const wantsNames = this.#habits.pieces === 'added' && (type === 'function_call' || type === 'custom_tool_call');
    this.#send('response.output_item.added', {
      output_index: this.#at,
      item: this.#named(wantsNames ? this.#item : this.#begun()),
    });
    if (type === 'message') (this.#item['content'] as Fields[]).forEach((part, place) => this.#part(part, place));
    else if (type === 'reasoning') this.#thoughts();
    else if (type === 'function_call')
      this.#text('response.function_call_arguments', 'arguments', this.#item['arguments'], {});
    else if (type === 'custom_tool_call')
      this.#text('response.custom_tool_call_input', 'input', this.#item['input'], {});
    this.#send('response.output_item.done', { output_index: this.#at, item: this.#named(this.#item) });
  }

  #begun(): Fields {
    const { type } = this.#item;
    const empty: Record<string, Fields> = {
      message: { content: [], status: 'in_progress' },
      function_call: { arguments: '', status: 'in_progress' },
      custom_tool_call: { input: '' },
      reasoning: { summary: [], ...(this.#item['encrypted_content'] && { encrypted_content: 'only-begun' }) },
    };
    return { ...this.#item, ...empty[type] };
  }

  #named({ id, ...item }: Fields): Fields {
    if (this.#habits.ids === 'none') return item;
    return { ...item, id: this.#habits.ids === 'rotating' ? `turning-${this.#at}-${this.#turn++}` : id };
  }

  /** The deltas of a text and its end, as far as this server sends them. */
  #text(event: string, member: string, text: string, place: Fields): void {
    const { pieces } = this.#habits;
    const where = this.#where(place);
    if (pieces === 'deltas')
      for (const delta of piecesOf(this.#dice, text))
        this.#send(`${event}.delta`, { ...where, delta, obfuscation: 'x7' });
    if (pieces === 'deltas' || pieces === 'done') this.#send(`${event}.done`, { ...where, [member]: text });
  }

  #where(place: Fields): Fields {
    const { id } = this.#named(this.#item);
    return { ...(id !== undefined && { item_id: id }), output_index: this.#at, ...place };
  }

  #part(part: Fields, place: number): void {
    const where = this.#where({ content_index: place });
    this.#send('response.content_part.added', { ...where, part: { ...part, text: '', annotations: [] } });
    if (part['type'] === 'refusal')
      this.#text('response.refusal', 'refusal', part['refusal'], { content_index: place });
    else this.#text('response.output_text', 'text', part['text'], { content_index: place, logprobs: [] });
    if (this.#habits.pieces === 'deltas')
      (part['annotations'] as Fields[] | undefined)?.forEach((annotation, at) =>
        this.#send('response.output_text.annotation.added', { ...where, annotation_index: at, annotation }),
      );
    if (this.#habits.pieces !== 'item') this.#send('response.content_part.done', { ...where, part });
  }

  #thoughts(): void {
    (this.#item['summary'] as Fields[]).forEach(({ text }, place) => {
      const where = this.#where({ summary_index: place });
      this.#send('response.reasoning_summary_part.added', { ...where, part: { type: 'summary_text', text: '' } });
      this.#text('response.reasoning_summary_text', 'text', text, { summary_index: place });
      if (this.#habits.pieces !== 'item')
        this.#send('response.reasoning_summary_part.done', { ...where, part: { type: 'summary_text', text } });
    });
    (this.#item['content'] as Fields[] | undefined)?.forEach(({ text }, place) =>
      this.#text('response.reasoning_text', 'text', text, { content_index: place }),
    );
  }
}

/** A response with this output. */
export function responseOf(output: readonly Fields[], more: Fields = {}): Fields {
  return {
    id: 'resp_7Kq2',
    object: 'response',
    created_at: 1_764_000_000,
    status: 'completed',
    error: null,
    incomplete_details: null,
    model: 'gpt-x-2026-09-01',
    output,
    service_tier: 'default',
    store: false,
    usage: {
      input_tokens: 40,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 12,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 52,
    },
    ...more,
  };
}

const CUT: Readonly<Record<string, string>> = { length: 'max_output_tokens', filter: 'content_filter' };

function whole(answer: Answer): Fields {
  const { id, blocks, finish, tokens } = answer;
  const thoughts = blocks.filter(({ kind }) => kind === 'thought').map((block) => (block as { text: string }).text);
  const texts = blocks.filter(({ kind }) => kind === 'text').map((block) => (block as { text: string }).text);
  const reason = CUT[finish];
  return responseOf(
    [
      ...(thoughts.length > 0
        ? [{ id: 'rs_1', type: 'reasoning', summary: thoughts.map((text) => ({ type: 'summary_text', text })) }]
        : []),
      ...(textsOf(answer, 'text') === ''
        ? []
        : [
            {
              id: 'msg_1',
              type: 'message',
              role: 'assistant',
              status: 'completed',
              content: texts.map((text) => ({ type: 'output_text', text, annotations: [] })),
            },
          ]),
      ...callsOf(answer).map(({ id: callId, name, input }, at) => ({
        id: `fc_${at}`,
        type: 'function_call',
        call_id: callId,
        name,
        arguments: JSON.stringify(input),
        status: 'completed',
      })),
    ],
    {
      id,
      ...(reason !== undefined && { status: 'incomplete', incomplete_details: { reason } }),
      usage: {
        input_tokens: tokens.input,
        input_tokens_details: { cached_tokens: tokens.cached },
        output_tokens: tokens.output,
        output_tokens_details: { reasoning_tokens: tokens.thought },
        total_tokens: tokens.input + tokens.output,
      },
    },
  );
}

/** The vendor's own server. */
export const responses: Teller = {
  whole,
  stream: (answer, dice) => sse(eventsOf(whole(answer), dice), { isNamed: true }),
};
