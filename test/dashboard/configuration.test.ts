import { expect } from 'chai';
import { Client } from 'pg';
import { atEnd, inSoak, startPostgres } from '../kit/index.ts';
import type { Page } from 'playwright-core';
import { browserForSuite, type Gateway, open, opener, settled, startDashboard, until } from './kit.ts';

type Config = Record<string, any>;
const configOf = async (t: Gateway): Promise<Config> => (await t.get('/admin/config')).json() as Config;
const editor = (page: Page) => page.getByRole('textbox', { name: 'Configuration' });

/** Replaces what stands in the editor, as pasting does. */
async function write(page: Page, text: string): Promise<void> {
  await editor(page).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

async function apply(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Review and apply' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Apply changes' }).click();
}

describe('the configuration in the dashboard', function configuration() {
  this.timeout(60_000);
  const browser = browserForSuite();
  const opened = opener(browser, { path: '/configuration' });

  it('is edited as JSON: checked as it is typed, compared before it is applied, and then in force', async () => {
    const t = await startDashboard();
    const page = await opened(t);
    const config = await configOf(t);
    await write(page, JSON.stringify({ ...config, request_timeout: 'soon' }, undefined, 2));
    await page.getByText('The gateway would refuse this configuration').waitFor();
    await page
      .getByRole('status')
      .getByText(/request_timeout/)
      .waitFor();
    expect(await page.getByRole('button', { name: 'Review and apply' }).isDisabled()).to.equal(true);
    await write(page, '{"targets": [');
    await page.getByText('The gateway would refuse this configuration').waitFor();
    await write(page, JSON.stringify({ ...config, aliases: { fast: 'm' } }, undefined, 2));
    await page.getByText('The gateway would take this configuration.').waitFor();
    await page.getByRole('button', { name: 'Review and apply' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('aliases', { exact: true }).waitFor();
    await dialog.getByText('not set').waitFor();
    expect(await configOf(t), 'not before it is confirmed').to.deep.equal(config);
    await dialog.getByRole('button', { name: 'Apply changes' }).click();
    await page.getByText('The configuration is active.').waitFor();
    expect((await configOf(t))['aliases']).to.deep.equal({ fast: 'm' });
    expect(await t.chat(['hi'])).to.deep.equal([200]);
    await page.getByRole('button', { name: 'Review and apply' }).waitFor({ state: 'detached' });
  });

  inSoak('is edited as YAML, and sees a name that stands there twice', async () => {
    const t = await startDashboard();
    const page = await opened(t);
    await page.getByRole('radio', { name: 'YAML' }).check();
    await write(page, 'strategy:\n  mode: single\nstrategy:\n  mode: fallback\n');
    await page.getByText(/Line 3: |at line 3/).waitFor();
    await write(page, 'strategy:\n  mode: single\ntargets:\n  - virtual_key: echo # a comment\n');
    await page.getByText('The gateway would take this configuration.').waitFor();
    await apply(page);
    await page.getByText('The configuration is active.').waitFor();
    expect(await configOf(t)).to.deep.include({ strategy: { mode: 'single' }, targets: [{ virtual_key: 'echo' }] });
  });

  inSoak('with a value that was withheld is refused before any request', async () => {
    const t = await startDashboard();
    const page = await opened(t);
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'GET') asked.push(request.url());
    });
    await write(
      page,
      JSON.stringify({
        targets: [{ virtual_key: 'echo' }],
        mcp_servers: [{ name: 's', url: 'https://x.example', headers: { '[REDACTED_KEY_0]': '[REDACTED]' } }],
      }),
    );
    await page.getByText('mcp_servers[0].headers holds a value that was withheld').waitFor();
    expect(await page.getByRole('button', { name: 'Review and apply' }).isDisabled()).to.equal(true);
    await page.waitForTimeout(700); // longer than the page waits before it asks
    expect(asked).to.deep.equal([]);
  });

  inSoak('is changed beside what is withheld, which stays, and goes nowhere else', async () => {
    const secret = 'planted-4Zq7-header';
    const url = 'http://127.0.0.1:9/mcp';
    const t = await startDashboard({
      config: {
        targets: [{ virtual_key: 'echo' }],
        mcp_servers: [{ name: 's', url, headers: { Authorization: secret } }],
      },
    });
    const page = await opened(t);
    const shown = await configOf(t);
    expect(JSON.stringify(shown)).to.include('[REDACTED').and.not.include(secret);
    await write(page, JSON.stringify({ ...shown, aliases: { fast: 'echo-1' } }));
    await page.getByText('The gateway would take this configuration.').waitFor();
    await apply(page);
    await page.getByText('The configuration is active.').waitFor();
    expect((await configOf(t))['aliases']).to.deep.equal({ fast: 'echo-1' });
    const kept = t.host.applier.running.document as { mcp_servers: { headers: object }[] };
    expect(kept.mcp_servers[0]!.headers).to.deep.equal({ Authorization: secret });
    await write(page, JSON.stringify(await configOf(t)).replace(url, 'http://127.0.0.1:11/mcp'));
    await page.getByText('BV40').first().waitFor();
    expect(await page.getByRole('button', { name: 'Review and apply' }).isDisabled()).to.equal(true);
  });

  inSoak('that a newer program has stored is not overwritten, and the page says why', async () => {
    const dsn = await (await startPostgres()).createDatabase();
    const t = await startDashboard({ variables: { CONFIG_STORE_BACKEND: 'postgres', CONFIG_STORE_DSN: dsn } });
    const config = await configOf(t);
    await t.request('PUT', '/admin/config', { ...config, aliases: { first: 'm' } });
    const client = new Client({ connectionString: dsn });
    await client.connect();
    atEnd(() => client.end());
    const newer = JSON.stringify({ ...config, aliases: { newer: 'm' }, of_tomorrow: { a: 1 } });
    await client.query('INSERT INTO config_history (version, config_json, updated_at) VALUES (2, $1, $2)', [
      newer,
      new Date().toISOString(),
    ]);
    await client.query('UPDATE gateway_config SET config_json = $1', [newer]);
    await t.host.applier.follow();
    expect((await configOf(t))['aliases']).to.deep.equal({ newer: 'm' });
    const page = await opened(t);
    await write(page, JSON.stringify({ ...config, aliases: { mine: 'm' } }));
    await page.getByText('The gateway would take this configuration.').waitFor();
    await apply(page);
    await page
      .getByRole('dialog')
      .getByRole('alert')
      .getByText(/written by a newer gw/)
      .waitFor();
    expect((await configOf(t))['aliases']).to.deep.equal({ newer: 'm' });
    const { rows } = await client.query('SELECT config_json FROM gateway_config');
    expect(rows).to.deep.equal([{ config_json: newer }]);
  });

  inSoak(
    'that another operator has changed meanwhile is not overwritten, and can be compared with theirs and applied then',
    async () => {
      const t = await startDashboard();
      const page = await opened(t);
      const config = await configOf(t);
      await write(page, JSON.stringify({ ...config, aliases: { mine: 'm' } }));
      await page.getByText('The gateway would take this configuration.').waitFor();
      await t.request('PUT', '/admin/config', { ...config, aliases: { theirs: 'm' } });
      await apply(page);
      const dialog = page.getByRole('dialog');
      await dialog
        .getByRole('alert')
        .getByText(/version/)
        .waitFor();
      expect((await configOf(t))['aliases']).to.deep.equal({ theirs: 'm' });
      await dialog.getByRole('button', { name: 'Compare with the newest version' }).click();
      await dialog.getByText('aliases.theirs', { exact: true }).waitFor();
      await dialog.getByRole('button', { name: 'Apply changes' }).click();
      await page.getByText('The configuration is active.').waitFor();
      expect((await configOf(t))['aliases']).to.deep.equal({ mine: 'm' });
    },
  );

  inSoak('that was changed and not applied is not lost by a reload before the browser has asked', async () => {
    const t = await startDashboard();
    const page = await opened(t);
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.type());
      void dialog.accept();
    });
    await page.reload();
    await settled(page);
    await write(page, '{"half": "typed');
    await page.getByRole('button', { name: 'Discard' }).waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Tracing' }).click();
    await page.getByRole('heading', { name: 'Tracing', level: 1 }).waitFor();
    await page.reload();
    await settled(page);
    expect(asked).to.deep.equal(['beforeunload']);
    await page.reload();
    await settled(page);
    expect(asked, 'nothing is left to lose').to.have.lengthOf(1);
  });

  inSoak(
    'that another operator has changed is not overwritten by a page that has read it again meanwhile',
    async () => {
      const t = await startDashboard();
      const { page } = await open(browser(), t, { path: '/tracing' });
      await settled(page);
      await page.clock.install();
      await page.goto(`${t.url}/configuration`);
      await settled(page);
      const config = await configOf(t);
      await write(page, JSON.stringify({ ...config, aliases: { mine: 'm' } }));
      await page.getByText('The gateway would take this configuration.').waitFor();
      await t.request('PUT', '/admin/config', { ...config, aliases: { theirs: 'm' } });
      await page.clock.runFor(6000);
      const again = page.waitForResponse('**/admin/config');
      await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))"); // as when the reader comes back to the tab
      await (await again).finished();
      await apply(page);
      await page
        .getByRole('dialog')
        .getByRole('alert')
        .getByText(/version/)
        .waitFor();
      expect((await configOf(t))['aliases']).to.deep.equal({ theirs: 'm' });
    },
  );

  inSoak('is changed by fields, which leave everything else as it is', async () => {
    const t = await startDashboard({ config: { request_timeout: '30s' } });
    const page = await opened(t, { path: '/configuration?tab=form' });
    await page.getByRole('group', { name: 'Target 1: a' }).getByRole('combobox', { name: 'Weight' }).fill('3');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Add alias' }).click();
    await page.getByRole('group', { name: 'Alias fast' }).getByRole('combobox', { name: 'Model' }).fill('m');
    await page.keyboard.press('Enter');
    await page.getByText('The gateway would take this configuration.').waitFor();
    await apply(page);
    await page.getByText('The configuration is active.').waitFor();
    const config = await configOf(t);
    expect(config).to.deep.include({ aliases: { fast: 'm' }, request_timeout: '30s' });
    expect(config['targets'].map(({ virtual_key, weight }: Config) => [virtual_key, weight])).to.deep.equal([
      ['a', 3],
      ['echo', undefined],
    ]);
  });

  inSoak('goes back to a version, which is named; a refused way back is shown in the dialog', async () => {
    const t = await startDashboard();
    const config = await configOf(t);
    for (const aliases of [{ one: 'm' }, { two: 'm' }]) await t.request('PUT', '/admin/config', { ...config, aliases });
    const page = await opened(t, { path: '/configuration?tab=history' });
    await page.getByRole('button', { name: 'Compare version 1 with the active one' }).click();
    await page
      .getByRole('region', { name: /^Difference/ })
      .getByText('"one": "m"')
      .waitFor();
    await page.getByRole('button', { name: 'Roll back to version 1' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByText('version 1 is active again').waitFor();
    expect((await configOf(t))['aliases']).to.deep.equal({ one: 'm' });
    await page.getByText('Rollback from 2').waitFor();
    await page.route('**/admin/config/rollback/*', (route) =>
      route.fulfill({
        status: 400,
        json: {
          error: {
            message: 'the plugin of this version is gone',
            type: 'invalid_request_error',
            code: 'invalid_config',
          },
        },
      }),
    );
    await page.getByRole('button', { name: 'Roll back to version 2' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByRole('dialog').getByRole('alert').getByText('the plugin of this version is gone').waitFor();
    expect((await configOf(t))['aliases']).to.deep.equal({ one: 'm' });
  });

  inSoak('goes back to that of the start, and asks before changes are lost', async () => {
    const t = await startDashboard();
    const config = await configOf(t);
    await t.request('PUT', '/admin/config', { ...config, aliases: { one: 'm' } });
    const page = await opened(t);
    await write(page, '{}');
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard changes' }).click();
    await page.getByRole('button', { name: 'Review and apply' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Revert to startup' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revert' }).click();
    await page.getByText('The configuration of the start is active again.').waitFor();
    expect(await configOf(t)).to.deep.equal(config);
    await page.route('**/admin/config', (route) =>
      route.request().method() === 'DELETE'
        ? route.fulfill({ status: 501, json: { error: { message: 'no reset here', code: 'not_implemented' } } })
        : route.fallback(),
    );
    await page.getByRole('button', { name: 'Revert to startup' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revert' }).click();
    await page.getByRole('dialog').getByText('no reset here').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Revert to startup' }).waitFor({ state: 'detached' });
  });

  inSoak(
    'has an editor that the keyboard leaves by Escape and Tab, and that formatting gives the focus back to',
    async () => {
      const t = await startDashboard();
      const page = await opened(t);
      await write(page, '{"targets":[]}');
      await page.getByRole('button', { name: 'Format' }).click();
      await editor(page).getByText('"targets": []').waitFor();
      await until(
        page,
        "document.activeElement?.shadowRoot?.activeElement?.getAttribute('aria-label') === 'Configuration'",
      );
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement?.className')).to.equal('code-editor');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement?.className')).not.to.equal('code-editor');
    },
  );
});
