import { isOfResponses, isPhase } from '../../../../host/common/sealed-thoughts.ts';
import { type ChunkChoice, type Fields, isText } from '../../../../host/contract/index.ts';
import type { AnswerFacts } from './answer.ts';
import { type CallSecret, CallWriter } from './call-writer.ts';
import { groundingOf } from './candidate-extras.ts';
import { finishWord } from './finish.ts';
import { callSecret, thoughtSecret } from '../secrets.ts';
import { type SortedDetails, signedParts, sortDetails } from '../request/signatures.ts';

/**
 * What the last frame holds beside the reason: a chat of the vendor's SDK forgets an answer with a frame that has no part.
 * Source: @google/genai 3.1.0, "isValidContent", 2026-11-22.
 */
const NOTHING_MORE: readonly Fields[] = Object.freeze([Object.freeze({ text: '' })]);

/** Writes one candidate of a stream, piece by piece. */
export class CandidateWriter {
  readonly #includesThoughts: boolean;
  readonly #calls: CallWriter;
  /** Secrets of other vendors, in the order they came; pieces of one item are put together. */
  readonly #foreign = new Map<unknown, Fields>();
  /** Their keys, by the calls that they name. */
  readonly #naming = new Map<unknown, Set<unknown>>();
  /** Those of them that stand on a call. */
  readonly #onCalls = new Set<unknown>();
  /** Those of the thoughts that are being written: without a secret, which may still come, and with one. */
  readonly #unsealed = new Set<string>();
  readonly #sealed = new Set<string>();
  readonly #annotations: unknown[] = [];
  /** What waits for the last frame. */
  readonly #rest: Fields[][] = [];
  #text = 0;
  #thoughts = '';
  #isThinking = false;
  /** Whether signatures of this wire's own vendor came. */
  #isOwn = false;
  #hasSpoken = false;
  /** The sentence of a refusal. */
  #refusal = '';
  #finish: string | null = null;

  constructor({ includesThoughts, ownName }: AnswerFacts) {
    this.#includesThoughts = includesThoughts;
    this.#calls = new CallWriter(ownName);
  }

