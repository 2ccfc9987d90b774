import { expect } from 'chai';
import { MESSAGES } from '../../builtins/wires/messages/dialect.ts';
import { readMessages } from '../../builtins/wires/messages/request.ts';
import { RESPONSES_DIALECT } from '../../builtins/wires/responses/dialect.ts';
import { readResponses } from '../../builtins/wires/responses/request.ts';
import { lacksThinking } from '../../providers/_common/anthropic/turns.ts';
import { cases, Dice, golden } from '../kit/index.ts';
import { hello, MARK, mixedBody, read } from './agent-bodies.ts';
import {
  CHAT_TARGETS,
  type ChatTarget,
  conversationIn,
  GOLDEN,
  leaving,
  marksIn,
  targetNamed,
} from './agent-conversation.ts';

const CLAUDE = targetNamed('anthropic', 'claude-opus-4-8');
const OLDER = targetNamed('anthropic', 'claude-sonnet-4-6');
/** It thinks by a budget, which the vendor takes only where the thoughts of the last turn are there. */
const BUDGETED = targetNamed('anthropic', 'claude-opus-4-5');

const user = (content: unknown = 'go'): object => ({ role: 'user', content });
const system = (content: unknown = 'note'): object => ({ role: 'system', content });
const said = (content: unknown = 'yes'): object => ({ role: 'assistant', content });
const call = (id: string): object => said([{ type: 'tool_use', id, name: 'Bash', input: {} }]);
const result = (id: string, ...more: object[]): object =>
  user([{ type: 'tool_result', tool_use_id: id, content: 'done' }, ...more]);

/** The turns that a target gets, and the paths that are lost. */
async function turnsAt(
  target: ChatTarget,
  ...messages: object[]
): Promise<{ turns: any; lost: readonly string[]; body: any }> {
  const { adapted, wire } = await leaving(target, MESSAGES, read({ ...hello, messages }));
  return { turns: conversationIn(wire.body).turns, lost: adapted.lost, body: wire.body };
}

const rolesOf = (turns: readonly any[]): string[] => turns.map(({ role }) => role);

