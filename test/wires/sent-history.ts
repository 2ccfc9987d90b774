import { expect } from 'chai';
import { messagesDialect } from '../../builtins/wires/messages/dialect.ts';
import { readMessages } from '../../builtins/wires/messages/request.ts';
import { MODULES } from '../../builtins/manifest.ts';
import { shippedFacts } from '../kit/facts.ts';
import { type ChatTarget, leaving } from './agent-conversation.ts';

/** A shipped provider with a model, and what the rules say of that. */
export function targetOf(provider: string, model: string): ChatTarget {
  const module = MODULES.find(({ kind, name }) => kind === 'provider' && name === provider);
  if (module?.kind !== 'provider') throw new Error(`no provider ${provider}`);
  return { title: provider, module, model, facts: shippedFacts(provider, model) };
}

/** What a target is sent of a body in Messages, and what is lost of it. */
export async function sentOf(
  provider: string,
  model: string,
  body: object,
): Promise<{ body: any; lost: readonly string[] }> {
  const value = { model: 'm', max_tokens: 64, ...body };
  const { request, notes } = readMessages(value, undefined);
  expect(notes.refusal).to.equal(undefined);
  const { adapted, wire } = await leaving(targetOf(provider, model), messagesDialect(notes.history), {
    request,
    value,
  });
  return { body: wire.body, lost: adapted.lost };
}