  /** The parts that may go on now. */
  write({ delta, finish_reason: finish }: ChunkChoice): Fields[] {
    const { content, reasoning_content: thought, tool_calls: calls, reasoning_details: given, annotations } = delta;
    const details = sortDetails(given);
    if (details.isOwn) this.#isOwn = true;
    this.#calls.sign(details.byCall);
    const secret: CallSecret = (id, isFirst) => this.#secret(id, isFirst);
    const pieces = [this.#details(details, isText(thought)), this.#thought(thought ?? '', details)];
    if (isText(content) || details.text.length > 0)
      pieces.push(this.#closeThoughts(), this.#speech(content ?? '', details));
    if (isText(delta['refusal'])) this.#refusal += delta['refusal'];
    if (Array.isArray(annotations))
      for (const annotation of annotations as readonly unknown[]) this.#annotations.push(annotation);
    if (calls && calls.length > 0) pieces.push(this.#closeThoughts(), this.#calls.write(calls, secret));
    if (typeof finish === 'string' && finish !== '') {
      this.#finish = finish;
      this.#rest.push(this.#closeThoughts(), this.#calls.end(secret));
    }
    return pieces.flat();
  }

  /** The candidate of the last frame. Throws for a call that is not complete. */
  end(index: number): Fields {
    const isRefused = this.#refusal !== '' && !this.#hasSpoken;
    const rest = [
      ...this.#rest.flat(),
      ...this.#closeThoughts(),
      ...this.#calls.end((id, isFirst) => this.#secret(id, isFirst)),
      ...this.#lateSecret(),
    ];
    const parts = rest.length > 0 || isRefused ? rest : NOTHING_MORE;
    return {
      content: { role: 'model', parts },
      finishReason: isRefused ? 'SAFETY' : finishWord(this.#finish),
      ...(this.#refusal !== '' && { finishMessage: this.#refusal }),
      index,
      ...groundingOf(this.#annotations),
    };
  }

  /** Takes up what other vendors sign; a new item with a text begins a new stretch of thoughts. */
  #details({ foreign }: SortedDetails, hasThought: boolean): Fields[] {
    const parts: Fields[][] = [];
    for (const [place, item] of foreign.entries()) {
      const { index, type } = item;
      const key =
        index === undefined || index === null ? `${this.#foreign.size}.${place}` : JSON.stringify([index, type]); // of one index there may be several kinds
      const known = this.#foreign.get(key);
      if (!known && hasThought && isText(item['text']) && this.#unsealed.size + this.#sealed.size > 0)
        parts.push(this.#closeThoughts());
      const whole = known ? joined(known, item) : item;
      this.#foreign.set(key, whole);
      const isSealed = isText(whole['signature']) || isText(whole['data']) || isPhase(whole);
      if (isSealed) this.#unsealed.delete(key);
      (isSealed ? this.#sealed : this.#unsealed).add(key);
      this.#noteName(item['id'], key);
    }
    return parts.flat();
  }

  #noteName(id: unknown, key: unknown): void {
    if (!isText(id)) return;
    const keys = this.#naming.get(id);
    if (keys) keys.add(key);
    else this.#naming.set(id, new Set([key]));
  }

  #thought(text: string, { thoughts }: SortedDetails): Fields[] {
    const base = this.#thoughts.length;
    this.#thoughts += text;
    if (text !== '') this.#isThinking = true;
    if (!this.#includesThoughts || (text === '' && thoughts.length === 0)) return [];
    return signedParts(text, thoughts, { thought: true }, base);
  }

  #speech(text: string, { text: stretches }: SortedDetails): Fields[] {
    const base = this.#text;
    this.#text += text.length;
    if (text !== '') this.#hasSpoken = true;
    return signedParts(text, stretches, {}, base);
  }

  /** Once the thoughts are over their secret follows them, on a part of its own. */
  #closeThoughts(): Fields[] {
    const secrets = [...this.#sealed].map((key) => this.#foreign.get(key)).filter((item) => item !== undefined);
    const isOver = secrets.length > 0 || (this.#isThinking && !this.#isOwn);
    this.#sealed.clear();
    this.#isThinking = false;
    return isOver && this.#includesThoughts
      ? [{ text: '', thought: true, thoughtSignature: thoughtSecret(secrets) }]
      : [];
  }

  /** What a call carries, unless its own vendor has signed: the first one all there is, and a later one what came since and names it. */
  #secret(id: string | undefined, isFirst: boolean): string | undefined {
    if (this.#isOwn) return undefined;
    if (isFirst) return callSecret(this.#notOnCalls(this.#foreign.keys()), this.#thoughts);
    return callSecret(
      this.#notOnCalls(this.#naming.get(id) ?? [], (item) => item['id'] === id),
      '',
    );
  }

  /** Where there are neither thoughts nor calls to carry it, or it came behind the calls. */
  #lateSecret(): Fields[] {
    if (this.#includesThoughts) return [];
    const items = this.#notOnCalls(this.#foreign.keys(), (item) => !this.#calls.hasCalls || isOfResponses(item));
    return items.length > 0 ? [{ text: '', thoughtSignature: callSecret(items, '') }] : [];
  }

  /** Each is given once. */
  #notOnCalls(keys: Iterable<unknown>, isWanted: (item: Fields) => boolean = () => true): Fields[] {
    const found: Fields[] = [];
    for (const key of keys) {
      const item = this.#foreign.get(key);
      if (!item || this.#onCalls.has(key) || !isWanted(item)) continue;
      this.#onCalls.add(key);
      found.push(item);
    }
    return found;
  }
}

/** Two pieces of one item: texts are joined, other members replaced. */
function joined(known: Fields, more: Fields): Fields {
  const names = ['text', 'summary'] as const;
  const texts = names.flatMap((name) =>
    isText(known[name]) && isText(more[name]) ? [[name, known[name] + more[name]] as const] : [],
  );
  return { ...known, ...more, ...Object.fromEntries(texts) };
}
