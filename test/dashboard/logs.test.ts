import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { compileScript, eventually, inSoak } from '../kit/index.ts';
import { browserForSuite, open, settled, startDashboard, until } from './kit.ts';

const FAILS_TWICE = compileScript({
  steps: [{ fault: 'ok' }, { fault: 'status', status: 503 }, { fault: 'ok', times: 100 }],
});

describe('the request log in the dashboard', function logs() {
  this.timeout(60_000);
  const browser = browserForSuite();

  inSoak(
    'shows requests with the names of their keys, and of each its figures, its time and why it went where it did',
    async () => {
      const t = await startDashboard({ script: FAILS_TWICE });
      const { key } = await t.makeKey({ name: 'billing' });
      expect(await t.chat(['one', 'two'], key)).to.deep.equal([200, 502]);
      const { page } = await open(browser(), t, { path: '/logs' });
      const failed = page.getByRole('row').filter({ hasText: 'Failed' });
      await failed.getByText('billing').waitFor();
      await failed.getByRole('button', { name: /^Details of/ }).click();
      await page.getByRole('region', { name: 'Why' }).getByText('The strategy is fallback.').waitFor();
      await page.getByRole('img', { name: /^a: .*status 503/ }).waitFor();
      await page.getByText('echo was left out: does not serve the model').waitFor();
      const [{ trace_id }] = (await t.get('/admin/logs?stage=on_error')).json().data;
      await page.getByText(trace_id).waitFor();
    },
  );

  it('finds a request in the whole log by its id, by part of its error and by its outcome', async () => {
    const t = await startDashboard({ script: FAILS_TWICE });
    expect(await t.chat(['one', 'two'])).to.deep.equal([200, 502]);
    const [{ trace_id }] = (await t.get('/admin/logs?stage=on_error')).json().data;
    const { page } = await open(browser(), t, { path: `/logs?find=${trace_id}` });
    await until(page, "document.querySelectorAll('tbody tr').length === 1");
    await page.getByRole('button', { name: /^Details of/ }).click();
    await page.getByRole('link', { name: 'Permanent link' }).waitFor();
    await page.getByText('retries_spent').or(page.getByText('upstream_down')).first().waitFor();
    await page.goto(`${t.url}/logs?outcome=ok`);
    await page.getByText('Looked at 2 rows').waitFor();
    expect(await page.getByRole('button', { name: 'Older' }).isDisabled()).to.equal(true);
    await page.getByRole('combobox', { name: 'Find in the whole log' }).fill('no such text');
    await page.getByText('No row fits these filters').waitFor();
  });

  it('says whose doing failures were, leads to their rows, and writes what is shown to a file', async () => {
    const t = await startDashboard({ script: FAILS_TWICE });
    const { key } = await t.makeKey({ name: 'billing' });
    expect(await t.chat(['one', 'two'], key)).to.deep.equal([200, 502]);
    expect((await t.post('/v1/chat/completions', { model: 5 })).status).to.equal(400);
    await eventually(async () => (await t.get('/admin/logs?outcome=failed')).json().data.length === 2);
    const { page } = await open(browser(), t, { path: '/analytics' });
    const ends = page.getByRole('table', { name: 'How requests ended' });
    await ends.getByRole('row').filter({ hasText: 'The request was wrong' }).getByRole('link', { name: '1' }).waitFor();
    await page.getByRole('table', { name: 'Keys' }).getByText('billing').waitFor();
    await page.getByRole('table', { name: 'Failures by code' }).getByText('invalid_request').waitFor();
    await ends.getByRole('row').filter({ hasText: 'The provider failed' }).getByRole('link', { name: '1' }).click();
    await page.waitForURL(`${t.url}/logs?outcome=provider&window=24h`);
    await page.getByRole('button', { name: 'Export' }).click();
    const file = page.waitForEvent('download');
    await page.getByRole('button', { name: 'JSONL' }).click();
    const lines = (await readFile(await (await file).path(), 'utf8')).split('\n');
    expect(lines).to.have.lengthOf(2);
    expect(JSON.parse(lines[0] ?? '')).to.include({ outcome: 'provider', status: 502 });
  });

  inSoak('asks for the keys of its rows and for those that are looked for, never for all of them', async () => {
    const t = await startDashboard();
    const { key, id } = await t.makeKey({ name: 'billing' });
    await t.chat(['one'], key);
    const gone = await t.makeKey({ name: 'gone' });
    await t.chat(['two'], gone.key);
    await t.request('DELETE', `/admin/keys/${gone.id}`);
    for (let at = 0; at < 120; at += 1) await t.host.stores.keys.create({ name: `other ${at}`, scopes: ['read_only'] });
    const { page } = await open(browser(), t, { path: '/overview' });
    const asked: URL[] = [];
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.pathname === '/admin/keys') asked.push(url);
    });
    await page.goto(`${t.url}/logs`);
    await page.getByRole('row').filter({ hasText: 'billing' }).waitFor();
    await page.getByRole('row').filter({ hasText: gone.id }).getByText('deleted').waitFor();
    await page.getByRole('combobox', { name: 'Find a key' }).fill('BILL');
    await until(page, "[...document.querySelectorAll('option')].some(({ textContent }) => textContent === 'billing')");
    await page.getByRole('combobox', { name: 'API key' }).selectOption('billing');
    await page.waitForURL((url) => url.searchParams.get('key') === id);
    await until(page, "document.querySelectorAll('tbody tr').length === 1");
    const named = asked.flatMap(({ searchParams }) => searchParams.get('ids')?.split(',') ?? []);
    expect(named).to.include.members([id, gone.id]);
    expect(
      asked.filter(({ searchParams }) => !searchParams.has('ids') && searchParams.get('limit') !== '100').map(String),
    ).to.deep.equal([]);
  });

  inSoak('is narrowed by the address, and the live tail shows a request while the page is open', async () => {
    const t = await startDashboard();
    const { key, id } = await t.makeKey({ name: 'billing' });
    await t.chat(['one'], key);
    await t.chat(['two']);
    const { page } = await open(browser(), t, { path: '/logs' });
    await settled(page);
    expect(await page.getByRole('row').count()).to.equal(3);
    await page.getByRole('combobox', { name: 'API key' }).selectOption('billing');
    await page.waitForURL((url) => url.searchParams.get('key') === id);
    await until(page, "document.querySelectorAll('tbody tr').length === 1");
    await page.getByRole('combobox', { name: 'Stage' }).selectOption('all');
    await until(page, "document.querySelectorAll('tbody tr').length === 2");
    await page.reload();
    await until(page, "document.querySelectorAll('tbody tr').length === 2");
    await page.getByRole('combobox', { name: 'Provider' }).fill('unknown');
    await page.getByText('No row fits these filters').waitFor();
    await page.goto(`${t.url}/logs`);
    await page.getByRole('button', { name: 'Live tail' }).click();
    await t.chat(['three']);
    await until(page, "document.querySelectorAll('tbody tr').length === 3");
    expect(await page.getByRole('button', { name: 'Live tail' }).getAttribute('aria-pressed')).to.equal('true');
    await page.getByRole('combobox', { name: 'Search this page' }).fill('no such text');
    await page.getByText('0 rows of the 3 loaded here').waitFor();
  });

  inSoak(
    'is purged from midnight where the reader is, by the filters that were confirmed; a day to come deletes nothing',
    async () => {
      const t = await startDashboard();
      await t.chat(['one']);
      const { page } = await open(browser(), t, {
        path: '/logs?provider=a&stage=after_request',
        context: { timezoneId: 'America/New_York' },
      });
      await page.getByRole('button', { name: 'Purge' }).click();
      const dialog = page.getByRole('dialog');
      const day = dialog.getByLabel('Delete rows from before');
      const now = new Date();
      const shown = await day.inputValue();
      expect((now.getTime() - Date.parse(shown)) / 86_400_000).to.be.closeTo(30, 1.6);
      await day.fill('2099-01-01');
      await dialog.getByText('The day lies in the future.').waitFor();
      expect(await dialog.getByRole('button', { name: 'Delete rows' }).isDisabled()).to.equal(true);
      await day.fill('2026-07-01');
      await dialog.getByRole('checkbox', { name: /Only rows of provider “a”/ }).check();
      const asked = page.waitForRequest((request) => request.method() === 'DELETE');
      await dialog.getByRole('button', { name: 'Delete rows' }).click();
      const query = new URL((await asked).url()).searchParams;
      expect(Object.fromEntries(query)).to.deep.equal({
        before: '2026-07-01T04:00:00.000Z',
        provider: 'a',
        stage: 'after_request',
      });
      await dialog.getByText('0 rows deleted.').waitFor();
      expect((await t.get('/admin/logs')).json().data).to.have.length(1);
      expect((await t.trail('&action=logs.purge')).map(({ outcome }) => outcome)).to.deep.equal(['ok']);
    },
  );

  inSoak('shows a refused purge inside the dialog', async () => {
    const t = await startDashboard();
    const { page } = await open(browser(), t, { path: '/logs' });
    await page.route('**/admin/logs?*', (route) =>
      route.request().method() === 'DELETE'
        ? route.fulfill({ status: 503, json: { error: { message: 'the store does not answer' } } })
        : route.fallback(),
    );
    await page.getByRole('button', { name: 'Purge' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete rows' }).click();
    await page.getByRole('dialog').getByRole('alert').getByText('the store does not answer').waitFor();
  });

  inSoak('says what to configure where no requests are kept', async () => {
    const t = await startDashboard({ hasLog: false });
    const { page } = await open(browser(), t, { path: '/logs' });
    await page.getByText('REQUEST_LOG_STORE_BACKEND').waitFor();
    expect(await page.getByRole('button', { name: 'Purge' }).count()).to.equal(0);
  });
});
