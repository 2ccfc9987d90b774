import type { ObjectSchema, ValidationErrorItem } from 'joi';
import { type PluginModule, quoted, type StrategyModule, type StrategyTarget } from '../contract/index.ts';
import type { StrategyConfig, TargetConfig } from './document.ts';
import { errorMessage } from '../common/error-message.ts';
import { useOneOf } from '../common/nearest.ts';
import { largePatterns, withoutPatterns } from './pattern-sizes.ts';
import { pathText } from './problems.ts';
import { holdsReference } from './references.ts';
import { membersOf, metasOf } from './settings-schema.ts';

export interface SettingsProblem {
  readonly path: string;
  readonly message: string;
  readonly fix: string;
  /** Rule id that the schema itself states (`.meta({ rule })`). */
  readonly rule: string | undefined;
  /** What it finds wrong is a reference, and may be right once that is replaced. */
  readonly mayVanish?: boolean;
}

/** Where a strategy's settings stand in the document: under `settings` of its block, or the keys it reads of the block. `place` is the path of the block. */
export function strategySettings(
  module: StrategyModule,
  strategy: StrategyConfig,
  place = 'strategy',
): { base: string; value: object } {
  if (!module.settingsFrom) return { base: `${place}.settings`, value: strategy.settings ?? {} };
  const block = strategy as unknown as Readonly<Record<string, unknown>>;
  const present = module.settingsFrom.filter((key) => block[key] !== undefined);
  return { base: place, value: Object.fromEntries(present.map((key) => [key, block[key]])) };
}

/** A target as a strategy knows it. Its settings have defaults where the strategy reads any. */
export function strategyTarget(
  { targetSettings }: StrategyModule,
  { virtual_key, weight = 0, settings }: Pick<TargetConfig, 'virtual_key' | 'weight' | 'settings'>,
): StrategyTarget {
  return {
    virtualKey: virtual_key,
    weight,
    ...(targetSettings && { settings: readSettings<Record<string, unknown>>(targetSettings, settings) }),
  };
}

/** A plugin entry's settings without those that are taken and ignored (`toleratedSettings` of docs/modules.md). */
export function declaredSettings(module: PluginModule, config: Readonly<Record<string, unknown>> | null): object {
  const { toleratedSettings: tolerated = {} } = module;
  return Object.fromEntries(Object.entries(config ?? {}).filter(([key]) => !Object.hasOwn(tolerated, key)));
}

/** How a setting's texts are shown: as any text, as patterns and other names in which an `@` does not make an e-mail address, or as addresses whose path may be a secret. */
export type SettingKind = 'text' | 'name' | 'address';

/** The settings of a schema, in order. One whose schema carries the meta `isPattern` holds patterns, one with `isAddress` addresses. */
export function settingKinds(schema: ObjectSchema): ReadonlyMap<string, SettingKind> {
  return new Map(membersOf(schema).map((member) => [member.key, kindOf(metasOf(member.schema))]));
}

function kindOf(metas: ReturnType<typeof metasOf>): SettingKind {
  if (metas.some(({ isAddress }) => isAddress === true)) return 'address';
  return metas.some(({ isPattern }) => isPattern === true) ? 'name' : 'text';
}

/** The settings of the catalogue: the keys of the schema, in order, without those that the module leaves out. */
export function listedSettings({ settings, unlistedSettings = [] }: PluginModule): string[] {
  return [...settingKinds(settings).keys()].filter((key) => !unlistedSettings.includes(key));
}

interface Settings {
  readonly problems: readonly SettingsProblem[];
  /** With defaults filled in. */
  readonly settings: object;
}

/** Checks a module's settings against its own schema: every problem at once, and the settings with defaults filled in. */
export function settingsProblems(schema: ObjectSchema, value: unknown, base: string): Settings {
  const large = largePatterns(schema, value);
  if (large)
    return {
      problems: [
        {
          path: `${base}.${large.setting}`,
          message: large.message,
          fix: 'write smaller counts, or fewer patterns',
          rule: undefined,
        },
      ],
      settings: {},
    };
  try {
    const result = schema.validate(value ?? {}, { abortEarly: false, convert: false });
    if (result.error && !Array.isArray(result.error.details))
      return { problems: [ownProblem(result.error, value, base)], settings: {} };
    const details = oneOfEach(result.error?.details ?? []);
    const problems = details.map((detail) => settingsProblem(schema, detail, base));
    return { problems, settings: result.value as object };
  } catch (error) {
    // Its author's own functions run in a schema.
    return {
      problems: [
        {
          path: base,
          message: `settings cannot be checked: ${errorMessage(error)}`,
          fix: 'correct the schema of the module',
          rule: undefined,
        },
      ],
      settings: {},
    };
  }
}

