import { expect } from 'chai';
import { inSoak } from '../kit/index.ts';
import { startFleetDashboard } from './fleet.ts';
import { axe, browserForSuite, opener, PHONE, THEMES } from './kit.ts';

const TYPED = 'sk-typed-by-hand-0123456789abcdef';

describe('instances and groups in the form of the configuration', function form() {
  this.timeout(60_000);
  const browser = browserForSuite();
  const opened = opener(browser, { path: '/configuration?tab=form' });

  inSoak('are changed by fields, which leave everything else as it is', async () => {
    const t = await startFleetDashboard();
    const before = (await t.get('/admin/config')).json();
    const page = await opened(t);
    const group = (name: string) => page.getByRole('group', { name, exact: true });
    const smart = group('Group 1: smart');
    await smart.getByRole('combobox', { name: 'Fallbacks' }).fill('qwen3');
    await smart.getByRole('button', { name: 'Move route 3 up' }).click();
    await smart.getByRole('button', { name: 'Remove route 3' }).click();
    await page.getByRole('button', { name: 'Remove the group oss/*' }).click();
    await page.getByRole('button', { name: 'Change the instance gpu-2' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change gpu-2' });
    await dialog.getByLabel('Weight').fill('2');
    await dialog.getByRole('button', { name: 'Take over' }).click();
    await page.getByText('The gateway would take this configuration.').waitFor();
    await page.getByRole('button', { name: 'Review and apply' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply changes' }).click();
    await page.getByText('The configuration is active.').waitFor();
    const { api_key: key, ...gpu2 } = before.providers['gpu-2'];
    const [first, second] = before.models;
    const [one, , three] = first.routes;
    expect((await t.get('/admin/config')).json()).to.deep.equal({
      ...before,
      providers: {
        ...before.providers,
        'gpu-2': { ...gpu2, credentials: [{ name: 'default', api_key: key, weight: 2 }] },
      },
      models: [{ ...first, routes: [one, three], fallbacks: ['qwen3'] }, second],
    });
  });

  inSoak('never hold a typed secret: neither the form nor the editor sends one', async () => {
    const t = await startFleetDashboard();
    const page = await opened(t);
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.postData() ?? ''));
    await page.getByRole('button', { name: 'Add instance' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name (required)').fill('new');
    await dialog.getByLabel('Address (required)').fill(t.vendor.url);
    await dialog.getByLabel('api_key').fill(TYPED);
    await dialog.getByRole('button', { name: 'Take over' }).click();
    await dialog.getByText('A credential must be a reference').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Editor' }).click();
    const config = (await t.get('/admin/config')).json();
    config.providers['gpu-2'].api_key = TYPED;
    await page.getByRole('textbox', { name: 'Configuration' }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(JSON.stringify(config));
    await page.getByText('providers.gpu-2.api_key: A credential must be a reference').waitFor();
    expect(await page.getByRole('button', { name: 'Review and apply' }).isDisabled()).to.equal(true);
    await page.waitForTimeout(700); // longer than the page waits before it asks
    expect(sent.filter((body) => body.includes(TYPED))).to.deep.equal([]);
  });

  inSoak(
    'keep to the rules of accessibility, in both themes and on a phone, and are read only for readers',
    async () => {
      const t = await startFleetDashboard();
      for (const theme of THEMES) {
        const page = await opened(t, { theme });
        expect(await axe(page), theme).to.deep.equal([]);
        await page.setViewportSize(PHONE);
        expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(PHONE.width);
        expect(await axe(page), `${theme}, on a phone`).to.deep.equal([]);
      }
      const { key } = await t.makeKey({ name: 'reader' });
      const page = await opened(t, { key });
      const first = page.getByRole('group', { name: 'Group 1: smart', exact: true });
      await first.waitFor();
      expect(await page.getByRole('button', { name: /^(Add|Change|Remove|Move)/ }).count()).to.equal(0);
      expect(await first.getByRole('combobox', { name: 'Fallbacks' }).isDisabled()).to.equal(true);
    },
  );
});
