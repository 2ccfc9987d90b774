import { expect } from 'chai';
import { replyJson, some, stubUpstream } from '../kit/index.ts';
import { as, browserForSuite, open, settled, startDashboard } from './kit.ts';
import { PAGES_OF_APPLICATION } from './page-paths.ts';

/** What a browser would obey if it took it for markup, or for more than text. */
const MARKUP = [
  '<img src=x onerror="document.title=\'owned\'">',
  '<script>document.title="owned"</script>',
  '"><svg onload=document.title=1>',
  '</textarea><b>bold</b>',
  '{{7*7}}',
  'javascript:document.title="owned"',
];

/** What it would have made. */
const INJECTED = 'main img, main script, main svg[onload], main b:text-is("bold")';

/** Verbs of what changes anything. */
const CHANGES =
  /^(Create|Edit|Rotate|Revoke|Delete|Purge|Sign out|Roll back|Revert|Review|Apply|Add|Remove|Move|Format|Minify|Discard)\b/;

describe('a reader of the dashboard', function reader() {
  this.timeout(120_000);
  const browser = browserForSuite();

  it('who may only read sees no control that changes anything, on any page', async () => {
    const t = await startDashboard({ config: { aliases: { fast: 'm' } } });
    const { key } = await t.makeKey({ name: 'reader' });
    await t.chat(['one'], key);
    const config = (await t.get('/admin/config')).json() as object;
    for (const aliases of [{ fast: 'second-model' }, { fast: 'm' }])
      await t.request('PUT', '/admin/config', { ...config, aliases });
    const { page } = await open(browser(), t, { path: '/getting-started', key });
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'GET' && !request.url().endsWith('/v1/chat/completions'))
        asked.push(`${request.method()} ${request.url()}`);
    });
    for (const path of some(PAGES_OF_APPLICATION, { every: 9, from: 1 })) {
      await page.goto(t.url + path);
      await settled(page);
      const names = await page
        .locator('main button')
        .evaluateAll((buttons: readonly { getAttribute(name: string): string | null; textContent: string | null }[]) =>
          buttons.map((button) => button.getAttribute('aria-label') ?? button.textContent ?? ''),
        );
      expect(
        names.filter((name) => CHANGES.test(name.trim())),
        path,
      ).to.deep.equal([]);
    }
    await page.goto(`${t.url}/configuration`);
    const text = page.getByRole('textbox', { name: 'Configuration' });
    await text.click();
    await page.keyboard.insertText('changed');
    expect(await text.textContent()).not.to.include('changed');
    await page.goto(`${t.url}/playground`);
    await page.getByText('Your session is read only').waitFor();
    expect(asked).to.deep.equal([]);
  });

  it('reads as text what keys, models, errors, requests and configurations hold', async () => {
    const upstream = await stubUpstream((request, response) => {
      const { model } = request.json();
      replyJson(
        response,
        model === 'm' ? 200 : 400,
        model === 'm'
          ? {
              id: 'x',
              object: 'chat.completion',
              created: 1,
              model: MARKUP[0],
              choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: MARKUP[1] } }],
              usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
            }
          : { error: { message: MARKUP.join(' ') } },
      );
    });
    const t = await startDashboard({
      config: {
        targets: [
          upstream.target('a', { models: ['m', ...MARKUP.filter((text) => !text.includes('*'))] }),
          { virtual_key: 'echo' },
        ],
        aliases: { [MARKUP[0]!]: 'm', [MARKUP[1]!]: 'm' },
      },
    });
    for (const name of MARKUP) {
      const { key } = await t.makeKey({ name, tags: [name] });
      await t.signIn(key);
      await t.post('/v1/chat/completions', { model: name, messages: [{ role: 'user', content: name }] }, as(key));
      await t.post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: name }] }, as(key));
    }
    await t.request('PUT', '/admin/config', (await t.get('/admin/config')).json());
    const { page } = await open(browser(), t, { path: '/getting-started' });
    for (const path of [
      ...some(PAGES_OF_APPLICATION, { every: 11, from: 6 }),
      `/logs?q=${encodeURIComponent(MARKUP[0]!)}`,
      `/audit?action=${encodeURIComponent(MARKUP[1]!)}`,
      `/login?from=${encodeURIComponent(MARKUP[5]!)}`,
      `/${encodeURIComponent(MARKUP[0]!)}`,
    ]) {
      await page.goto(t.url + path);
      await settled(page);
      expect(await page.locator(INJECTED).count(), path).to.equal(0);
      expect(await page.title(), path).to.match(/· gw$/);
    }
    await page.goto(`${t.url}/keys`);
    for (const name of MARKUP) await page.getByText(name, { exact: true }).first().waitFor();
    await page.goto(`${t.url}/logs`);
    await page
      .getByRole('row')
      .filter({ hasText: 'Failed' })
      .first()
      .getByRole('button', { name: /^Details of/ })
      .click();
    await page.getByRole('region', { name: 'Why' }).waitFor();
    expect(await page.locator(INJECTED).count()).to.equal(0);
  });
});
