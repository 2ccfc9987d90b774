import { expect } from 'chai';
import { inSoak } from '../kit/index.ts';
import { startFleetDashboard } from './fleet.ts';
import { axe, browserForSuite, opener, PHONE, startDashboard, THEMES } from './kit.ts';

describe('groups in the dashboard', function groups() {
  this.timeout(60_000);
  const browser = browserForSuite();
  const opened = opener(browser, { path: '/routing' });

  inSoak('are chosen beside the default strategy, with routes, fallbacks and where a session would go', async () => {
    const t = await startFleetDashboard({ config: { aliases: { anything: 'oss/llama' } } });
    const page = await opened(t);
    await page.getByRole('table', { name: 'Targets' }).getByRole('cell', { name: 'openai-eu' }).waitFor();
    await page.getByLabel('Requests for').selectOption('smart');
    await page.waitForURL(/group=smart/);
    await page.getByText('stay where they were served').waitFor();
    const cells = (name: string) => page.getByRole('table', { name }).getByRole('cell').allTextContents();
    expect((await cells('Routes')).filter((_text, at) => at % 4 === 2)).to.deep.equal([
      'gpt-5',
      'gpt-5-mini',
      'Qwen/Qwen3-32B',
    ]);
    expect(await cells('Fallbacks')).to.deep.equal([
      'qwen3',
      'the group qwen3',
      'smart',
      'anything',
      'alias of oss/llama, the group oss/*',
      'smart',
    ]);
    await page.getByRole('tab', { name: 'Explain' }).click();
    await page.getByRole('combobox', { name: 'Model' }).fill('smart');
    await page.getByLabel('Session').fill('s-1');
    await page.getByRole('button', { name: 'Explain' }).click();
    const decision = page.getByRole('region', { name: 'Decision' });
    await decision.getByText('at home at openai-eu@gpt-5').waitFor();
    expect(await decision.locator('.explain-order').first().locator('b').allTextContents()).to.deep.equal([
      'openai-eu@gpt-5',
      'openai-eu@gpt-5-mini',
      'gpu-1',
      'gpu-1',
    ]);
    await decision.getByText('fallback oss/llama').waitFor();
    const { credentials } = (
      await t.post('/admin/explain', {
        request: { model: 'smart', messages: [{ role: 'user', content: 'Hello' }] },
        session: 's-1',
      })
    ).json().order[0];
    const shown = await decision.getByRole('list', { name: 'Credentials of openai-eu' }).first().textContent();
    for (const { name, state } of credentials) expect(shown).to.include(`${name}: ${state}`);
  });

  inSoak('keep to the rules of accessibility, in both themes and on a phone', async () => {
    const t = await startFleetDashboard();
    for (const theme of THEMES) {
      const page = await opened(t, { theme, path: '/routing?group=qwen3' });
      expect(await axe(page), theme).to.deep.equal([]);
      await page.setViewportSize(PHONE);
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(PHONE.width);
      await page.getByRole('tab', { name: 'Explain' }).click();
      await page.getByRole('combobox', { name: 'Model' }).fill('smart');
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByText('called first').first().waitFor();
      expect(await axe(page), theme).to.deep.equal([]);
    }
  });

  inSoak('leave the page as it was where there are none', async () => {
    const t = await startDashboard();
    const page = await opened(t);
    expect(await page.getByLabel('Requests for').count()).to.equal(0);
    await page.getByRole('tab', { name: 'Explain' }).click();
    await page.getByRole('button', { name: 'Explain' }).waitFor();
    expect(await page.getByLabel('Session').count()).to.equal(0);
  });
});
