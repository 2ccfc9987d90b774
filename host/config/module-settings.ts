import type { ObjectSchema, ValidationErrorItem } from 'joi';
import type { PluginModule, StrategyModule } from '../contract/index.ts';
import type { StrategyConfig } from './document.ts';
import { pathText } from './problems.ts';

export interface SettingsProblem {
  readonly path: string;
  readonly message: string;
  readonly fix: string;
  /** Rule id that the schema itself states (`.meta({ rule })`). */
  readonly rule: string | undefined;
}

/** Where a strategy's settings stand in the document: under `strategy.settings`, or the keys it reads of the block. */
export function strategySettings(module: StrategyModule, strategy: StrategyConfig): { base: string; value: object } {
  if (!module.settingsFrom) return { base: 'strategy.settings', value: strategy.settings ?? {} };
  const block = strategy as unknown as Readonly<Record<string, unknown>>;
  const present = module.settingsFrom.filter((key) => block[key] !== undefined);
  return { base: 'strategy', value: Object.fromEntries(present.map((key) => [key, block[key]])) };
}

/** A plugin entry's settings without those that are taken and ignored (specification 4.8). */
export function declaredSettings(module: PluginModule, config: Readonly<Record<string, unknown>> | null): object {
  const { toleratedSettings: tolerated = {} } = module;
  return Object.fromEntries(Object.entries(config ?? {}).filter(([key]) => !Object.hasOwn(tolerated, key)));
}

/** How a setting's texts are shown: as any text, or as patterns and other names in which an `@` does not make an e-mail address. */
export type SettingKind = 'text' | 'name';

/** The settings of a schema, in order. One whose schema carries the meta `isPattern` holds patterns. */
export function settingKinds(schema: ObjectSchema): ReadonlyMap<string, SettingKind> {
  const { keys = {} } = schema.describe() as { readonly keys?: Readonly<Record<string, { readonly metas?: readonly { readonly isPattern?: boolean }[] }>> };
  return new Map(Object.entries(keys).map(([name, { metas = [] }]) => [name, metas.some(({ isPattern }) => isPattern) ? 'name' : 'text']));
}

/** The settings of the catalogue: the keys of the schema, in order, without those that the module leaves out. */
export function listedSettings({ settings, unlistedSettings = [] }: PluginModule): string[] {
  return [...settingKinds(settings).keys()].filter((key) => !unlistedSettings.includes(key));
}

/** Checks a module's settings against its own schema: every problem at once, and the settings with defaults filled in. */
export function settingsProblems(schema: ObjectSchema, value: unknown, base: string): { problems: SettingsProblem[]; settings: object } {
  const result = schema.validate(value ?? {}, { abortEarly: false, convert: false });
  const details = result.error?.details ?? [];
  const known = details.length === 0 ? {} : ((schema.describe()['keys'] ?? {}) as Described); // once: describing costs more than checking
  const problems = details.map((detail) => settingsProblem(known, detail, base));
  return { problems, settings: result.value as object };
}

type Described = Readonly<Record<string, { metas?: { rule?: string }[] }>>;

function settingsProblem(known: Described, detail: ValidationErrorItem, base: string): SettingsProblem {
  const setting = pathText(detail.path);
  const path = setting === '' ? base : `${base}.${setting}`;
  const message = `setting ${detail.message.replaceAll('"', '')}`;
  const fix = detail.type === 'object.unknown' ? `remove it, or use one of: ${Object.keys(known).join(', ') || 'no settings'}` : 'correct the value';
  return { path, message, fix, rule: ruleOf(known, detail.path) };
}

/** The rule id that the schema states for a setting. */
function ruleOf(known: Described, path: readonly (string | number)[]): string | undefined {
  const [name = ''] = path;
  return Object.hasOwn(known, name) ? known[name]?.metas?.find(({ rule }) => rule !== undefined)?.rule : undefined;
}

/** Settings with defaults, of a schema whose problems have been ruled out. */
export function readSettings<S extends object>(schema: ObjectSchema<S>, value: unknown): S {
  return schema.validate(value ?? {}, { convert: false }).value as S;
}
