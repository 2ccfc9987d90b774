import { inSoak } from '../kit/index.ts';
import { expect } from 'chai';
import { axe, browserForSuite, opener, startDashboard } from './kit.ts';

describe('budgets of keys in the dashboard', function keyBudgets() {
  this.timeout(60_000);
  const browser = browserForSuite();
  const opened = opener(browser, { path: '/keys' });

  inSoak('are made, changed and taken away; what the form does not know of them stays', async () => {
    const t = await startDashboard();
    const page = await opened(t);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('team');
    await dialog.getByText('Limits of this key').click();
    await dialog.getByRole('button', { name: 'Add budget' }).click();
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText('A budget is a number from 0.').waitFor();
    const first = dialog.getByRole('group', { name: 'Budget 1' });
    await first.getByRole('textbox', { name: 'Limit' }).fill('2.5');
    await first.getByRole('combobox', { name: 'Every' }).fill('day');
    await dialog.getByRole('button', { name: 'Add budget' }).click();
    const second = dialog.getByRole('group', { name: 'Budget 2' });
    await second.getByRole('textbox', { name: 'Limit' }).fill('100');
    await second.getByRole('combobox', { name: 'Unit' }).selectOption('requests');
    await second.getByRole('combobox', { name: 'Every' }).fill('total');
    expect(await axe(page)).to.deep.equal([]);
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByRole('button', { name: 'I have stored the key' }).click();
    const [made] = (await t.get('/admin/keys')).json();
    expect(made.budgets).to.deep.equal([{ usd: 2.5, every: 'day' }, { requests: 100 }]);

    const zoned = [{ usd: 2.5, every: 'day', timezone: 'Europe/Berlin', at: '06:00' }];
    await t.request('PUT', `/admin/keys/${made.id}`, { budgets: [...zoned, { requests: 100 }] });
    await page.reload();
    await page.getByRole('button', { name: 'Edit team' }).click();
    await first.getByRole('textbox', { name: 'Limit' }).fill('7');
    await dialog.getByRole('button', { name: 'Remove budget 2' }).click();
    await dialog.getByRole('button', { name: 'Save changes' }).click();
    await dialog.waitFor({ state: 'detached' });
    const changed = (await t.get(`/admin/keys/${made.id}`)).json();
    expect(changed.budgets).to.deep.equal([{ ...zoned[0], usd: 7 }]);

    await page.getByRole('button', { name: 'Edit team' }).click();
    await first.getByRole('combobox', { name: 'Every' }).fill('fortnight');
    await dialog.getByRole('button', { name: 'Save changes' }).click();
    await dialog.getByRole('alert').getByText('budgets[0].every').waitFor();
    await dialog.getByRole('button', { name: 'Remove budget 1' }).click();
    await dialog.getByRole('button', { name: 'Save changes' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await t.get(`/admin/keys/${made.id}`)).json()).not.to.have.property('budgets');
  });

  inSoak(
    'are shown with what was spent this month and what is left, to readers too, and keys are sorted by it',
    async () => {
      const t = await startDashboard();
      const reader = await t.makeKey({ name: 'reader', budgets: [{ usd: 2, every: 'month' }] });
      const page = await opened(t, { key: reader.key });
      const row = page.getByRole('row').filter({ hasText: 'reader' });
      await row.getByText('$2.00 left').waitFor();
      await page.getByRole('combobox', { name: 'Sort by' }).selectOption('spend');
      await page.waitForURL(`${t.url}/keys?sort=spend`);
      await row.getByText('$2.00 left').waitFor();
      expect(await page.getByRole('button', { name: 'Edit reader' }).count()).to.equal(0);
      expect(await axe(page)).to.deep.equal([]);
    },
  );

  inSoak('have no column where spend is off', async () => {
    const t = await startDashboard({ variables: { GW_SPEND: 'off' } });
    await t.makeKey({ name: 'plain', budget_usd: 2 });
    const page = await opened(t);
    await page.getByRole('cell', { name: 'plain' }).first().waitFor();
    expect(await page.getByRole('columnheader', { name: 'This month' }).count()).to.equal(0);
  });
});
