import { expect } from 'chai';
import Joi, { type Description } from 'joi';
import { flagsOf } from '../../host/config/json-schema/setting-schema.ts';
import { MODULES } from '../../builtins/manifest.ts';
import { configSchema } from '../../host/config/schema/config-schema.ts';
import { describedAt, keysOf } from '../../host/config/schema/schema-walk.ts';

/** Longest description of a setting, in characters: editors show it beside the line. */
const MOST = 119;

/** What is said of every key of a schema, at any depth, by its place. */
function descriptions(schema: Description, place: string): [place: string, description: string][] {
  const below = keysOf(schema).flatMap((key): [string, string][] => {
    const member = describedAt(schema, [key])!;
    return [[`${place}.${key}`, flagsOf(member).description ?? ''], ...descriptions(member, `${place}.${key}`)];
  });
  const items = ((schema['items'] ?? []) as readonly Description[]).flatMap((item) => descriptions(item, `${place}[]`));
  return [...below, ...items];
}

const undescribed = (schema: Joi.Schema, place: string): string[] =>
  descriptions(schema.describe(), place)
    .filter(([, description]) => !/\w{3}/.test(description))
    .map(([at]) => at);

const SETTINGS = MODULES.flatMap((module): [string, Joi.Schema][] => {
  if (module.kind === 'plugin') return [[module.name, module.settings]];
  if (module.kind !== 'strategy') return [];
  const { name, settings, targetSettings } = module;
  return [[name, settings], ...(targetSettings ? [[`${name} targets[]`, targetSettings] as [string, Joi.Schema]] : [])];
});

describe('a description', () => {
  it('stands at every key of the configuration', () => {
    expect(undescribed(configSchema, 'configuration')).to.deep.equal([]);
  });

  for (const [name, settings] of SETTINGS) {
    it(`stands at every setting of ${name}, and is short`, () => {
      expect(undescribed(settings, name)).to.deep.equal([]);
      const long = descriptions(settings.describe(), name).filter(([, { length }]) => length > MOST);
      expect(long).to.deep.equal([]);
    });
  }

  it('is missed at any depth', () => {
    const inner = Joi.object({ said: Joi.string().description('what it is'), unsaid: Joi.string() });
    const schema = Joi.object({ list: Joi.array().items(inner), block: inner.description('a block') });
    expect(undescribed(schema, 'toy')).to.deep.equal(['toy.list', 'toy.list[].unsaid', 'toy.block.unsaid']);
  });
});
