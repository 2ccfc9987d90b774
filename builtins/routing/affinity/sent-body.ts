import { type Fields, isFields } from '../../../host/contract/index.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';

const NOTHING: Readonly<Fields> = Object.freeze({});

/** What the client sent, in its own wire; of a forwarded body that the gateway has not parsed, nothing. */
export function bodyOf({ surface, sent, request }: LiveExchange): Readonly<Fields> {
  if (sent) return sent.value;
  if (surface !== 'responses') return request;
  const { json } = request as { readonly json?: unknown };
  return isFields(json) ? json : NOTHING;
}

/** Whether the body is one of the Responses API: it has `input` in the place of messages. */
export const isResponsesBody = ({ surface }: LiveExchange): boolean =>
  surface === 'responses' || surface === 'responses.translated';
