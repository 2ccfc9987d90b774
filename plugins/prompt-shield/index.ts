import Joi from 'joi';
import { definePlugin, type Exchange, isChat, reject, texts, textsIn, type Verdict } from 'gw/contract';
import { scoreOf } from './score.ts';

interface Settings {
  threshold: number;
  observe: boolean;
}

/** Who may not instruct the model: what users and tools say is read, what the operator and the model said is not. */
const ROLES: ReadonlySet<string> = new Set(['user', 'tool', 'function']);

/** Refuses texts that attack the model's instructions. */
export default definePlugin<Settings>({
  name: 'prompt-shield',
  type: 'guardrail',
  summary: 'Rejects prompt injection and jailbreak attempts in user and tool messages',
  stages: ['before_request'],
  settings: Joi.object<Settings, true>({
    threshold: Joi.number().min(0).max(1).default(0.5),
    observe: Joi.boolean().default(false),
  }),
  create: ({ threshold }) => ({ before_request: (exchange) => screen(exchange, threshold) }),
});

function screen(exchange: Exchange, threshold: number): Verdict | undefined {
  let score = 0;
  for (const text of untrustedTexts(exchange)) score = Math.max(score, scoreOf(text));
  return score >= threshold && score > 0 ? reject('prompt injection suspected', { score }) : undefined;
}

function untrustedTexts(exchange: Exchange): Iterable<string> {
  if (!isChat(exchange)) return texts(exchange);
  const messages = exchange.request.messages.filter(({ role }) => ROLES.has(role));
  return textsIn(exchange, { messages });
}
