import { expect } from 'chai';
import { inSoak } from '../kit/index.ts';
import { as, browserForSuite, open, settled, startDashboard, until } from './kit.ts';

describe('the audit trail in the dashboard', function audit() {
  this.timeout(60_000);
  const browser = browserForSuite();

  inSoak('is narrowed by action, where a near miss is explained, and shows of a refusal its reason', async () => {
    const t = await startDashboard();
    const key = await t.adminKey('only');
    await t.post(`/admin/keys/${key.id}/revoke`, undefined);
    await t.post('/admin/session', undefined, as('gw_wrong'));
    const { page } = await open(browser(), t, { path: '/audit' });
    await settled(page);
    await page.getByRole('combobox', { name: 'Action' }).fill('key.revok');
    await page.getByText('Actions are compared exactly').waitFor();
    await page.getByText('No entry fits').waitFor();
    await page.getByRole('button', { name: 'key.revoke', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: 'denied' });
    await row.getByRole('button', { name: /^Details of key.revoke/ }).click();
    await page.getByText('"reason": "last_admin_key"').waitFor();
    expect(page.url()).to.include('action=key.revoke');
    const { trace_id } = (await t.trail('&action=key.revoke'))[0]!;
    await page.getByRole('link', { name: trace_id }).click();
    await page.getByRole('heading', { name: 'Request Logs' }).waitFor();
    expect(page.url()).to.include(`q=${trace_id}`);
    await until(page, "document.activeElement?.tagName === 'H1'");
    await page.goBack();
    await page.getByRole('combobox', { name: 'Outcome' }).selectOption('ok');
    await page.getByText('No entry fits').waitFor();
  });

  inSoak('keeps a row open, and the focus in it, while newer entries come in above', async () => {
    const t = await startDashboard();
    await t.makeKey({ name: 'first' });
    const { page } = await open(browser(), t, { path: '/tracing' });
    await settled(page);
    await page.clock.install();
    await page.goto(`${t.url}/audit?action=key.create`);
    const details = page.getByRole('button', { name: /^Details of key.create/ });
    await details.click();
    await page.getByText('Actor id').last().waitFor();
    await t.makeKey({ name: 'second' });
    await page.clock.runFor(31_000);
    await until(page, "document.querySelectorAll('tbody tr:not(.detail-row)').length === 2");
    expect(await details.evaluateAll((all) => all.map((each) => each.getAttribute('aria-expanded')))).to.deep.equal([
      'false',
      'true',
    ]);
    expect(await page.evaluate("document.activeElement?.getAttribute('aria-expanded')")).to.equal('true');
  });

  inSoak('is read page by page', async () => {
    const t = await startDashboard();
    for (let at = 0; at < 55; at += 1) await t.makeKey({ name: `k${at}` });
    const { page } = await open(browser(), t, { path: '/audit?action=key.create' });
    await page.getByText('1–50 of 55').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('51–55 of 55').waitFor();
    await page.getByRole('row').nth(6).waitFor({ state: 'detached' }); // the page before stays until this one is there
    expect(await page.getByRole('row').count()).to.equal(6);
  });

  inSoak('of a gateway without one is explained, and is not an error', async () => {
    const t = await startDashboard();
    const { page } = await open(browser(), t, { path: '/tracing' });
    await settled(page);
    await page.route('**/admin/audit?*', (route) =>
      route.fulfill({ status: 501, json: { error: { message: 'no audit store', code: 'not_implemented' } } }),
    );
    await page.getByRole('link', { name: 'Audit Trail' }).first().click();
    await page.getByText('This gateway keeps no audit trail.').waitFor();
    expect(await page.getByRole('alert').count()).to.equal(0);
  });
});
