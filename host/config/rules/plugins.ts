import { errorMessage } from '../../common/error-message.ts';
import { useOneOf } from '../../common/nearest.ts';
import { isFields, type PluginModule, type Stage, type StageProblem, STAGES } from '../../contract/index.ts';
import { canonicalJson } from '../canonical.ts';
import type { GatewayConfig, PluginEntry } from '../document.ts';
import { type ConfigRule, type KnownModules, useKnown } from './rule.ts';
import { declaredSettings, readSettings, writtenSettingsProblems } from '../module-settings.ts';
import { MOST_OF_ALL, PatternBudget } from '../pattern-sizes.ts';

interface Listed {
  readonly entry: PluginEntry;
  readonly path: string;
}

/** Enabled entries with their place; a disabled entry is never checked. */
function enabled(config: GatewayConfig): Listed[] {
  return config.plugins
    .map((entry, index) => ({ entry, path: `plugins[${index}]` }))
    .filter(({ entry }) => entry.enabled);
}

function byName(config: GatewayConfig): [string, Listed[]][] {
  const groups = Map.groupBy(enabled(config), ({ entry }) => entry.name);
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const isStage = (stage: string | undefined): stage is Stage => STAGES.includes(stage as Stage);

/** Enabled entries whose plugin and stage are known, with the module. Of all others nothing more is checked, so that no message quotes their settings. */
function resolved(config: GatewayConfig, known: KnownModules): (Listed & { module: PluginModule })[] {
  return enabled(config).flatMap((listed) => {
    const module = known.plugins.get(listed.entry.name);
    return module && isStage(listed.entry.stage) ? [{ ...listed, module }] : [];
  });
}

/** What the plugin says of its stages. A function of it that fails is reported as well. */
function stageProblem(module: PluginModule, stages: readonly Stage[], { entry }: Listed): StageProblem | undefined {
  try {
    const settings = readSettings(module.settings, declaredSettings(module, entry.config));
    for (const name of ['readsContent', 'needsBody'] as const) {
      const said: unknown = module[name]?.(settings) ?? true;
      if (typeof said !== 'boolean')
        return { message: `its ${name} returns neither true nor false`, fix: 'return true or false' };
    }
    const said: unknown = module.checkStages?.(stages, settings);
    if (said === undefined) return undefined;
    if (isFields(said) && typeof said['message'] === 'string')
      return {
        message: said['message'],
        fix: typeof said['fix'] === 'string' ? said['fix'] : 'list it at other stages',
      };
    return {
      message: 'its checkStages returns something that is not a problem',
      fix: 'return { message, fix } or undefined',
    };
  } catch (error) {
    return {
      message: `its readsContent, needsBody or checkStages failed: ${errorMessage(error)}`,
      fix: 'correct the plugin',
    };
  }
}

export const pluginRules: readonly ConfigRule[] = [
  {
    id: 'CV31',
    check: (config, { report }) => {
      const seen = new Set<string>();
      for (const { entry, path } of enabled(config)) {
        const identity = canonicalJson([entry.name, entry.stage ?? '', entry.config]);
        if (seen.has(identity))
          report(
            path,
            `plugin "${entry.name}" stands twice at stage ${entry.stage ?? ''} with one config`,
            'remove one of the two entries',
          );
        seen.add(identity);
      }
    },
  },
  {
    id: 'CV32',
    check: (config, { report }) => {
      for (const [name, entries] of byName(config)) {
        const stages = new Set(entries.map(({ entry }) => entry.stage ?? ''));
        const configs = new Set(entries.map(({ entry }) => canonicalJson(entry.config)));
        if (stages.size < 2 || configs.size < 2) continue;
        report(
          entries[0]?.path ?? 'plugins',
          `plugin "${name}" stands at ${stages.size} stages with ${configs.size} different configs`,
          'give it one config at every stage',
        );
      }
    },
  },
];

/** Run with the rules about what this build ships, after those about the document. */
export const pluginBuildRules: readonly ConfigRule[] = [
  {
    id: 'BV02',
    check: (config, { known, report }) => {
      for (const { entry, path } of enabled(config)) {
        if (known.plugins.has(entry.name) || known.isRefused('plugin', entry.name)) continue;
        report(`${path}.name`, `"${entry.name}" is not a plugin of this build`, useKnown(entry.name, known.plugins));
      }
    },
  },
  {
    id: 'BV03',
    check: (config, { report }) => {
      for (const { entry, path } of enabled(config)) {
        if (!isStage(entry.stage))
          report(
            `${path}.stage`,
            `plugin "${entry.name}" has the stage "${entry.stage ?? ''}"`,
            useOneOf(entry.stage ?? '', STAGES),
          );
      }
    },
  },
  {
    id: 'BV06',
    check: (config, { known, report }) => {
      const patterns = new PatternBudget();
      for (const { entry, path, module } of resolved(config, known)) {
        const settings = declaredSettings(module, entry.config);
        const size = patterns.add(entry.name, module.settings, settings);
        if (size > MOST_OF_ALL) {
          report(
            `${path}.config`,
            `plugin "${entry.name}": with the plugins before it its patterns may compile to ${size} instructions, the limit is ${MOST_OF_ALL}`,
            'write smaller counts, or fewer patterns',
          );
          continue;
        }
        const { problems } = writtenSettingsProblems(module.settings, settings, `${path}.config`);
        for (const problem of problems)
          report(problem.path, `plugin "${entry.name}": ${problem.message}`, problem.fix, problem.rule);
      }
    },
  },
  {
    id: 'BV07',
    check: (config, { known, report }) => {
      for (const { entry, path, module } of resolved(config, known)) {
        if (module.stages.includes(entry.stage as Stage)) continue;
        report(
          `${path}.stage`,
          `plugin "${entry.name}" does nothing at ${entry.stage ?? ''}`,
          `list it at ${module.stages.join(' or ')}`,
        );
      }
      for (const [name, entries] of byName(config)) {
        const module = known.plugins.get(name);
        const first = entries[0];
        const stages = entries.map(({ entry }) => entry.stage).filter(isStage);
        if (!module || !first || stages.length < entries.length) continue; // one stage is unknown: which one was meant cannot be guessed
        const problem = stageProblem(module, stages, first);
        if (problem) report(first.path, `plugin "${name}": ${problem.message}`, problem.fix);
      }
    },
  },
];
