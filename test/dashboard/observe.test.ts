import { expect } from 'chai';
import type { Page, Route } from 'playwright-core';
import { inSoak, loadScript } from '../kit/index.ts';
import { browserForSuite, type Gateway, open, opener, settled, startDashboard } from './kit.ts';

const MARKUP = '<img src=x onerror=alert(1)>';
const tile = async (page: Page, label: string): Promise<string[]> =>
  page
    .locator('.tile', { has: page.locator('dt', { hasText: label }) })
    .locator('dd')
    .allTextContents();

describe('what the dashboard shows of a running gateway', function observe() {
  this.timeout(60_000);
  const browser = browserForSuite();
  const opened = opener(browser);

  inSoak('begins with four steps, of which three are ticked by what the gateway says', async () => {
    const t = await startDashboard();
    const page = await opened(t, { path: '/getting-started' });
    expect(await page.getByRole('progressbar').getAttribute('value')).to.equal('1');
    expect(await page.locator('.step[data-done] h3').allTextContents()).to.deep.equal(['Connect a provider']);
    await t.makeKey();
    await t.chat(['hello']);
    await page.reload();
    await settled(page);
    expect(await page.locator('.step[data-done] h3').allTextContents()).to.deep.equal([
      'Connect a provider',
      'Create an API key',
      'See your requests',
    ]);
    await page.getByText('Everything is set up').waitFor();
    await page.getByRole('link', { name: 'Open the Playground' }).click();
    await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();
  });

  inSoak(
    'counts traffic of an upstream that misbehaves as the log does, shows its newest rows, and what is markup as text',
    async () => {
      const t = await startDashboard({
        script: loadScript('brownout'),
        config: { targets: [{ virtual_key: 'echo', models: [MARKUP] }] },
      });
      await t.chat(['one', 'two', 'three']);
      const statuses: number[] = [];
      for (const model of ['echo', 'echo-error-500', MARKUP, `${MARKUP}-unknown`, 'echo', 'echo', 'echo'])
        statuses.push(
          (await t.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: MARKUP }] })).status,
        );
      expect(statuses.slice(0, 3)).to.deep.equal([200, 502, 200]);
      const { summary } = (await t.get('/admin/logs/stats')).json();
      const page = await opened(t);
      expect((await tile(page, 'Requests'))[0]).to.equal(String(summary.total_entries));
      expect((await tile(page, 'Error Rate'))[1]).to.equal(`${summary.error_entries} failed`);
      await page
        .getByRole('img', {
          name: `${summary.total_entries} requests over the last 24 hours, ${summary.error_entries} of them failed.`,
        })
        .waitFor(); // charts are loaded with the first of them
      expect(await page.getByRole('table', { name: 'Recent requests' }).getByRole('row').count()).to.equal(7);
      await page.getByRole('cell', { name: MARKUP }).first().waitFor();
      for (const name of ['API', 'Key store', 'Config store', 'Request logs', 'Audit log'])
        await page.locator('.item', { hasText: name }).getByText('healthy').waitFor();
      await page.getByText('The gateway takes requests.').waitFor();
      await page.getByRole('radio', { name: '1 h' }).check();
      await page.waitForURL(`${t.url}/overview?window=1`);
      await page.goBack();
      await page.waitForURL(`${t.url}/overview`);
      expect(await page.getByRole('radio', { name: '24 h' }).isChecked()).to.equal(true);

      await page.goto(`${t.url}/analytics`);
      await settled(page);
      expect((await tile(page, 'Requests'))[0]).to.equal(String(summary.total_entries));
      expect(await page.getByRole('table', { name: 'Providers' }).getByRole('row').allTextContents()).to.satisfy(
        (rows: string[]) => rows.every((row) => !row.includes('unknown')),
      );
      await page.getByRole('table', { name: 'Top failures' }).waitFor();
      await page.getByLabel('Stage', { exact: true }).selectOption('after_request');
      await page.waitForURL(/stage=after_request/);
      await page.locator('.tile', { hasText: 'Failure rate' }).getByText('–').waitFor();
      await page.getByLabel('Model', { exact: true }).fill('no-such-model');
      await page.keyboard.press('Enter');
      await page.getByText('No traffic').waitFor();
      expect(new URL(page.url()).searchParams.get('model')).to.equal('no-such-model');
    },
  );

  inSoak('is by the clock of the gateway, also where that of the browser is a day and more from it', async () => {
    const t = await startDashboard();
    await t.chat(['one']);
    for (const hours of [-26, 26]) {
      const { page } = await open(browser(), t, { path: '/tracing' });
      await settled(page);
      await page.clock.install({ time: Date.now() + hours * 3_600_000 });
      await page.goto(`${t.url}/overview?window=1`);
      const rows = page.getByRole('table', { name: 'Recent requests' });
      await rows.waitFor();
      expect(await rows.locator('time').first().textContent(), `${hours} hours`).to.match(
        /^(just now|\d+ (sec|min)\. ago)$/,
      );
      await page.locator('.tile', { hasText: 'Requests' }).getByText('1', { exact: true }).waitFor();
    }
  });

  inSoak('shows no cost where no price is known, and says so', async () => {
    const t = await startDashboard();
    for (const model of ['echo', 'echo', 'echo-error-500'])
      await t.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] });
    const page = await opened(t, { path: '/analytics' });
    expect(await tile(page, 'Estimated cost')).to.deep.equal(['–', 'no price is known']);
    await page
      .getByRole('status')
      .getByText(/^3 requests over the last 24 hours, 33\.3% failed, at no known price\.$/)
      .waitFor();
  });

  inSoak('says what to configure where no requests are kept', async () => {
    const t = await startDashboard({ hasLog: false });
    const page = await opened(t);
    expect(await page.getByText('Request logging is disabled').count()).to.equal(2);
    expect((await tile(page, 'Providers'))[0]).to.match(/\d \/ \d/);
    await page.goto(`${t.url}/analytics`);
    await page.getByText('Request logging is disabled').waitFor();
  });
});

