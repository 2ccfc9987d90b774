import { expect } from 'chai';
import { PAGES_OF_APPLICATION } from './page-paths.ts';
import { axe, browserForSuite, type Gateway, open, PHONE, settled, startDashboard, type Theme } from './kit.ts';
import { compileScript, forSuite } from '../kit/index.ts';

const SOME_FAIL = compileScript({ steps: [{ fault: 'ok', times: 2 }, { fault: 'status', status: 503 }], then: 'repeat' });

/** A gateway in which every page has something to show. */
async function used(): Promise<Gateway> {
  const t = await startDashboard({ script: SOME_FAIL, config: { aliases: { fast: 'm' } } });
  const { key } = await t.makeKey({ name: 'application', rpm: 100 });
  await t.adminKey();
  await t.chat(['one', 'two', 'three'], key);
  const config = (await t.get('/admin/config')).json() as object;
  for (const aliases of [{ fast: 'second-model' }, { fast: 'm' }]) await t.request('PUT', '/admin/config', { ...config, aliases });
  return t;
}

/** Every page in one theme: axe finds nothing, the browser refuses nothing, and nothing is wider than a phone. */
export function describePages(theme: Theme): void {
  describe(`the pages of the dashboard, ${theme}`, function pages() {
    this.timeout(120_000);
    const browser = browserForSuite();
    const gateway = forSuite(used);

    it('keep to the rules of accessibility and to the policy', async () => {
      const { page } = await open(browser(), gateway(), { path: '/getting-started', theme });
      for (const path of PAGES_OF_APPLICATION) {
        await page.goto(gateway().url + path);
        await settled(page);
        expect(await axe(page), path).to.deep.equal([]);
      }
      await page.goto(`${gateway().url}/keys`);
      await page.getByRole('button', { name: 'Create key' }).click();
      expect(await axe(page), 'the dialog of a new key').to.deep.equal([]);
    });

    it('fit a phone', async () => {
      const { page } = await open(browser(), gateway(), { path: '/getting-started', theme, viewport: PHONE });
      for (const path of PAGES_OF_APPLICATION) {
        await page.goto(gateway().url + path);
        await settled(page);
        expect(await page.evaluate('document.documentElement.scrollWidth'), path).to.equal(PHONE.width);
      }
      expect(await axe(page)).to.deep.equal([]);
    });
  });
}
