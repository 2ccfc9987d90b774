import { replyProblem } from '../../boundary/bodies.ts';
import { jsonProblem } from '../../boundary/json-problem.ts';
import { ModuleFault, type ModuleRef } from '../../boundary/module-fault.ts';
import { refusePromise } from '../../boundary/thenable.ts';
import {
  type CallInfo,
  type Fields,
  GatewayError,
  isFields,
  parseJson,
  type ReplyOf,
  type Surface,
  SURFACES,
  type TranslatedSurface,
  type UnaryReply,
} from '../../contract/index.ts';
import { ANSWER_BOUNDS } from '../../contract/json/json-shape.ts';
import { classified, faultInAnswer, faultInUseless, unusableReply } from '../../upstream/fault.ts';
import type { CollectedReply } from '../../upstream/upstream-call.ts';
import type { Attempt } from './attempt.ts';
import { shapeReply } from '../../answer/shape-reply.ts';
import { goesByResponses, translatorOf } from './live-call.ts';

/** A whole 2xx reply in the common wire. One that holds an error, or cannot be used, is a failed call. */
export function readReply(
  attempt: Attempt,
  reply: BufferedReply,
  call: CallInfo,
  created: number,
): ReplyOf<TranslatedSurface> {
  if (reply.body.length === 0) throw unusableReply('it is empty');
  if (reply.isBrokenJson()) throw unusableReply('its JSON is not complete');
  const isText = SURFACES[attempt.exchange.surface].isRaw && !reply.saysJson(); // words, even where they look like an error
  const isRead = isText || goesByResponses(attempt); // there an error counts by its own status
  const disguised = isRead ? undefined : faultInAnswer(reply.tryJson());
  if (disguised) throw disguised;
  const translated = translatedOf(attempt, reply, call);
  try {
    attempt.exchange.routing.reportedModel = modelOf(translated);
    return shapeAnswer(attempt, translated, created);
  } catch (cause) {
    throw cause instanceof GatewayError ? cause : uselessReply(reply, cause);
  }
}

/** An answer that holds no answer: it may say why. */
function uselessReply(reply: BufferedReply, cause: unknown): GatewayError {
  const said = reply.isJson() ? faultInUseless(reply.json(), cause) : undefined;
  return said ?? unusableReply('it cannot be translated', cause);
}

function translatedOf(attempt: Attempt, reply: BufferedReply, call: CallInfo): ReplyOf<TranslatedSurface> {
  const { surface } = attempt.exchange;
  try {
    const request = attempt.translated ?? attempt.turn.request;
    const translated: unknown = translatorOf(attempt).fromUpstream(reply, call, request as never);
    if (!isFields(translated)) throw new TypeError('it returned no answer: an object');
    refusePromise(translated);
    const problem = answerProblem(surface, translated, attempt.provider.ref);
    if (problem !== undefined) throw new TypeError(`it returned an answer that does not fit ${surface}: ${problem}`);
    return translated as ReplyOf<TranslatedSurface>;
  } catch (thrown) {
    throw thrown instanceof GatewayError
      ? classified(thrown)
      : uselessReply(reply, new ModuleFault(attempt.provider.ref, 'fromUpstream', thrown));
  }
}

/** Answers in JSON are brought into shape, whatever the upstream sent; those of the shipped translators can be written. */
function answerProblem(surface: Surface, translated: Readonly<Fields>, { file }: ModuleRef): string | undefined {
  if (SURFACES[surface].isRaw) return replyProblem(surface, translated);
  return file === undefined ? undefined : jsonProblem(translated);
}

/** The model as the upstream calls it, before the answer gets the name that was asked for. */
function modelOf(reply: object): string | undefined {
  const { model } = reply as { readonly model?: unknown };
  return typeof model === 'string' && model !== '' ? model : undefined;
}

/** The shape clients are promised; `created` in Unix seconds. */
export function shapeAnswer(
  { exchange, turn }: Attempt,
  reply: ReplyOf<TranslatedSurface>,
  created: number,
): ReplyOf<TranslatedSurface> {
  const { translator } = SURFACES[exchange.surface];
  if (translator === undefined) return reply;
  return shapeReply(translator, reply as never, turn.request as never, {
    model: exchange.model,
    exchangeId: exchange.id,
    created,
    functionsOnly: exchange.sent !== undefined,
  });
}

/** A whole reply whose JSON is parsed once, whether it is any or not. */
export class BufferedReply implements UnaryReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  #json: unknown;
  /** Why there is none. */
  #fault: Error | undefined;
  #isParsed = false;

  constructor({ status, headers, body }: CollectedReply) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }

  json(): unknown {
    this.#parse();
    if (this.#fault) throw this.#fault;
    return this.#json;
  }

  saysJson(): boolean {
    return /json/.test(this.headers['content-type'] ?? '');
  }

  /** Says that it is JSON, begins like an object, and is none: half an answer, which must not pass for plain text. */
  isBrokenJson(): boolean {
    return this.#begins() && this.saysJson() && this.tryJson() === undefined;
  }

  /** Whether it was parsed, and is JSON. */
  isJson(): boolean {
    return this.#isParsed && !this.#fault;
  }

  /** `undefined` for bodies that are not a JSON object; audio and subtitles are not even tried. Throws for JSON beyond all bounds. */
  tryJson(): unknown {
    if (!this.#begins() && !this.saysJson()) return undefined;
    this.#parse();
    if (this.#fault instanceof GatewayError) throw this.#fault; // too deep or too large, whatever it was meant to be
    return this.#json;
  }

  /** Like an object. */
  #begins(): boolean {
    return this.body[this.#start()] === 0x7b;
  }

  /** Behind a byte order mark, which is not part of JSON. */
  #start(): number {
    return this.body[0] === 0xef && this.body[1] === 0xbb && this.body[2] === 0xbf ? 3 : 0;
  }

  #parse(): void {
    if (this.#isParsed) return;
    this.#isParsed = true;
    try {
      this.#json = parseJson(this.body.toString('utf8', this.#start()), ANSWER_BOUNDS);
    } catch (error) {
      this.#fault = error instanceof RangeError ? unusableReply(`it is ${error.message}`, error) : (error as Error);
    }
  }
}