/** A schema may state an error of its own (`.error()`), which says neither where nor what: a reference anywhere may be what it means. */
function ownProblem(error: Error, value: unknown, base: string): SettingsProblem {
  return {
    path: base,
    message: errorMessage(error),
    fix: 'correct the value',
    rule: undefined,
    mayVanish: holdsReference(JSON.stringify(value)),
  };
}

/** A value that is none of the allowed ones is wrong once: that it is empty, or of another type, says less. */
function oneOfEach(details: readonly ValidationErrorItem[]): readonly ValidationErrorItem[] {
  const choices = new Set(details.filter(({ type }) => type === 'any.only').map(({ path }) => pathText(path)));
  return details.filter(({ type, path }) => type === 'any.only' || !choices.has(pathText(path)));
}

/** Problems of settings before references are replaced: each stands for any text, and for nothing but text. */
export function writtenSettingsProblems(schema: ObjectSchema, value: unknown, base: string): Settings {
  const { problems, settings } = settingsProblems(schema, value, base);
  return { problems: problems.filter(({ mayVanish }) => mayVanish !== true), settings };
}

/** Whether a finding is about a text that a reference will replace, and could be none of the text that takes its place. */
function mayVanish({ type, context }: ValidationErrorItem): boolean {
  if (!context || !holdsReference(context.value)) return false;
  if (type === 'alternatives.types') return (context['types'] as readonly unknown[]).includes('string');
  if (type === 'alternatives.match') return matchesOfText(context['details']);
  if (type === 'any.only') return (context['valids'] as readonly unknown[]).some((one) => typeof one === 'string');
  return type.startsWith('string.') || ['any.invalid', 'any.custom', 'custom'].includes(type);
}

/** Whether one of several shapes takes a text, which is enough. */
function matchesOfText(details: unknown): boolean {
  return Array.isArray(details) && details.some((detail) => mayVanish(detail as ValidationErrorItem));
}

function settingsProblem(schema: ObjectSchema, detail: ValidationErrorItem, base: string): SettingsProblem {
  const setting = pathText(detail.path);
  const path = setting === '' ? base : `${base}.${setting}`;
  const message = `setting ${withoutValue(detail).replaceAll('"', '')}${notAllowed(detail)}`;
  return { path, message, fix: fixOf(schema, detail), rule: ruleOf(schema, detail.path), mayVanish: mayVanish(detail) };
}

function fixOf(schema: ObjectSchema, { type, path, context }: ValidationErrorItem): string {
  if (type !== 'object.unknown')
    return holdsReference(context?.value)
      ? 'write the value itself: what stands for ${…} is always text'
      : 'correct the value';
  const names = path.length === 1 ? membersOf(schema).map(({ key }) => key) : [];
  return names.length === 0 ? 'remove it' : `remove it, or ${useOneOf(String(path[0]), names)}`;
}

/** What does not match a pattern may be a credential; Joi quotes it. */
function withoutValue({ type, message, context }: ValidationErrorItem): string {
  return type.startsWith('string.pattern.')
    ? message.replace(` with value "${String(context?.value)}"`, () => '')
    : message;
}

/** A word that is none of the allowed ones is named itself. */
function notAllowed({ type, context }: ValidationErrorItem): string {
  return type === 'any.only' && typeof context?.value === 'string' ? `, not ${quoted(context.value)}` : '';
}

/** The rule id that the schema states for a setting. */
function ruleOf(schema: ObjectSchema, [name]: readonly (string | number)[]): string | undefined {
  const member = membersOf(schema).find(({ key }) => key === name);
  return member && metasOf(member.schema).find(({ rule }) => rule !== undefined)?.rule;
}

/** Settings with defaults, of a schema whose problems have been ruled out; references may stand in them. Patterns that are too large are left out. */
export function readSettings<S extends object>(schema: ObjectSchema<S>, value: unknown): S {
  const small = largePatterns(schema, value) ? withoutPatterns(schema, value) : value;
  return schema.validate(small ?? {}, { abortEarly: false, convert: false }).value as S;
}
