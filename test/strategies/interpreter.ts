import { PROVIDERS, type Rule, type World, type WorldTarget } from './worlds.ts';

/** What the rules say of a world. */
export interface Verdict {
  readonly order: readonly string[];
  readonly label: string | null;
  readonly rule: string | null;
}

interface Ranked {
  readonly targets: readonly WorldTarget[];
  readonly label?: string;
  readonly rule?: string;
}

/** What one mode may look at. */
interface Situation {
  readonly world: World;
  readonly serving: readonly WorldTarget[];
  readonly others: readonly WorldTarget[];
  readonly isChat: boolean;
  readonly draw: () => number;
}

const NAMED = new Set(['single', 'conditional', 'content-based']);

/** The rules of docs/reference/governance.md#ranking and docs/strategies.md a second time, slow and computed from nothing but the world: shares no code with what it is compared with. */
export function interpret(world: World, draw: () => number): Verdict {
  const {
    asked: { surface, model },
    targets,
    mode,
  } = world;
  const translator = surface === 'completions' ? 'chat' : surface;
  const isAble = (target: WorldTarget): boolean =>
    target.isRegistered && (PROVIDERS[target.key]?.surfaces.includes(translator) ?? false);
  const owners = targets.filter((target) => target.isRegistered && target.models.includes(model));
  const candidates = owners.length > 0 ? owners : targets.filter((target) => PROVIDERS[target.key]?.takesAnyModel);
  const isServing = (target: WorldTarget): boolean => isAble(target) && candidates.includes(target);
  const ranked = RANK[mode]?.({
    world,
    draw,
    serving: targets.filter(isServing),
    others: targets.filter((target) => !isServing(target)),
    isChat: translator === 'chat',
  }) ?? { targets: [] };
  const noted = { label: ranked.label ?? null, rule: ranked.rule ?? null };
  if (NAMED.has(mode)) {
    const head = ranked.targets.find(isAble) ?? ranked.targets[0];
    return { ...noted, order: head && isServing(head) ? [head.key] : [] };
  }
  const eligible = ranked.targets.filter(isServing);
  const healthy =
    targets.length < 2 ? eligible : eligible.filter(({ circuit, isResting }) => circuit !== 'open' && !isResting);
  return { ...noted, order: (healthy.length > 0 ? healthy : eligible).map(({ key }) => key) };
}

const RANK: Readonly<Record<string, (situation: Situation) => Ranked>> = {
  single: ({ world }) => ({ targets: world.targets.slice(0, 1) }),
  fallback: ({ world }) => ({ targets: world.targets }),
  loadbalance: ({ serving, draw }) => {
    const open = serving.filter(({ weight }) => weight > 0);
    const start = pick(
      open.map(({ weight }) => weight),
      draw(),
    );
    return { targets: open.map((_target, at) => open[(start + at) % open.length]!) };
  },
  'least-latency': ({ serving, others, isChat, draw }) => {
    const isUnmeasured = ({ medianMs }: WorldTarget): boolean => medianMs === undefined;
    const unmeasured = serving.filter(isUnmeasured);
    return {
      targets: [
        ...(isChat ? mixed(unmeasured, draw) : unmeasured),
        ...serving.filter((target) => !isUnmeasured(target)).toSorted((a, b) => a.medianMs! - b.medianMs!),
        ...others,
      ],
    };
  },
  'cost-optimized': ({ world, serving, others, isChat }) => {
    const isPriced = (target: WorldTarget): boolean => costOf(world, target, isChat) !== undefined;
    const priced = serving.filter(isPriced).toSorted((a, b) => costOf(world, a, isChat)! - costOf(world, b, isChat)!);
    const unpriced = serving.filter((target) => !isPriced(target));
    if (world.unpriced === 'skip') return { targets: priced };
    if (isChat) return { targets: [...priced, ...unpriced, ...others] };
    if (world.unpriced === 'allow') return { targets: [...unpriced, ...priced] };
    return { targets: priced.length > 0 ? priced : unpriced };
  },
  conditional: ({ world }) => byRule(world, world.conditions, 'conditions', (rule) => meetsCondition(rule, world)),
  'content-based': ({ world, isChat }) =>
    byRule(world, isChat ? world.contentConditions : [], 'content_conditions', (rule) =>
      meetsText(rule, world.asked.texts),
    ),
  'ab-test': ({ world, serving, draw }) => {
    const able = world.variants.map((variant) =>
      serving.some(({ key }) => key === variant.target_key) ? variant.weight : 0,
    );
    const drawn = world.variants[pick(able, draw())];
    if (!drawn) return { targets: [] };
    const keys = [
      drawn.target_key,
      ...world.variants.filter(({ weight }) => weight > 0).map(({ target_key }) => target_key),
    ];
    return {
      label: drawn.label || drawn.target_key,
      targets: [...new Set(keys)].map((key) => world.targets.find((target) => target.key === key)!),
    };
  },
};

/** Fisher and Yates from the last place to the second, as drawn; the first place takes what remains. */
function mixed<T>(list: readonly T[], draw: () => number): readonly T[] {
  if (list.length < 2) return list;
  const at = Math.floor(draw() * list.length);
  const last = list.length - 1;
  const rest = list.slice(0, last).with(at === last ? 0 : at, at === last ? list[0]! : list[last]!);
  return [...mixed(rest, draw), list[at]!];
}

/** The first whose cumulative weight exceeds the draw. */
function pick(weights: readonly number[], draw: number): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.findIndex(
    (weight, at) => weight > 0 && weights.slice(0, at + 1).reduce((sum, each) => sum + each, 0) > draw * total,
  );
}

function costOf(
  { unpriced, asked: { surface, texts, maxTokens, images } }: World,
  { price }: WorldTarget,
  isChat: boolean,
): number | undefined {
  if (!price) return undefined;
  if (surface === 'embeddings') return price.embedding === undefined ? undefined : price.embedding / 1e6;
  if (surface === 'images') return price.image === undefined ? undefined : price.image * (images ?? 1);
  if (!isChat || (price.input === undefined && unpriced !== 'allow')) return undefined;
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  return ((price.input ?? 0) * (Math.floor(characters / 4) + 1) + (price.output ?? 0) * (maxTokens ?? 256)) / 1e6;
}

function byRule({ targets }: World, rules: readonly Rule[], name: string, isMet: (rule: Rule) => boolean): Ranked {
  const at = rules.findIndex(isMet);
  if (at < 0) return { targets };
  const isChosen = ({ key }: WorldTarget): boolean => key === rules[at]?.target_key;
  return {
    rule: `${name}[${at}]`,
    targets: [...targets.filter(isChosen), ...targets.filter((target) => !isChosen(target))],
  };
}

function meetsCondition({ key, field, value }: Rule, { asked: { surface, model, metadata } }: World): boolean {
  if (key === 'model') return model === value;
  if (key === 'model_prefix') return model.startsWith(value);
  return (surface === 'chat' || surface === 'completions') && metadata[field ?? ''] === value; // the header counts nowhere else
}

/** Native expressions stand in for the patterns of these tests, which mean the same there. */
function meetsText({ type, value }: Rule, texts: readonly string[]): boolean {
  const holds = (text: string): boolean => text.toLowerCase().includes(value.toLowerCase());
  if (type === 'prompt_contains') return texts.some(holds);
  if (type === 'prompt_not_contains') return !texts.some(holds);
  const pattern = value.startsWith('(?i)') ? new RegExp(value.slice(4), 'i') : new RegExp(value);
  return texts.some((text) => pattern.test(text));
}
