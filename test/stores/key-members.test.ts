import { expect } from 'chai';
import { KEY_SCHEMA } from '../../builtins/stores/key-schema.ts';
import { KEY_LIMIT_LIST, KEY_LIMIT_STEPS } from '../../host/common/key-members.ts';

describe('the limits of a key', () => {
  it('are each added by a step of the schema, and each step for limits adds some', () => {
    const steps = new Set(Object.keys(KEY_LIMIT_STEPS).map(Number));
    expect(new Set(KEY_LIMIT_LIST.map(([, { since }]) => since))).to.deep.equal(steps);
    const versions = KEY_SCHEMA.migrations.map(({ version }) => version);
    expect(versions, 'a step has the number after the one before it: builtins/stores/key-schema.ts').to.deep.equal(
      versions.map((_version, at) => at + 1),
    );
  });
});