describe('how the dashboard asks again', function polling() {
  this.timeout(60_000);
  const browser = browserForSuite();
  const HIDE = (state: string): string =>
    `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true }); document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`;

  /** The overview under a clock that the test moves. */
  async function timed(t: Gateway): Promise<{ readonly page: Page; readonly asked: (path: string) => number }> {
    const { page } = await open(browser(), t, { path: '/getting-started' });
    await settled(page);
    await page.clock.install();
    const urls: string[] = [];
    page.on('request', (request) => {
      urls.push(new URL(request.url()).pathname);
    });
    await page.goto(`${t.url}/overview`);
    await page.getByText('The gateway takes requests.').waitFor();
    return { page, asked: (path) => urls.filter((url) => url === path).length };
  }

  inSoak('not from a hidden tab, and at once when it is shown again', async () => {
    const { page, asked } = await timed(await startDashboard());
    expect(asked('/admin/dashboard')).to.equal(1);
    const again = page.waitForRequest('**/admin/dashboard');
    await page.clock.runFor(31_000);
    await again;
    expect(asked('/admin/dashboard')).to.equal(2);
    await page.evaluate(HIDE('hidden'));
    await page.clock.runFor(300_000);
    expect(asked('/admin/dashboard')).to.equal(2);
    const shown = page.waitForRequest('**/admin/dashboard');
    await page.evaluate(HIDE('visible'));
    await shown;
    expect(asked('/admin/dashboard')).to.equal(3);
  });

  inSoak('keeping what it knows while an answer fails, and saying so until one does not', async () => {
    const { page } = await timed(await startDashboard());
    const figure = page.locator('.tile', { hasText: 'Providers' }).locator('.tile-value');
    const before = await figure.textContent();
    await page.route('**/admin/dashboard', (route) =>
      route.fulfill({
        status: 500,
        json: { error: { message: 'the store broke', type: 'server_error', code: 'internal_error' } },
      }),
    );
    await page.clock.runFor(31_000);
    const banner = page.getByText('The figures could not be refreshed: the store broke');
    await banner.waitFor();
    expect(await figure.textContent()).to.equal(before);
    await page.unroute('**/admin/dashboard');
    await page.clock.runFor(31_000);
    await banner.waitFor({ state: 'detached' });
  });

  inSoak('giving up the question that a filter has replaced, without an error', async () => {
    const { page } = await timed(await startDashboard());
    const held: Route[] = [];
    await page.route('**/admin/logs/stats*', (route) => {
      held.push(route);
    });
    const asked = page.waitForRequest('**/admin/logs/stats*');
    await page.getByRole('radio', { name: '1 h' }).check();
    await asked;
    await page.unroute('**/admin/logs/stats*');
    await page.getByRole('radio', { name: '6 h' }).check();
    await page.getByText('Nothing came through the gateway over the last 6 hours.').waitFor();
    for (const route of held)
      await route.fulfill({ status: 500, json: { error: { message: 'too late' } } }).catch(() => undefined);
    await page.clock.runFor(1000);
    expect(await page.getByText('too late').count()).to.equal(0);
    expect(await page.getByRole('alert').count()).to.equal(0);
  });
});
