import type { GatewayConfig, ModelGroupConfig, TargetConfig } from '../document.ts';
import { routeKeys } from '../route-keys.ts';
import { reportTooMany } from './instances/instance-name-rules.ts';
import type { ConfigRule, RuleContext } from './rule.ts';

const MAX_GROUPS = 1000;
const MAX_ROUTES = 10_000;
const MAX_NAME = 256;
const MAX_ROUTES_OF_ONE = 64;
const MAX_FALLBACKS = 16;

const NAMES_OF_TARGETS = /^targets(\[\d+\](\.virtual_key)?)?$/;
const MAPS_OF_TARGETS = /^targets(\[\d+\](\.(virtual_key|model_map))?)?$/;

interface Found {
  readonly message: string;
  readonly fix: string;
}

type Report = RuleContext['report'];
type GroupCheck = (group: ModelGroupConfig, path: string, context: { config: GatewayConfig; report: Report }) => void;

function eachGroup(id: string, check: GroupCheck, needs?: RegExp): ConfigRule {
  return {
    id,
    ...(needs && { needs }),
    check: (config, { report }) =>
      config.models?.forEach((group, index) => check(group, `models[${index}]`, { config, report })),
  };
}

const called = ({ name }: ModelGroupConfig): string => `group "${name}"`;
const isPattern = (name: string): boolean => name.endsWith('*');

function nameProblem(name: string, seen: ReadonlySet<string>): Found | undefined {
  if (name === '') return { message: 'has no name', fix: 'write the name that clients ask for' };
  if (name.length > MAX_NAME)
    return { message: `has a name of ${name.length} characters, the limit is ${MAX_NAME}`, fix: 'write a shorter one' };
  if (name.trim() !== name)
    return { message: `has the name "${name}", with white space around`, fix: 'write it without' };
  if (name.includes('?') || name.slice(0, -1).includes('*'))
    return {
      message: `has the name "${name}": a pattern is one * at the end, and nothing else`,
      fix: 'write an exact name, or a beginning and *',
    };
  return seen.has(name) ? { message: `repeats the name "${name}"`, fix: 'write each name once' } : undefined;
}

/** The upstream model of a route as far as the document says it: what its target's `model_map` has for the name of the group. */
function comparedModel(name: string, model: string | undefined, target: TargetConfig | undefined): string {
  return model ?? target?.model_map?.[name] ?? name;
}

function modelProblem(name: string, model: string): Found | undefined {
  if (model === '') return { message: 'has an empty model', fix: 'write the upstream model, or leave it out' };
  if (model.slice(0, -1).includes('*') || (isPattern(model) && !isPattern(name)))
    return {
      message: `has the model "${model}": a * may stand at its end alone, where the name of the group ends in one`,
      fix: 'write the exact upstream model',
    };
  return undefined;
}

function checkRoutes(group: ModelGroupConfig, path: string, { config, report }: Parameters<GroupCheck>[2]): void {
  const targets = new Map(config.targets.map((target) => [target.virtual_key, target]));
  const keys = routeKeys(group);
  const seen = new Set<string>();
  group.routes.forEach(({ target, model }, index) => {
    const at = `${path}.routes[${index}]`;
    const found = model === undefined ? undefined : modelProblem(group.name, model);
    if (found) {
      report(`${at}.model`, `routes[${index}] of ${called(group)} ${found.message}`, found.fix);
      return;
    }
    const upstream = comparedModel(group.name, model, targets.get(target));
    const marks = [`${target} calls ${upstream}`, `key ${keys[index] ?? ''}`];
    if (target !== '' && marks.some((mark) => seen.has(mark)))
      report(
        at,
        `routes[${index}] of ${called(group)} repeats the model "${upstream}" of the target "${target}"`,
        'keep each upstream model of a target once',
        undefined,
        MAPS_OF_TARGETS,
      );
    for (const mark of marks) seen.add(mark);
  });
}

