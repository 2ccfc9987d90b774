import type { Description } from 'joi';
import { configDescription } from '../schema/config-description.ts';
import type { FieldKind } from '../schema/schema-fields.ts';
import { blocksOf, describedAt, factsOf, keysOf, otherKeysOf } from '../schema/schema-walk.ts';
import { DURATION_PATTERN } from '../../contract/duration.ts';
import type { PluginModule, StrategyModule } from '../../contract/index.ts';
import type { KnownModules } from '../rules/rule.ts';
import { showingOf } from '../schema/showing.ts';
import { flagsOf, type JsonSchema, objectSchema } from './setting-schema.ts';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

type Known = Pick<KnownModules, 'providers' | 'strategies' | 'plugins'>;

/** The JSON Schema (draft 2020-12) of a configuration file, with the names and settings of the modules that a gateway knows. */
export function configurationSchema(known: Known): JsonSchema {
  return {
    $schema: DRAFT,
    title: 'Configuration of gw',
    ...blockShape(configDescription(), '', additionsOf(known)),
    type: 'object',
    ...targetNames(known),
  };
}

/** The schema of what the admin API takes: all but what belongs to the file alone. */
export function writtenSchema(known: Known): JsonSchema {
  const schema = configurationSchema(known);
  const { identity: _identity, ...properties } = schema['properties'] as JsonSchema;
  return { ...schema, properties };
}

/** Targets are named after instances; without any, after the providers of the environment. */
function targetNames({ providers }: Known): JsonSchema {
  const known = [...providers.values()].filter(({ connection }) => !connection.onlyDeclared).map(({ name }) => name);
  const names = { virtual_key: { enum: known.toSorted() } };
  return {
    if: { properties: { providers: { type: 'object', minProperties: 1 } }, required: ['providers'] },
    else: { properties: { targets: { items: { properties: names } } } },
  };
}

/** What modules add to a field, by its place: `targets[].virtual_key`. */
type Additions = ReadonlyMap<string, JsonSchema>;

function additionsOf({ providers, strategies, plugins }: Known): Additions {
  const names = (modules: ReadonlyMap<string, unknown>): JsonSchema => ({ enum: [...modules.keys()].toSorted() });
  const ownSettings = [...strategies.values()].filter(({ settingsFrom }) => settingsFrom === undefined);
  const kinds = [...providers.values()].filter(({ offline }) => !offline).map(({ name }) => name);
  const modes = { enum: [...[...strategies.keys()].toSorted(), '', null] };
  return new Map<string, JsonSchema>([
    ['providers.*.kind', { enum: kinds.toSorted() }],
    ['strategy.mode', modes],
    ['models[].strategy.mode', modes],
    ['plugins[].name', names(plugins)],
    ['plugins[]', all([...plugins.values()].map(pluginSettings))],
    ['strategy', all(ownSettings.map(strategySettings))],
    ['models[].strategy', all(ownSettings.map(strategySettings))],
  ]);
}

const all = (schemas: readonly JsonSchema[]): JsonSchema => (schemas.length === 0 ? {} : { allOf: schemas });

const strategySettings = ({ name, settings }: StrategyModule): JsonSchema =>
  where('mode', name, { settings: nullable(objectSchema(settings.describe())) });

function pluginSettings({ name, summary, stages, settings, toleratedSettings = {} }: PluginModule): JsonSchema {
  const own = objectSchema(settings.describe());
  const ignored = Object.fromEntries(
    Object.entries(toleratedSettings).map(([key, instead]) => [key, { description: `ignored: ${instead}` }]),
  );
  const config = { description: summary, ...own, properties: { ...(own['properties'] as object), ...ignored } };
  return where('name', name, {
    config: own['required'] === undefined ? nullable(config) : config,
    stage: { enum: stages },
  });
}

/** What holds for the other keys of a block where one key has this value. */
const where = (key: string, value: string, properties: JsonSchema): JsonSchema => ({
  if: { properties: { [key]: { const: value } }, required: [key] },
  then: { properties },
});

const nullable = (schema: JsonSchema): JsonSchema => ({ ...schema, type: ['object', 'null'] });

