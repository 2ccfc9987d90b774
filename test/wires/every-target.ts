import { type ChatRequest, GatewayError, type ProviderModule } from '../../host/contract/index.ts';
import type { TargetFacts } from '../../host/wire/client-request.ts';
import { PROVIDERS, wiresOf } from '../contract/hostile/wires.ts';
import { callFor } from '../kit/index.ts';

/** A shipped provider with one of its models, as requests of other wires meet it. */
export interface EveryTarget {
  readonly name: string;
  readonly model: string;
  readonly facts: TargetFacts;
  /** The JSON of the body that its translator makes; `undefined` where it refuses the request. */
  readonly bodyOf: (request: ChatRequest) => string | undefined;
}

/** Clouds whose Claude models speak a wire of their own. */
const CLAUDE_BESIDE: ReadonlyMap<string, string> = new Map([
  ['azure-foundry', 'claude-sonnet-4-5'],
  ['vertex-ai', 'claude-sonnet-4-5'],
]);

export const EVERY_TARGET: readonly EveryTarget[] = PROVIDERS.filter(({ translators }) => translators.chat).flatMap(
  (module) => {
    const models = wiresOf(module).flatMap(({ surface, model }) => (surface === 'chat' ? [model] : []));
    return [...new Set([...models, ...(CLAUDE_BESIDE.get(module.name)?.split(' ') ?? [])])].map((model) =>
      targetOf(module, model),
    );
  },
);

function targetOf(module: ProviderModule, model: string): EveryTarget {
  const traits = module.chatTraitsFor?.(model) ?? module.chatTraits ?? {};
  return {
    name: module.name,
    model,
    facts: {
      provider: module.name,
      wire: traits.wire ?? module.wire,
      traits,
      entry: undefined,
      facts: {},
      streaming: false,
    },
    bodyOf: (request) => {
      try {
        return JSON.stringify(module.translators.chat?.toUpstream({ ...request, model }, callFor(model)).body);
      } catch (error) {
        if (error instanceof GatewayError) return undefined;
        throw error;
      }
    },
  };
}
