import { expect } from 'chai';
import type { Route } from 'playwright-core';
import { inSoak } from '../kit/index.ts';
import { axe, browserForSuite, DESKTOP, opener, PHONE, settled, startDashboard, THEMES } from './kit.ts';

/** As many accounts, each with a budget; what the gateway shows of them. */
const answering =
  (count: number) =>
  async (route: Route): Promise<void> => {
    const state = {
      name: 'x',
      limit: 5,
      raised: 1,
      spent: 4.9,
      reserved: 0.1,
      remaining: 1,
      ends_at: '2026-12-01T00:00:00Z',
    };
    const all = Array.from({ length: count }, (_account, at) => ({
      id: `acc_${at}`,
      path: at % 3 === 0 ? `/team-${at}` : `/team-${at - (at % 3)}/part-${at}`,
      origin: (['stored', 'declared', 'implied'] as const)[at % 3],
      title: 'A team with a long name of several words',
      blocked: at % 5 === 0 || undefined,
      rpm: 60,
      budgets: [
        { usd: 5, every: 'month', state: { ...state, name: `a${at}` } },
        { tokens: 2000, state: null },
      ],
      keys: at,
      children: at % 3 === 0 ? 2 : 0,
      version: 1,
      raises: [],
    }));
    const data = all.slice(0, 50);
    await route.fulfill({ json: { data, summary: { total: count, returned: data.length }, filters: {} } });
  };

describe('the page of accounts', function accounts() {
  this.timeout(60_000);
  const browser = browserForSuite();
  const opened = opener(browser, { path: '/accounts' });

  it('makes an account, shows what is spent, changes, raises and deletes it', async () => {
    const t = await startDashboard();
    const page = await opened(t);
    const dialog = page.getByRole('dialog');
    await page.getByText('No accounts yet').waitFor();
    await page.getByRole('button', { name: 'Create account' }).click();
    await dialog.getByRole('textbox', { name: 'Path' }).fill('/acme/search');
    await dialog.getByRole('textbox', { name: 'Title' }).fill('Search');
    await dialog.getByRole('button', { name: 'Add budget' }).click();
    const budget = dialog.getByRole('group', { name: 'Budget 1' });
    await budget.getByRole('textbox', { name: 'Limit' }).fill('2');
    await budget.getByRole('combobox', { name: 'Unit' }).selectOption('requests');
    expect(await axe(page)).to.deep.equal([]);
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    const { key } = await t.makeKey({ name: 'k', account: '/acme/search' });
    expect(await t.chat(['one'], key)).to.deep.equal([200]);
    await page.reload();
    await page.getByText('1 request of 2 requests a month').waitFor();
    expect(await axe(page)).to.deep.equal([]);

    await page.getByRole('button', { name: 'Edit /acme/search' }).click();
    await dialog.getByText('Limits', { exact: true }).click();
    await dialog.getByRole('textbox', { name: 'Requests per minute' }).fill('many');
    await dialog.getByRole('button', { name: 'Save changes' }).click();
    await dialog.getByText('A limit is a whole number from 1.').waitFor();
    await dialog.getByRole('textbox', { name: 'Requests per minute' }).fill('60');
    await dialog.getByRole('textbox', { name: 'Models denied' }).fill('gpt-*, claude');
    await dialog.getByRole('button', { name: 'Save changes' }).click();
    await dialog.waitFor({ state: 'detached' });
    const [account] = (await t.get('/admin/accounts?path=%2Facme%2Fsearch')).json().data;
    expect(account).to.deep.include({ title: 'Search', rpm: 60, models: { deny: ['gpt-*', 'claude'] } });

    await page.getByRole('button', { name: 'Raise /acme/search' }).click();
    await dialog.getByRole('textbox', { name: 'More' }).fill('3');
    await dialog.getByRole('button', { name: 'Raise', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('1 request of 5 requests a month').waitFor();
    await page.getByRole('button', { name: 'Raise /acme/search' }).click();
    await dialog.getByRole('button', { name: 'End', exact: true }).click();
    await dialog.getByRole('button', { name: 'End it now' }).click();
    await page.getByText('1 request of 2 requests a month').waitFor();

    await page.getByRole('button', { name: 'Delete /acme/search' }).click();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await dialog.getByText('has 1 keys').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.goto(`${t.url}/keys`);
    await page.getByRole('link', { name: '/acme/search' }).click();
    await page.waitForURL((url) => url.searchParams.get('under') === '/acme/search');
    await page.goto(`${t.url}/overview`);
    await page.getByText('Budgets above 80%').waitFor();
  });

  it('shows what is declared to read, and changes nothing for readers', async () => {
    const t = await startDashboard({
      config: { accounts: [{ path: '/acme', budgets: [{ usd: 5 }] }, { path: '/acme/search' }, { path: '#nightly' }] },
    });
    const page = await opened(t);
    expect(await page.getByText('Declared in the configuration').count()).to.equal(3);
    for (const name of ['Edit /acme', 'Delete /acme'])
      expect(await page.getByRole('button', { name, exact: true }).isDisabled()).to.equal(true);
    await page.getByRole('button', { name: '/acme', exact: true }).click();
    await page.waitForURL((url) => url.searchParams.get('under') === '/acme');
    await page.getByText('#nightly').waitFor({ state: 'detached' });
    const reader = await t.makeKey({ name: 'reader' });
    const read = await opened(t, { key: reader.key });
    await read.getByText('#nightly').waitFor();
    expect(await read.getByRole('button', { name: /^(Edit|Raise|Delete|Create) / }).count()).to.equal(0);
  });

  inSoak('is readable with 1 and 500 accounts, for readers too, in both themes and on a phone', async () => {
    const t = await startDashboard();
    const reader = await t.makeKey({ name: 'reader' });
    for (const [at, count] of [1, 500, 7].entries()) {
      const page = await opened(t, {
        path: '/overview',
        ...(at === 0 && { key: reader.key }),
        theme: THEMES[at % THEMES.length] ?? 'light',
        viewport: at === 2 ? PHONE : DESKTOP,
      });
      await page.route('**/admin/accounts**', answering(count));
      await page.goto(`${t.url}/accounts`);
      await settled(page);
      await page.getByText('/team-0').first().waitFor();
      expect(await axe(page), `${count} accounts`).to.deep.equal([]);
    }
  });
});
