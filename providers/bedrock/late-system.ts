import { isFields } from 'gw/contract';
import type { Fields } from 'gw/common-wire';

type Body = Readonly<Fields>;

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
