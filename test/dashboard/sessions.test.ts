import { expect } from 'chai';
import { as, browserForSuite, open, settled, startDashboard, until } from './kit.ts';
import { inSoak, MASTER_KEY } from '../kit/index.ts';

describe('sessions in the dashboard', function sessions() {
  this.timeout(60_000);
  const browser = browserForSuite();

  inSoak('go back to a path of the application alone', async () => {
    const t = await startDashboard();
    const { page } = await open(browser(), t, { path: '/login?from=//evil.example/x', key: '' });
    await page.getByLabel('API key', { exact: true }).fill(MASTER_KEY);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL((url) => url.pathname === '/overview' && url.origin === t.url);
  });

  inSoak('are shown a hundred at a time, the newest first', async () => {
    const t = await startDashboard();
    const { id } = await t.makeKey({ name: 'ada' });
    for (let at = 0; at < 130; at += 1)
      await t.host.stores.sessions.create({ credentialId: id, subject: `ada ${at}`, scopes: ['read_only'] });
    const { page } = await open(browser(), t, { path: '/keys?tab=sessions' });
    await until(page, "document.querySelectorAll('tbody tr').length === 100");
    await page.getByText('The 100 newest sessions').waitFor();
    await page.getByRole('button', { name: 'Show more' }).click();
    await until(page, "document.querySelectorAll('tbody tr').length > 130");
    expect(await page.getByRole('button', { name: 'Show more' }).count()).to.equal(0);
  });

  inSoak('that are revoked while a page is open lead to sign-in and back', async () => {
    const t = await startDashboard();
    const { page } = await open(browser(), t, { path: '/audit?outcome=denied' });
    await settled(page);
    await t.request('DELETE', '/admin/sessions');
    await page.getByRole('combobox', { name: 'Outcome' }).selectOption('error');
    await page.getByRole('heading', { name: 'Sign in to gw' }).waitFor();
    await page.getByLabel('API key', { exact: true }).fill(MASTER_KEY);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Audit Trail' }).waitFor();
    expect(page.url()).to.include('outcome=error');
  });

  inSoak('that ended say so, and leave what was typed as it was', async () => {
    const t = await startDashboard();
    const { page } = await open(browser(), t, { path: '/configuration' });
    const editor = page.getByRole('textbox', { name: 'Configuration' });
    await editor.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('{"aliases": {"half": "typed');
    await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: 'Playground', exact: true })
      .click();
    await page.getByRole('textbox', { name: 'Prompt', exact: true }).fill('a long thought');
    await t.request('DELETE', '/admin/sessions');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Your session has ended. Sign in to go on where you were.').waitFor();
    await page.getByLabel('API key', { exact: true }).fill(MASTER_KEY);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    await until(page, "document.querySelector('.composer textarea')?.value === 'a long thought'");
    await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: 'Configuration', exact: true })
      .click();
    await editor.waitFor();
    expect(await editor.textContent()).to.equal('{"aliases": {"half": "typed');
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('API key', { exact: true }).fill(MASTER_KEY);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: 'Configuration', exact: true })
      .click();
    await editor.waitFor();
    expect(await editor.textContent(), 'signed out').to.not.include('half');
  });

  inSoak('that ended leave a key that was being made as it was written, and one that is seen once', async () => {
    const t = await startDashboard();
    const { page } = await open(browser(), t, { path: '/keys' });
    const dialog = page.getByRole('dialog');
    const signInAgain = async (): Promise<void> => {
      await page.getByText('Your session has ended').waitFor();
      await page.getByLabel('API key', { exact: true }).fill(MASTER_KEY);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await dialog.waitFor();
    };
    await page.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('mobile app');
    await dialog.getByRole('combobox', { name: 'Expiry' }).selectOption('365');
    await t.request('DELETE', '/admin/sessions');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await signInAgain();
    expect([
      await dialog.getByRole('textbox', { name: 'Name' }).inputValue(),
      await dialog.getByRole('combobox', { name: 'Expiry' }).inputValue(),
    ]).to.deep.equal(['mobile app', '365']);
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const value = await dialog.locator('code').textContent();
    await t.request('DELETE', '/admin/sessions');
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))"); // as when the reader comes back to the tab
    await page.clock.install();
    await page.clock.runFor(6000);
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
    await signInAgain();
    expect(await dialog.locator('code').textContent()).to.equal(value);
    await dialog.getByRole('button', { name: 'I have stored the key' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await page.content()).to.not.include(value);
  });

  inSoak('are listed; one ends without the rest, and all with the own', async () => {
    const t = await startDashboard();
    const { key } = await t.adminKey('colleague');
    const { token } = await t.signIn(key);
    const { page } = await open(browser(), t, { path: '/keys?tab=sessions' });
    const row = page.getByRole('row').filter({ hasText: 'colleague' });
    await row.waitFor();
    await row.getByRole('button', { name: /^Sign out colleague/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
    await row.waitFor({ state: 'detached' });
    expect((await t.get('/admin/keys', as(token))).status).to.equal(401);
    await page.getByRole('button', { name: 'Sign out all' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out all' }).click();
    await page.getByRole('heading', { name: 'Sign in to gw' }).waitFor();
    expect((await t.get('/admin/sessions')).json().data).to.deep.equal([]);
  });

  inSoak('of a key that is demoted lose their controls without signing out', async () => {
    const t = await startDashboard();
    await t.adminKey('stays');
    const key = await t.adminKey('demoted');
    const { page } = await open(browser(), t, { path: '/keys', key: key.key });
    await page.getByRole('button', { name: 'Create key' }).waitFor();
    await t.request('PUT', `/admin/keys/${key.id}`, { scopes: ['read_only'] });
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('not allowed');
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'Create key' }).first().waitFor({ state: 'detached' });
    await page.getByText('Read only', { exact: true }).first().waitFor();
    expect((await t.get('/admin/keys')).json().map(({ name }: { name: string }) => name)).not.to.include('not allowed');
  });
});
