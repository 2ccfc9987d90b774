import { addAll, type Fields, isFields } from '../fields.ts';
import { inTags } from './system-tags.ts';

type Body = Readonly<Fields>;

/** A client's body as the service takes it, and the client's paths of what became something else. */
export interface PlacedBody {
  readonly body: Body;
  readonly lost: readonly string[];
}

const isSystem = (turn: unknown): turn is Body => isFields(turn) && turn['role'] === 'system';

/**
 * System messages behind the first turn as texts of the user, for models that refuse the role. They end the turn of the user
 * that they stand behind, or the one that answers the calls in front of them. See docs/reference/ingress.md#late-system-messages.
 */
export function withLateInTurns(body: Body): PlacedBody {
  const { messages } = body;
  if (!Array.isArray(messages) || !messages.some(isSystem)) return { body, lost: [] };
  const draft = new Turns();
  const [roles, directions]: [string[], string[]] = [[], []];
  messages.forEach((turn: unknown, at) => {
    if (!isSystem(turn)) {
      draft.add(turn);
      return;
    }
    const blocks = inTags(blocksOf(turn['content']).filter(isFields));
    if (blocks.length > 0) roles.push(`messages[${at}].role`);
    if ((turn['output_config'] ?? undefined) !== undefined) directions.push(`messages[${at}].output_config`);
    draft.addSystem(blocks);
  });
  return { body: { ...body, messages: draft.end() }, lost: [...roles.slice(0, 1), ...directions] };
}

/** Turns while they are written, and what waits for a turn of the user. */
class Turns {
  readonly #turns: unknown[] = [];
  #held: unknown[] = [];
  /** The blocks of the last turn, once texts were added to it. */
  #last: unknown[] | undefined;

  add(turn: unknown): void {
    const content = isFields(turn) && turn['role'] === 'user' ? blocksOf(turn['content']) : undefined;
    if (this.#held.length > 0 && content) {
      const isAnswer = content.some((block) => isFields(block) && block['type'] === 'tool_result');
      const held = this.#held;
      this.#held = [];
      this.#push({ ...(turn as Body), content: isAnswer ? [...content, ...held] : [...held, ...content] });
    } else {
      this.#release();
      this.#push(turn);
    }
  }

  addSystem(blocks: readonly unknown[]): void {
    const last = this.#turns.at(-1);
    if (blocks.length === 0) return;
    if (!isFields(last) || last['role'] !== 'user') addAll(this.#held, blocks);
    else addAll((this.#last ??= this.#opened(last)), blocks);
  }

  end(): readonly unknown[] {
    this.#release();
    return this.#turns;
  }

  #push(turn: unknown): void {
    this.#turns.push(turn);
    this.#last = undefined;
  }

  /** The last turn with blocks of its own, which can be added to. */
  #opened(turn: Body): unknown[] {
    const content = [...blocksOf(turn['content'])];
    this.#turns[this.#turns.length - 1] = { ...turn, content };
    return content;
  }

  #release(): void {
    if (this.#held.length > 0) this.#push({ role: 'user', content: this.#held });
    this.#held = [];
  }
}

function blocksOf(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content;
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
}
