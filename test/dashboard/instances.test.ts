import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { inSoak } from '../kit/index.ts';
import { startFleetDashboard, VALUES } from './fleet.ts';
import { axe, browserForSuite, opener, PHONE, startDashboard, THEMES } from './kit.ts';

const TYPED = 'sk-typed-by-hand-0123456789abcdef';

const row = (page: Page, name: string) =>
  page.getByRole('table', { name: 'Instances' }).getByRole('row').filter({ hasText: name });

/** Everything that the page sends and is sent, beside what the bundle is made of. */
function traffic(page: Page): { readonly sent: string[]; readonly got: Promise<string>[] } {
  const [sent, got]: [string[], Promise<string>[]] = [[], []];
  page.on('request', (request) => sent.push(`${request.method()} ${request.url()} ${request.postData() ?? ''}`));
  page.on('response', (response) => {
    if (!response.url().includes('/assets/')) got.push(response.text().catch(() => ''));
  });
  return { sent, got };
}

describe('instances in the dashboard', function instances() {
  this.timeout(60_000);
  const browser = browserForSuite();
  const opened = opener(browser, { path: '/providers' });

  inSoak(
    'are a row each, whose credentials have the states that readiness and explanations have, and are reset',
    async () => {
      const t = await startFleetDashboard();
      const page = await opened(t);
      await row(page, 'openai-eu')
        .getByText(/^team-a: benched, key refused, 10 min left$/)
        .waitFor();
      await row(page, 'openai-eu')
        .getByText(/^team-b: resting, 10 min left$/)
        .waitFor();
      await row(page, 'openai-eu').getByText('spare: ready').waitFor();
      await row(page, 'gpu-1').getByText('key-2: unresolved').waitFor();
      await row(page, 'gpu-2').getByText('no usable credential').waitFor();
      expect(await row(page, 'gpu-2').getByRole('cell').nth(1).textContent()).to.equal('openai-compatible');
      expect(await row(page, 'gpu-2').getByRole('cell').nth(2).textContent()).to.equal(new URL(t.vendor.url).host);
      const { targets } = (await t.get('/readyz')).json();
      expect(targets.map(({ name, routable }: any) => [name, routable])).to.deep.equal([
        ['openai-eu', true],
        ['gpu-1', true],
        ['gpu-2', false],
        ['echo', true],
      ]);
      const { order } = (
        await t.post('/admin/explain', { request: { model: 'smart', messages: [{ role: 'user', content: 'hi' }] } })
      ).json();
      expect(order[0].credentials.map(({ name, state }: any) => `${name} ${state}`)).to.deep.equal([
        'spare ready',
        'team-b resting',
        'team-a benched',
      ]);
      expect(await page.getByRole('button', { name: 'Reset spare of openai-eu' }).count()).to.equal(0);
      await page.getByRole('button', { name: 'Reset default of gpu-2' }).click();
      await page.getByText('default of gpu-2 may be called again.').waitFor();
      await row(page, 'gpu-2').getByText('default: ready').waitFor();
      await row(page, 'gpu-2').getByText('Connected').waitFor();
    },
  );

  inSoak(
    'are added and changed by references: a typed secret is refused before any call, and a refused write is shown at its field',
    async () => {
      const t = await startFleetDashboard();
      const page = await opened(t);
      const { sent, got } = traffic(page);
      await page.getByRole('button', { name: 'Add instance' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name (required)').fill('gpu-3');
      await dialog.getByLabel('Address (required)').fill(`${t.vendor.url}/v1/chat/completions`);
      await dialog.getByLabel('api_key').fill(TYPED);
      await dialog.getByRole('button', { name: 'Apply' }).click();
      await dialog.getByText('A credential must be a reference').waitFor();
      await page.locator('[aria-invalid]:focus').waitFor();
      await dialog.getByLabel('api_key').fill('${GPU_KEY}');
      await dialog.getByRole('button', { name: 'Apply' }).click();
      await dialog.getByText(/^CV50: /).waitFor();
      expect(await dialog.getByLabel('Address (required)').getAttribute('aria-invalid')).to.equal('true');
      expect(sent.filter((call) => call.startsWith('PUT'))).to.have.lengthOf(1);
      await dialog.getByLabel('Address (required)').fill(t.vendor.url);
      await dialog.getByRole('button', { name: 'Apply' }).click();
      await page.getByText('The instance gpu-3 is in force.').waitFor();
      await row(page, 'gpu-3').getByText('default: ready').waitFor();
      await page.getByRole('button', { name: 'Change gpu-3' }).click();
      await dialog.getByRole('button', { name: 'Add credential' }).click();
      await dialog.getByRole('group', { name: 'Credential 2' }).getByLabel('api_key').fill('${GOOD_KEY}');
      await dialog.getByRole('button', { name: 'Apply' }).click();
      await row(page, 'gpu-3').getByText('key-1: ready').waitFor();
      const { providers, targets } = (await t.get('/admin/config')).json();
      expect(providers['gpu-3']).to.deep.equal({
        kind: 'openai-compatible',
        base_url: t.vendor.url,
        credentials: [
          { name: 'default', api_key: '${GPU_KEY}' },
          { name: 'key-1', api_key: '${GOOD_KEY}' },
        ],
      });
      expect(targets.at(-1)).to.deep.equal({ virtual_key: 'gpu-3' });
      const said = [...sent, ...(await Promise.all(got)), await page.content()].join('\n');
      expect(said).to.include('${GPU_KEY}');
      for (const value of [TYPED, ...Object.values(VALUES)]) expect(said.includes(value), value).to.equal(false);
    },
  );

  inSoak('are not overwritten where another write came first', async () => {
    const t = await startFleetDashboard();
    const page = await opened(t);
    const write = async (change: (config: Record<string, any>) => void): Promise<void> => {
      const config = (await t.get('/admin/config')).json();
      change(config);
      expect((await t.request('PUT', '/admin/config', config)).status).to.equal(200);
    };
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Change gpu-2' }).click();
    await dialog.getByLabel('Models', { exact: true }).fill('a, b');
    await write((config) => {
      config['aliases'] = { theirs: 'smart' };
    });
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await dialog.getByText('and not this instance').waitFor();
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('The instance gpu-2 is in force.').waitFor();
    const config = (await t.get('/admin/config')).json();
    expect([config.aliases, config.providers['gpu-2'].models]).to.deep.equal([{ theirs: 'smart' }, ['a', 'b']]);
    await page.getByRole('button', { name: 'Change gpu-2' }).click();
    await dialog.getByLabel('Models', { exact: true }).fill('mine');
    await write((changed) => {
      changed['providers']['gpu-2'].models = ['theirs'];
    });
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await dialog.getByText('Another write has changed this instance').waitFor();
    expect((await t.get('/admin/config')).json().providers['gpu-2'].models).to.deep.equal(['theirs']);
  });

  inSoak('are seen and not changed by readers', async () => {
    const t = await startFleetDashboard();
    const { key } = await t.makeKey({ name: 'reader' });
    const page = await opened(t, { key });
    await row(page, 'openai-eu')
      .getByText(/^team-a: benched/)
      .waitFor();
    expect(await page.getByRole('button', { name: /^(Add|Change|Reset)/ }).count()).to.equal(0);
  });

  inSoak('keep to the rules of accessibility, in both themes, on a phone and in their form', async () => {
    const t = await startFleetDashboard();
    for (const theme of THEMES) {
      const page = await opened(t, { theme });
      expect(await axe(page), theme).to.deep.equal([]);
      await page.setViewportSize(PHONE);
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(PHONE.width);
      await page.getByRole('button', { name: 'Change openai-eu' }).focus();
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Change openai-eu' });
      await dialog.getByLabel('api_key').first().fill('not a reference');
      await page.keyboard.press('Enter');
      await dialog.getByText('A credential must be a reference').waitFor();
      expect(await axe(page), `${theme}, the form`).to.deep.equal([]);
      await page.keyboard.press('Escape');
      await page.locator('[aria-label="Change openai-eu"]:focus').waitFor();
    }
  });

  inSoak('can be added where there is none yet', async () => {
    const t = await startDashboard();
    const page = await opened(t);
    expect(await page.getByRole('table', { name: 'Instances' }).count()).to.equal(0);
    await page.getByRole('button', { name: 'Add instance' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name (required)').fill('local');
    await dialog.getByLabel('Address (required)').fill('http://127.0.0.1:9');
    await dialog.getByLabel('Models', { exact: true }).fill('one, two');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await row(page, 'local').getByText('2 models').waitFor();
  });
});
