import { expect } from 'chai';
import { inSoak } from '../kit/index.ts';
import { startFleetDashboard } from './fleet.ts';
import { axe, browserForSuite, opener, PHONE, startDashboard, THEMES } from './kit.ts';

describe('rows of instances and groups in the dashboard', function rows() {
  this.timeout(60_000);
  const browser = browserForSuite();
  const opened = opener(browser, { path: '/logs' });

  inSoak(
    'have their group, credential and affinity, are filtered by them, and show each attempt with its credential',
    async () => {
      const t = await startFleetDashboard();
      const page = await opened(t);
      const table = page.getByRole('table', { name: 'Requests' });
      await table.getByRole('cell', { name: 'moved' }).waitFor();
      await page.getByLabel('Affinity').fill('moved');
      await page.waitForURL(/affinity=moved/);
      await table.getByRole('cell', { name: 'key-1' }).first().waitFor({ state: 'detached' });
      expect(await table.getByRole('row').count()).to.equal(2);
      await table.getByRole('button', { name: /^Details of/ }).click();
      const attempts = page.getByRole('region', { name: 'Timeline' }).getByRole('listitem');
      const [row] = (await t.get('/admin/logs?affinity=moved')).json().data;
      expect(row).to.include({ model_group: 'smart', credential: 'spare', attempts: 3 });
      await attempts
        .filter({ hasText: 'openai-eu, team-a' })
        .getByText(/status 401, key refused/)
        .waitFor();
      await attempts
        .filter({ hasText: 'openai-eu, team-b' })
        .getByText(/status 429, rate limit/)
        .waitFor();
      await attempts
        .filter({ hasText: 'openai-eu, spare' })
        .getByText(/answered/)
        .waitFor();
      await page.getByText('1,500 tokens read, 0 written').waitFor();
      await page.getByText('The cache saved').waitFor();
      await page.getByText('1. openai-eu@gpt-5', { exact: true }).waitFor();
      for (const [filter, value, count] of [
        ['group', 'oss/*', 1],
        ['credential', 'spare', 2],
        ['group', 'unknown', 0],
      ] as const) {
        await page.goto(`${t.url}/logs?${filter}=${encodeURIComponent(value)}`);
        if (count === 0) await page.getByText('No row fits these filters').waitFor();
        else
          await table
            .getByRole('cell', { name: value, exact: true })
            .nth(count - 1)
            .waitFor();
        expect(await page.getByLabel(filter === 'group' ? 'Group' : 'Credential').inputValue()).to.equal(value);
      }
    },
  );

  inSoak('keep to the rules of accessibility, in both themes and on a phone', async () => {
    const t = await startFleetDashboard();
    for (const theme of THEMES) {
      const page = await opened(t, { theme });
      await page
        .getByRole('button', { name: /^Details of/ })
        .last()
        .click();
      await page.getByRole('region', { name: 'Timeline' }).waitFor();
      expect(await axe(page), theme).to.deep.equal([]);
      await page.setViewportSize(PHONE);
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(PHONE.width);
      expect(await axe(page), `${theme}, on a phone`).to.deep.equal([]);
    }
  });

  inSoak('leave the table as it was where no row has any of it', async () => {
    const t = await startDashboard();
    await t.chat(['hi']);
    const page = await opened(t);
    const table = page.getByRole('table', { name: 'Requests' });
    await table.getByRole('cell', { name: 'after_request' }).waitFor();
    for (const name of ['Group', 'Credential', 'Affinity']) {
      expect(await table.getByRole('columnheader', { name }).count(), name).to.equal(0);
      expect(await page.getByLabel(name, { exact: true }).count(), name).to.equal(0);
    }
  });
});