/** `${NAME}` or `${file:/path}`, and nothing beside it. */
const REFERENCE = String.raw`^\$\{(?:[A-Za-z_][A-Za-z0-9_]*|file:/[^{}]+)\}$`;

const TYPES: Readonly<Record<FieldKind, string>> = {
  text: 'string',
  secret: 'string',
  duration: 'string',
  boolean: 'boolean',
  integer: 'integer',
  number: 'number',
  map: 'object',
  free: 'object',
};

/** The JSON Schema of the settings of a plugin, by itself. */
export const pluginSchema = ({ settings }: PluginModule): JsonSchema => ({
  $schema: DRAFT,
  ...objectSchema(settings.describe()),
});

/** `null` in the place of a key is as good as no key; an item of a list has to be there. */
function fieldSchema(field: Description, place: string, additions: Additions): JsonSchema {
  const { kind, wording } = factsOf(field);
  const isItem = place.endsWith('[]');
  const item = describedAt(field, [0]);
  const type = kind ? TYPES[kind] : item ? 'array' : 'object';
  return {
    ...descriptionOf(field),
    ...shownAs(field),
    type: isItem || wording.isRequired ? type : [type, ...(wording.orInteger ? ['integer'] : []), 'null'],
    ...(wording.values && !item && { enum: isItem || wording.isRequired ? wording.values : [...wording.values, null] }),
    ...(wording.min !== undefined && { minimum: wording.min }),
    ...(wording.max !== undefined && { maximum: wording.max }),
    ...(kind === 'duration' && { pattern: `^$|${DURATION_PATTERN}` }),
    ...(kind === 'secret' && { pattern: REFERENCE }),
    ...(kind === 'text' && wording.pattern !== undefined && { pattern: wording.pattern }),
    ...(kind === 'map' && { additionalProperties: { type: ['string', 'null'] } }),
    ...(item && {
      items: {
        ...fieldSchema(item, `${place}[]`, additions),
        ...(wording.values && { enum: wording.values }),
      },
    }),
    ...(keysOf(field).length > 0 && blockShape(field, place, additions)),
    ...mapShape(field, place, additions),
    ...(wording.otherwise !== undefined && { default: wording.otherwise }),
    ...additions.get(place),
  };
}

/** How the admin API shows a field that may hold what is withheld, so that a form knows it before it asks. */
function shownAs(field: Description): JsonSchema {
  const { as } = showingOf(field);
  if (as === undefined || as.endsWith('settings')) return {};
  return { 'x-gw-shown': as === 'headers' ? 'withheld' : as };
}

/** A map of blocks: its names, and the block under each. */
function mapShape(field: Description, place: string, additions: Additions): JsonSchema {
  const block = blocksOf(field);
  if (!block) return {};
  const { pattern } = factsOf(field).wording;
  return {
    ...(pattern !== undefined && { propertyNames: { pattern } }),
    additionalProperties: fieldSchema(block, `${place}.*`, additions),
  };
}

function blockShape(field: Description, place: string, additions: Additions): JsonSchema {
  const members = keysOf(field).flatMap((key) => {
    const member = describedAt(field, [key]);
    return member ? [[key, member] as const] : [];
  });
  const others = otherKeysOf(field);
  const required = members.filter(([, member]) => factsOf(member).wording.isRequired).map(([key]) => key);
  return {
    properties: Object.fromEntries(
      members.map(([key, member]) => [key, fieldSchema(member, place === '' ? key : `${place}.${key}`, additions)]),
    ),
    ...(others && { patternProperties: { [others.pattern]: fieldSchema(others.member, `${place}.*`, additions) } }),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** The meaning, and what else is asked of a value; links to the pages of the documentation as their paths. */
function descriptionOf(field: Description): JsonSchema {
  const { bounds, otherwiseSaid } = factsOf(field).wording;
  const parts = [
    flagsOf(field).description,
    bounds === undefined ? undefined : `Bounds: ${bounds}`,
    otherwiseSaid === undefined ? undefined : `Default: ${otherwiseSaid}`,
  ].filter((part) => part !== undefined);
  if (parts.length === 0) return {};
  return { description: parts.join('. ').replaceAll(/\[[^\]]+\]\(([^)#]+)[^)]*\)/g, 'docs/$1') };
}
