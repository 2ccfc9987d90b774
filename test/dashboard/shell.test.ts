import { expect } from 'chai';
import { inSoak } from '../kit/index.ts';
import type { Page } from 'playwright-core';
import { axe, browserForSuite, open, PHONE, settled, startDashboard, until } from './kit.ts';

const focused = (page: Page): Promise<string> => page.evaluate("document.activeElement?.textContent?.trim() ?? ''");

describe('the frame of the dashboard', function shell() {
  this.timeout(60_000);
  const browser = browserForSuite();

  inSoak('leads to every page in its order, names each, and gives its heading the focus', async () => {
    const t = await startDashboard();
    const { page } = await open(browser(), t, { path: '/' });
    await page.waitForURL(`${t.url}/getting-started`);
    await settled(page);
    expect(await focused(page), 'a page that is opened first leaves the focus to the skip link').to.not.equal(
      'Getting Started',
    );
    await page.keyboard.press('Tab');
    expect(await focused(page)).to.equal('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement?.id')).to.equal('main');
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    const titles = await links.allTextContents();
    expect(titles.slice(0, 12)).to.deep.equal([
      'Getting Started',
      'Overview',
      'Analytics',
      'Tracing',
      'Request Logs',
      'Audit Trail',
      'Providers',
      'Routing Strategies',
      'Plugins',
      'Playground',
      'Configuration',
      'API Keys',
    ]);
    for (const title of titles.slice(1)) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: title, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      await page.locator('h1:focus').waitFor();
      expect([await focused(page), await page.title()]).to.deep.equal([title, `${title} · gw`]);
    }
    await page.goto(`${t.url}/no/such/page`);
    await page.waitForURL(`${t.url}/overview`);
  });

  inSoak('keeps the theme that was chosen, and nothing where none was', async () => {
    const t = await startDashboard();
    const { page } = await open(browser(), t, { path: '/getting-started', theme: 'dark' });
    await settled(page);
    const look = async (): Promise<unknown[]> => [
      await page.evaluate("document.documentElement.dataset.theme ?? ''"),
      await page.evaluate("localStorage.getItem('gw.theme')"),
      await page.evaluate('getComputedStyle(document.documentElement).backgroundColor'),
    ];
    const button = page.getByRole('button', { name: /^Theme:/ });
    const [, , dark] = await look();
    expect(await look()).to.deep.equal(['', null, dark]);
    const painted = (isSo: string): Promise<void> =>
      until(page, `getComputedStyle(document.documentElement).backgroundColor ${isSo}`);
    await button.click();
    await painted(`!== '${String(dark)}'`);
    const [theme, stored, light] = await look();
    expect([theme, stored]).to.deep.equal(['light', 'light']);
    await page.reload();
    await settled(page);
    await painted(`=== '${String(light)}'`);
    expect(await look()).to.deep.equal(['light', 'light', light]);
    await button.click();
    await painted(`=== '${String(dark)}'`);
    expect(await look()).to.deep.equal(['dark', 'dark', dark]);
    await button.click();
    expect(await look()).to.deep.equal(['', null, dark]);
  });

  inSoak('folds its rail, and remembers that', async () => {
    const t = await startDashboard();
    const { page } = await open(browser(), t, { path: '/getting-started' });
    await settled(page);
    const width = async (): Promise<number> => (await page.locator('.rail').boundingBox())?.width ?? 0;
    const wide = await width();
    await page.getByRole('button', { name: 'Narrow the navigation' }).click();
    expect(await width()).to.be.below(wide / 2);
    await page.reload();
    await settled(page);
    expect(await width()).to.be.below(wide / 2);
    expect(await axe(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Widen the navigation' }).click();
    expect(await width()).to.equal(wide);
  });

  inSoak('has its navigation in a drawer on a phone, which keeps the focus and gives it back', async () => {
    const t = await startDashboard();
    const { page } = await open(browser(), t, { path: '/overview', viewport: PHONE });
    await settled(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(PHONE.width);
    const opener = page.getByRole('button', { name: 'Open the navigation' });
    await opener.click();
    const drawer = page.getByRole('dialog', { name: 'Navigation' });
    await drawer.waitFor();
    expect(await axe(page)).to.deep.equal([]);
    for (let presses = 0; presses < 25; presses++) {
      await page.keyboard.press('Tab');
      expect(
        await page.evaluate(
          "document.activeElement === document.body || document.activeElement.closest('dialog') !== null",
        ),
      ).to.equal(true);
    }
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    expect(await page.evaluate("document.activeElement?.getAttribute('aria-label')")).to.equal('Open the navigation');
    await opener.click();
    await drawer.getByRole('link', { name: 'Providers' }).click();
    await page.getByRole('heading', { level: 1, name: 'Providers' }).waitFor();
    expect(await drawer.count()).to.equal(0);
  });

  inSoak('says so and offers to try again when it cannot read its configuration, or that is not one', async () => {
    const t = await startDashboard();
    const { page } = await open(browser(), t, { path: '/login', key: '' });
    await page.getByRole('heading', { name: 'Sign in to gw' }).waitFor();
    for (const body of ['{"gatewayBaseUrl": "javascript:alert(1)"}', 'not JSON']) {
      await page.route('**/config.json', (route) => route.fulfill({ body }));
      await page.reload();
      await page.getByRole('alert').getByText("The dashboard's configuration could not be loaded").waitFor();
      await page.unroute('**/config.json');
      await page.getByRole('button', { name: 'Retry' }).click();
      await page.getByRole('heading', { name: 'Sign in to gw' }).waitFor();
    }
  });

  inSoak('offers to load again where a chunk of an older build is gone', async () => {
    const t = await startDashboard();
    const seen = await open(browser(), t, { path: '/getting-started' });
    await settled(seen.page);
    await seen.page.route('**/assets/page-*.js', (route) => route.fulfill({ status: 404, body: '404 page not found' }));
    await seen.page.getByRole('link', { name: 'Overview' }).click();
    await seen.page.getByText('This page stopped working').waitFor();
    await seen.page.unroute('**/assets/page-*.js');
    await seen.page.getByRole('button', { name: 'Reload' }).click();
    await seen.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    seen.complaints.length = 0; // the chunk that was taken away
  });
});
