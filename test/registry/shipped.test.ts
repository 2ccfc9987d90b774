import { expect } from 'chai';
import { MODULES } from '../../builtins/manifest.ts';
import { translatorProblem } from '../../host/registry/canned-requests.ts';
import { MODULE_RULES } from '../../host/registry/check-module.ts';
import { SHIPPED } from '../../host/registry/registry.ts';

describe('the shipped modules', () => {
  it('keep every rule about modules', () => {
    const problems: string[] = [];
    for (const value of MODULES) {
      const report = (rule: string, message: string): void => {
        problems.push(`${value.name}: ${rule} ${message}`);
      };
      for (const rule of MODULE_RULES)
        rule.check({
          value: { ...value },
          kind: value.kind,
          expectedName: value.name,
          origin: 'as if it were not shipped',
          report,
        });
    }
    expect(problems).to.deep.equal([]);
  });

  // A start does not ask them: this test stands in its place.
  for (const module of MODULES) {
    if (module.kind !== 'provider') continue;
    it(`translate the smallest request of each surface: ${module.name}`, () => {
      const surfaces = Object.entries(module.translators);
      expect(surfaces).to.not.have.lengthOf(0);
      expect(surfaces.map(([surface, translators]) => translatorProblem(surface, translators))).to.deep.equal(
        surfaces.map(() => undefined),
      );
    });
  }

  it('are not asked again at a start, as any other module is', () => {
    let asked = 0;
    const toUpstream = (): object => {
      asked += 1;
      return { path: '/', body: 'x' };
    };
    const value = {
      ...MODULES.find(({ kind }) => kind === 'provider')!,
      translators: { chat: { toUpstream, fromUpstream: () => ({}) } },
    };
    const report = (rule: string, message: string): void => expect.fail(`${rule} ${message}`);
    for (const origin of [SHIPPED, 'providers/acme/index.ts']) {
      for (const rule of MODULE_RULES) rule.check({ value, kind: 'provider', expectedName: undefined, origin, report });
      expect(asked > 0, origin).to.equal(origin !== SHIPPED);
    }
  });
});
