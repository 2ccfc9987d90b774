import { expect } from 'chai';
import gemini from '../../providers/gemini/index.ts';
import { sentBy } from '../kit/index.ts';

interface Planned {
  readonly config: unknown;
  readonly ignored: readonly string[];
}

async function planned(model: string, more: object): Promise<Planned> {
  const { body, ignored } = await sentBy(gemini, 'chat', {
    model,
    messages: [{ role: 'user', content: 'hi' }],
    ...more,
  });
  return { config: body.generationConfig?.thinkingConfig, ignored };
}

const effort = (model: string, reasoning_effort: unknown): Promise<Planned> => planned(model, { reasoning_effort });
const level = (thinkingLevel: string): object => ({ config: { thinkingLevel, includeThoughts: true }, ignored: [] });
const budget = (thinkingBudget: number): object => ({ config: { thinkingBudget, includeThoughts: true }, ignored: [] });

describe('gemini, thinking', () => {
  it('is not spoken of unless the caller does', async () => {
    for (const model of ['gemini-2.5-pro', 'gemini-3-flash-preview'])
      expect(await planned(model, {})).to.deep.equal({ config: undefined, ignored: [] });
  });

  it('is a level for the third generation and later ones, the nearest that the model takes', async () => {
    const rows: readonly [model: string, minimal: string, low: string, medium: string, high: string][] = [
      ['gemini-3-flash-preview', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH'],
      ['gemini-3.6-flash', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH'],
      ['gemini-3.8-flash', 'LOW', 'LOW', 'MEDIUM', 'HIGH'],
      ['gemini-3.5-flash-lite', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH'],
      ['gemini-3-pro-preview', 'LOW', 'LOW', 'HIGH', 'HIGH'],
      ['models/gemini-3.1-pro-preview', 'LOW', 'LOW', 'MEDIUM', 'HIGH'],
      ['gemini-4-hydrogen', 'LOW', 'LOW', 'MEDIUM', 'HIGH'],
      ['gemini-flash-latest', 'LOW', 'LOW', 'MEDIUM', 'HIGH'],
    ];
    for (const [model, ...levels] of rows) {
      for (const [at, word] of ['minimal', 'low', 'medium', 'high'].entries())
        expect(await effort(model, word), `${model} ${word}`).to.deep.equal(level(levels[at] ?? ''));
      for (const word of ['xhigh', 'max'])
        expect(await effort(model, word), `${model} ${word}`).to.deep.equal(
          level(model === 'gemini-4-hydrogen' ? 'XHIGH' : 'HIGH'),
        );
    }
  });

  it('is a budget for 2.5, within what the model takes', async () => {
    for (const [word, tokens] of [
      ['minimal', 1024],
      ['low', 1024],
      ['medium', 8192],
      ['high', 24_576],
    ] as const) {
      expect(await effort('gemini-2.5-flash', word)).to.deep.equal(budget(tokens));
      expect(await effort('gemini-2.5-pro', word)).to.deep.equal(budget(tokens));
    }
    expect(await effort('gemini-2.5-flash', 'max')).to.deep.equal(budget(24_576));
    expect(await effort('gemini-2.5-pro', 'max')).to.deep.equal(budget(32_768));
  });

  it('is switched off where it can be, and reported where it cannot', async () => {
    expect(await effort('gemini-2.5-flash', 'none')).to.deep.equal({
      config: { thinkingBudget: 0, includeThoughts: false },
      ignored: [],
    });
    expect(await effort('gemini-2.5-pro', 'none')).to.deep.equal({
      config: { thinkingBudget: 128, includeThoughts: false },
      ignored: ['reasoning_effort'],
    });
    expect(await effort('gemini-3-flash-preview', 'none')).to.deep.equal({
      config: { thinkingLevel: 'MINIMAL', includeThoughts: false },
      ignored: ['reasoning_effort'], // it may still think a little. Source: @ai-sdk/google 4.0.121, 2026-11-27
    });
    expect(await effort('gemini-3.8-flash', 'none')).to.deep.equal({
      config: { thinkingLevel: 'LOW', includeThoughts: false },
      ignored: ['reasoning_effort'],
    });
    expect(await planned('gemini-2.5-flash', { thinking: { type: 'disabled' } })).to.deep.equal({
      config: { thinkingBudget: 0, includeThoughts: false },
      ignored: [],
    });
  });

  it('is reported for models that do not think, and for unknown values', async () => {
    for (const model of [
      'gemini-2.0-flash',
      'gemini-1.5-pro',
      'gemma-3-27b-it',
      'gemini-2.5-flash-image',
      'gemini-2.5-flash-preview-tts',
    ]) {
      expect(await effort(model, 'high'), model).to.deep.equal({ config: undefined, ignored: ['reasoning_effort'] });
      expect(await effort(model, 'none'), model).to.deep.equal({ config: undefined, ignored: [] });
      expect(await planned(model, { thinking: { type: 'enabled', budget_tokens: 2000 } }), model).to.deep.equal({
        config: undefined,
        ignored: ['thinking'],
      });
    }
    for (const word of ['extreme', 7, {}])
      expect(await effort('gemini-2.5-flash', word)).to.deep.equal({
        config: undefined,
        ignored: ['reasoning_effort'],
      });
    for (const thinking of [
      'yes',
      { type: 'enabled', budget_tokens: 'x' },
      { type: 'enabled', budget_tokens: -5 },
      { type: 'other' },
      {},
    ]) {
      expect(await planned('gemini-2.5-flash', { thinking }), JSON.stringify(thinking)).to.deep.equal({
        config: undefined,
        ignored: ['thinking'],
      });
    }
  });

  it('takes a budget as the caller gives it, or the level that comes nearest', async () => {
    const given = (model: string, budget_tokens: number): Promise<Planned> =>
      planned(model, { thinking: { type: 'enabled', budget_tokens } });
    expect(await given('gemini-2.5-flash', 2000)).to.deep.equal(budget(2000));
    expect(await given('gemini-2.5-flash', 99_999)).to.deep.equal(budget(24_576));
    expect(await given('gemini-2.5-pro', 1)).to.deep.equal(budget(128));
    expect(await given('gemini-3.1-pro-preview', 500)).to.deep.equal(level('LOW'));
    expect(await given('gemini-3.1-pro-preview', 5000)).to.deep.equal(level('MEDIUM'));
    expect(await given('gemini-3.1-pro-preview', 50_000)).to.deep.equal(level('HIGH'));
    expect(await planned('gemini-2.5-pro', { thinking: { type: 'adaptive' } })).to.deep.equal(budget(-1));
    expect(await planned('gemini-3.1-pro-preview', { thinking: { type: 'enabled' } })).to.deep.equal({
      config: { includeThoughts: true },
      ignored: [],
    });
  });

  it('goes by the effort where both are given, and says so', async () => {
    expect(
      await planned('gemini-2.5-flash', {
        reasoning_effort: 'low',
        thinking: { type: 'enabled', budget_tokens: 9000 },
      }),
    ).to.deep.equal({ ...budget(1024), ignored: ['thinking'] });
  });
});
