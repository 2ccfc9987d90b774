import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { atEnd, compileScript, inSoak, MASTER_KEY } from '../kit/index.ts';
import { browserForSuite, BUNDLE, open, settled, startDashboard } from './kit.ts';

const BREAKS = compileScript({ steps: [{ fault: 'ok' }, { fault: 'error-event' }], then: 'repeat' });
/** Compressed, of all that a first visit loads. */
const MOST_BYTES = 200 * 1024;

describe('an operator of the dashboard', function operator() {
  this.timeout(120_000);
  const browser = browserForSuite();

  it('signs in, makes a key, sends a prompt that streams, and finds its row and why it went there', async () => {
    const t = await startDashboard();
    const { page } = await open(browser(), t, { path: '/', key: '' });
    await page.getByLabel('API key', { exact: true }).fill(MASTER_KEY);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: /Getting Started|Overview/ }).waitFor();
    await page.getByRole('link', { name: 'API Keys', exact: true }).click();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('first');
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'I have stored the key' }).click();
    await page.getByRole('link', { name: 'Playground', exact: true }).click();
    await page.getByLabel('Model', { exact: true }).selectOption('m');
    await page.getByRole('textbox', { name: 'Prompt', exact: true }).fill('a question');
    await page.keyboard.press('Control+Enter');
    await page
      .getByText(/Served by|served by/)
      .first()
      .waitFor();
    const answered = t.upstream.played.at(-1);
    expect(answered?.call.text).to.include('"stream":true').and.include('a question');
    await page.getByRole('link', { name: 'Request Logs', exact: true }).click();
    await page.getByRole('button', { name: 'Live tail' }).click(); // the row is written behind the answer
    await page
      .getByRole('row')
      .filter({ has: page.getByText('OK', { exact: true }) })
      .first()
      .getByRole('button', { name: /^Details of/ })
      .click();
    await page.getByRole('region', { name: 'Why' }).getByText('The strategy is fallback.').waitFor();
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.getByText('Key store').waitFor();
  });

  inSoak('begins with a key that is typed, which is kept nowhere, and ends by signing out', async () => {
    const t = await startDashboard();
    const { key } = await t.adminKey('operator');
    const { page } = await open(browser(), t, { path: '/logs?stage=all#x', key: '' });
    await page.waitForURL((url) => url.pathname === '/login');
    expect(new URL(page.url()).searchParams.get('from')).to.equal('/logs?stage=all#x');
    await page.locator('input[type=password]:focus').waitFor(); // the key is typed, or pasted, at once
    await page.keyboard.press('Enter');
    await page.getByText('Enter an API key').waitFor();
    const field = page.getByLabel('API key', { exact: true });
    expect(await field.getAttribute('type')).to.equal('password');
    await field.fill('gw_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('does not know this key').waitFor();
    await field.fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Request Logs' }).waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).search).to.equal('/logs?stage=all');
    const kept = (await page.evaluate(
      'JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])',
    )) as string;
    expect(kept).to.include('gws_').and.not.include(key);
    await page.reload();
    await page.getByRole('heading', { name: 'Request Logs' }).waitFor();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Sign in to gw' }).waitFor();
    expect((await t.get('/admin/sessions')).json().data).to.deep.equal([]);
  });

  inSoak('sees a stream that fails as a failure, and not as an answer', async () => {
    const t = await startDashboard({ script: BREAKS });
    await t.chat(['one']);
    const { page } = await open(browser(), t, { path: '/playground?model=m' });
    await page.getByRole('textbox', { name: 'Prompt', exact: true }).fill('will break');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('log').getByRole('alert').waitFor();
    expect(await page.locator('.turn').count()).to.equal(0);
    expect(await page.getByRole('textbox', { name: 'Prompt', exact: true }).inputValue()).to.equal('will break');
  });

  inSoak('narrows the capability matrix on both axes, and scrolls it by keyboard', async () => {
    const t = await startDashboard();
    const { page } = await open(browser(), t, { path: '/providers?tab=capabilities' });
    const matrix = page.getByRole('group', { name: 'Chat parameters by provider' });
    await matrix.focus();
    for (let presses = 0; presses < 5; presses += 1) await page.keyboard.press('ArrowRight');
    await page.waitForTimeout(300);
    expect(await matrix.evaluate((element: { scrollLeft: number }) => element.scrollLeft)).to.be.greaterThan(0);
    await page.getByLabel('Provider', { exact: true }).fill('echo');
    await page.getByLabel('Parameter', { exact: true }).fill('seed');
    await page.getByText('1 provider, 1 parameter').waitFor();
    await page.reload();
    await page.getByText('1 provider, 1 parameter').waitFor();
  });

  inSoak('may have the page from another origin than the gateway, as its config.json says', async () => {
    let gateway = '';
    const pages = createServer((request, response) => {
      const path = new URL(request.url ?? '/', 'http://localhost').pathname;
      if (path === '/config.json')
        response.setHeader('content-type', 'application/json').end(JSON.stringify({ gatewayBaseUrl: gateway }));
      else
        readFile(join(BUNDLE, path))
          .catch(() => readFile(join(BUNDLE, 'index.html')))
          .then(
            (body) => response.setHeader('content-type', typeOf(path)).end(body),
            () => response.destroy(),
          );
    });
    await new Promise<void>((resolve) => {
      pages.listen(0, '127.0.0.1', resolve);
    });
    atEnd(
      () =>
        new Promise((resolve) => {
          pages.close(() => resolve());
          pages.closeAllConnections();
        }),
    );
    const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
    const t = await startDashboard({ variables: { CORS_ORIGINS: origin } });
    gateway = t.url;
    const { page } = await open(browser(), t, { path: '/livez', key: '' });
    await page.goto(`${origin}/login`);
    await page.getByLabel('API key', { exact: true }).fill(MASTER_KEY);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Key store').waitFor();
    expect(new URL(page.url()).origin).to.equal(origin);
  });

  inSoak('loads little at the first visit, none of it twice at the second, and sees it soon', async () => {
    const t = await startDashboard();
    const { page } = await open(browser(), t, { path: '/livez' });
    let bytes = 0;
    page.on('response', (response) => {
      bytes += Number(response.headers()['content-length'] ?? 0);
    });
    await page.goto(`${t.url}/overview`);
    await settled(page);
    expect(bytes).to.be.greaterThan(30_000).and.lessThan(MOST_BYTES);
    const loaded = (await page.evaluate(
      "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/')).length",
    )) as number;
    await page.reload();
    await settled(page);
    const again = (await page.evaluate(
      "performance.getEntriesByType('resource').filter(({ name, transferSize }) => name.includes('/assets/') && transferSize > 0).length",
    )) as number;
    expect([loaded > 2, again]).to.deep.equal([true, 0]);
  });
});

function typeOf(path: string): string {
  if (path.endsWith('.js')) return 'text/javascript';
  return path.endsWith('.css') ? 'text/css' : 'text/html';
}
