import type { PluginModule, Stage } from '../../../host/contract/index.ts';

/** Stages that a plugin must be listed at, whatever else it is listed at: those of every choice that its `checkStages` accepts. None where it accepts none. */
export function neededStages(module: PluginModule): readonly Stage[] {
  if (!module.checkStages) return [];
  const accepted = choices(module.stages).filter((stages) => isAccepted(module, stages));
  return accepted.length === 0 ? [] : module.stages.filter((stage) => accepted.every((each) => each.includes(stage)));
}

/** Every choice of one stage or more. */
function choices(stages: readonly Stage[]): readonly (readonly Stage[])[] {
  return stages.reduce<readonly (readonly Stage[])[]>(
    (found, stage) => [...found, ...found.map((each) => [...each, stage]), [stage]],
    [],
  );
}

/** By the settings that it has when none are written. A check that fails says nothing of the stages. */
function isAccepted(module: PluginModule, stages: readonly Stage[]): boolean {
  try {
    const { value } = module.settings.validate({}) as { readonly value: object };
    return module.checkStages?.(stages, value) === undefined;
  } catch {
    return false;
  }
}
