import { baseUrlVariable } from '../../../../host/common/kinds/base-url-variable.ts';
import { kindKeys } from '../../../../host/common/kinds/kind-keys.ts';
import type { GatewayConfig } from '../../../../host/config/document.ts';
import { explain, type ExplainDeps, type Explanation } from '../../../../host/explain/explain.ts';
import { readQuestion } from '../../../../host/explain/question.ts';
import type { Generation } from '../../../../host/generation/generation.ts';
import type { SourcePlace, SourceRoute } from './source.ts';

/** Where the imported gateway would send a request. */
export interface Answer {
  readonly routes: readonly SourceRoute[];
  readonly followers: readonly SourcePlace[];
  /** Why it would send it nowhere. */
  readonly refusal: string | undefined;
}

export interface AskedOf {
  readonly config: GatewayConfig;
  readonly generation: Generation;
  readonly deps: ExplainDeps;
  /** The variables it is taken to run with. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Surfaces that a name may be for; the first that it is served on is compared. */
const SURFACES = ['chat', 'embeddings', 'images', 'audio.speech', 'audio.transcriptions', 'rerank', 'moderations'];

/** Asks the gateway's own explanation for a name, as a client would. */
export function answerFor(name: string, of: AskedOf): Answer {
  let refused: Answer | undefined;
  for (const surface of SURFACES) {
    const body =
      surface === 'chat'
        ? { model: name, messages: [{ role: 'user', content: 'hello' }] }
        : { model: name, input: 'hello', prompt: 'hello', query: 'hello', documents: ['hello'] };
    const answer = answerIn(explain(of.generation, readQuestion(surface, body, {}), of.deps), of);
    if (answer.refusal === undefined) return answer;
    refused ??= answer;
  }
  return refused ?? { routes: [], followers: [], refusal: 'it is not asked' };
}

function answerIn({ order, strategy, refusal }: Explanation, of: AskedOf): Answer {
  const own = order.filter(({ via }) => via === undefined);
  const isDrawn = strategy === DRAWN;
  const isOrdered = strategy === 'fallback' || strategy === 'single' || strategy === 'conditional';
  const routes = own.map(({ target, upstream_model, figures }, at) => ({
    place: placeOf(target, upstream_model, of),
    share: isDrawn ? figures['share'] : isOrdered ? (at === 0 ? 1 : 0) : undefined,
  }));
  const followers = order
    .filter(({ via }) => via !== undefined)
    .map(({ target, upstream_model }) => placeOf(target, upstream_model, of));
  return { routes, followers, refusal: refusal?.message };
}

const DRAWN = 'loadbalance';

function placeOf(target: string, model: string, { config, generation, variables }: AskedOf): SourcePlace {
  const block = config.providers && Object.hasOwn(config.providers, target) ? config.providers[target] : undefined;
  const kind = block?.kind ?? target;
  const module = generation.targets.get(target)?.provider?.module;
  const settings = Object.fromEntries(
    module
      ? [...kindKeys(module).settings].map(([key, { variable }]) => [
          key,
          block?.settings?.[key] ?? (block ? '' : (variables[variable] ?? '')),
        ])
      : [],
  );
  return {
    kind,
    address: block ? (block.base_url ?? '') : module ? (variables[baseUrlVariable(module)] ?? '') : '',
    within: ['region', 'project_id'].map((key) => textOf(settings[key])).filter((text) => text !== ''),
    model: textOf(settings['deployment']) || model,
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
