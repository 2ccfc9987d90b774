import {
  type Exchange,
  isChat,
  type PluginHandlers,
  reject,
  texts,
  type Steps,
  textsIn,
  type Verdict,
} from 'gw/contract';
import { inTurnsFor, Pace } from '../_common/turns.ts';
import { scoreOf } from './score.ts';

/** Who may not instruct the model: what users and tools say is read, what the operator and the model said is not. */
const ROLES: ReadonlySet<string> = new Set(['user', 'tool', 'function']);

export function create({ threshold }: { readonly threshold: number }): PluginHandlers {
  return { before_request: (exchange) => inTurnsFor(exchange, screen(exchange, threshold)) };
}

function* screen(exchange: Exchange, threshold: number): Steps<Verdict | undefined> {
  const pace = new Pace();
  let score = 0;
  for (const text of untrustedTexts(exchange)) {
    score = Math.max(score, yield* scoreOf(text));
    if (pace.isDue(text)) yield;
  }
  return score >= threshold && score > 0 ? reject('prompt injection suspected', { score }) : undefined;
}

function untrustedTexts(exchange: Exchange): Iterable<string> {
  if (!isChat(exchange)) return texts(exchange);
  const messages = exchange.request.messages.filter(({ role }) => ROLES.has(role));
  return textsIn(exchange, { messages });
}
