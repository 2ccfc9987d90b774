import { type Fields, GatewayError, isFields, isText, parseExactJson } from '../../../../host/contract/index.ts';

/** The arguments of a call as an object with every digit of their numbers; a blank text is an empty one. `undefined` for any other text. */
export function argumentsIn(text: string | undefined): Fields | undefined {
  if (text === undefined || text.trim() === '') return {};
  try {
    const value = parseExactJson(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A call whose arguments cannot be written: the answer is unusable. */
export function brokenCall(): GatewayError {
  const message = 'the provider called a function with arguments that are not a JSON object';
  return new GatewayError('upstream_error', message, { fault: { kind: 'reply' } });
}

/** The signature of a call in the form of the vendor's compatible endpoint. */
export function signatureBeside(call: Fields): string | undefined {
  const { extra_content: extra } = call;
  const google = isFields(extra) ? extra['google'] : undefined;
  const signature = isFields(google) ? google['thought_signature'] : undefined;
  return typeof signature === 'string' && signature !== '' ? signature : undefined;
}

/** The ids of the calls of one answer: clients answer a call by its id, so one that an earlier call has gets another. */
export class CallIds {
  readonly #taken = new Set<string>();

  /** The member `id` of a call; none where the upstream gave none. */
  memberOf(id: string | undefined, place: number): { readonly id?: string } {
    if (!isText(id)) return {};
    const own = this.#taken.has(id) ? `call_${place}_${id}` : id;
    this.#taken.add(own);
    return { id: own };
  }
}
