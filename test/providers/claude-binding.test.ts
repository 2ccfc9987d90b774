import { expect } from 'chai';
import type { ModelFacts, ProviderModule } from '../../host/contract/index.ts';
import anthropic from '../../providers/anthropic/index.ts';
import azureFoundry from '../../providers/azure-foundry/index.ts';
import bedrock from '../../providers/bedrock/index.ts';
import vertexAi from '../../providers/vertex-ai/index.ts';
import { shippedFacts } from '../kit/facts.ts';
import { ask, replyJson, sentBy, type SentWire } from '../kit/index.ts';
import { sameWire, vendorMessage } from '../wires/messages-kit.ts';
import { BEARER } from './bedrock-support.ts';

const MODEL = 'claude-opus-5-5';
const BINDS: ModelFacts = shippedFacts('anthropic', MODEL);
const BINDING = 'thinking-binding-controls-2026-08-01';
const IN_PLACE = 'mid-conversation-system-2026-04-07';
const DROPS = { prefix_mismatch_behavior: 'drop_block' };

const VARIABLES: Readonly<Record<string, Record<string, string>>> = {
  bedrock: BEARER,
  'vertex-ai': { VERTEX_AI_REGION: 'europe-west1', VERTEX_AI_API_KEY: 'key' },
};

function sent(more: object, facts: ModelFacts = BINDS, module: ProviderModule = anthropic): Promise<SentWire> {
  const model = module === bedrock ? `anthropic.${MODEL}` : MODEL;
  return sentBy(module, 'chat', ask('hi', { model, ...more }) as never, {
    facts,
    variables: VARIABLES[module.name] ?? {},
  });
}

const user = (content = 'go'): object => ({ role: 'user', content });
const system = (content: string): object => ({ role: 'system', content });
const thought = (more: object = {}): object => ({
  role: 'assistant',
  content: 'yes',
  reasoning_details: [
    { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: 'hm', signature: 'c2ln' },
  ],
  ...more,
});
const call = { tool_calls: [{ id: 'a', type: 'function', function: { name: 'n', arguments: '{}' } }] };
const tools = [{ type: 'function', function: { name: 'n', parameters: { type: 'object', properties: {} } } }];
const betasOf = ({ headers }: SentWire): string[] => (headers['anthropic-beta'] ?? '').split(',').filter(Boolean);

describe('thoughts that a Claude model binds to what stands before them', () => {
  for (const module of [anthropic, azureFoundry, vertexAi] as const)
    it(`are left out behind another beginning, at ${module.name}`, async () => {
      const wire = await sent({ messages: [user(), thought(), user()] }, BINDS, module);
      expect(wire.body.thinking).to.deep.equal({ block_binding: DROPS });
      expect(betasOf(wire)).to.deep.equal([BINDING]);
    });

  it('are spoken of beside what the request says of thinking, and by its own word where it has any', async () => {
    const messages = [user(), thought(), user()];
    expect((await sent({ messages, reasoning_effort: 'low' })).body.thinking).to.deep.include({
      type: 'adaptive',
      block_binding: DROPS,
    });
    const own = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'error' } };
    expect((await sent({ messages, thinking: own })).body.thinking).to.deep.equal(own);
  });

  it('are not spoken of where there are none, the model binds none, or the service does not know the word', async () => {
    const messages = [user(), thought(), user()];
    for (const wire of [
      await sent({ messages: [user()] }),
      await sent({ messages }, { late_system: true }),
      await sent({ messages }, BINDS, bedrock),
    ]) {
      expect(JSON.stringify(wire.body)).to.not.include('block_binding').and.not.include(BINDING);
      expect(betasOf(wire)).to.deep.equal([]);
    }
  });

  it('are left to the client in its own wire: nothing is added to its body, nor to its betas', async () => {
    const signed = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };
    const messages = [user(), { role: 'assistant', content: [signed, { type: 'text', text: 'yes' }] }, user()];
    const { upstream, post } = await sameWire(
      (_request, response) => replyJson(response, 200, vendorMessage([{ type: 'text', text: 'ok' }])),
      { targets: [{ virtual_key: 'anthropic', models: [MODEL] }] },
    );
    const own = {
      model: MODEL,
      max_tokens: 9,
      messages,
      thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'error' } },
    };
    for (const body of [{ model: MODEL, max_tokens: 9, messages }, own]) {
      const answer = await post(body, body === own ? { 'anthropic-beta': BINDING } : {});
      expect(answer.status, answer.text).to.equal(200);
      expect(upstream.seen.at(-1)?.text).to.equal(JSON.stringify(body));
      expect(upstream.seen.at(-1)?.headers['anthropic-beta']).to.equal(body === own ? BINDING : undefined);
    }
  });

  it('come with no beta for later system messages of clients of other wires', async () => {
    for (const clientWire of ['messages', 'gemini', 'responses'] as const) {
      const wire = await sentBy(
        anthropic,
        'chat',
        ask('hi', { model: MODEL, messages: [user(), thought(), user(), system('a')] }) as never,
        { facts: BINDS, clientWire },
      );
      expect(wire.body.messages.at(-1).role, clientWire).to.equal('system');
      expect(betasOf(wire), clientWire).to.deep.equal([BINDING]);
    }
  });

  describe('and later system messages of a client of the common wire', () => {
    it('stay behind them in their place, and join the system text in front of them', async () => {
      const wire = await sent({
        messages: [system('a'), user(), system('b'), thought(), user(), system('c')],
      });
      expect(wire.body.system).to.equal('a\nb');
      expect(wire.body.messages.map(({ role }: any) => role)).to.deep.equal(['user', 'assistant', 'user', 'system']);
      expect(wire.body.messages[3].content).to.equal('c');
      expect(betasOf(wire)).to.deep.equal([BINDING, IN_PLACE]);
    });

    it("are the user's where the vendor takes none", async () => {
      const { body } = await sent({ messages: [user(), thought(), system('a'), user('b')] });
      expect(body.messages[2]).to.deep.equal({
        role: 'user',
        content: [
          { type: 'text', text: '<system>\na\n</system>' },
          { type: 'text', text: 'b' },
        ],
      });
    });

    it('wait for the results of calls', async () => {
      const { body } = await sent({
        tools,
        messages: [user(), thought(call), system('a'), { role: 'tool', tool_call_id: 'a', content: 'done' }],
      });
      expect(body.messages.map(({ role }: any) => role)).to.deep.equal(['user', 'assistant', 'user', 'system']);
    });

    it('join the system text for all other models, and without thoughts', async () => {
      for (const wire of [
        await sent({ messages: [user(), thought(), user(), system('a')] }, { late_system: true }),
        await sent({ messages: [user(), { role: 'assistant', content: 'yes' }, user(), system('a')] }),
      ]) {
        expect(wire.body.system).to.equal('a');
        expect(betasOf(wire)).to.not.include(IN_PLACE);
      }
    });
  });
});
