import { type GuardrailSettings, type PluginModule, type Surface, type Stage } from '../../contract/index.ts';
import type { PluginInstance, StreamGuards } from './plugin-instance.ts';

/** Whether the plugin sees bodies of the surface at all. */
export function covers(module: PluginModule, surface: Surface): boolean {
  return module.surfaces?.includes(surface) ?? true;
}

/** Whether bodies that this plugin cannot read must be refused: a guardrail reads content unless it says otherwise, an observing one refuses nothing. */
export function guardsContent(module: PluginModule, settings: object): boolean {
  if (module.type !== 'guardrail' || (settings as GuardrailSettings).observe === true) return false;
  return readsContent(module, settings);
}

/** Whether the plugin may look at what a body says: all that are not about counts or credentials. */
export function mayInspect(module: PluginModule, settings: object): boolean {
  if (module.type === 'guardrail') return readsContent(module, settings);
  return module.type === 'transform' || module.type === 'logging';
}

/** What a guardrail says, or what follows from what it needs. */
function readsContent(module: PluginModule, settings: object): boolean {
  return module.readsContent?.(settings) ?? needsBody(module, settings);
}

/** Whether the plugin needs anything of a body that is only forwarded. What reads content does, whatever it says. */
export function needsBody(module: PluginModule, settings: object): boolean {
  return (module.needsBody?.(settings) ?? true) || module.readsContent?.(settings) === true;
}

/** Whether one of the guards may hold back or end the stream; the others only watch. */
export function holdsBack(guards: StreamGuards): boolean {
  return guards.keys().some((instance) => !isObserving(instance));
}

/** Whether nothing of the stream may be delivered before `after_request` has passed. */
export function awaitsVerdict(guards: StreamGuards): boolean {
  return guards.entries().some(([instance, { awaitsVerdict: awaits }]) => awaits === true && !isObserving(instance));
}

/** What the type says, and the catalogue: `logging` and `metrics` fail open, the rest closed. */
export function failsOpen(module: PluginModule): boolean {
  return module.type === 'logging' || module.type === 'metrics';
}

/** Whether a fault of this instance lets the request go on: by its type, or by a guardrail's setting `fail`. */
export function passesFaults({ module, settings }: PluginInstance): boolean {
  return failsOpen(module) || (module.type === 'guardrail' && (settings as GuardrailSettings).fail === 'open');
}

/** What has a say in a request that is only counted: who may ask, what is said, and the log. See docs/reference/ingress.md#counting-tokens. */
export function runsForCounts({ module, settings }: PluginInstance, stage: Stage): boolean {
  if (module.type === 'logging' || module.type === 'metrics' || stage === 'on_error') return true;
  return (
    stage === 'before_request' &&
    (module.type === 'auth' || (module.type === 'guardrail' && mayInspect(module, settings)))
  );
}

/** An observing guardrail rejects nothing: what it would have rejected is served, and noted. */
export function isObserving({ module, settings }: PluginInstance): boolean {
  return module.type === 'guardrail' && (settings as GuardrailSettings).observe === true;
}
