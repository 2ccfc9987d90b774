import { expect } from 'chai';
import { inSoak } from '../kit/index.ts';
import type { Page } from 'playwright-core';
import { as, browserForSuite, opener, startDashboard } from './kit.ts';

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
const revealed = (page: Page) => page.getByRole('dialog').locator('code');

describe('the keys in the dashboard', function keys() {
  this.timeout(60_000);
  const browser = browserForSuite();
  const opened = opener(browser, { path: '/keys' });

  inSoak('are created, and their value is shown once, in a dialog that is not closed by accident', async () => {
    const t = await startDashboard();
    const page = await opened(t);
    await page.getByText('No keys yet').waitFor();
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText('Give the key a name.').waitFor();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('mobile app');
    expect((await t.get('/admin/keys')).json(), 'refused before it was sent').to.deep.equal([]);
    expect(await dialog.getByRole('combobox', { name: 'What it may do' }).inputValue()).to.equal('inference');
    await dialog.getByRole('combobox', { name: 'Expiry' }).selectOption('7');
    await dialog.getByText('Limits of this key').click();
    await dialog.getByRole('textbox', { name: 'Requests per minute' }).fill('60');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const value = (await revealed(page).textContent()) ?? '';
    expect(value).to.match(/^gw_[0-9a-f]{64}$/);
    expect((await t.get('/v1/models', as(value))).status).to.equal(200);
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    expect(await revealed(page).textContent()).to.equal(value);
    await dialog.getByRole('button', { name: 'I have stored the key' }).click();
    await dialog.waitFor({ state: 'detached' });
    await row(page, 'mobile app').getByText('60 requests/min').waitFor();
    expect(await page.content()).not.to.include(value);
    const [made] = (await t.get('/admin/keys')).json();
    expect(made)
      .to.include({ name: 'mobile app', rpm: 60 })
      .and.deep.include({ scopes: ['read_only'], access: 'inference' });
    await row(page, 'mobile app').getByText('Inference', { exact: true }).waitFor();
    expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).to.be.closeTo(7 * 86_400_000, 120_000);
    expect(await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')).not.to.include(value);
  });

  inSoak('are edited; a refused edit is shown in the dialog and changes nothing', async () => {
    const t = await startDashboard();
    const key = await t.adminKey('only admin');
    const long = await t.makeKey({ name: 'n'.repeat(81) }); // longer than the form lets anybody type
    const page = await opened(t);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: `Edit ${long.name}` }).click();
    await dialog.getByRole('combobox', { name: 'Expiry' }).selectOption('90');
    await dialog.getByRole('button', { name: 'Save changes' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Edit only admin' }).click();
    await dialog.getByRole('combobox', { name: 'Expiry' }).selectOption('90');
    await dialog.getByRole('button', { name: 'Save changes' }).click();
    await dialog.waitFor({ state: 'detached' });
    const extended = (await t.get(`/admin/keys/${key.id}`)).json();
    expect(Date.parse(extended.expires_at) - Date.now()).to.be.closeTo(90 * 86_400_000, 120_000);
    await page.getByRole('button', { name: 'Edit only admin' }).click();
    await dialog.getByRole('combobox', { name: 'What it may do' }).selectOption('inference');
    await dialog.getByRole('button', { name: 'Save changes' }).click();
    await dialog.getByRole('alert').getByText('last').waitFor();
    expect((await t.get(`/admin/keys/${key.id}`)).json()).to.deep.equal(extended);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('[aria-label="Edit only admin"]:focus').waitFor();
    await page.getByRole('button', { name: 'Edit only admin' }).click();
    await dialog.getByRole('combobox', { name: 'Expiry' }).selectOption('never');
    await dialog.getByRole('button', { name: 'Save changes' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await t.get(`/admin/keys/${key.id}`)).json()).not.to.have.property('expires_at');
  });

  inSoak('are rotated: the new value is shown once, the old one is dead, the moment is shown', async () => {
    const t = await startDashboard();
    const key = await t.makeKey({ name: 'rotating' });
    const page = await opened(t);
    await page.getByRole('button', { name: 'Rotate rotating' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click();
    await page.getByRole('dialog', { name: 'Key rotated' }).waitFor();
    const value = (await revealed(page).textContent()) ?? '';
    await page.getByRole('button', { name: 'I have stored the key' }).click();
    expect([
      (await t.get('/v1/models', as(value))).status,
      (await t.get('/v1/models', as(key.key))).status,
    ]).to.deep.equal([200, 401]);
    await row(page, 'rotating').locator('td[data-label="Rotated"] time').waitFor();
  });

  inSoak('are revoked and deleted; a refusal is shown inside the confirmation', async () => {
    const t = await startDashboard();
    await t.adminKey('last admin');
    const key = await t.makeKey({ name: 'retired' });
    const page = await opened(t);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Revoke last admin' }).click();
    await dialog.getByRole('button', { name: 'Revoke key' }).click();
    await dialog.getByRole('alert').getByText('last').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await row(page, 'last admin').getByText('Active').waitFor();
    await page.getByRole('button', { name: 'Revoke retired' }).click();
    await dialog.getByRole('button', { name: 'Revoke key' }).click();
    await row(page, 'retired').getByText('Revoked').waitFor();
    expect((await t.get('/v1/models', as(key.key))).status).to.equal(401);
    expect(await page.getByRole('button', { name: 'Rotate retired' }).isDisabled()).to.equal(true);
    await page.getByRole('button', { name: 'Delete retired' }).click();
    await dialog.getByRole('button', { name: 'Delete key' }).click();
    await row(page, 'retired').waitFor({ state: 'detached' });
    await page.getByLabel('Keys in figures').getByText('1', { exact: true }).first().waitFor();
  });

  inSoak('are sorted and filtered by the address, and by pages', async () => {
    const t = await startDashboard();
    for (let at = 0; at < 23; at += 1) await t.makeKey({ name: `key ${String(at).padStart(2, '0')}` });
    const page = await opened(t);
    expect(await page.getByRole('row').count()).to.equal(21);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('21–23 of 23').waitFor();
    expect(page.url()).to.include('offset=20');
    await page.reload();
    await page.getByText('21–23 of 23').waitFor();
    await page.getByRole('combobox', { name: 'State' }).selectOption('false');
    await page.getByText('No key is in this state').waitFor();
    await page.goBack();
    await page.getByText('21–23 of 23').waitFor();
  });
});
