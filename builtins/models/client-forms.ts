import type { IncomingMessage } from 'node:http';
import { geminiModel, geminiPage } from './gemini-form.ts';
import { messagesModel, messagesPage } from './messages-form.ts';
import type { OfferedModel } from './offered.ts';

/** How clients of one wire see the list of models. */
export interface ClientForm {
  page(models: readonly OfferedModel[], query: URLSearchParams): object;
  /** `undefined` for a model that such a client cannot use. */
  one(model: OfferedModel): object | undefined;
}

export const GEMINI_FORM: ClientForm = { page: geminiPage, one: geminiModel };
const MESSAGES_FORM: ClientForm = { page: messagesPage, one: messagesModel };

/** On the path that they share, clients are known by a header of theirs; `undefined` for those of the common wire. */
export function formOf({
  headers: { 'anthropic-version': version, 'x-goog-api-client': client },
}: IncomingMessage): ClientForm | undefined {
  if (version !== undefined && version !== '') return MESSAGES_FORM; // an empty one says nothing
  return client === undefined ? undefined : GEMINI_FORM;
}
