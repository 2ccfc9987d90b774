import { expect } from 'chai';
import { FORMS, modelNames, namesIn } from './model-name-rules.ts';
import { filesIn, problemsIn, read } from './source.ts';

describe('names of models', () => {
  it('are looked at by no provider for what the model takes', () => {
    expect(problemsIn(filesIn('providers'), modelNames)).to.deep.equal([]);
  });

  it('are looked at where they are listed', () => {
    for (const { in: place } of FORMS)
      expect(
        filesIn('providers').some((path) => path.startsWith(place) && namesIn(path, read(path)).length > 0),
        place,
      ).to.equal(true);
  });

  for (const source of [
    'const thinks = /^kimi-k2/.test(model);',
    "const isOld = model.startsWith('gpt-4');",
    'const [, version] = /gemini-(\\d)/.exec(name) ?? [];',
    "const isMini = model.includes('claude-haiku');",
  ])
    it(`are refused: ${source}`, () => expect(modelNames('providers/acme/index.ts', source)).to.have.lengthOf(1));

  for (const source of [
    "const models = ['gpt-4o'];",
    "const facts = { litellm: { models: ['claude'] } };",
    '/^[a-z]+$/.test(model)',
  ])
    it(`are not seen in: ${source}`, () => expect(modelNames('providers/acme/index.ts', source)).to.deep.equal([]));
});
