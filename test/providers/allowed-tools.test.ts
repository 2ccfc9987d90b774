import { expect } from 'chai';
import { type ChatRequest, GatewayError } from '../../host/contract/index.ts';
import { callFor, sentBy } from '../kit/index.ts';
import { CHAT_TARGETS, type ChatTarget } from '../wires/agent-conversation.ts';
import { BEARER } from './bedrock-support.ts';

const KNOWING = new Set(['openai', 'azure-openai']);
/** Forms of chats without tools: what is asked of them is left out as a whole. */
const WITHOUT_TOOLS = /^(?:replicate|ai21 with j2|bedrock with amazon\.titan)/;

const VARIABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  bedrock: BEARER,
  'vertex-ai': { VERTEX_AI_REGION: 'europe-west1', VERTEX_AI_API_KEY: 'key' },
};

const tool = (name: string): object => ({
  type: 'function',
  function: { name, description: 'd', parameters: { type: 'object', properties: {} } },
});
const choiceOf = (mode: string, ...names: string[]): object => ({
  type: 'allowed_tools',
  allowed_tools: { mode, tools: names.map((name) => ({ type: 'function', function: { name } })) },
});

async function bodyOf({ module, model, facts }: ChatTarget, choice: object): Promise<any> {
  const request = {
    model,
    messages: [{ role: 'user', content: 'hi' }],
    tools: [tool('tide'), tool('wind'), tool('rain')],
    tool_choice: choice,
  };
  return (
    await sentBy(module, 'chat', request as unknown as ChatRequest, {
      facts,
      variables: VARIABLES[module.name] ?? {},
    })
  ).body;
}

const namesIn = (body: unknown): string[] =>
  ['tide', 'wind', 'rain'].filter((name) => JSON.stringify(body).includes(`"${name}"`));
const knows = ({ module: { name }, model }: ChatTarget): boolean =>
  KNOWING.has(name) || (name === 'azure-foundry' && !model.startsWith('claude-'));

describe('a choice among allowed tools', () => {
  for (const target of CHAT_TARGETS.filter(({ title }) => !WITHOUT_TOOLS.test(title))) {
    if (knows(target))
      it(`goes on to ${target.title}`, async () => {
        const choice = choiceOf('required', 'wind');
        const body = await bodyOf(target, choice);
        expect(body.tool_choice).to.deep.equal(choice);
        expect(namesIn(body.tools)).to.deep.equal(['tide', 'wind', 'rain']);
      });
    else
      it(`leaves the other tools out for ${target.title}`, async () => {
        for (const mode of ['auto', 'required']) {
          const body = await bodyOf(target, choiceOf(mode, 'wind', 'rain', 'unheard-of'));
          expect(namesIn(body), mode).to.deep.equal(['wind', 'rain']);
          expect(JSON.stringify(body)).to.not.include('allowed_tools');
        }
        const error = await bodyOf(target, choiceOf('auto', 'unheard-of')).catch((thrown: unknown) => thrown);
        expect(error).to.be.instanceOf(GatewayError).and.include({ code: 'unsupported_parameter' });
        expect((error as GatewayError).message).to.include('tool_choice');
      });
  }

  it('becomes the choice of its mode', async () => {
    const named = (name: string): ChatTarget => {
      const target = CHAT_TARGETS.find(({ title }) => title.startsWith(name));
      return target ?? expect.fail(name);
    };
    const choices = async (mode: string): Promise<unknown[]> => [
      (await bodyOf(named('anthropic with claude-sonnet-4-6'), choiceOf(mode, 'wind'))).tool_choice,
      (await bodyOf(named('gemini with gemini-2.5-flash'), choiceOf(mode, 'wind'))).toolConfig.functionCallingConfig,
      (await bodyOf(named('cohere'), choiceOf(mode, 'wind'))).tool_choice,
      (await bodyOf(named('bedrock with mistral'), choiceOf(mode, 'wind'))).toolConfig.toolChoice,
      (await bodyOf(named('together'), choiceOf(mode, 'wind'))).tool_choice,
    ];
    expect(await choices('required')).to.deep.equal([
      { type: 'any' },
      { mode: 'ANY' },
      'REQUIRED',
      { any: {} },
      'required',
    ]);
    expect(await choices('auto')).to.deep.equal([{ type: 'auto' }, { mode: 'AUTO' }, undefined, { auto: {} }, 'auto']);
  });

  it('holds for chats by the Responses API too', () => {
    const bodyBy = (name: string): any => {
      const { module, model } = CHAT_TARGETS.find(({ module: each }) => each.name === name) ?? expect.fail(name);
      const request = {
        model,
        messages: [{ role: 'user', content: 'hi' }],
        tools: [tool('tide'), tool('wind')],
        tool_choice: choiceOf('required', 'wind'),
      };
      return module.translators.chat?.viaResponses?.toUpstream(request as never, callFor(model)).body;
    };
    const { tools, tool_choice: choice } = bodyBy('xai');
    expect([namesIn(tools), choice]).to.deep.equal([['wind'], 'required']);
    const known = bodyBy('openai');
    expect(namesIn(known.tools)).to.deep.equal(['tide', 'wind']);
    expect(known.tool_choice).to.deep.include({ type: 'allowed_tools', mode: 'required' });
  });

  it('may be any tool at all at cohere', async () => {
    const target = CHAT_TARGETS.find(({ title }) => title.startsWith('cohere'));
    const { tool_choice: any } = await bodyOf(target ?? expect.fail(), 'any' as never);
    expect(any).to.equal('REQUIRED');
    const named = await bodyOf(target ?? expect.fail(), { type: 'function', function: { name: 'wind' } });
    expect([named.tool_choice, namesIn(named)]).to.deep.equal(['REQUIRED', ['wind']]);
  });
});
