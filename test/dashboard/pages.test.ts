import { expect } from 'chai';
import { compileScript, forSuite, inSoak, isSoak, some } from '../kit/index.ts';
import { axe, browserForSuite, DESKTOP, type Gateway, open, PHONE, settled, startDashboard } from './kit.ts';
import { PAGES_OF_APPLICATION } from './page-paths.ts';

const SOME_FAIL = compileScript({
  steps: [
    { fault: 'ok', times: 2 },
    { fault: 'status', status: 503 },
  ],
  then: 'repeat',
});
/** A turn through all pages is taken by so many tests, so that none is long. */
const PARTS = isSoak() ? 3 : 1;

/** A gateway in which every page has something to show. */
async function used(): Promise<Gateway> {
  const t = await startDashboard({ script: SOME_FAIL, config: { aliases: { fast: 'm' } } });
  const { key } = await t.makeKey({ name: 'application', rpm: 100 });
  await t.adminKey();
  await t.chat(['one', 'two', 'three'], key);
  const config = (await t.get('/admin/config')).json() as object;
  for (const aliases of [{ fast: 'second-model' }, { fast: 'm' }])
    await t.request('PUT', '/admin/config', { ...config, aliases });
  return t;
}

/** Every tenth page, and in the soak every one, in both themes and on a phone: axe finds nothing, the browser refuses nothing, and nothing is wider than the screen. */
describe('the pages of the dashboard', function pages() {
  this.timeout(120_000);
  const browser = browserForSuite();
  const gateway = forSuite(used);

  for (let part = 0; part < PARTS; part += 1) {
    const paths = some(PAGES_OF_APPLICATION, { every: 10, from: 9 }).filter((_path, at) => at % PARTS === part);
    it(`keep to the rules of accessibility and to the policy, and fit a phone: ${paths.join(' ')}`, async () => {
      const { page } = await open(browser(), gateway(), { path: '/getting-started' });
      for (const path of paths) {
        await page.setViewportSize(DESKTOP);
        await page.emulateMedia({ colorScheme: 'light' });
        await page.goto(gateway().url + path);
        await settled(page);
        expect(await axe(page), path).to.deep.equal([]);
        await page.setViewportSize(PHONE);
        await page.emulateMedia({ colorScheme: 'dark' });
        expect(await axe(page), `${path}, dark, on a phone`).to.deep.equal([]);
        expect(await page.evaluate('document.documentElement.scrollWidth'), path).to.equal(PHONE.width);
      }
    });
  }

  inSoak('are never wider than the window: a table that is scrolls by itself', async () => {
    const { page } = await open(browser(), gateway(), { path: '/keys' });
    const wider: string[] = [];
    for (const path of some(PAGES_OF_APPLICATION, {
      from: PAGES_OF_APPLICATION.indexOf('/keys'),
      every: PAGES_OF_APPLICATION.length,
    })) {
      for (const width of [660, 900]) {
        // charts follow a window that changes a moment later: each gets a page of its own
        await page.setViewportSize({ width, height: 800 });
        await page.goto(gateway().url + path);
        await settled(page);
        if ((await page.evaluate(`document.documentElement.scrollWidth > ${width}`)) === true)
          wider.push(`${path} at ${width}`);
      }
    }
    expect(wider).to.deep.equal([]);
  });

  inSoak('have dialogs that keep to them too', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const { page } = await open(browser(), gateway(), { path: '/keys', theme });
      await page.getByRole('button', { name: 'Create key' }).click();
      expect(await axe(page), theme).to.deep.equal([]);
    }
  });
});
