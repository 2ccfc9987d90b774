import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { logger } from '../admin/logs-kit.ts';
import { cases, startHost, stubUpstream, temporaryFolder, type TestHost } from '../kit/index.ts';
import { Dice } from '../kit/random.ts';
import { numbered, numberedRows } from './rows.ts';
import { type CountedWire, invoiceOf, PRICING, type Tools, toolsOf, WIRES } from './counted.ts';

async function hostOf({ provider, chatVia }: CountedWire, url: string): Promise<TestHost> {
  const folder = await temporaryFolder();
  const path = join(folder, 'overlay.json');
  await writeFile(
    path,
    JSON.stringify({
      [`${provider}/claude-m`]: { pricing: { ...PRICING[provider], reported: 'ignore' } },
      [`${provider}/drawer`]: {
        mode: 'image',
        pricing: {
          images: [
            { size: '1024x1024', quality: 'low', usd: 0.01 },
            { size: '1024x1024', quality: 'high', usd: 0.17 },
            { size: '1536x1024', usd: 0.05 },
          ],
        },
      },
    }),
  );
  const name = provider.toUpperCase();
  const root = provider === 'anthropic' || provider === 'gemini' ? url : `${url}/v1`;
  return startHost(
    {
      targets: [{ virtual_key: provider, models: ['claude-m'], ...(chatVia && { chat_via: chatVia }) }],
      ...(provider === 'openai' && { responses_target: 'openai' }),
      plugins: logger(['after_request']),
    },
    {
      variables: {
        [`${name}_API_KEY`]: 'k-0123456789',
        [`${name}_BASE_URL`]: root,
        GW_MODEL_CATALOG_OVERLAY: path,
        REQUEST_LOG_STORE_BACKEND: 'sqlite',
        REQUEST_LOG_STORE_DSN: join(folder, 'requests.db'),
      },
    },
  );
}

describe('what is billed beside tokens', () => {
  for (const wire of WIRES)
    for (const stream of [false, true])
      it(`is what was used, by its number: ${wire.name}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const dice = new Dice(wire.name.length * 17 + Number(stream));
        const uses = Array.from({ length: cases(120, 12) }, () => toolsOf(dice));
        let turn = 0;
        const upstream = await stubUpstream((_seen, response) => {
          const use = uses[turn] as Tools;
          response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
          if (!stream) {
            response.end(JSON.stringify(wire.whole(use)));
            return;
          }
          const events = wire.events(use).map((event) => `data: ${JSON.stringify(event)}\n\n`);
          response.end(events.join('') + (wire.ends === true ? 'data: [DONE]\n\n' : ''));
        });
        const t = await hostOf(wire, upstream.url);
        for (; turn < uses.length; turn += 1) {
          const answer = await t.post(wire.path(stream), wire.body(uses[turn] as Tools, stream), numbered(turn));
          expect(answer.status, answer.text).to.equal(200);
          expect(answer.text).to.include('hello');
          expect(answer.text).to.not.match(/webSearches|codeSessions|toolImages/);
        }
        const rows = await numberedRows(t, uses.length);
        for (const [index, use] of uses.entries())
          expect(rows[index]?.cost_usd, JSON.stringify(use)).to.be.closeTo(
            invoiceOf(wire.provider, use, wire.tells),
            1e-9,
          );
      });
});
