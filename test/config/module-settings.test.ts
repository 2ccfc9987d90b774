import { expect } from 'chai';
import Joi from 'joi';
import { settingsProblems, writtenSettingsProblems } from '../../host/config/module-settings.ts';

describe('settings that a schema refuses with an error of its own', () => {
  const SCHEMAS: readonly (readonly [does: string, schema: Joi.ObjectSchema, wrong?: object])[] = [
    ['states an error', Joi.object({ a: Joi.number().error(new Error('a counts')) })],
    ['makes an error', Joi.object({ a: Joi.number().error(() => new TypeError('a counts')) })],
    ['states one for the whole', Joi.object({ a: Joi.number() }).error(new Error('a counts'))],
    [
      'states one deep inside',
      Joi.object({ a: Joi.object({ b: Joi.number().error(new Error('a counts')) }) }),
      { a: { b: 'x' } },
    ],
    [
      'states one with details that are none',
      Joi.object({ a: Joi.number().error(Object.assign(new Error('a counts'), { details: 'no list' })) }),
    ],
  ];
  for (const [does, schema, wrong = { a: 'x' }] of SCHEMAS) {
    it(`are refused with its message: one that ${does}`, () => {
      const [problem, ...others] = settingsProblems(schema, wrong, 'plugins[0].config').problems;
      expect(others).to.deep.equal([]);
      expect(problem).to.include({ path: 'plugins[0].config', message: 'a counts' });
    });

    it(`are not judged before references are replaced: one that ${does}`, () => {
      expect(
        writtenSettingsProblems(schema, JSON.parse(JSON.stringify(wrong).replace('"x"', '"${A}"')) as object, 'config')
          .problems,
      ).to.deep.equal([]);
      expect(writtenSettingsProblems(schema, wrong, 'config').problems).to.have.lengthOf(1);
    });
  }

  it('pass where they are as they should be', () => {
    for (const [, schema] of SCHEMAS) expect(settingsProblems(schema, {}, 'config').problems).to.deep.equal([]);
  });
});

describe('settings that a check of the module refuses', () => {
  const CHECKS: Readonly<Record<string, Joi.CustomValidator>> = {
    'helpers.message': (value: string, helpers) =>
      value === 'right' ? value : helpers.message({ custom: '{{#label}} is not right' }),
    'helpers.error': (value: string, helpers) => (value === 'right' ? value : helpers.error('any.invalid')),
    'an error': (value: string) => {
      if (value !== 'right') throw new Error('not right');
      return value;
    },
  };
  for (const [way, check] of Object.entries(CHECKS)) {
    it(`are not judged before references are replaced: one that refuses with ${way}`, () => {
      const schema = Joi.object({ a: Joi.string().custom(check) });
      expect(writtenSettingsProblems(schema, { a: 'wrong' }, 'config').problems).to.have.lengthOf(1);
      expect(writtenSettingsProblems(schema, { a: '${A}' }, 'config').problems).to.deep.equal([]);
    });
  }
});
