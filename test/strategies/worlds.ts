import type { CircuitState } from '../../host/pipeline/hooks.ts';
import type { Surface } from '../../host/contract/index.ts';
import { seeded } from './support.ts';

/** What each provider of these tests can do. */
export const PROVIDERS: Readonly<
  Record<string, { readonly surfaces: readonly Surface[]; readonly takesAnyModel: boolean }>
> = {
  p0: { surfaces: ['chat', 'embeddings', 'images', 'rerank'], takesAnyModel: true },
  p1: { surfaces: ['chat'], takesAnyModel: false },
  p2: { surfaces: ['chat', 'embeddings'], takesAnyModel: false },
  p3: { surfaces: ['chat', 'images'], takesAnyModel: true },
  p4: { surfaces: ['chat', 'embeddings', 'images'], takesAnyModel: false },
  p5: { surfaces: ['chat', 'rerank'], takesAnyModel: false },
};

export interface WorldPrice {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly embedding: number | undefined;
  readonly image: number | undefined;
}

/** One declared target and the state it is in. */
export interface WorldTarget {
  readonly key: string;
  readonly weight: number;
  readonly models: readonly string[];
  readonly isRegistered: boolean;
  readonly medianMs: number | undefined;
  readonly circuit: CircuitState | undefined;
  /** It asked for a rest with a 429. */
  readonly isResting: boolean;
  /** Whatever the model. */
  readonly price: WorldPrice | undefined;
}

export interface Asked {
  readonly surface: Surface;
  readonly model: string;
  readonly texts: readonly string[];
  readonly maxTokens: number | undefined;
  readonly images: number | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface Rule {
  readonly key?: string;
  readonly type?: string;
  readonly field?: string;
  readonly value: string;
  readonly target_key: string;
}

export interface Variant {
  readonly target_key: string;
  readonly weight: number;
  readonly label: string;
}

/** A configuration, the state of its targets, and a request. */
export interface World {
  readonly seed: number;
  readonly mode: string;
  readonly unpriced: string;
  readonly conditions: readonly Rule[];
  readonly contentConditions: readonly Rule[];
  readonly variants: readonly Variant[];
  readonly targets: readonly WorldTarget[];
  readonly asked: Asked;
}

export const MODES = [
  'single',
  'fallback',
  'loadbalance',
  'least-latency',
  'cost-optimized',
  'conditional',
  'content-based',
  'ab-test',
];
export const MODELS = ['m', 'mx', 'n'];
const WORDS = ['alpha', 'Beta', 'gamma'];

/** Chance with a seed, in the forms a generator needs. */
class Chance {
  readonly next: () => number;

  constructor(seed: number) {
    this.next = seeded(seed);
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  isTrue(share: number): boolean {
    return this.next() < share;
  }

  maybe<T>(share: number, value: T): T | undefined {
    return this.isTrue(share) ? value : undefined;
  }

  some<T>(list: readonly T[], share: number): readonly T[] {
    return list.filter(() => this.isTrue(share));
  }

  shuffled<T>(list: readonly T[]): readonly T[] {
    return list
      .map((value) => ({ value, at: this.next() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ value }) => value);
  }
}

/** A world by its seed: valid, and as odd as validity allows. */
export function makeWorld(seed: number): World {
  const chance = new Chance(seed);
  const keys = chance.shuffled(Object.keys(PROVIDERS)).slice(0, Math.max(1, chance.below(7)));
  const targets = weighed(keys.map((key) => makeTarget(key, chance)));
  const variants = Array.from({ length: 1 + chance.below(5) }, (_none, at) => ({
    target_key: chance.of(keys),
    weight: chance.below(3),
    label: chance.isTrue(0.2) ? '' : `v${at}`,
  }));
  return {
    seed,
    mode: chance.of(MODES),
    unpriced: chance.of(['', 'fallback', 'skip', 'allow']),
    conditions: Array.from({ length: 1 + chance.below(3) }, () => makeCondition(chance, keys)),
    contentConditions: Array.from({ length: 1 + chance.below(3) }, () => makeContentCondition(chance, keys)),
    variants: variants.some(({ weight }) => weight > 0)
      ? variants
      : variants.map((variant) => ({ ...variant, weight: 1 })),
    targets,
    asked: makeRequest(chance),
  };
}

function makeTarget(key: string, chance: Chance): WorldTarget {
  const figure = (): number | undefined => chance.maybe(0.7, chance.below(4));
  return {
    key,
    weight: chance.below(4),
    models: chance.some(MODELS, 0.75),
    isRegistered: chance.isTrue(0.9),
    medianMs: chance.maybe(0.6, chance.below(5) * 10),
    circuit: chance.of([undefined, undefined, 'closed', 'half-open', 'open']),
    isResting: chance.isTrue(0.15),
    price: chance.maybe(0.75, { input: figure(), output: figure(), embedding: figure(), image: figure() }),
  };
}

/** One weight at least is positive, as the configuration demands. */
function weighed(targets: readonly WorldTarget[]): readonly WorldTarget[] {
  return targets.some(({ weight }) => weight > 0)
    ? targets
    : targets.map((target, at) => (at === 0 ? { ...target, weight: 2 } : target));
}

function makeCondition(chance: Chance, keys: readonly string[]): Rule {
  const key = chance.of(['model', 'model_prefix', 'metadata']);
  const target_key = chance.of(keys);
  return key === 'metadata'
    ? { key, field: chance.of(['team', 'tier']), value: chance.of(['x', '1']), target_key }
    : { key, value: chance.of([...MODELS, 'q']), target_key };
}

function makeContentCondition(chance: Chance, keys: readonly string[]): Rule {
  const type = chance.of(['prompt_contains', 'prompt_not_contains', 'prompt_regex']);
  return {
    type,
    value: chance.of(type === 'prompt_regex' ? ['^alpha', '(?i)beta$', 'a{2}'] : ['ALPHA', 'beta', 'delta']),
    target_key: chance.of(keys),
  };
}

function makeRequest(chance: Chance): Asked {
  const texts = Array.from({ length: 1 + chance.below(2) }, () =>
    chance
      .some(WORDS, 0.5)
      .join(' ')
      .repeat(1 + chance.below(3)),
  );
  return {
    surface: chance.of(['chat', 'chat', 'chat', 'completions', 'embeddings', 'images', 'rerank']),
    model: chance.of([...MODELS, 'unknown']),
    texts,
    maxTokens: chance.maybe(0.5, 1 + chance.below(500)),
    images: chance.maybe(0.5, 1 + chance.below(3)),
    metadata: { ...(chance.isTrue(0.5) && { team: chance.of(['x', 'y']) }), ...(chance.isTrue(0.3) && { tier: '1' }) },
  };
}
