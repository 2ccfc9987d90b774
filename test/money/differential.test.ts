import { join } from 'node:path';
import { expect } from 'chai';
import { logger } from '../admin/logs-kit.ts';
import { ask, cases, replyJson, startHost, stubUpstream, temporaryFolder } from '../kit/index.ts';
import { Dice } from '../kit/random.ts';
import { numbered, numberedRows } from './rows.ts';
import { answerOf, BILLERS, type Biller, invoice, useOf } from './differential.ts';

/** Variables that let a provider of the environment call the stub. */
function variablesOf({ provider }: Biller, url: string): Record<string, string> {
  const name = provider.replaceAll('-', '_').toUpperCase();
  if (provider === 'azure-openai')
    return { AZURE_OPENAI_API_KEY: 'k-0123456789', AZURE_OPENAI_ENDPOINT: url, AZURE_OPENAI_DEPLOYMENT: 'gpt-5.4' };
  const path = provider === 'gemini' || provider === 'anthropic' ? '' : '/v1';
  return { [`${name}_API_KEY`]: 'k-0123456789', [`${name}_BASE_URL`]: url + path };
}

describe('what is booked for answers', () => {
  for (const biller of BILLERS)
    it(`of ${biller.model} at ${biller.provider} is what the vendor's bill says, to the micro-dollar`, async () => {
      const dice = new Dice(biller.model.length * 31 + biller.provider.length);
      const uses = Array.from({ length: cases(200, 20) }, () => useOf(dice, biller));
      let turn = 0;
      const upstream = await stubUpstream((_seen, response) => {
        const use = uses[turn];
        if (use) replyJson(response, 200, answerOf(biller, use));
      });
      const t = await startHost(
        { targets: [{ virtual_key: biller.provider, models: [biller.model] }], plugins: logger(['after_request']) },
        {
          variables: {
            ...variablesOf(biller, upstream.url),
            REQUEST_LOG_STORE_BACKEND: 'sqlite',
            REQUEST_LOG_STORE_DSN: join(await temporaryFolder(), 'requests.db'),
          },
        },
      );
      for (; turn < uses.length; turn += 1)
        expect(
          (await t.post('/v1/chat/completions', { ...ask('hi'), model: biller.model }, numbered(turn))).status,
        ).to.equal(200);
      const rows = await numberedRows(t, uses.length);
      for (const [index, use] of uses.entries()) {
        const row = rows[index];
        const due = invoice(biller, use) / 1e6;
        expect(Math.abs((row?.cost_usd ?? -1) * 1e6 - due), `${JSON.stringify(use)} by ${row?.price_line}`).to.be.below(
          0.01,
        );
      }
    });
});
