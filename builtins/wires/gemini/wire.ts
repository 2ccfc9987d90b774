import type { ChatReply, Exchange } from '../../../host/contract/index.ts';
import { lateFile } from '../../../host/contract/late.ts';
import { type ClientFailure, repeatHeaders } from '../../../host/wire/client-failure.ts';
import type {
  ClientStream,
  ClientWire,
  CredentialPlace,
  SameWireStream,
  WireBody,
} from '../../../host/wire/client-wire.ts';
import { isListStream } from './address.ts';
import type { AnswerFacts } from './answer/answer.ts';
import { errorBody } from './errors.ts';
import { LIST_FORM, type StreamForm } from './stream-form.ts';
import type * as Writing from './writing.ts';

const { writeAnswer, openStream, openSameWire } = lateFile<typeof Writing>(
  import.meta,
  './writing.ts',
)(['writeAnswer', 'openStream', 'openSameWire']);

/** Where the wire's clients carry a key of the gateway. See docs/reference/ingress.md#credentials. */
const CREDENTIALS: readonly CredentialPlace[] = Object.freeze([
  { header: 'x-goog-api-key' },
  'bearer',
  { query: 'key' },
] as const);

const PLAIN: AnswerFacts = { includesThoughts: false, wantsLogprobs: false, ownName: (name) => name };

/** The wire of the Gemini API, for one form of streams and one kind of answers. */
export class GeminiWire implements ClientWire {
  readonly credentials = CREDENTIALS;
  readonly namesScheme = false;
  readonly errorHeaders = repeatHeaders;
  readonly #form: StreamForm;
  readonly #facts: AnswerFacts;

  constructor(form: StreamForm, facts: AnswerFacts = PLAIN) {
    this.#form = form;
    this.#facts = facts;
  }

  at(url: string): ClientWire {
    return isListStream(url) ? new GeminiWire(LIST_FORM) : this;
  }

  /** Where answers are lists, errors are lists too. */
  error(failure: ClientFailure): WireBody {
    const body = JSON.stringify(errorBody(failure));
    return { contentType: 'application/json', body: this.#form === LIST_FORM ? `[${body}]` : body };
  }

  noRoute(failure: ClientFailure): WireBody {
    return this.error(failure);
  }

  reply(exchange: Exchange): unknown {
    return writeAnswer(exchange.reply as ChatReply, this.#facts, exchange.id);
  }

  openStream({ id, model }: Exchange): ClientStream {
    return openStream(this.#form, { ...this.#facts, requestId: id, model });
  }

  openSameWire(): SameWireStream {
    return openSameWire(this.#form);
  }
}
