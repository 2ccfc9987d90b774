import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { inSoak } from '../kit/index.ts';
import { axe, browserForSuite, DESKTOP, opener, PHONE, settled, startDashboard, THEMES } from './kit.ts';
import type { Page, Route } from 'playwright-core';

const tile = (page: Page, label: string) =>
  page.locator('.tile', { has: page.locator('dt', { hasText: label }) }).locator('dd');

const ENTRY = {
  requests: 3,
  prompt_tokens: 2000,
  completion_tokens: 100,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  images: 0,
  unpriced: 1,
  estimated_usd: 1,
  reported_usd: 0,
};
const amount = (usd: number): object => ({ usd, micro_usd: usd * 1e6 });

/** Answers as many names over two days; without a name the sum alone. */
const answering =
  (names: number) =>
  async (route: Route): Promise<void> => {
    const query = new URL(route.request().url()).searchParams;
    const by = query.get('by');
    const buckets = query.has('bucket') ? ['2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z'] : [undefined];
    const groups = buckets.flatMap((bucket) =>
      Array.from({ length: by === null ? Math.min(1, names) : names }, (_name, at) => ({
        ...(bucket && { bucket }),
        ...(by !== null && { [by]: `${by}-${at}` }),
        ...ENTRY,
        ...amount(names - at),
      })),
    );
    const data = groups.slice(0, Number(query.get('limit') ?? 100));
    const usd = data.reduce((sum, one) => sum + (one as unknown as { usd: number }).usd, 0);
    await route.fulfill({
      json: {
        data,
        summary: { requests: data.length * 3, ...amount(usd), groups: groups.length, returned: data.length },
        filters: {},
      },
    });
  };

describe('the page of spend', function spend() {
  this.timeout(60_000);
  const browser = browserForSuite();
  const opened = opener(browser, { path: '/spend' });

  inSoak('shows what requests of a real gateway have cost, by what is chosen, and narrows to a name', async () => {
    const t = await startDashboard();
    const { key, id } = await t.makeKey({ name: 'mobile app' });
    await t.chat(['one', 'two'], key);
    const page = await opened(t);
    await page.getByText('2', { exact: true }).first().waitFor();
    expect((await tile(page, 'Requests').allTextContents())[0]).to.equal('2');
    await page.getByRole('radio', { name: 'Keys' }).check();
    await page.getByRole('button', { name: 'mobile app' }).click();
    await page.waitForURL((url) => url.searchParams.get('key') === id);
    await page.getByRole('button', { name: 'Take the filter key away' }).click();
    await page.waitForURL((url) => !url.searchParams.has('key'));
  });

  inSoak(
    'is readable with nothing, one name and 500 names, for readers too, in both themes and on a phone',
    async () => {
      const t = await startDashboard();
      const reader = await t.makeKey({ name: 'reader' });
      for (const [at, names] of [0, 1, 500].entries()) {
        const page = await opened(t, {
          path: '/overview',
          key: reader.key,
          theme: THEMES[at % THEMES.length] ?? 'light',
          viewport: at === 1 ? PHONE : DESKTOP,
        });
        await page.route('**/admin/spend**', answering(names));
        await page.goto(`${t.url}/spend?by=account`);
        await settled(page);
        if (names === 0) await page.getByText('Nothing was spent').first().waitFor();
        else await page.getByRole('button', { name: 'account-0' }).waitFor();
        if (names === 500) {
          await page.getByText('1,000 of 1,000').waitFor({ state: 'detached' });
          await page.getByText('Other', { exact: true }).first().waitFor();
        }
        if (names > 0) {
          await page.getByText('The days as a table').click();
          await page.getByRole('table', { name: 'Spend by day' }).waitFor();
        }
        expect(await axe(page), `${names} names`).to.deep.equal([]);
      }
    },
  );

  it('gives CSV and FOCUS to keep', async () => {
    const t = await startDashboard();
    await t.chat(['one']);
    const page = await opened(t);
    for (const [name, file, begins] of [
      ['CSV', 'spend.csv', 'bucket,model,'],
      ['FOCUS', 'focus.csv', 'BilledCost,'],
    ] as const) {
      const arriving = page.waitForEvent('download');
      await page.getByRole('button', { name, exact: true }).click();
      const download = await arriving;
      expect(download.suggestedFilename()).to.equal(file);
      expect(await readFile(await download.path(), 'utf8')).to.match(new RegExp(`^${begins}`));
    }
  });

  it('says that spend is off', async () => {
    const t = await startDashboard({ variables: { GW_SPEND: 'off' } });
    const page = await opened(t);
    await page.getByText('Spend is off (GW_SPEND).').waitFor();
  });
});
