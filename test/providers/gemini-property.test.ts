import { expect } from 'chai';
import gemini from '../../providers/gemini/index.ts';
import { callFor, cases, everyCut, relayStream, seeded, sseBytes, translateReply } from '../kit/index.ts';

const call = callFor('gemini-3-flash-preview');
const WORDS = ['a', 'Grüße', '日本', '🙂', ' ', '\n', '"quoted"', '\\', 'data: x', '', '</s>', '\u2028', 'event: y'];
const REASONS = ['STOP', 'STOP', 'STOP', 'MAX_TOKENS', 'SAFETY', 'OTHER', 'MALFORMED_FUNCTION_CALL'];

type Random = () => number;
type Part = Record<string, unknown>;

const below = (random: Random, bound: number): number => Math.floor(random() * bound);
const pick = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)] as T;
const words = (random: Random): string =>
  Array.from({ length: 1 + below(random, 6) }, () => pick(random, WORDS)).join('') || 'x';

function partOf(random: Random): Part {
  const signed = random() < 0.3 ? { thoughtSignature: Buffer.from(words(random)).toString('base64') || 'eA==' } : {};
  const kind = random();
  if (kind < 0.25) return { text: words(random), thought: true, ...signed };
  if (kind < 0.65) return { text: random() < 0.1 ? '' : words(random), ...signed };
  if (kind < 0.95)
    return {
      functionCall: {
        name: pick(random, ['f', 'get_weather']),
        args: { a: words(random), n: below(random, 9) },
        ...(random() < 0.5 && { id: `own-${below(random, 1e9)}` }),
      },
      ...signed,
    };
  return { inlineData: { mimeType: 'image/png', data: 'AAAA' }, ...signed };
}

interface Answer {
  readonly candidates: {
    content: { role: string; parts: Part[] };
    finishReason: string;
    index: number;
    logprobsResult?: object;
  }[];
  readonly usageMetadata: object;
  readonly responseId: string;
}

function answerOf(random: Random): Answer {
  const counts = [below(random, 99), 1 + below(random, 99), below(random, 2) * below(random, 50)] as const;
  return {
    responseId: `r-${below(random, 1e6)}`,
    candidates: Array.from({ length: random() < 0.8 ? 1 : 2 }, (_, index) => ({
      index,
      finishReason: pick(random, REASONS),
      content: { role: 'model', parts: Array.from({ length: below(random, 6) }, () => partOf(random)) },
    })),
    usageMetadata: {
      promptTokenCount: counts[0],
      candidatesTokenCount: counts[1],
      thoughtsTokenCount: counts[2],
      totalTokenCount: counts[0] + counts[1] + counts[2],
      cachedContentTokenCount: below(random, 2) * below(random, counts[0] + 1),
    },
  };
}

/** What the vendor streams for an answer: unsigned texts in pieces, everything else whole; each frame with the usage so far. */
function framesOf(answer: Answer, random: Random): object[] {
  const { responseId, usageMetadata } = answer;
  const frames: object[] = [];
  for (const {
    index,
    finishReason,
    content: { parts },
  } of answer.candidates) {
    const pieces = parts.flatMap((part) => piecesOf(part, random));
    while (pieces.length > 0) {
      const some = pieces.splice(0, 1 + below(random, 3));
      const isLast = pieces.length === 0 && random() < 0.5;
      frames.push({
        candidates: [{ index, content: { role: 'model', parts: some }, ...(isLast && { finishReason }) }],
        usageMetadata: { promptTokenCount: 1, totalTokenCount: 1 },
        responseId,
      });
      if (isLast) break;
    }
    if (
      !JSON.stringify(frames.at(-1) ?? {}).includes(`"finishReason":"${finishReason}"`) ||
      !isOf(frames.at(-1), index)
    )
      frames.push({ candidates: [{ index, finishReason }], responseId });
  }
  const last = frames.pop() as object;
  return random() < 0.5 ? [...frames, { ...last, usageMetadata }] : [...frames, last, { usageMetadata, responseId }];
}

const isOf = (frame: object | undefined, index: number): boolean =>
  JSON.stringify(frame ?? {}).startsWith(`{"candidates":[{"index":${index},`);

function piecesOf(part: Part, random: Random): Part[] {
  const { text } = part;
  if (typeof text !== 'string' || 'thoughtSignature' in part || text.length < 2) return [part];
  const points = Array.from(text);
  const cut = 1 + below(random, points.length);
  return [points.slice(0, cut), points.slice(cut)]
    .filter((piece) => piece.length > 0)
    .map((piece) => ({ ...part, text: piece.join('') }));
}

/** As many pieces as there are cuts, at any byte. */
function pieces(bytes: Buffer, random: Random): Buffer[] {
  const cuts = Array.from({ length: below(random, 8) }, () => below(random, bytes.length)).toSorted((a, b) => a - b);
  return [0, ...cuts].map((start, at) => bytes.subarray(start, cuts[at] ?? bytes.length));
}

describe('gemini, any answer', () => {
  it('is the same streamed as whole, wherever the bytes are cut', () => {
    for (let seed = 1; seed <= cases(400); seed += 1) {
      const random = seeded(seed);
      const answer = answerOf(random);
      const whole = translateReply(gemini, call, answer);
      const bytes = sseBytes(framesOf(answer, random));
      const { reply, failure } = relayStream(gemini, call, pieces(bytes, random));
      expect(failure, `seed ${seed}`).to.equal(undefined);
      expect({ choices: reply.choices, usage: reply.usage, id: reply.id }, `seed ${seed}`).to.deep.equal({
        choices: whole.choices,
        usage: whole.usage,
        id: whole.id,
      });
    }
  });

  it('is the same for every single cut of a small stream', () => {
    const random = seeded(7);
    const parts = [
      { text: 'né🙂', thought: true },
      { text: 'Grü' },
      { text: 'ße', thoughtSignature: 'U2ln' },
      { functionCall: { name: 'f', args: { a: '🙂' } }, thoughtSignature: 'Qw==' },
    ];
    const answer: Answer = {
      responseId: 'r',
      candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts } }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
    };
    const whole = translateReply(gemini, call, answer);
    const bytes = sseBytes(framesOf(answer, random));
    for (const cut of everyCut(bytes)) {
      const { reply, failure } = relayStream(gemini, call, cut);
      expect([failure, reply.choices, reply.usage], `cut at ${cut[0].length}`).to.deep.equal([
        undefined,
        whole.choices,
        whole.usage,
      ]);
    }
  });

  it('never crashes on frames of any shape', () => {
    const values = [
      null,
      7,
      'x',
      [],
      {},
      true,
      [null],
      { parts: 7 },
      { parts: [7, null, { text: null, thoughtSignature: {} }] },
    ];
    for (let seed = 1; seed <= cases(300); seed += 1) {
      const random = seeded(seed);
      const candidate = {
        content: pick(random, values),
        index: pick(random, values),
        finishReason: pick(random, [...values, 'STOP']),
        logprobsResult: pick(random, values),
      };
      const body = {
        candidates: pick<unknown>(random, [[candidate], candidate, [candidate, null]]),
        usageMetadata: pick(random, values),
        responseId: pick(random, values),
        promptFeedback: pick(random, values),
      };
      const { failure } = relayStream(gemini, call, [sseBytes([body])]);
      if (failure) expect(failure.message, `seed ${seed}`).to.equal('the provider sent an unusable answer');
    }
  });
});
