import { kindKeys } from '../../../../host/common/kinds/kind-keys.ts';
import type { SecretSet } from '../../../../host/contract/index.ts';
import { rounded } from '../amounts.ts';
import { heldIn } from './held.ts';
import type { Fleet } from './fleet.ts';
import { namedCredentials } from './instance-names.ts';
import type { Placed, PlannedCredential, PlannedInstance } from './planned.ts';
import { textReference } from './secret-texts.ts';

interface Block {
  readonly fleet: Fleet;
  /** Whether its address is another than that of its kind. */
  readonly isElsewhere: boolean;
}

/** The secrets of an instance: in short for one credential without a name, else the list. */
export function credentialBlocks(instance: PlannedInstance, block: Block): Readonly<Record<string, unknown>> {
  const { credentials } = instance;
  const [only, ...more] = credentials;
  if (more.length === 0 && only?.called === undefined && only?.organization === undefined)
    return secretsOf(instance, { ...block, credential: only, number: 1 });
  const names = namedCredentials(instance);
  const isWeighted = credentials.length > 1 && credentials.some(({ weight }) => weight !== undefined);
  const bounds = modelsOf(credentials);
  return {
    credentials: credentials.map((credential, at) => ({
      name: names[at],
      ...secretsOf(instance, { ...block, credential, number: at + 1 }),
      ...(isWeighted && { weight: rounded(credential.weight ?? 1) }),
      ...(credentials.length > 1 && credential.calls && { max_concurrency: credential.calls.count }),
      ...(bounds[at] && { models: bounds[at] }),
      ...organizationOf(
        credential,
        `providers.${block.fleet.nameOf(instance)}.credentials[${at}].organization`,
        block.fleet,
      ),
    })),
  };
}

/** The models of each, where they differ: those that all have need no list. */
function modelsOf(credentials: readonly PlannedCredential[]): readonly (readonly string[] | undefined)[] {
  const lists = credentials.map(({ models }) =>
    models === undefined || models.has('*') ? undefined : [...models].toSorted(),
  );
  const isOne = new Set(lists.map((list) => JSON.stringify(list))).size === 1;
  const isBounded = credentials.some(({ models }) => models !== undefined && models.size > 0);
  if (isOne && !credentials.some(({ isBound }) => isBound === true)) return [];
  return isBounded ? lists.map((list) => (list && list.length > 0 && list.length <= 1000 ? list : undefined)) : [];
}

function organizationOf(
  { organization }: PlannedCredential,
  place: string,
  { plan, lookUp, variables }: Fleet,
): object {
  if (!organization) return {};
  const name = plan.referenceIn(organization.value);
  const text = name === undefined ? organization.text : lookUp(name);
  if (text !== undefined) {
    organization.carry(name === undefined ? undefined : `the value that ${name} has here`);
    return { organization: text };
  }
  variables.toWrite(place, 'left out', organization);
  organization.leave(`write the value of ${name ?? 'the variable'} as ${place}`);
  return {};
}

interface Secrets extends Block {
  readonly credential: PlannedCredential | undefined;
  readonly number: number;
}

/** A set of secrets that the kind takes as a whole. */
function secretsOf(
  instance: PlannedInstance,
  { credential, number, fleet, isElsewhere }: Secrets,
): Readonly<Record<string, string>> {
  const { module } = instance;
  const { sets, secrets } = kindKeys(module);
  const given = new Map([...(credential?.secrets ?? [])].filter(([, { entry }]) => isGiven(entry, fleet)));
  const set = setFor([...given.keys()], sets);
  const texts = new Map<string, string>();
  const wanted = given.size === 0 && isElsewhere && !kindKeys(module).needsAddress ? [] : (set?.needs ?? []);
  for (const key of [...wanted, ...(set?.mayHave ?? [])]) {
    const placed = given.get(key);
    if (placed) texts.set(key, textReference(placed, { key, number, fleet, instance }));
    else if (wanted.includes(key)) texts.set(key, missing(secrets.get(key) ?? key, instance, fleet));
    given.delete(key);
  }
  for (const { entry } of given.values()) entry.leave(`${module.name} takes it with no other secret of these`);
  return Object.fromEntries(texts);
}

const isGiven = (entry: Placed['entry'], { plan }: Fleet): boolean =>
  heldIn(entry, plan.referenceIn, true) !== undefined;

/** The set of a kind that what is given fits best; without anything the one that needs least. */
function setFor(given: readonly string[], sets: readonly SecretSet[]): SecretSet | undefined {
  const fits = ({ needs, mayHave = [] }: SecretSet): number =>
    given.filter((key) => needs.includes(key)).length * 10 +
    given.filter((key) => mayHave.includes(key)).length -
    needs.filter((key) => !given.includes(key)).length * 3;
  return sets.toSorted((a, b) => fits(b) - fits(a))[0];
}

function missing(variable: string, instance: PlannedInstance, { variables, nameOf }: Fleet): string {
  variables.missing(variable, nameOf(instance));
  return `\${${variable}}`;
}
