import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { inSoak } from '../kit/index.ts';
import { browserForSuite, open, settled, startDashboard } from './kit.ts';

const NOT_UNDERSTOOD = 'something that this page does not understand';
const FORMS = [
  '{}',
  '[]',
  '"text"',
  '7',
  '{"data":[null]}',
  '{"data":{"a":1},"summary":null,"components":[7],"providers":7,"series":{"points":[null]},"by_model":null}',
];

/** What each page shows where every answer of a route has an unknown form. The rest of the page goes on. */
const ROUTES = [
  ['/overview', '**/admin/health'],
  ['/overview', '**/admin/dashboard'],
  ['/overview', '**/admin/logs?**'],
  ['/overview', '**/admin/logs/stats**'],
  ['/analytics', '**/admin/logs/stats**'],
  ['/logs', '**/admin/keys?**'],
  ['/logs', '**/admin/logs?**'],
  ['/audit', '**/admin/audit**'],
  ['/providers', '**/v1/models'],
  ['/providers', '**/admin/providers'],
  ['/providers', '**/health'],
  ['/plugins', '**/admin/config'],
  ['/plugins', '**/admin/plugins/catalog'],
  ['/playground', '**/v1/models'],
  ['/playground', '**/v1/capabilities'],
  ['/configuration?tab=form', '**/admin/plugins/catalog'],
  ['/configuration?tab=history', '**/admin/config/history'],
  ['/keys', '**/admin/keys/usage**'],
  ['/keys?tab=sessions', '**/admin/sessions?**'],
  ['/mcp-servers', '**/admin/health'],
  ['/getting-started', '**/admin/dashboard'],
  ['/routing', '**/admin/config'],
] as const;

describe('an answer in an unknown form', function answers() {
  this.timeout(240_000);
  const browser = browserForSuite();

  /** The part that failed says so in the console too, which the test opens for. */
  async function opened(t: Awaited<ReturnType<typeof startDashboard>>, path: string): Promise<Page> {
    const { page, complaints } = await open(browser(), t, { path });
    page.on('console', () => {
      complaints.length = 0;
    });
    return page;
  }

  inSoak('takes its panel alone, which can be tried again', async () => {
    const t = await startDashboard();
    await t.chat(['one']);
    const page = await opened(t, '/tracing');
    await page.route('**/admin/logs?**', (route) => route.fulfill({ json: { data: [null], summary: {} } }));
    await page.goto(`${t.url}/overview`);
    await page.getByText(NOT_UNDERSTOOD).waitFor();
    await page.getByRole('heading', { name: 'Components' }).waitFor();
    await page.getByText('Key store').waitFor();
    await page.unroute('**/admin/logs?**');
    await page.getByRole('alert').getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('table', { name: 'Recent requests' }).waitFor();
    expect(await page.getByText(NOT_UNDERSTOOD).count()).to.equal(0);
  });

  inSoak('without a body is said to be one', async () => {
    const t = await startDashboard();
    const page = await opened(t, '/tracing');
    for (const answer of [{ status: 204 }, { status: 200, body: '' }, { status: 200, body: 'null' }]) {
      await page.route('**/admin/audit**', (route) => route.fulfill(answer));
      await page.goto(`${t.url}/audit`);
      await page.getByText('The gateway answered without data.').waitFor();
      await page.unroute('**/admin/audit**');
    }
  });

  inSoak('leaves every page standing', async () => {
    const t = await startDashboard();
    await t.chat(['one']);
    const page = await opened(t, '/tracing');
    for (const [path, route] of ROUTES) {
      for (const body of FORMS) {
        await page.route(route, (asked) =>
          asked.request().resourceType() === 'document'
            ? asked.fallback()
            : asked.fulfill({ contentType: 'application/json', body }),
        );
        await page.goto(t.url + path);
        await settled(page);
        expect(await page.getByText('This page stopped working').count(), `${path} ${route} ${body}`).to.equal(0);
        await page.unroute(route);
      }
    }
  });
});
