import { isFields } from 'gw/contract';
import { addAll, type Fields } from 'gw/common-wire';
import { inTags } from '../_common/anthropic/index.ts';

type Body = Readonly<Fields>;

/** A client's body as the service takes it, and the client's paths of what became something else. */
export interface PlacedBody {
  readonly body: Body;
  readonly lost: readonly string[];
}

/**
 * Older versions of Claude Code put this line first, and parts of it change with each request: behind it nothing would be read
 * from a cache. See docs/reference/ingress.md#instructions.
 */
const BILLING = 'x-anthropic-billing-header:';

const isSystem = (turn: unknown): turn is Body => isFields(turn) && turn['role'] === 'system';

/** Whether system messages stand in front of the first turn: there every Claude refuses them. */
export const beginsWithSystem = (messages: unknown): boolean => Array.isArray(messages) && isSystem(messages[0]);

/** The body without the line about billing; the same object where it holds none. */
export function withoutBilling(body: Body): Body {
  const { system, ...rest } = body;
  const kept = unbilled(system);
  if (kept === system) return body;
  return kept === '' || (Array.isArray(kept) && kept.length === 0) ? rest : { ...body, system: kept };
}

function unbilled(system: unknown): unknown {
  const isBilling = (text: unknown): boolean => typeof text === 'string' && text.startsWith(BILLING);
  if (Array.isArray(system)) {
    const kept = system.filter((block) => !(isFields(block) && isBilling(block['text'])));
    return kept.length === system.length ? system : kept;
  }
  if (typeof system !== 'string' || !isBilling(system)) return system;
  const end = system.indexOf('\n');
  return end < 0 ? '' : system.slice(end + 1);
}

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
