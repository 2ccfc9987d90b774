import { expect } from 'chai';
import { browserForSuite, type Gateway, open, PHONE, settled, startDashboard } from './kit.ts';
import { forSuite, inSoak } from '../kit/index.ts';

/** A gateway with two versions of its configuration, and a tool server that nothing depends on and that is not there. */
async function used(): Promise<Gateway> {
  const t = await startDashboard({
    config: { mcp_servers: [{ name: 'search', url: 'http://127.0.0.1:9/mcp', required: false }] },
  });
  await t.chat(['one']);
  await t.makeKey({ name: 'first' });
  const config = (await t.get('/admin/config')).json() as object;
  for (const aliases of [{ fast: 'm' }, { slow: 'm' }]) await t.request('PUT', '/admin/config', { ...config, aliases });
  return t;
}

describe('the look of the dashboard', function look() {
  this.timeout(60_000);
  const browser = browserForSuite();
  const gateway = forSuite(used);

  inSoak('has on a phone no label without a value, and no gap beside its figures', async () => {
    const { page } = await open(browser(), gateway(), { path: '/configuration?tab=history', viewport: PHONE });
    await page.getByText('Active', { exact: true }).waitFor();
    const cells = "[...document.querySelectorAll('tbody td')].filter((cell) => cell.getClientRects().length > 0)";
    expect(
      await page.evaluate(`${cells}.filter((cell) => cell.textContent === '').map((cell) => cell.dataset.label)`),
    ).to.deep.equal([]);
    expect(await page.evaluate(`${cells}.filter((cell) => cell.dataset.label === 'Actions').length`)).to.equal(1);
    await page.goto(`${gateway().url}/analytics`);
    await settled(page);
    await page.getByText('Estimated cost').waitFor();
    const right = (name: string): string =>
      `Math.round(document.querySelector('${name}').getBoundingClientRect().right)`;
    expect(await page.evaluate(`${right('.tile:last-child')} === ${right('.tiles')}`)).to.equal(true);
  });

  inSoak('says that something went well by a check mark, and who is signed in by a name', async () => {
    const { page } = await open(browser(), gateway(), { path: '/getting-started' });
    await page.getByText('Everything is set up').waitFor();
    expect(await page.locator('.banner[data-tone=ok] svg').getAttribute('class')).to.match(/circle-check/);
    expect(await page.locator('.rail .identity-subject').textContent()).to.equal('Master key');
  });

  inSoak('warns of a tool server that is missing, and alarms only where requests depend on it', async () => {
    const { page } = await open(browser(), gateway(), { path: '/mcp-servers' });
    expect(await page.getByText('Not ready', { exact: true }).getAttribute('data-tone')).to.equal('warn');
  });
});