describe('late system messages', () => {
  for (const [file, provider, model] of GOLDEN)
    it(`reach a target as ${file}`, async () => {
      const { wire } = await leaving(targetNamed(provider, model), MESSAGES, read(mixedBody));
      expect(wire.body).to.deep.equal(JSON.parse(golden(file)));
    });

  describe('to models of the Messages wire that take them', () => {
    it('stay behind a turn of the user, last or in front of the assistant', async () => {
      for (const rest of [[], [said(), user()]]) {
        const { turns, lost } = await turnsAt(CLAUDE, user(), system(), ...rest);
        expect([rolesOf(turns), lost]).to.deep.equal([
          ['user', 'system', 'assistant', 'user'].slice(0, 2 + rest.length),
          [],
        ]);
      }
    });

    it('are one where two stand side by side, with the blocks of both', async () => {
      const { turns } = await turnsAt(CLAUDE, user(), system('a'), system([{ type: 'text', text: 'b', ...MARK }]));
      expect(turns[1]).to.deep.equal({
        role: 'system',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      });
    });

    for (const [where, messages, at] of [
      ['behind the assistant', [user(), said(), system(), user()], 2],
      ['last, behind the assistant', [user(), said(), system()], 2],
      ['in front of the user', [user(), system(), user()], 1],
      ['behind a turn without a word', [user(), said(), user('  '), system(), said(), user()], 3],
    ] as const)
      it(`are the user's ${where}`, async () => {
        const { turns, lost } = await turnsAt(CLAUDE, ...messages);
        expect(JSON.stringify(turns)).to.include('<system>\\nnote\\n</system>');
        expect(rolesOf(turns)).to.not.include('system');
        expect(lost).to.deep.equal([`messages[${at}].role`]);
      });
  });

  it('are turns of the user for older ones, in their place', async () => {
    const { turns, lost, body } = await turnsAt(OLDER, user(), system('a'), said(), user(), system('b'));
    expect(rolesOf(turns)).to.deep.equal(['user', 'assistant', 'user']);
    expect(turns[0].content.at(-1)).to.deep.equal({ type: 'text', text: '<system>\na\n</system>' });
    expect(body).to.not.have.property('system');
    expect(lost).to.deep.equal(['messages[1].role']);
  });

  it('that say nothing are left out, and what they ask of answers is lost', async () => {
    const directing = { role: 'system', content: [], output_config: { effort: 'low' } };
    for (const target of [CLAUDE, OLDER, targetNamed('openai'), targetNamed('mistral')]) {
      const { turns, lost } = await turnsAt(target, user(), directing, said(), user(), system(''));
      expect(rolesOf(turns)).to.not.include('system');
      expect(JSON.stringify(turns)).to.not.include('<system>');
      expect(lost).to.deep.equal([]);
    }
    const { notes } = readMessages({ ...hello, messages: [user(), directing] }, undefined);
    expect(notes.lost).to.deep.equal(['messages[1].output_config']);
  });

  it('in front of the first turn join the system text', async () => {
    const { adapted, wire } = await leaving(
      CLAUDE,
      MESSAGES,
      read({ ...hello, system: 'a', messages: [system('b'), system([{ type: 'text', text: 'c' }]), user()] }),
    );
    expect(wire.body).to.deep.include({ system: 'abc', messages: [{ role: 'user', content: 'go' }] });
    expect(adapted.lost).to.deep.equal([]);
  });

  describe('between a call and its result', () => {
    for (const target of CHAT_TARGETS)
      it(`follow the results and what the user says at ${target.title}`, async () => {
        const { turns } = await turnsAt(
          target,
          user(),
          call('toolu_1'),
          system('waiting'),
          result('toolu_1', { type: 'text', text: 'then this' }),
        );
        const text = JSON.stringify(turns);
        const places = ['done', 'then this', 'waiting'].map((word) => text.indexOf(word));
        expect(places)
          .to.deep.equal(places.toSorted((a, b) => a - b))
          .and.not.include(-1);
      });

    it('keep two calls, and results in two turns, together', async () => {
      const { turns } = await turnsAt(
        CLAUDE,
        user(),
        said([
          { type: 'tool_use', id: 'a', name: 'Bash', input: {} },
          { type: 'tool_use', id: 'b', name: 'Bash', input: {} },
        ]),
        system('one'),
        result('a'),
        system('two'),
        result('b'),
      );
      expect(rolesOf(turns)).to.deep.equal(['user', 'assistant', 'user', 'system']);
      expect(turns[3].content.map(({ text }: any) => text)).to.deep.equal(['one', 'two']);
    });
  });

  describe('keep their marks', () => {
    for (const [provider, model] of [
      ['bedrock', 'claude-sonnet-4-6'],
      ['bedrock', 'claude-opus-4-8'],
      ['bedrock', 'nova'],
      ['azure-foundry', 'claude-opus-4-8'],
      ['vertex-ai', 'claude-sonnet-4-6'],
      ['anthropic', 'claude-opus-5-5'],
      ['openrouter', 'some-model'],
      ['qwen', 'some-model'],
    ] as const)
      it(`at ${provider} with ${model}, four at most, without the oldest`, async () => {
        const marked = (text: string): object => system([{ type: 'text', text, ...MARK }]);
        const texts = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
        const turns = texts
          .flatMap((text) => [user(`before ${text}`), marked(text), said(`after ${text}`)])
          .slice(0, -1);
        const { body } = await turnsAt(targetNamed(provider, model), ...turns);
        const kept = provider === 'openrouter' || provider === 'qwen' ? texts : texts.slice(2); // others have a bound
        expect(marksIn(body).map((text) => String(text).replaceAll(/<\/?system>|\n/g, ''))).to.deep.equal(kept);
      });
  });

  it('are not what a model that lacks its thoughts is gone on with', async () => {
    const thinking = { type: 'enabled', budget_tokens: 2048 };
    const isThinking = async (...messages: object[]): Promise<boolean> => {
      const { wire } = await leaving(BUDGETED, MESSAGES, read({ ...hello, max_tokens: 9000, thinking, messages }));
      return wire.body.thinking !== undefined;
    };
    expect(await isThinking(user(), call('a'), result('a'), system())).to.equal(false);
    expect(await isThinking(user(), call('a'), result('a'), user(), system())).to.equal(true);
    expect(await isThinking(user(), system())).to.equal(true);
    const turn = (role: string, ...types: string[]): any => ({
      role,
      content: types.map((type) => ({ type, text: 'x' })),
    });
    const begun = [turn('user', 'text'), turn('assistant', 'tool_use'), turn('user', 'tool_result')];
    expect(lacksThinking([...begun, turn('system', 'text')]), 'in its own role').to.equal(true);
  });

  it('of the developer of Responses are the same, and may hold images', async () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,aGk=' };
    const value: any = {
      model: 'm',
      input: [
        { role: 'developer', content: 'leading' },
        { role: 'user', content: 'go' },
        { role: 'developer', content: 'note' },
        { role: 'assistant', content: 'yes' },
        { role: 'user', content: 'on' },
        { role: 'system', content: [image] },
      ],
    };
    const { adapted, wire } = await leaving(CLAUDE, RESPONSES_DIALECT, {
      request: readResponses(value).request,
      value,
    });
    expect(wire.body.system).to.equal('leading');
    expect(rolesOf(wire.body.messages)).to.deep.equal(['user', 'system', 'assistant', 'user']);
    expect(wire.body.messages[3].content.map(({ type, text }: any) => text ?? type)).to.deep.equal([
      'on',
      '<system>',
      'image',
      '</system>',
    ]);
    expect(adapted.lost).to.deep.equal(['input[5].role']);
  });

  describe('wherever a client puts them', () => {
    for (const target of CHAT_TARGETS)
      it(`are taken by ${target.title}, each once and in order, the first that became the user's named`, async () => {
        for (let seed = 1; seed <= cases(200); seed += 1) {
          const messages = anyTurns(new Dice(seed));
          const { turns, lost } = await turnsAt(target, ...messages);
          const text = JSON.stringify(turns);
          const notes = messages.flatMap(({ role, content }: any, at) =>
            role === 'system' && at > messages.findIndex(({ role: each }: any) => each !== 'system')
              ? [{ at, note: String(content) }]
              : [],
          );
          const places = notes.map(({ note }) => text.indexOf(note));
          expect(places, `seed ${seed}`)
            .to.deep.equal(places.toSorted((a, b) => a - b))
            .and.not.include(-1);
          for (const { note } of notes) expect(text.split(note), `seed ${seed}`).to.have.length(2);
          const first = notes.find(({ note }) => text.includes(`<system>\\n${note}`));
          expect(lost, `seed ${seed}`).to.deep.equal(first ? [`messages[${first.at}].role`] : []);
        }
      });
  });
});

/** A conversation of turns in any order that pairs calls and results, with system messages anywhere. */
function anyTurns(dice: Dice): object[] {
  const messages: object[] = [];
  let notes = 0;
  const maybeNotes = (): void => {
    for (let count = dice.below(3); count > 0 && dice.below(2) === 0; count -= 1) {
      notes += 1;
      messages.push(system(`[note ${notes}]`));
    }
  };
  maybeNotes();
  messages.push(user('begin'));
  for (let turn = 1 + dice.below(5); turn > 0; turn -= 1) {
    maybeNotes();
    const kind = dice.below(4);
    if (kind === 0) messages.push(user(dice.pick(['more', [{ type: 'text', text: 'more' }]])));
    else if (kind === 1) messages.push(said());
    else {
      messages.push(call(`toolu_${turn}`));
      maybeNotes();
      messages.push(result(`toolu_${turn}`, ...(kind === 2 ? [] : [{ type: 'text', text: 'and' }])));
    }
  }
  maybeNotes();
  messages.push(user('end'));
  maybeNotes();
  return messages;
}
