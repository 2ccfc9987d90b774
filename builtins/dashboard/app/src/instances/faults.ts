import { shown } from '../lib/form-values.ts';
import { entryOf, type InstanceDraft, isSecretKey, isWrittenShort, nameFault } from './instance-block.ts';
import type { PlacedProblem } from './problems.ts';
import { addressFault, referenceFault } from './reference.ts';

/** What is wrong, by the field of the form: `name`, `base_url`, `settings.region`, `credentials[0].api_key`. */
export type Faults = ReadonlyMap<string, string>;

/** What can be said without the gateway: a secret that was typed is found here, before any call. */
export function localFaults(draft: InstanceDraft, taken: readonly string[] | undefined): Faults {
  const { name, block, credentials } = draft;
  const found: (readonly [string, string | undefined])[] = [
    ['name', taken && nameFault(name, taken)],
    ['base_url', addressFault(shown(block['base_url']))],
  ];
  for (const [at, credential] of credentials.entries())
    for (const [key, value] of Object.entries(credential))
      if (isSecretKey(key)) found.push([`credentials[${at}].${key}`, referenceFault(shown(value))]);
  return new Map(found.filter((each): each is [string, string] => each[1] !== undefined));
}

/** What the gateway said, each at its field; under an empty name what is about no field of the form. */
export function placedFaults(problems: readonly PlacedProblem[], draft: InstanceDraft): Faults {
  const found = new Map<string, string>();
  for (const { path, text } of problems) {
    const place = placeOf(path, text, draft);
    const whole = place === '' && path !== '' ? `${path}: ${text}` : text;
    found.set(place, [found.get(place), whole].filter(Boolean).join('\n'));
  }
  return found;
}

function placeOf(path: string, text: string, draft: InstanceDraft): string {
  const own = `providers.${draft.name}`;
  if (path === own) return text.startsWith('BV12') ? 'credentials[0]' : 'name';
  if (!path.startsWith(`${own}.`)) return '';
  const inner = path.slice(own.length + 1);
  const place = isWrittenShort(draft) && isSecretKey(inner) ? `credentials[0].${inner}` : inner;
  return isShown(place, draft) ? place : '';
}

/** Whether the form has a field there. */
function isShown(place: string, draft: InstanceDraft): boolean {
  if (['kind', 'base_url', 'models', 'credentials'].includes(place)) return true;
  if (place.startsWith('settings.')) return true;
  const [, at] = /^credentials\[(\d+)\](?:\.|$)/.exec(place) ?? [];
  return at !== undefined && Number(at) < draft.credentials.length && Object.keys(entryOf(draft)).length > 0;
}
