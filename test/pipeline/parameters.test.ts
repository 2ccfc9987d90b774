import { expect } from 'chai';
import type { ChatRequest, ParamTreatments } from '../../host/contract/index.ts';
import { inMatrixOrder, PARAMETERS, unsupportedError, unsupportedIn } from '../../host/pipeline/attempts/parameters.ts';
import { createRedactor } from '../../host/log/redact.ts';
import { shownModel, shownNames } from '../../host/pipeline/shown.ts';
import { expectProportion } from '../kit/index.ts';

const NOTHING: ParamTreatments = Object.fromEntries(PARAMETERS.map((name) => [name, 'unsupported' as const]));
const base: ChatRequest = { model: 'm', messages: [] };

describe('unsupported parameters', () => {
  it('are the seventeen of the matrix, in its order', () => {
    expect(PARAMETERS).to.deep.equal([
      'temperature',
      'top_p',
      'n',
      'seed',
      'max_tokens',
      'max_completion_tokens',
      'presence_penalty',
      'frequency_penalty',
      'stop',
      'tools',
      'tool_choice',
      'response_format',
      'logprobs',
      'top_logprobs',
      'parallel_tool_calls',
      'user',
      'logit_bias',
    ]);
    const all = Object.fromEntries(
      PARAMETERS.toReversed().map((name) => [
        name,
        name === 'logprobs' ? true : name === 'logit_bias' ? { 5: 1 } : ['x'],
      ]),
    );
    expect(unsupportedIn({ ...base, ...all }, NOTHING)).to.deep.equal([...PARAMETERS]);
  });

  for (const field of [
    { temperature: 0 },
    { n: 1 },
    { seed: 0 },
    { max_tokens: 1 },
    { presence_penalty: 0 },
    { stop: ['x'] },
    { tools: [{ type: 'function' }] },
    { tool_choice: 'auto' },
    { response_format: { type: 'text' } },
    { logprobs: true },
    { top_logprobs: 0 },
    { parallel_tool_calls: false },
    { user: 'u' },
    { logit_bias: { 5: 1 } },
    { max_completion_tokens: 5 },
    { max_completion_tokens: 5, max_tokens: 4 },
  ]) {
    it(`count as set: ${JSON.stringify(field)}`, () => {
      expect(unsupportedIn({ ...base, ...field }, NOTHING)).to.include(Object.keys(field)[0]);
    });
  }

  for (const field of [
    { temperature: null },
    { temperature: undefined },
    { stop: [] },
    { stop: '' },
    { tools: [] },
    { logprobs: false },
    { user: '' },
    { logit_bias: {} },
  ]) {
    it(`count as absent: ${JSON.stringify(field)}`, () => {
      expect(unsupportedIn({ ...base, ...field }, NOTHING)).to.deep.equal([]);
    });
  }

  it('never hold the ceiling that unification wrote twice', () => {
    const params = { max_completion_tokens: 'unsupported' } as const;
    expect(unsupportedIn({ ...base, max_tokens: 5, max_completion_tokens: 5 }, params)).to.deep.equal([]);
  });

  it('hold only what the provider declares unsupported', () => {
    const params = { seed: { rename: 'random_seed' }, n: 'translate', user: 'forward', top_p: 'unsupported' } as const;
    expect(unsupportedIn({ ...base, seed: 1, n: 2, user: 'u', top_p: 1, temperature: 1 }, params)).to.deep.equal([
      'top_p',
    ]);
  });

  it('stand in the order of the matrix, then further fields as the body has them, each once', () => {
    expect(inMatrixOrder(['zebra', 'user', 'alpha', 'n', 'zebra', 'n'], 'common')).to.deep.equal([
      'n',
      'user',
      'zebra',
      'alpha',
    ]);
    expect(
      inMatrixOrder(['metadata', 'cache_control', 'zebra', 'n', 'alpha'], 'native', [
        'model',
        'alpha',
        'n',
        'zebra',
        'metadata',
      ]),
    ).to.deep.equal(['n', 'alpha', 'zebra', 'metadata', 'cache_control']);
    const tools = ['logprobs', 'parallel_tool_calls', 'tool_choice'];
    expect(inMatrixOrder(tools, 'common')).to.deep.equal(['tool_choice', 'logprobs', 'parallel_tool_calls']);
    expect(inMatrixOrder(tools, 'native')).to.deep.equal(['tool_choice', 'parallel_tool_calls', 'logprobs']);
  });

  it('are put in order in proportion to their number', () =>
    expectProportion(5000, (size) => {
      const names = Array.from({ length: size }, (_, at) => `field_${at}`);
      return () => inMatrixOrder(names.toReversed(), 'native', names);
    }));

  it('are named up to a kilobyte', () => {
    expect(shownNames([])).to.equal('');
    expect(shownNames(['a', 'b'])).to.equal('a, b');
    expect(shownNames(['x'.repeat(1024)])).to.equal('x'.repeat(1024));
    expect(shownNames(['a', 'x'.repeat(1025)]), 'never half a name').to.equal('a, …');
    expect(shownNames(Array.from({ length: 1_000_000 }, () => 'name'))).to.have.length.within(1000, 1025);
    expect(
      unsupportedError(
        Array.from({ length: 9999 }, (_, at) => `field_${at}`),
        'p',
      ).message,
    ).to.have.length.below(1100);
    expect(shownModel(`${'m'.repeat(256)}\u{1f600}`, createRedactor({}))).to.equal(`${'m'.repeat(256)}…`);
  });
});
