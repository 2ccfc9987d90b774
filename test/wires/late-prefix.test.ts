import { expect } from 'chai';
import { MESSAGES } from '../../builtins/wires/messages/dialect.ts';
import { sealEnvelope } from '../../builtins/wires/envelope.ts';
import { GEMINI_DIALECT } from '../../builtins/wires/gemini/dialect.ts';
import { readGenerate } from '../../builtins/wires/gemini/request/request.ts';
import { RESPONSES_DIALECT } from '../../builtins/wires/responses/dialect.ts';
import { readResponses } from '../../builtins/wires/responses/request.ts';
import { callFor } from '../kit/index.ts';
import { agentBody, ENVIRONMENT, type Form, FORMS, geminiBody, leftOf, read, responsesBody } from './agent-bodies.ts';
import { CHAT_TARGETS, type Conversation, conversationIn, leaving } from './agent-conversation.ts';

/** Thoughts as a client of Messages returns them: of the vendor of this wire, in plain words, and with a signature of another. */
const THOUGHTS = [
  { type: 'thinking', thinking: 'own', signature: 'c2ln' },
  { type: 'thinking', thinking: 'plain', signature: sealEnvelope([]) },
  {
    type: 'thinking',
    thinking: 'signed',
    signature: sealEnvelope([
      {
        type: 'reasoning.encrypted',
        index: 0,
        format: 'google-gemini-v1',
        thought: true,
        start: 0,
        end: 6,
        data: 'c2ln',
      },
    ]),
  },
];
const TURNS = [1, 2, 3, 4, 5];

/** That a list or a text begins with another one. */
function expectBeginning(longer: readonly unknown[] | string, shorter: readonly unknown[] | string): void {
  const beginning = longer.slice(0, shorter.length);
  expect(JSON.stringify(beginning)).to.equal(JSON.stringify(shorter));
}

/** That each of these conversations begins with the one before it, to the byte. */
async function expectGrowth(conversationAt: (turns: number) => Promise<Conversation>): Promise<void> {
  let earlier = await conversationAt(1);
  for (const turns of TURNS.slice(1)) {
    const later = await conversationAt(turns);
    expectBeginning(later.turns, earlier.turns);
    expect(later.turns.length).to.be.greaterThan(earlier.turns.length);
    expect(JSON.stringify(later.around)).to.equal(JSON.stringify(earlier.around));
    earlier = later;
  }
}

describe('two requests of one agent conversation', () => {
  for (const target of CHAT_TARGETS) {
    for (const form of Object.keys(FORMS) as Form[]) {
      it(`share their beginning at ${target.title}, where the agent writes ${form}`, () =>
        expectGrowth(async (turns) => {
          const { wire } = await leaving(target, MESSAGES, read(agentBody(turns, form)));
          return conversationIn(wire.body);
        }));
    }

    it(`share their beginning at ${target.title} with thoughts of any vendor`, () =>
      expectGrowth(async (turns) => {
        const { wire } = await leaving(target, MESSAGES, read(agentBody(turns, 'string', THOUGHTS)));
        return conversationIn(wire.body);
      }));

    it(`have their late system messages among the turns at ${target.title}, and name the first that became the user's`, async () => {
      const { adapted, wire } = await leaving(target, MESSAGES, read(agentBody(3, 'string')));
      const { turns, around } = conversationIn(wire.body);
      const said = JSON.stringify(turns);
      const leading = JSON.stringify([around, typeof turns === 'string' ? turns.split('\n')[0] : turns[0]]);
      for (const text of [ENVIRONMENT, leftOf(1), leftOf(2)]) {
        expect(said.split(text)).to.have.length(2);
        expect(said.indexOf(text)).to.be.greaterThan(said.indexOf('Mend the tests.'));
      }
      expect(leading).to.not.include(leftOf(1));
      expect(JSON.stringify(around)).to.not.include(ENVIRONMENT);
      const isTurned = said.includes('<system>');
      expect(adapted.lost.filter((path) => path.endsWith('.role'))).to.deep.equal(isTurned ? ['messages[1].role'] : []);
    });

    it(`share their beginning at ${target.title}, from a client of Responses`, () =>
      expectGrowth(async (turns) => {
        const value = responsesBody(turns);
        const { request } = readResponses(value);
        const { adapted, wire } = await leaving(target, RESPONSES_DIALECT, { request, value });
        const isTurned = JSON.stringify(wire.body).includes('<system>');
        expect(adapted.lost).to.deep.equal(isTurned ? ['input[2].role'] : []);
        return conversationIn(wire.body);
      }));

    it(`share their beginning at ${target.title}, from a client of Gemini`, () =>
      expectGrowth(async (turns) => {
        const value = geminiBody(turns);
        const { wire } = await leaving(target, GEMINI_DIALECT, { request: readGenerate(value, 'm').request, value });
        return conversationIn(wire.body);
      }));

    const entrance = target.module.sameWire?.messages;
    for (const form of entrance ? (Object.keys(FORMS) as Form[]) : []) {
      it(`share their beginning at ${target.title} in their own wire, where the agent writes ${form}`, async () => {
        const { model, facts } = target;
        const sameWireAt = (turns: number): any =>
          entrance?.toUpstream(
            { wire: 'messages', operation: 'messages', texts: MESSAGES.texts, value: agentBody(turns, form) },
            callFor(model, { facts }),
          );
        if (sameWireAt(1) !== undefined)
          await expectGrowth(async (turns) => conversationIn(inBlocks(sameWireAt(turns).body)));
      });
    }
  }
});

/** A body with its texts in the form that the vendor reads them in: a string is one block. */
function inBlocks({ messages, ...rest }: any): any {
  return {
    ...rest,
    messages: messages.map(({ role, content }: any) => ({
      role,
      content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
    })),
  };
}
