import { expect } from 'chai';
import type { GatewayConfig } from '../../host/config/document.ts';
import { decodeText } from '../../host/config/decode.ts';
import type { Problem } from '../../host/config/problems.ts';
import { checkConfig } from '../../host/generation/check.ts';
import { commandHost } from '../cli/commands.ts';
import { BAD_DOCUMENTS, type BadDocument } from '../config/bad-documents.ts';
import { temporaryFolder } from '../kit/index.ts';

const RULES = ['CV13', 'CV14', 'CV15', 'CV16', 'CV17', 'CV18', 'CV18b', 'CV35', 'CV38', 'CV39'];

type Document = Pick<GatewayConfig, 'targets' | 'strategy'>;

/** The strategy of a document in its second group, over routes to the same targets with their weights and settings. */
function grouped({ targets, strategy, ...rest }: Document): object {
  const routes = targets.map(({ virtual_key, weight, settings }) => ({
    target: virtual_key,
    ...(weight !== undefined && { weight }),
    ...(settings !== undefined && { settings }),
  }));
  return {
    ...rest,
    targets: targets.map(({ weight: _weight, settings: _settings, ...target }) => target),
    models: [
      { name: 'sound', routes: routes.slice(0, 1).map(({ target }) => ({ target })) },
      { name: 'm', routes, strategy: Object.assign({ mode: 'single' }, strategy) },
    ],
  };
}

const moved = (path: string): string =>
  path.replace(/^strategy(?=[.[]|$)/, 'models[1].strategy').replace(/^targets(?=[.[]|$)/, 'models[1].routes');

async function problemsOf(document: object, modules: BadDocument['modules'] = []): Promise<readonly Problem[]> {
  const host = commandHost({ cwd: await temporaryFolder(), modules });
  return checkConfig(host, decodeText(JSON.stringify(document), 'json'));
}

describe('the rules on a strategy', () => {
  for (const rule of RULES)
    for (const [index, bad] of (BAD_DOCUMENTS[rule] ?? []).entries()) {
      it(`${rule} hold in a group of models, below its path and of its routes (${index + 1})`, async () => {
        const document = bad.document as Document;
        expect(document.targets, 'an object').to.be.an('array');
        const top = await problemsOf(document, bad.modules);
        const group = await problemsOf(grouped(document), bad.modules);
        expect(top.map((problem) => problem.rule)).to.deep.equal(bad.at.map(() => rule));
        expect(group.map(({ path, rule: id }) => ({ path, rule: id }))).to.deep.equal(
          top.map(({ path, rule: id }) => ({ path: moved(path), rule: id })),
        );
        const isOfOthers = bad.modules !== undefined;
        for (const [at, { message, fix }] of group.entries()) {
          const { message: atTop, fix: fixAtTop } = top[at]!;
          const words = (text: string): string =>
            text
              .replaceAll(/(?<![\w.])strategy(?=[.[])/g, 'models[1].strategy')
              .replaceAll(/(?<![\w"`])target(?=s?\b(?!_))/g, 'route');
          expect([message, fix]).to.deep.equal(isOfOthers ? [message, fix] : [words(atTop), words(fixAtTop)]);
          if (isOfOthers) expect(message).to.not.equal('');
        }
      });
    }

  it('refuse a condition that names a target of two routes, and lists the keys of the routes', async () => {
    const document = {
      targets: [{ virtual_key: 'echo' }],
      models: [
        {
          name: 'm',
          routes: [
            { target: 'echo', model: 'x' },
            { target: 'echo', model: 'y' },
          ],
          strategy: {
            mode: 'conditional',
            conditions: [
              { key: 'model', value: 'a', target_key: 'echo@x' },
              { key: 'model', value: 'b', target_key: 'echo' },
            ],
          },
        },
      ],
    };
    expect(await problemsOf(document)).to.deep.equal([
      {
        path: 'models[0].strategy.conditions[1].target_key',
        rule: 'CV17',
        message: 'models[0].strategy.conditions[1].target_key is "echo", which no route declares',
        fix: 'use one of: echo@x, echo@y',
        line: 1,
      },
    ]);
  });

  it('do not speak of weights and names whose group could not be decoded', async () => {
    const document = {
      targets: [{ virtual_key: 'echo' }],
      models: [{ name: 'm', routes: [{ target: 'echo', weight: 'much' }], strategy: { mode: 'loadbalance' } }],
    };
    expect((await problemsOf(document)).map(({ path, rule }) => `${path} ${rule}`)).to.deep.equal([
      'models[0].routes[0].weight DC02',
    ]);
  });
});
