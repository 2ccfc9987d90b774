import type { CallInfo, ClientBody, SameWire, WireRequest } from 'gw/contract';
import { BETA_HEADER } from './betas.ts';
import { type PlacedBody, withLateInTurns } from './late-system.ts';

/** The version of the API that a body keeps to: it decides what the vendor takes. */
export const VERSION_HEADER = 'anthropic-version';

/** Speaks of the client's own credential, which stays here. */
const OF_CREDENTIAL = 'oauth-2025-04-20';

/** The betas of a client that go along with its body. */
export function clientBetas({ clientHeaders }: CallInfo): string[] {
  const flags = (clientHeaders?.[BETA_HEADER] ?? '').split(',').map((flag) => flag.trim());
  return flags.filter((flag) => flag !== '' && flag !== OF_CREDENTIAL);
}

/** The vendor's own API: the client's body with the model that is asked for, and its headers. See docs/reference/ingress.md#bodies-in-the-vendors-own-wire. */
export const messagesSameWire: SameWire = {
  toUpstream: (client, call) => ask('/messages', client, call),
  countTokens: (client, call) => ask('/messages/count_tokens', client, call),
};

function ask(path: string, { value }: ClientBody, call: CallInfo): WireRequest {
  const version = call.clientHeaders?.[VERSION_HEADER];
  const betas = clientBetas(call);
  const { max_tokens: maxTokens } = value;
  const { body, lost } = bodyFor(value, call);
  return {
    path,
    headers: {
      ...(version && { [VERSION_HEADER]: version }),
      ...(betas.length > 0 && { [BETA_HEADER]: betas.join(',') }),
    },
    body,
    ...(typeof maxTokens === 'number' && { answerTokens: maxTokens }),
    ...(lost.length > 0 && { ignored: lost }),
  };
}

/** A client writes for the model that it names: another one in its place may not take system messages behind the first turn. */
function bodyFor(value: ClientBody['value'], { model, facts }: CallInfo): PlacedBody {
  if (value['model'] === model) return { body: value, lost: [] };
  const placed = facts?.late_system === false ? withLateInTurns(value) : { body: value, lost: [] };
  return { ...placed, body: { ...placed.body, model } };
}
