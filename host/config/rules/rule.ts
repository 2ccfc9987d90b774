import { useOneOf } from '../../common/nearest.ts';
import type { PluginModule, ProviderModule, StrategyModule } from '../../contract/index.ts';
import type { GatewayConfig } from '../document.ts';
import type { Problem } from '../problems.ts';

/** What a rule may compare the document with: the modules this process knows. */
export interface KnownModules {
  readonly providers: ReadonlyMap<string, ProviderModule>;
  readonly strategies: ReadonlyMap<string, StrategyModule>;
  readonly plugins: ReadonlyMap<string, PluginModule>;
  /** Whether a module of this name is there but was refused: an unknown name would be reported beside its own faults. */
  isRefused(kind: 'provider' | 'strategy' | 'plugin', name: string): boolean;
}

/** What a tap on `checkConfig` gets. */
export interface CheckContext {
  readonly known: KnownModules;
  /** Directories of this process that files of secrets lie below (`GW_SECRET_DIRS`). */
  readonly secretDirectories: readonly string[];
  /** Files that the gateway's own secrets are read from. */
  readonly ownSecretFiles: readonly string[];
  /** Whether a text has the shape of a credential, or is one that this process knows. */
  readonly looksSecret: (text: string) => boolean;
  readonly report: (problem: Problem) => void;
}

/** What one rule knows and reports to: its id goes with what it reports. */
export interface RuleContext {
  readonly known: KnownModules;
  readonly secretDirectories: readonly string[];
  readonly ownSecretFiles: readonly string[];
  readonly looksSecret: (text: string) => boolean;
  /** `rule` only when a module states another than the rule's id; `needs` only when it differs from the rule's. */
  readonly report: (path: string, message: string, fix: string, rule?: string, needs?: RegExp) => void;
}

/** One rule of docs/configuration.md#the-document-by-itself or of what follows it there. Reports every breach; never throws on a document that decoded. */
export interface ConfigRule {
  readonly id: string;
  /** Paths of other members it compares with. */
  readonly needs?: RegExp;
  check(config: GatewayConfig, context: RuleContext): void;
}

/** What to write instead of a name that no module has. */
export const useKnown = (name: string, modules: ReadonlyMap<string, unknown>): string =>
  useOneOf(name, [...modules.keys()].toSorted());

/** The tap that a rule is on the `checkConfig` hook. */
export function ruleTap(rule: ConfigRule): (config: GatewayConfig, context: CheckContext) => void {
  return (config, { report, ...context }) =>
    rule.check(config, {
      ...context,
      report: (path, message, fix, id = rule.id, needs = rule.needs) =>
        report({ path, rule: id, message, fix, ...(needs && { needs }) }),
    });
}
