import { type Fields, isFields, tryParseJson } from '../../../../host/contract/index.ts';
import type { HeldText } from '../../../../host/wire/client-wire.ts';

/** What of a part has a place in the common format. */
const COMMON_PARTS: ReadonlySet<string> = new Set(['text', 'functionCall', 'thought', 'thoughtSignature']);

/** A frame less what has a place in the common format. */
export function vendorsOwn(frame: Readonly<Fields>): Fields {
  return withParts(frame, (part) =>
    Object.fromEntries(Object.entries(part).filter(([name]) => !COMMON_PARTS.has(name))),
  );
}

/** The frame of which that is left, with what has been changed in it. */
export function withVendorsOwn(frame: Readonly<Fields>, own: Readonly<Fields>): Fields {
  const changed = partsOf(own);
  let place = 0;
  const { candidates } = withParts(frame, (part) => {
    const edited = changed[place++] ?? {};
    return Object.fromEntries(
      Object.entries(part).map(([name, value]) => [name, COMMON_PARTS.has(name) ? value : edited[name]]),
    );
  });
  const others = Array.isArray(own['candidates']) ? own['candidates'] : [];
  const joined = Array.isArray(candidates)
    ? candidates.map((candidate: unknown, at) =>
        isFields(candidate) && isFields(others[at])
          ? { ...others[at], ...(candidate['content'] !== undefined && { content: candidate['content'] }) }
          : candidate,
      )
    : candidates;
  return { ...own, ...(joined !== undefined && { candidates: joined }) };
}

function partsOf({ candidates }: Readonly<Fields>): readonly Fields[] {
  return Array.isArray(candidates)
    ? candidates.flatMap((candidate: unknown) =>
        isFields(candidate) && isFields(candidate['content']) && Array.isArray(candidate['content']['parts'])
          ? candidate['content']['parts'].filter(isFields)
          : [],
      )
    : [];
}

/** The frame with other parts in the place of its own, candidate after candidate. What is not a part is left out; so is a part for which nothing comes back. */
function withParts(frame: Readonly<Fields>, change: (part: Fields, choice: number) => Fields | undefined): Fields {
  const { candidates } = frame;
  if (!Array.isArray(candidates)) return frame;
  return {
    ...frame,
    candidates: candidates.map((candidate: unknown, place) => {
      if (!isFields(candidate) || !isFields(candidate['content']) || !Array.isArray(candidate['content']['parts']))
        return candidate;
      const { index } = candidate;
      const choice = typeof index === 'number' && Number.isInteger(index) && index >= 0 ? index : place;
      return {
        ...candidate,
        content: {
          ...candidate['content'],
          parts: candidate['content']['parts'].filter(isFields).flatMap((part) => change(part, choice) ?? []),
        },
      };
    }),
  };
}

/** Signatures of calls whose first piece was left out, by candidate and id. */
export type Signatures = Map<string, unknown>;

/**
 * The frame with these texts; calls stand whole, with the signature of their first piece, where their last one stood. What was said of
 * single words of a changed text is left out.
 */
export function withHeldTexts(frame: Readonly<Fields>, texts: readonly HeldText[], signatures: Signatures): Fields {
  const waiting = [...texts];
  const take = (choice: number, kind: HeldText['kind']): HeldText | undefined => {
    const at = waiting.findIndex((each) => each.choice === choice && each.kind === kind);
    return at < 0 ? undefined : waiting.splice(at, 1)[0];
  };
  return withoutWords(
    withParts(frame, (part, choice) => {
      const { functionCall: call, text, thought, thoughtSignature: signature } = part;
      if (thought !== true && isFields(call)) {
        const key = `${choice} ${String(call['id'])}`;
        const signed = signature ?? signatures.get(key);
        if (!continues(call))
          return wholeCall(
            { ...part, ...(signed !== undefined && { thoughtSignature: signed }) },
            call,
            take(choice, 'call'),
          );
        if (signature !== undefined) signatures.set(key, signature);
        return undefined;
      }
      return typeof text === 'string' && text !== ''
        ? { ...part, text: take(choice, thought === true ? 'reasoning' : 'content')?.text ?? '' }
        : part;
    }),
  );
}

function wholeCall(
  part: Fields,
  { partialArgs: _pieces, willContinue: _more, ...call }: Fields,
  held: HeldText | undefined,
): Fields {
  if (!held) return part;
  const args = tryParseJson(held.text);
  return {
    ...part,
    functionCall: { ...call, ...(held.name !== undefined && { name: held.name }), args: isFields(args) ? args : {} },
  };
}

/** Log probabilities repeat the text, word by word. */
function withoutWords(frame: Fields): Fields {
  const { candidates } = frame;
  if (!Array.isArray(candidates)) return frame;
  return {
    ...frame,
    candidates: candidates.map((candidate: unknown) => {
      if (!isFields(candidate)) return candidate;
      const { logprobsResult: _words, ...rest } = candidate;
      return rest;
    }),
  };
}

/** Whether more of the call is to come. */
export function continues({ willContinue, partialArgs }: Readonly<Fields>): boolean {
  return (
    willContinue === true ||
    (Array.isArray(partialArgs) &&
      partialArgs.some((piece: unknown) => isFields(piece) && piece['willContinue'] === true))
  );
}

/** Counts the calls that have begun and are not over, as frames come. */
export class OpenCalls {
  readonly #open: unknown[] = [];

  /** Whether one is open after this frame. */
  after(frame: Readonly<Fields>): boolean {
    for (const { functionCall: call, thought } of partsOf(frame))
      if (thought !== true && isFields(call)) this.#call(call);
    return this.#open.length > 0;
  }

  #call(call: Readonly<Fields>): void {
    const known = typeof call['name'] === 'string' ? -1 : this.#open.lastIndexOf(call['id']);
    const at = known >= 0 || typeof call['name'] === 'string' ? known : this.#open.length - 1;
    if (at >= 0) this.#open.splice(at, 1);
    if (continues(call)) this.#open.push(call['id']);
  }
}
