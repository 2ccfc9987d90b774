import type { Decoded } from '../../config/decode.ts';
import type { GatewayConfig } from '../../config/document.ts';
import { knownGrants } from '../../config/grants/known-grants.ts';
import type { PlaceModules } from '../../config/grants/reference-places.ts';
import { refusedReferences } from '../../config/grants/reference-rules.ts';
import { parsePath, type Problem } from '../../config/problems.ts';
import { newCommands } from '../../config/rules/mcp.ts';
import { newModules } from '../../config/rules/modules.ts';
import { TextScrubber } from '../../config/scrub-text.ts';
import type { Settings } from '../../environment/settings.ts';
import type { Variables } from '../../environment/variables.ts';
import type { Redactor } from '../../log/redact.ts';
import { type Registry, SHIPPED } from '../../registry/registry.ts';
import type { Slot } from '../slot.ts';

interface AdminDeps {
  readonly registry: Registry;
  readonly redactor: Redactor;
  readonly variables: Variables;
  readonly settings: Pick<Settings, 'allowsAdminStdio' | 'allowances'>;
  readonly slot: Slot;
}

interface Writing {
  /** The configuration file, in force or not. */
  readonly file: GatewayConfig | undefined;
  readonly kind: 'write' | 'rollback';
}

/** What only the admin API may not write: an operator of the host may, by the file. */
export function adminProblems(deps: AdminDeps, decoded: Decoded, { file, kind }: Writing): readonly Problem[] {
  const { config, lineOf } = decoded;
  if (!config) return [];
  const { registry, settings, slot, variables } = deps;
  const running = slot.current?.config;
  const modules = placeModules(registry);
  const shipped = [...registry.providers.values()].filter(
    ({ name }) => registry.originOf('provider', name) === SHIPPED,
  );
  const references = refusedReferences(config, {
    running,
    modules,
    // What was written once was accepted then.
    grants:
      kind === 'rollback' ? undefined : knownGrants({ configurations: [file, running], modules, shipped, variables }),
    allowances: settings.allowances,
  });
  const commands = settings.allowsAdminStdio ? [] : newCommands(config, running);
  const texts = new TextScrubber(deps.redactor);
  return [...commands, ...newModules(config, registry.listed), ...references].map((problem) => ({
    ...problem,
    message: texts.quoting(problem.message),
    line: lineOf(parsePath(problem.path)),
  }));
}

/** What places of references are read with. */
export const placeModules = (registry: Registry): PlaceModules => ({
  providers: registry.providers,
  isShippedPlugin: (name) => registry.originOf('plugin', name) === SHIPPED,
});
