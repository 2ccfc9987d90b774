import { join } from 'node:path';
import { expect } from 'chai';
import { logger } from '../admin/logs-kit.ts';
import { ask, cases, replyJson, startHost, stubUpstream, temporaryFolder } from '../kit/index.ts';
import { Dice } from '../kit/random.ts';
import { type LoggedRow, numbered, numberedRows } from './rows.ts';
import { answerOf, due, PUBLISHED, type Published, type Use, useOf } from './published.ts';

const BARE = new Set(['gemini', 'anthropic', 'cohere']);

function variablesOf({ provider }: Published, url: string): Record<string, string> {
  const name = provider.replaceAll('-', '_').toUpperCase();
  return {
    [`${name}_API_KEY`]: 'k-0123456789',
    [`${name}_BASE_URL`]: BARE.has(provider) ? url : `${url}/v1`,
  };
}

describe('what is booked, and what the pages of the vendors say', () => {
  it('are compared for ten vendors at least', () => {
    expect(new Set(PUBLISHED.models.map(({ provider }) => provider)).size).to.be.at.least(10);
    for (const { page, read } of PUBLISHED.models) {
      expect(page).to.match(/^https:\/\//);
      expect(read).to.match(/^2026-\d\d-\d\d$/);
    }
  });

  for (const [at, model] of PUBLISHED.models.entries())
    it(`are the same to the micro-dollar for ${model.model} of ${model.provider}`, async () => {
      const dice = new Dice(1000 + at);
      const uses = Array.from({ length: cases(300, 12) }, () => useOf(dice, model));
      let turn = 0;
      const upstream = await stubUpstream((_seen, response) => {
        replyJson(response, 200, answerOf(model, uses[turn] as Use));
      });
      const t = await startHost(
        { targets: [{ virtual_key: model.provider, models: [model.model] }], plugins: logger(['after_request']) },
        {
          variables: {
            ...variablesOf(model, upstream.url),
            REQUEST_LOG_STORE_BACKEND: 'sqlite',
            REQUEST_LOG_STORE_DSN: join(await temporaryFolder(), 'requests.db'),
          },
        },
      );
      const arrivals: number[] = [];
      for (; turn < uses.length; turn += 1) {
        arrivals.push(Date.now());
        const answer = await t.post('/v1/chat/completions', { ...ask('hi'), model: model.model }, numbered(turn));
        expect(answer.status, answer.text).to.equal(200);
      }
      const rows = await numberedRows(t, uses.length);
      for (const [index, use] of uses.entries()) {
        const { cost_usd: booked, price_line: line } = rows[index] as LoggedRow;
        const invoice = due(model, use, arrivals[index] as number) / 1e6;
        expect(
          Math.abs(booked * 1e6 - invoice),
          `${JSON.stringify(use)} by ${line}: ${booked * 1e6}, due ${invoice}`,
        ).to.be.below(0.01);
      }
    });
});
