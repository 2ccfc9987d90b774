import type { Decoded } from '../config/decode.ts';
import type { GatewayConfig } from '../config/document.ts';
import { parsePath, type Problem } from '../config/problems.ts';
import type { CheckContext } from '../config/rules/rule.ts';
import { byTarget } from '../config/rules/targets.ts';
import { settingKinds } from '../config/module-settings.ts';
import { hiddenSegments, TextScrubber } from '../config/scrub-text.ts';
import { secretsOf } from '../config/secrets.ts';
import { memberOf } from '../contract/index.ts';
import type { Settings } from '../environment/settings.ts';
import type { Redactor } from '../log/redact.ts';
import type { Registry } from '../registry/registry.ts';

/** What checking a configuration needs of the host. */
export interface CheckDeps {
  readonly registry: Registry;
  readonly redactor: Redactor;
  readonly settings: Pick<Settings, 'secretDirectories' | 'ownSecretFiles'>;
  readonly hooks: { readonly checkConfig: { call(config: GatewayConfig, context: CheckContext): void } };
}

/**
 * Everything that is wrong with a decoded document, decoding included. Reads nothing, opens nothing. From here on its secrets
 * are in no log line and no error, those about itself included.
 */
export function checkConfig(
  { hooks, registry, redactor, settings }: CheckDeps,
  decoded: Omit<Decoded, 'document'>,
): readonly Problem[] {
  const { config, problems: found, lineOf } = decoded;
  if (!config) return found;
  for (const secret of [...secretsOf(config), ...settingSecrets(config, registry)]) redactor.register(secret);
  const texts = new TextScrubber(redactor);
  const problems: Problem[] = [...found];
  const isVoid = voidedBy(found.filter(({ rule }) => rule === 'DC02').map(({ path }) => path));
  hooks.checkConfig.call(config, {
    known: registry,
    secretDirectories: settings.secretDirectories,
    ownSecretFiles: settings.ownSecretFiles,
    looksSecret: (text) => redactor.redact(text) !== text,
    report: (problem) => {
      if (isVoid(problem)) return;
      const { needs: _, ...reported } = problem;
      problems.push({ ...reported, message: texts.quoting(reported.message), line: lineOf(parsePath(reported.path)) });
    },
  });
  return byTarget(problems);
}

/** What addresses in settings of plugins keep in their paths. */
function settingSecrets({ plugins }: GatewayConfig, registry: Pick<Registry, 'plugins'>): readonly string[] {
  return plugins.flatMap(({ name, config }) => {
    const module = registry.plugins.get(name);
    if (!module || !config) return [];
    return [...settingKinds(module.settings)].flatMap(([setting, kind]) => {
      const text = kind === 'address' ? memberOf(config, setting) : undefined;
      return typeof text === 'string' ? hiddenSegments(text) : [];
    });
  });
}

/**
 * Whether a problem says only that something is missing which could not be decoded: the decoding problem has said that
 * already. Takes time in proportion to the length of the problem's path, however much could not be decoded.
 */
function voidedBy(mistyped: readonly string[]): (problem: Problem) => boolean {
  if (mistyped.length === 0) return () => false;
  const wrong = new Set(mistyped);
  const holders = new Set(mistyped.map((path) => path.replace(/(\.[^.[\]]+|\[\d+\])$/, '')));
  const needed = new Map<string, boolean>();
  const isNeeded = (needs: RegExp): boolean => {
    const known = needed.get(needs.source) ?? mistyped.some((path) => needs.test(path));
    needed.set(needs.source, known);
    return known;
  };
  return ({ path, needs }) => {
    if (wrong.has(path) || holders.has(path)) return true;
    for (const { index } of path.matchAll(/[.[]/g)) if (wrong.has(path.slice(0, index))) return true;
    return needs !== undefined && isNeeded(needs);
  };
}
