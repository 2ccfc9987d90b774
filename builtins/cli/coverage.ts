import { type PluginModule, type Stage, type Surface, SURFACES } from '../../host/contract/index.ts';
import { translatesResponses } from '../../host/config/responses-mode.ts';
import type { GatewayConfig } from '../../host/config/document.ts';
import { declaredSettings, readSettings } from '../../host/config/module-settings.ts';
import type { Host } from '../../host/host.ts';
import { covers, guardsContent } from '../../host/pipeline/guard.ts';

export interface Coverage {
  /** Surface, stage, and the plugins that read it. */
  readonly rows: readonly (readonly [string, string, string])[];
  /** Bodies that a content guardrail cannot see. */
  readonly warnings: readonly string[];
}

interface Reader {
  readonly module: PluginModule;
  readonly stage: Stage;
  readonly isContentGuardrail: boolean;
}

/** Which plugins read which bodies, and which bodies no guardrail reads although one reads others. */
export function coverage(host: Host, config: GatewayConfig): Coverage {
  const readers = readersOf(host, config);
  const rows: [string, string, string][] = [];
  const warnings: string[] = [];
  const guardsContent = readers.some(({ isContentGuardrail }) => isContentGuardrail);
  const shown = new Set<string>();
  const translates = translatesResponses(config);
  for (const surface of host.surfaces) {
    const { tag } = SURFACES[surface];
    if (shown.has(tag) || surface === TRANSLATED) continue; // surfaces with one tag are covered alike
    shown.add(tag);
    for (const stage of ['before_request', 'after_request'] as const) {
      const here = readers.filter((reader) => reader.stage === stage);
      const cell = cellOf(here, surface, stage);
      rows.push([tag, stage, surface === 'responses' && translates ? `${cell}; translated: ${cellOf(here, TRANSLATED, stage)}` : cell]);
      const isGuarded = here.some(({ module, isContentGuardrail }) => isContentGuardrail && covers(module, surface));
      if (guardsContent && !isGuarded && cell !== REFUSED) warnings.push(`${tag} ${stage}: no content guardrail reads this body`);
    }
  }
  return { rows, warnings };
}

/** Requests of the Responses API are on one of two surfaces, by where they go: both stand in one row. */
const TRANSLATED = 'responses.translated';
const REFUSED = 'refused';

function cellOf(here: readonly Reader[], surface: Surface, stage: Stage): string {
  const isRefused = stage === 'before_request' && here.some(({ module, isContentGuardrail }) => isContentGuardrail && (SURFACES[surface].isUnreadable || !covers(module, surface)));
  if (isRefused) return REFUSED;
  const names = here.filter(({ module }) => covers(module, surface)).map(({ module }) => module.name);
  return `${[...new Set(names)].join(', ') || '-'}${isRecorded(surface, stage) ? ' (recorded)' : ''}`;
}

/** Answers that no plugin reads before they are sent. */
function isRecorded(surface: Surface, stage: Stage): boolean {
  return stage === 'after_request' && (surface === 'passthrough' || surface === 'responses');
}

function readersOf({ registry }: Host, config: GatewayConfig): Reader[] {
  return config.plugins.filter(({ enabled }) => enabled).flatMap((entry) => {
    const module = registry.plugins.get(entry.name);
    if (!module) return [];
    const settings = readSettings(module.settings, declaredSettings(module, entry.config));
    return [{ module, stage: entry.stage as Stage, isContentGuardrail: guardsContent(module, settings) }];
  });
}