function fallbackProblem(group: ModelGroupConfig, name: string, seen: ReadonlySet<string>): Found | undefined {
  if (name === '' || name.trim() !== name)
    return { message: 'is empty or has surrounding white space', fix: 'write a name that clients may ask for' };
  if (name.includes('*')) return { message: `is "${name}": patterns are not supported`, fix: 'write an exact name' };
  if (name === group.name) return { message: 'is the group itself', fix: 'remove it' };
  return seen.has(name) ? { message: `repeats "${name}"`, fix: 'list each name once' } : undefined;
}

function checkFallbacks(group: ModelGroupConfig, path: string, { report }: Parameters<GroupCheck>[2]): void {
  const { fallbacks = [] } = group;
  if (fallbacks.length > MAX_FALLBACKS)
    report(
      `${path}.fallbacks`,
      `fallbacks of ${called(group)} has ${fallbacks.length} entries, the limit is ${MAX_FALLBACKS}`,
      'list fewer names; fallbacks of fallbacks follow too',
    );
  const seen = new Set<string>();
  fallbacks.forEach((name, index) => {
    const found = fallbackProblem(group, name, seen);
    seen.add(name);
    if (found)
      report(`${path}.fallbacks[${index}]`, `fallbacks[${index}] of ${called(group)} ${found.message}`, found.fix);
  });
}

function checkTargets(group: ModelGroupConfig, path: string, { config, report }: Parameters<GroupCheck>[2]): void {
  const { routes } = group;
  if (routes.length === 0)
    report(`${path}.routes`, `${called(group)} has no routes`, 'list at least one, with its target');
  if (routes.length > MAX_ROUTES_OF_ONE)
    report(
      `${path}.routes`,
      `${called(group)} has ${routes.length} routes, the limit is ${MAX_ROUTES_OF_ONE}`,
      'list fewer, or a further group in fallbacks',
    );
  const declared = new Set(config.targets.map(({ virtual_key }) => virtual_key));
  routes.forEach(({ target }, index) => {
    if (target !== '' && declared.has(target)) return;
    report(
      `${path}.routes[${index}].target`,
      target === ''
        ? `routes[${index}] of ${called(group)} names no target`
        : `routes[${index}] of ${called(group)} names "${target}", which no target declares`,
      `use one of: ${[...declared].slice(0, 20).join(', ')}${declared.size > 20 ? ', …' : ''}`,
      undefined,
      NAMES_OF_TARGETS,
    );
  });
}

export const modelRules: readonly ConfigRule[] = [
  {
    id: 'CV57',
    check: (config, { report }) => {
      const { models = [] } = config;
      reportTooMany(config, report);
      if (models.length > MAX_GROUPS)
        report('models', `there are ${models.length} groups of models, the limit is ${MAX_GROUPS}`, 'list fewer');
      const routes = models.reduce((sum, group) => sum + group.routes.length, 0);
      if (routes > MAX_ROUTES)
        report('models', `groups of models have ${routes} routes together, the limit is ${MAX_ROUTES}`, 'list fewer');
    },
  },
  {
    id: 'CV61',
    check: ({ models = [] }, { report }) => {
      const seen = new Set<string>();
      models.forEach(({ name }, index) => {
        const found = nameProblem(name, seen);
        seen.add(name);
        if (found) report(`models[${index}].name`, `models[${index}] ${found.message}`, found.fix);
      });
    },
  },
  eachGroup('CV62', checkTargets),
  eachGroup('CV63', checkRoutes),
  {
    id: 'CV64',
    needs: /^models(\[\d+\](\.name)?)?$/,
    check: ({ aliases, models = [] }, { report }) => {
      const exact = new Set(models.map(({ name }) => name).filter((name) => !isPattern(name)));
      for (const name of Object.keys(aliases))
        if (exact.has(name))
          report(
            `aliases.${name}`,
            `alias "${name}" has the name of a group of models, which it would hide`,
            'rename one of the two',
          );
    },
  },
  eachGroup('CV65', checkFallbacks),
  eachGroup('CV66', (group, path, { report }) => {
    for (const [field, value] of Object.entries(group.context ?? {}))
      if (value < 1)
        report(`${path}.context.${field}`, `context.${field} of ${called(group)} is ${value}`, 'set tokens, 1 or more');
  }),
];
