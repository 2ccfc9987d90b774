import { expect } from 'chai';
import OpenAI from 'openai';
import { ACCEPTED_ANSWERS } from '../accepted.ts';
import { Dice, MASTER_KEY, startHost, stubUpstream } from '../../kit/index.ts';
import { targetsOf, variablesOf } from '../sides/ours.ts';
import { type Side, SIDES } from '../sides/sides.ts';
import { type Answer, answerOf, callsOf, type Finish, type Teller, textsOf } from './answer.ts';
import { type Heard, heardStreamed, heardStreamedByThem, heardWhole, heardWholeByThem } from './heard.ts';
import { TELLERS } from './tellers.ts';

const MOST_FAILURES = 5;

/** A difference between what the two toolkits make of the same answer. */
export interface AnswerDifference {
  readonly side: string;
  /** `usage.cached`, `text`, … */
  readonly at: string;
  readonly isStreamed: boolean;
  readonly ours: unknown;
  readonly theirs: unknown;
  readonly answer: Answer;
}

export interface AnswerLine {
  readonly sides?: RegExp;
  readonly at: string | RegExp;
  readonly when?: (difference: AnswerDifference) => boolean;
  readonly why: string;
}

/** Bytes in pieces of random lengths. */
function cutOf(dice: Dice, bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  const most = 1 + dice.below(400);
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(bytes.length, at + 1 + dice.below(most));
    pieces.push(bytes.subarray(at, end));
    at = end;
  }
  return pieces;
}

interface SentAnswer {
  readonly type: string;
  readonly pieces: readonly Buffer[];
}

/**
 * Lets vendors give generated answers, whole and streamed in random pieces. What the `openai` client hears through the
 * gateway must be what was answered, and what the other toolkit's package hears of the same bytes, but for the lines of
 * the table. Returns the lines that were needed.
 */
export async function compareAnswers(from: number, count: number): Promise<ReadonlySet<AnswerLine>> {
  let sent: SentAnswer = { type: '', pieces: [] };
  const upstream = await stubUpstream(async (_request, response) => {
    response.writeHead(200, { 'content-type': sent.type });
    for (const piece of sent.pieces) {
      response.write(piece);
      if (sent.pieces.length > 1)
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
    }
    response.end();
  });
  const sides = SIDES.filter(({ name }) => name in TELLERS);
  const host = await startHost(
    { strategy: { mode: 'fallback' }, targets: targetsOf(sides) },
    { variables: { ...variablesOf(sides, upstream.url), LOG_LEVEL: 'error' } },
  );
  const client = new OpenAI({ baseURL: `${host.url}/v1`, apiKey: MASTER_KEY, maxRetries: 0 });
  const needed = new Set<AnswerLine>();
  const failures: string[] = [];
  for (let seed = from; seed < from + count && failures.length < MOST_FAILURES; seed += 1) {
    for (const side of sides) {
      for (const isStreamed of [false, true]) {
        const dice = new Dice(seed);
        const { fit = (answer) => answer, ...teller } = TELLERS[side.name] as Teller;
        const answer = fit(answerOf(dice));
        sent = tell(side, teller, answer, isStreamed, dice);
        upstream.seen.length = 0;
        const ours = await (isStreamed ? heardStreamed : heardWhole)(client, side.name);
        const theirs = await (isStreamed ? heardStreamedByThem : heardWholeByThem)(
          side.open({ baseURL: 'http://127.0.0.1:9', apiKey: 'key', fetch: replaying(sent) }, side.model),
        );
        const wrong = differences(side.name, isStreamed, answer, ours, truthOf(answer)).map((difference) => ({
          ...difference,
          isUntrue: true,
        }));
        failures.push(
          ...[...wrong, ...unspoken(differences(side.name, isStreamed, answer, ours, theirs), needed)].map(
            (difference) => `seed ${seed}: ${JSON.stringify(difference)}`,
          ),
        );
      }
    }
  }
  expect(failures.join('\n\n'), 'differences that no line of ACCEPTED_ANSWERS speaks for').to.equal('');
  return needed;
}

const FINISHES: Readonly<Record<Finish, string>> = {
  stop: 'stop',
  length: 'length',
  calls: 'tool_calls',
  filter: 'content_filter',
};

/** The answer as every client should hear it. */
function truthOf(answer: Answer): Heard {
  const {
    tokens: { input, output, cached, thought },
  } = answer;
  return {
    text: textsOf(answer, 'text'),
    reasoning: textsOf(answer, 'thought'),
    calls: callsOf(answer).map(({ name, input: given }) => ({ name, input: given })),
    finish: FINISHES[answer.finish],
    usage: { input, output, cached, reasoning: thought },
  };
}

function tell(
  { provider }: Side,
  { whole, stream }: Teller,
  answer: Answer,
  isStreamed: boolean,
  dice: Dice,
): SentAnswer {
  if (!isStreamed) return { type: 'application/json', pieces: [Buffer.from(JSON.stringify(whole(answer, dice)))] };
  return {
    type: provider === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream',
    pieces: cutOf(dice, stream(answer, dice)),
  };
}

const replaying =
  ({ type, pieces }: SentAnswer): typeof globalThis.fetch =>
  async () =>
    new Response(ReadableStream.from(pieces) as never, { status: 200, headers: { 'content-type': type } });

function differences(
  side: string,
  isStreamed: boolean,
  answer: Answer,
  ours: Heard,
  theirs: Heard,
): AnswerDifference[] {
  const flat = ({ usage, ...rest }: Heard): Record<string, unknown> => ({
    ...rest,
    ...Object.fromEntries(Object.entries(usage).map(([name, value]) => [`usage.${name}`, value])),
  });
  const [mine, other] = [flat(ours), flat(theirs)];
  return [...new Set([...Object.keys(mine), ...Object.keys(other)])]
    .filter((at) => JSON.stringify(mine[at]) !== JSON.stringify(other[at]))
    .map((at) => ({ side, at, isStreamed, ours: mine[at], theirs: other[at], answer }));
}

function unspoken(found: readonly AnswerDifference[], needed: Set<AnswerLine>): AnswerDifference[] {
  return found.filter((difference) => {
    const line = ACCEPTED_ANSWERS.find(
      ({ sides, at, when }) =>
        (!sides || sides.test(difference.side)) &&
        (typeof at === 'string' ? at === difference.at : at.test(difference.at)) &&
        (!when || when(difference)),
    );
    if (line) needed.add(line);
    return line === undefined;
  });
}
