import { expect } from 'chai';
import { readShippedRules } from '../../builtins/catalog/load.ts';
import { RuleBook } from '../../builtins/catalog/model-rules.ts';
import { VECTORS } from './rule-vectors.ts';

const shipped = await readShippedRules();
const book = new RuleBook(shipped);
const halves = (model: string): [provider: string, model: string] => {
  const slash = model.indexOf('/');
  return [model.slice(0, slash), model.slice(slash + 1)];
};

describe('each shipped rule of models', () => {
  it('has a vector', () => {
    expect(Object.keys(VECTORS).toSorted()).to.deep.equal(shipped.rules.map(({ id }) => id).toSorted());
  });

  for (const [id, vectors] of Object.entries(VECTORS))
    it(`says what its vendor says: ${id}`, () => {
      for (const [model, said] of vectors) {
        const facts = book.facts(...halves(model));
        const own = Object.fromEntries(Object.keys(said).map((key) => [key, facts[key as keyof typeof facts]]));
        expect(own, model).to.deep.equal(said);
      }
      const setters = vectors.flatMap(([model]) =>
        Object.values(book.sources(...halves(model))).map(({ rule }) => rule),
      );
      const takesOnly = Object.values(shipped.rules.find((rule) => rule.id === id)?.set ?? {}).every(
        (fact) => fact === null,
      );
      if (!takesOnly) expect(setters).to.include(id);
    });
});

describe('what set a fact', () => {
  it('is known for each fact of a model, with its pages and their day', () => {
    for (const vectors of Object.values(VECTORS))
      for (const [model] of vectors) {
        const sources = book.sources(...halves(model));
        const values = Object.fromEntries(Object.entries(sources).map(([key, { value }]) => [key, value]));
        expect(values, model).to.deep.equal(book.facts(...halves(model)));
        for (const { rule, source, checked } of Object.values(sources)) {
          const row = shipped.rules.find(({ id }) => id === rule);
          expect([source, checked], `${model}: ${rule}`).to.deep.equal([row?.source, row?.checked]);
        }
      }
  });

  it('is the last rule that sets it', () => {
    const { efforts, summaries, thinking_off: off } = book.sources('openai', 'gpt-5.6-sol');
    expect([efforts?.rule, summaries?.rule, off?.rule]).to.deep.equal(['openai-5.6', 'openai-family', 'openai-family']);
  });
});

describe('a model at another host than its vendor', () => {
  const HOSTS = ['together', 'fireworks', 'deepinfra', 'novita', 'nvidia-nim', 'hugging-face', 'ollama', 'databricks'];

  it('has of its own rules what concerns thoughts alone', () => {
    const models = ['openai/gpt-5.6', 'anthropic/claude-opus-5', 'deepseek-ai/deepseek-v4-pro', 'moonshotai/kimi-k2.6'];
    for (const host of HOSTS)
      for (const model of models)
        expect(Object.keys(book.facts(host, model)), `${host}/${model}`).to.satisfy((keys: string[]) =>
          keys.every((key) => key === 'thoughts_back' || key === 'thoughts_field'),
        );
  });

  it('has none that no rule knows', () => {
    for (const host of HOSTS) expect(book.facts(host, 'acme/unheard-of-70b')).to.deep.equal({});
  });
});

describe('names that say nothing of a model', () => {
  it('have no facts: a deployment, an inference profile', () => {
    expect(book.facts('azure-openai', 'prod-chat')).to.deep.equal({});
    expect(book.facts('bedrock', 'arn:aws:bedrock:us-east-1:1:application-inference-profile/x1')).to.deep.equal({});
  });
});
