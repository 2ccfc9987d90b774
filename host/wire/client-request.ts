import type { CatalogEntry } from '../common/catalog.ts';
import type {
  BodyTexts,
  ChatRequest,
  ChatTraits,
  ClientBody,
  ClientWireName,
  Fields,
  GatewayError,
  ModelFacts,
} from '../contract/index.ts';
import { changedJson } from './json-changes.ts';
import { hasRepeatedNames } from './repeated-names.ts';

/** What is known of the target that a request is made ready for. */
export interface TargetFacts {
  /** Name of its provider module, for messages. */
  readonly provider: string;
  /** The wire of its chats with this model. */
  readonly wire: 'common' | 'native';
  /** Which API of its service the chat goes to, chat unless said; the one of Responses holds more than the common wire. */
  readonly via?: 'chat' | 'responses' | undefined;
  readonly traits: ChatTraits;
  /** What the rules of models say of that model. */
  readonly facts: ModelFacts;
  /** What the catalog says of that model. */
  readonly entry: CatalogEntry | undefined;
  readonly streaming: boolean;
  /** Thoughts of earlier turns stay behind: the service has refused them. */
  readonly leavesThoughts?: boolean | undefined;
}

/** A request for one target, and what of the client's cannot go there, by the client's own paths. */
export interface Adapted<T> {
  readonly request: T;
  readonly lost: readonly string[];
}

/** What a wire knows of its requests beyond their common form. One object per wire. */
export interface Dialect {
  readonly wire: ClientWireName;
  readonly texts: BodyTexts;
  /** The client's own body without what only this gateway understands: envelopes of other vendors' reasoning. */
  forSameWire(value: Readonly<Fields>): Adapted<Readonly<Fields>>;
  /** The common request as one target takes it. Changes nothing in it. */
  adapt(request: ChatRequest, target: TargetFacts, value: Readonly<Fields>): Adapted<ChatRequest>;
  /** The client's paths for a field of the common request that a target ignores: mostly one, none where that is not worth a word. */
  pathsOf(field: string, target: TargetFacts, value: Readonly<Fields>): readonly string[];
  /** Whether the client asks to see what the model thinks. */
  wantsThoughts(value: Readonly<Fields>): boolean;
}

export interface ClientRequestStart {
  readonly dialect: Dialect;
  readonly operation: string;
  /** The bytes of the client's body, and the same parsed with every digit. */
  readonly bytes: Buffer;
  readonly value: Readonly<Fields>;
  /** Why no target of another wire can be asked; `undefined` where they can. */
  readonly refusal?: GatewayError | undefined;
  /** Paths that the common format has no place for. */
  readonly lost: readonly string[];
  /** Plugins read it: what they have not seen must not leave. */
  readonly isInspected?: boolean;
}

/** The body that a client sent in a wire of its own, as it is now: plugins may have changed texts in it. */
export class ClientRequest implements ClientBody {
  readonly wire: ClientWireName;
  readonly operation: string;
  readonly texts: BodyTexts;
  readonly value: Readonly<Fields>;
  readonly dialect: Dialect;
  readonly refusal: GatewayError | undefined;
  readonly lost: readonly string[];
  /** False once a plugin has changed the common request by more than what can be put back. */
  readonly isCurrent: boolean;
  readonly #start: ClientRequestStart;

  constructor(start: ClientRequestStart, value: Readonly<Fields> = start.value, isCurrent = true) {
    this.wire = start.dialect.wire;
    this.operation = start.operation;
    this.texts = start.dialect.texts;
    this.value = value;
    this.dialect = start.dialect;
    this.refusal = start.refusal;
    this.lost = start.lost;
    this.isCurrent = isCurrent;
    this.#start = start;
  }

  /** This request with texts that a plugin changed. */
  edited(value: Readonly<Fields>): ClientRequest {
    return new ClientRequest(this.#start, value, this.isCurrent);
  }

  /** This request once plugins may have read it. */
  inspected(): ClientRequest {
    return new ClientRequest({ ...this.#start, isInspected: true }, this.value, this.isCurrent);
  }

  /** From here on only the common request counts. */
  outdated(): ClientRequest {
    return new ClientRequest(this.#start, this.value, false);
  }

  /** A body made from this one: the client's bytes, but for what differs. Where a name stands in an object twice, plugins have read the last: only that leaves. */
  bytesOf(body: unknown): Buffer | string {
    const { bytes, value, isInspected = false } = this.#start;
    if (body === value && !isInspected) return bytes;
    const text = bytes.toString('utf8');
    if (isInspected && hasRepeatedNames(text, value)) return JSON.stringify(body);
    return body === value ? bytes : changedJson(text, value, body);
  }
}

/** An answer that goes on in the bytes it came in, unless a plugin changes texts in it. */
export class ClientReply implements ClientBody {
  readonly wire: ClientWireName;
  readonly operation: string;
  readonly texts: BodyTexts;
  readonly value: Readonly<Fields>;
  readonly #bytes: Buffer;
  readonly #original: Readonly<Fields>;

  constructor(
    { wire, operation, texts }: ClientBody,
    bytes: Buffer,
    original: Readonly<Fields>,
    value: Readonly<Fields> = original,
  ) {
    this.wire = wire;
    this.operation = operation;
    this.texts = texts;
    this.value = value;
    this.#bytes = bytes;
    this.#original = original;
  }

  edited(value: Readonly<Fields>): ClientReply {
    return new ClientReply(this, this.#bytes, this.#original, value);
  }

  get body(): Buffer | string {
    return this.value === this.#original
      ? this.#bytes
      : changedJson(this.#bytes.toString('utf8'), this.#original, this.value);
  }
}
