import { expect } from 'chai';
import { Dice, some } from '../kit/index.ts';
import { shippedFacts } from '../kit/facts.ts';
import { CHAT_TARGETS, type ChatTarget, factsOfTarget, leaving } from './agent-conversation.ts';
import { type Thought, WIRES, type Written } from './histories.ts';

/** Models whose thoughts travel in every way that the rules know. */
const THINKERS = [
  'deepseek-v4-pro',
  'kimi-k2.6',
  'qwen3.6-plus',
  'MiniMax-M2',
  'glm-5',
  'gpt-oss-120b',
  'magistral-medium',
];

/** Every provider that chats, in each of its forms, and on the common wire with each of those models. */
const TARGETS: readonly ChatTarget[] = CHAT_TARGETS.flatMap((target, at) => {
  const isFirst = CHAT_TARGETS.findIndex(({ module }) => module === target.module) === at;
  if (!isFirst || target.module.name === 'ai21' || factsOfTarget(target).wire === 'native') return [target];
  const { module } = target;
  const thinkers = THINKERS.map((model) => ({
    module,
    model,
    title: `${module.name} with ${model}`,
    facts: shippedFacts(module.name, model),
  }));
  return [target, ...thinkers];
});

/** The soak has 200; otherwise each target has other ones, and four of them. */
const SEEDS = Array.from({ length: 200 }, (_, at) => at + 1);

/** Those that complete one text: it holds no members, calls or marks. */
const isText = (body: Readonly<Record<string, unknown>>): boolean => !('messages' in body || 'contents' in body);

const holds = (text: string, word: string): boolean => text.includes(word);

function expectThought({ path, text, secrets }: Thought, lost: readonly string[], body: string): void {
  const arrived = [...(text === undefined ? [] : [text]), ...secrets].filter((word) => holds(body, word));
  if (lost.includes(path)) expect(arrived, `${path} is named and sent`).to.deep.equal([]);
  else expect(arrived, `${path} is neither named nor sent`).to.not.have.length(0);
}

/** Each mark of a body that leaves. */
const marksIn = (body: string): number => body.split(/"cache_control":|"cachePoint":/).length - 1;

function expectMarks(target: ChatTarget, { marks }: Written, lost: readonly string[], body: string): void {
  const { traits, wire } = factsOfTarget(target);
  const named = marks.filter((path) => lost.includes(path));
  const sent = marksIn(body);
  if (traits.history?.marks === 'unasked') {
    expect(named).to.deep.equal([]);
    expect(sent).to.equal(0);
    return;
  }
  const kept = marks.length - named.length;
  // A native wire has four at most, and one where two cover the same; it names that by the field alone.
  if (wire === 'native') expect(sent).to.be.at.most(kept).and.at.least(Math.min(kept, 1));
  else expect(sent).to.equal(kept);
}

/** Members that a target of the common wire gets of its turns, and nothing else. */
function expectMembers(target: ChatTarget, body: Record<string, any>): void {
  const { traits, facts, wire } = factsOfTarget(target);
  if (wire === 'native' || isText(body)) return;
  const { marks = [] } = traits.history ?? {};
  const reads = (...places: string[]): string[] =>
    marks !== 'unasked' && marks.some((place) => places.includes(place)) ? ['cache_control'] : [];
  const { thoughts_back: back, thoughts_field: field } = facts;
  const thoughts = [
    ...(back === undefined || back === 'refused' || back === 'parts' ? [] : [field ?? 'reasoning_content']),
    ...(back === 'details' ? ['reasoning_details'] : []),
  ];
  for (const message of body['messages']) {
    expect([
      'role',
      'content',
      'tool_calls',
      'tool_call_id',
      'prefix',
      ...thoughts,
      ...reads('messages'),
    ]).to.include.members(Object.keys(message));
    for (const part of Array.isArray(message.content) ? message.content : [])
      expect(['type', 'text', 'image_url', 'thinking', 'closed', ...reads('parts', 'texts')]).to.include.members(
        Object.keys(part),
      );
    for (const call of message.tool_calls ?? [])
      expect(['id', 'type', 'function', ...reads('calls')]).to.include.members(Object.keys(call));
  }
  for (const tool of body['tools'] ?? [])
    expect(['type', 'function', ...reads('tools')]).to.include.members(Object.keys(tool));
}

describe('a history that a client of another wire brings along', () => {
  for (const [at, target] of TARGETS.entries())
    for (const [name, { write, read }] of Object.entries(WIRES))
      it(`of ${name} reaches ${target.title}, or is named: each text, thought and mark`, async () => {
        for (const seed of some(SEEDS, { every: 50, from: at % 50 })) {
          const written = write(new Dice(seed));
          const { request, value, dialect, lost } = read(written.value);
          const { adapted, wire } = await leaving(target, dialect, { request, value });
          if (isText(wire.body)) return; // one text has no calls, marks or thoughts
          const [named, body] = [[...lost, ...adapted.lost], JSON.stringify(wire.body)];
          for (const word of written.said) expect(holds(body, word), `seed ${seed}: ${word}`).to.equal(true);
          for (const thought of written.thoughts) expectThought(thought, named, body);
          expectMarks(target, written, named, body);
          expectMembers(target, wire.body);
          expect(new Set(adapted.lost).size).to.equal(adapted.lost.length);
        }
      });
});
