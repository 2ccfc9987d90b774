import { type PluginModule, type Stage, type Surface, SURFACES } from '../contract/index.ts';
import type { GatewayConfig } from '../config/document.ts';
import { translatesResponses } from '../config/responses-mode.ts';
import { declaredSettings, readSettings } from '../config/module-settings.ts';
import { covers, guardsContent } from '../pipeline/guards/plugin-policy.ts';

export interface Coverage {
  readonly rows: readonly CoverageRow[];
  /** Bodies that a content guardrail cannot see. */
  readonly warnings: readonly string[];
}

/** What becomes of the bodies of one surface at one stage. */
export interface CoverageRow extends CoverageCell {
  readonly surface: string;
  readonly stage: Stage;
  /** What holds for requests that are translated, where some of the surface are. */
  readonly translated?: CoverageCell;
}

export interface CoverageCell {
  /** The plugins that read them, each once. */
  readonly plugins: readonly string[];
  /** Whether no body gets this far, because a content guardrail could not read it. */
  readonly refused: boolean;
  /** Whether plugins see the body only after it was sent. */
  readonly recorded: boolean;
}

export interface CoverageDeps {
  /** Those that have a route. */
  readonly surfaces: readonly Surface[];
  readonly registry: { readonly plugins: ReadonlyMap<string, PluginModule> };
}

interface Reader {
  readonly module: PluginModule;
  readonly stage: Stage;
  readonly isContentGuardrail: boolean;
}

/** Which plugins read which bodies, and which bodies no guardrail reads although one reads others. */
export function coverage(deps: CoverageDeps, config: GatewayConfig): Coverage {
  const readers = readersOf(deps, config);
  const rows: CoverageRow[] = [];
  const warnings: string[] = [];
  const guardsContent = readers.some(({ isContentGuardrail }) => isContentGuardrail);
  const shown = new Set<string>();
  const translates = translatesResponses(config);
  for (const surface of deps.surfaces) {
    const { tag } = SURFACES[surface];
    if (shown.has(tag) || surface === TRANSLATED) continue; // surfaces with one tag are covered alike
    shown.add(tag);
    for (const stage of ['before_request', 'after_request'] as const) {
      const here = readers.filter((reader) => reader.stage === stage);
      const cell = cellOf(here, surface, stage);
      rows.push({
        surface: tag,
        stage,
        ...cell,
        ...(surface === 'responses' && translates && { translated: cellOf(here, TRANSLATED, stage) }),
      });
      const isGuarded = here.some(({ module, isContentGuardrail }) => isContentGuardrail && covers(module, surface));
      if (guardsContent && !isGuarded && !cell.refused)
        warnings.push(`${tag} ${stage}: no content guardrail reads this body`);
    }
  }
  return { rows, warnings };
}

/** Requests of the Responses API are on one of two surfaces, by where they go: both stand in one row. */
const TRANSLATED = 'responses.translated';

function cellOf(here: readonly Reader[], surface: Surface, stage: Stage): CoverageCell {
  const names = here.filter(({ module }) => covers(module, surface)).map(({ module }) => module.name);
  const refused =
    stage === 'before_request' &&
    here.some(
      ({ module, isContentGuardrail }) =>
        isContentGuardrail && (SURFACES[surface].isUnreadable === true || !covers(module, surface)),
    );
  return { plugins: [...new Set(names)], refused, recorded: isRecorded(surface, stage) };
}

/** Answers that no plugin reads before they are sent. */
function isRecorded(surface: Surface, stage: Stage): boolean {
  return stage === 'after_request' && (surface === 'passthrough' || surface === 'responses');
}

function readersOf({ registry }: CoverageDeps, config: GatewayConfig): Reader[] {
  return config.plugins
    .filter(({ enabled }) => enabled)
    .flatMap((entry) => {
      const module = registry.plugins.get(entry.name);
      if (!module) return [];
      const settings = readSettings(module.settings, declaredSettings(module, entry.config));
      return [{ module, stage: entry.stage as Stage, isContentGuardrail: guardsContent(module, settings) }];
    });
}
