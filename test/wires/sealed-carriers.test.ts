import { expect } from 'chai';
import {
  chatReply,
  openSse,
  replyJson,
  sseEvent,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { TRANSLATED, twofoldTarget } from '../pipeline/two-apis.ts';
import { CLIENTS, type Json, messageOf } from './returning-clients.ts';

/** An answer in the pieces in which the translators of the Responses API make it. */
type Deltas = readonly Json[];

const FORMAT = 'openai-responses-v1';
const sealed = (index: number, place: object = {}): Json => ({
  reasoning_details: [
    { type: 'reasoning.encrypted', format: FORMAT, index, origin: 'a', data: `sealed ${index}`, ...place },
  ],
});
const phase = (index: number, start: number, end: number, word: string): Json => ({
  reasoning_details: [{ type: 'reasoning.phase', format: FORMAT, index, start, end, phase: word }],
});
const call = (index: number): Deltas => [
  { tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name: 'look', arguments: '' } }] },
  { tool_calls: [{ index, function: { arguments: '{"at":' } }] },
  { tool_calls: [{ index, function: { arguments: `${index}}` } }] },
];
const summary = (text: string): Json => ({ reasoning_content: text });

const ANSWERS: Readonly<Record<string, Deltas>> = {
  'two calls, each behind its thoughts': [sealed(0, { id: 'c0' }), ...call(0), sealed(2, { id: 'c1' }), ...call(1)],
  'three calls, the second without thoughts': [
    sealed(0, { id: 'c0' }),
    ...call(0),
    ...call(1),
    sealed(3, { id: 'c2' }),
    ...call(2),
  ],
  'two thoughts in front of one call': [sealed(0, { id: 'c0' }), sealed(1, { id: 'c0' }), ...call(0)],
  'calls whose thoughts have a summary': [
    summary('well'),
    sealed(0, { id: 'c0' }),
    ...call(0),
    summary('\n\nso'),
    sealed(2, { id: 'c1' }),
    ...call(1),
  ],
  'a word on the way, then a call': [
    sealed(0, { start: 0 }),
    { content: 'look' },
    { content: 'ing' },
    phase(1, 0, 7, 'commentary'),
    sealed(2, { id: 'c0' }),
    ...call(0),
  ],
  'a word on the way, then the answer': [
    { content: 'looking' },
    phase(0, 0, 7, 'commentary'),
    sealed(1, { start: 9 }),
    { content: '\n\nfound' },
    phase(2, 9, 14, 'final_answer'),
  ],
  'a word on the way, then the answer behind a summary': [
    summary('well'),
    sealed(0, { start: 0 }),
    { content: 'looking' },
    phase(1, 0, 7, 'commentary'),
    summary('\n\nso'),
    sealed(2, { start: 9 }),
    { content: '\n\nfound' },
  ],
  'an answer behind its thoughts': [sealed(0, { start: 0 }), { content: 'found' }],
  'thoughts that nothing follows': [{ content: 'found' }, sealed(1)],
  'several of all': [
    summary('well'),
    sealed(0, { start: 0 }),
    { content: 'looking' },
    phase(1, 0, 7, 'commentary'),
    sealed(2, { id: 'c0' }),
    ...call(0),
    sealed(4, { id: 'c1' }),
    ...call(1),
  ],
};

const finishOf = ({ tool_calls: calls }: Json): string => (calls ? 'tool_calls' : 'stop');

/** An answer whose calls have ids of their own, as each turn's have. */
const ofTurn = (deltas: Deltas, turn: number): Deltas =>
  JSON.parse(JSON.stringify(deltas).replaceAll(/"c(\d)"/g, `"t${turn}c$1"`)) as Json[];

/** A service that answers each turn with this. */
const answering =
  (given: Deltas): StubHandler =>
  (request, response) => {
    const { stream, input } = request.json() as Json;
    const deltas = ofTurn(given, (input as Json[]).filter(({ role }) => role === 'assistant').length);
    const message = messageOf(deltas);
    if (stream !== true) {
      const answer = chatReply('', { choices: [{ index: 0, message, finish_reason: finishOf(message) }] });
      replyJson(response, 200, { error: null, answer });
      return;
    }
    openSse(response);
    const chunk = (delta: object, finish: string | null = null): object => ({
      id: 'r',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    for (const delta of [{ role: 'assistant' }, ...deltas]) response.write(sseEvent({ chunk: chunk(delta) }));
    response.end(sseEvent({ chunk: chunk({}, finishOf(message)) }) + sseEvent('[DONE]'));
  };

async function open(deltas: Deltas): Promise<{ upstream: StubUpstream; t: TestHost }> {
  const upstream = await stubUpstream(answering(deltas));
  const facts = { efforts: ['none', 'low'], thoughts_back: 'sealed', phases: true, endpoints: ['responses'] } as const;
  const t = await startHost({ ...TRANSLATED, targets: [twofoldTarget(upstream, 'a', facts)] });
  return { upstream, t };
}

/** The text of a message of the common wire, as the translators join it. */
const textOf = ({ content }: Json): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }: Json) => text).join('\n\n');

const detailsOf = (message: Json): Json[] => (message['reasoning_details'] ?? []) as Json[];
const isPhase = ({ type }: Json): boolean => type === 'reasoning.phase';

/** What an item stands in front of: its call, or the text at its start. */
function placeOf(item: Json, message: Json): string {
  if (item['id'] !== undefined) return `call ${item['id']}`;
  return item['start'] === undefined ? 'nothing' : `text ${textOf(message).slice(item['start']).trimStart()}`;
}

const placesIn = (message: Json): string[] =>
  detailsOf(message)
    .filter((item) => !isPhase(item))
    .map((item) => `${item['data']} of ${item['origin']} in front of ${placeOf(item, message)}`)
    .toSorted();

const phasesIn = (message: Json): string[] =>
  detailsOf(message)
    .filter(isPhase)
    .map(({ start, end, phase: word }) => `${word}: ${textOf(message).slice(start, end)}`)
    .toSorted();

describe('what the Responses API of a vendor sealed', () => {
  for (const [what, deltas] of Object.entries(ANSWERS))
    for (const client of CLIENTS)
      for (const streaming of [false, true]) {
        const { name, wantsThoughts } = client;
        const how = `${name}, ${streaming ? 'streamed' : 'whole'}, ${wantsThoughts ? 'with' : 'without'} thoughts`;
        it(`comes back through a client of ${how}: ${what}`, async () => {
          const { upstream, t } = await open(deltas);
          const history: Json[] = [];
          for (let turn = 0; turn < 2; turn += 1)
            for (const each of await client.ask(t, streaming, history)) history.push(each);
          await client.ask(t, streaming, history);
          const { input } = upstream.seen.at(-1)!.json() as { input: Json[] };
          const answered = input.filter(({ role }) => role === 'assistant');
          expect(answered).to.have.length(2);
          for (const [turn, message] of answered.entries()) {
            const original = messageOf(ofTurn(deltas, turn));
            expect(textOf(message)).to.equal(textOf(original));
            expect(message['tool_calls']?.map(({ id }: Json) => id)).to.deep.equal(
              original['tool_calls']?.map(({ id }: Json) => id),
            );
            const endsInText = name === 'Messages' && streaming && !original['tool_calls'];
            if (endsInText && what === 'thoughts that nothing follows') continue; // there is no place behind a text
            expect(placesIn(message)).to.deep.equal(placesIn(original));
            const phases = phasesIn(original).filter((each) => !endsInText || !each.startsWith('final_answer'));
            expect(phasesIn(message)).to.deep.equal(phases);
          }
        });
      }
});
