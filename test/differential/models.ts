import { expect } from 'chai';
import { GEMINI_DIALECT } from '../../builtins/wires/gemini/dialect.ts';
import { readGenerate } from '../../builtins/wires/gemini/request/request.ts';
import { MESSAGES } from '../../builtins/wires/messages/dialect.ts';
import { readMessages } from '../../builtins/wires/messages/request.ts';
import { RESPONSES_DIALECT } from '../../builtins/wires/responses/dialect.ts';
import { readResponses } from '../../builtins/wires/responses/request.ts';
import { MODULES } from '../../builtins/manifest.ts';
import { type ChatRequest, GatewayError, type ProviderModule } from '../../host/contract/index.ts';
import type { Dialect } from '../../host/wire/client-request.ts';
import { shippedFacts } from '../kit/facts.ts';
import { Dice, sentBy } from '../kit/index.ts';
import { type ChatTarget, leaving, VARIABLES } from '../wires/agent-conversation.ts';
import { CLIENT_WIRES, clientBody, type ClientWire } from './generate/clients.ts';

type Json = Record<string, any>;

const OPENAI = [
  'gpt-4o',
  'gpt-4.1-mini',
  'o3',
  'o1',
  'gpt-5',
  'gpt-5-mini',
  'gpt-5.1',
  'gpt-5.2',
  'gpt-5.4-mini',
  'gpt-5.5',
  'gpt-5.6-sol',
  'gpt-6-sol',
  'gpt-6-astra',
  'gpt-5.3-chat-latest',
  'gpt-audio',
  'gpt-5-search-api',
  'gpt-5-pro',
  'gpt-5.3-codex',
];
const CLAUDE = [
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'claude-fable-5',
  'claude-fable-5-1',
  'claude-haiku-5-5',
  'claude-opus-5',
  'claude-sonnet-5',
  'claude-opus-4-8',
  'claude-opus-4-7',
  'claude-sonnet-4-6',
  'claude-opus-4-5',
  'claude-sonnet-4-5',
  'claude-opus-4-1',
  'claude-sonnet-4-20250514',
  'claude-3-5-haiku-20241022',
];

/** Models of vendors whose loopback ones judge single models: `test/kit/strict`. */
const MODELS: Readonly<Record<string, readonly string[]>> = {
  openai: OPENAI,
  'azure-openai': ['gpt-4o', 'gpt-5.1', 'gpt-5.6-sol'],
  'azure-foundry': ['gpt-5.2', 'gpt-oss-120b', 'claude-opus-5', 'claude-sonnet-4-6'],
  deepseek: ['deepseek-v4-pro', 'deepseek-v4-flash', 'deepseek-chat'],
  anthropic: CLAUDE,
  bedrock: ['us.anthropic.claude-opus-5', 'eu.anthropic.claude-sonnet-4-6-v1:0', 'anthropic.claude-opus-4-8-v1:0'],
  'vertex-ai': ['claude-opus-5@20260701', 'claude-sonnet-4-5@20250929'],
};

export const MODEL_TARGETS: readonly ChatTarget[] = Object.entries(MODELS).flatMap(([provider, models]) =>
  models.map((model) => ({
    title: `${provider} with ${model}`,
    module: MODULES.find((each) => each.kind === 'provider' && each.name === provider) as ProviderModule,
    model,
    facts: shippedFacts(provider, model),
  })),
);

interface Read {
  readonly dialect: Dialect;
  readonly request: ChatRequest;
}

const READERS: Readonly<Record<Exclude<ClientWire, 'chat'>, (body: Json) => Read>> = {
  messages: (body) => {
    const { request, notes } = readMessages(body, undefined);
    expect(notes.refusal, JSON.stringify(body)).to.equal(undefined);
    return { dialect: MESSAGES, request };
  },
  gemini: (body) => ({ dialect: GEMINI_DIALECT, request: readGenerate(body, 'm').request }),
  responses: (body) => ({ dialect: RESPONSES_DIALECT, request: readResponses(body).request }),
};

/** Sends a generated request of each client wire to a model. Throws what its vendor would refuse of it, but where the client's own turn is at fault. */
async function ask(target: ChatTarget, wire: ClientWire, body: Json): Promise<void> {
  const { module, model, facts } = target;
  try {
    if (wire === 'chat') {
      const variables = VARIABLES.get(module.name) ?? {};
      await sentBy(module, 'chat', { ...body, model } as unknown as ChatRequest, { facts, variables, isChosen: true });
      return;
    }
    const { dialect, request } = READERS[wire](body);
    await leaving(target, dialect, { request, value: body, isChosen: true });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  }
}

/** Asks every model with requests of these seeds; fails with what vendors refuse. */
export async function askModels(from: number, count: number): Promise<void> {
  const failures: string[] = [];
  for (let seed = from; seed < from + count && failures.length < 5; seed += 1) {
    const dice = new Dice(seed);
    const wire = CLIENT_WIRES[seed % CLIENT_WIRES.length] as ClientWire;
    const body = clientBody(dice, wire);
    const target = dice.pick(MODEL_TARGETS);
    await ask(target, wire, body).catch((error: unknown) =>
      failures.push(`seed ${seed}, ${wire} to ${target.title}: ${String(error)}\n  asked: ${JSON.stringify(body)}`),
    );
  }
  expect(failures.join('\n\n')).to.equal('');
}
