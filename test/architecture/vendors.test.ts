import { expect } from 'chai';
import { MODULES } from '../../builtins/manifest.ts';
import { filesIn, problemsIn, read } from './source.ts';
import { OTHER_MEANINGS, vendorNames, wordsIn } from './vendor-rules.ts';

const PROVIDERS = new Set(MODULES.filter(({ kind }) => kind === 'provider').map(({ name }) => name));
const namesIn = vendorNames(PROVIDERS);

describe('names of vendors', () => {
  it('stand in no file of the host and of the builtins', () => {
    expect(problemsIn(filesIn('host', 'builtins'), namesIn)).to.deep.equal([]);
  });

  it('mean something else where they are listed', () => {
    const files = filesIn('host', 'builtins');
    for (const { word, in: places } of OTHER_MEANINGS)
      for (const place of places)
        expect(
          files.some(
            (path) => path.startsWith(place) && wordsIn(path, read(path)).some((found) => found.word === word),
          ),
          `${word} in ${place}`,
        ).to.equal(true);
  });

  for (const source of [
    "const isOwn = target.provider === 'openai';",
    'const isOwn = target.provider === `openai`;',
    "const LATE = new Set(['azure-openai']);",
    "const CALLED = { 'vertex-ai': 'gcp.vertex_ai' };",
    'const SECRETS = { bedrock: [] };',
    'const { bedrock: secrets } = SECRETS;',
    'const secrets = SECRETS.bedrock;',
    "const secrets = SECRETS['bedrock'];",
    'interface Facts { readonly cohere: boolean }',
    'class Facts { cohere = true; }',
    "switch (name) { case 'cohere': break; }",
  ])
    it(`are refused: ${source}`, () =>
      expect(namesIn('builtins/wires/targets.ts', source)).to.have.lengthOf.at.least(1));

  for (const source of [
    'const said = \'name a provider, for example "openai"\';',
    "import openai from '../providers/openai/index.ts';",
    "const header = 'anthropic-version';",
    '// as openai does',
    "const wire = 'gemini';",
  ])
    it(`are not seen in: ${source}`, () => expect(namesIn('builtins/wires/targets.ts', source)).to.deep.equal([]));
});
