import { heldIn } from './held.ts';
import type { Fleet } from './fleet.ts';
import type { Placed, PlannedInstance } from './planned.ts';

/** What a secret is for. */
export interface SecretPlace {
  /** The key of `providers`, or the name of a header. */
  readonly key: string;
  /** Which credential of the instance. */
  readonly number: number;
  readonly fleet: Fleet;
  readonly instance: PlannedInstance;
}

const FOLDER = '/run/secrets/';
/** The secrets of the gateway itself, which no credential may refer to. See docs/configuration.md. */
const OWN =
  /^(?:MASTER_KEY|GW_API_KEY|GW_STATE_URL|GW_SEAL_KEY|.*_DSN|OTEL_EXPORTER_OTLP.*HEADERS|OIDC_.*SECRET.*)(?:_FILE)?$/;

/** The reference that stands for a secret of the document: its variable, a file, or a new variable for a literal. */
export function textReference(placed: Placed, place: SecretPlace): string {
  const { entry } = placed;
  const { fleet, key } = place;
  const held = heldIn(entry, fleet.plan.referenceIn, true);
  if (held?.kind === 'reference' && !OWN.test(held.name)) {
    fleet.variables.referred(held.name, entry, false);
    entry.carry();
    return `\${${held.name}}`;
  }
  const path = key === 'service_account_json' ? fileIn(entry.text) : undefined;
  if (path !== undefined) {
    fleet.variables.toWrite(path, 'the key file', entry);
    entry.carry(path === entry.text ? undefined : `mount the file as ${path}, or elsewhere below GW_SECRET_DIRS`);
    return `\${file:${path}}`;
  }
  const name = newVariable(place);
  fleet.variables.referred(name, entry, true);
  entry.carry(`the value is not copied; set ${name}`);
  return `\${${name}}`;
}

/** The path of a key file, below the directory of secrets. */
function fileIn(text: string | undefined): string | undefined {
  if (text === undefined || !/^[\w./@+-]+\.json$/.test(text)) return undefined;
  const isBelow = text.startsWith(FOLDER) && !text.split('/').some((part) => part === '..' || part === '.');
  return isBelow ? text : `${FOLDER}${text.split('/').at(-1) ?? ''}`;
}

/** `OPENAI_2_KEY_1`: of the instance, what it is, and its number; the next that is free. */
function newVariable({ key, number, fleet, instance }: SecretPlace): string {
  const words = (text: string): string => text.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  const instanceWords = words(fleet.nameOf(instance)).replace(/^(?=\d)/, '_');
  const stem = `${instanceWords}_${key === 'api_key' ? 'KEY' : words(key)}`;
  for (let count = number; ; count += 1) {
    const name = `${stem}_${count}`;
    if (fleet.variables.isFree(name) && !OWN.test(name)) return name;
  }
}
