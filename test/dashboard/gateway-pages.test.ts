import { expect } from 'chai';
import { inSoak } from '../kit/index.ts';
import { axe, browserForSuite, opener, PHONE, settled, startDashboard } from './kit.ts';

const MARKUP = '<b onclick=alert(1)>';
const FILTER = { name: 'word-filter', stage: 'before_request', enabled: true, config: { blocked_words: [MARKUP] } };

describe('what the dashboard shows of the configuration', function pages() {
  this.timeout(60_000);
  const browser = browserForSuite();
  const opened = opener(browser);

  inSoak('are providers in their state, found by a part of their names, and their models', async () => {
    const t = await startDashboard({ config: { targets: [{ virtual_key: 'echo' }, { virtual_key: 'openai' }] } });
    const page = await opened(t, { path: '/providers' });
    const card = (name: string) => page.locator('.provider', { has: page.getByRole('heading', { name, exact: true }) });
    await card('echo').getByText('Connected').waitFor();
    await card('openai').getByText('Unavailable').waitFor();
    await card('openai').getByText('OPENAI_API_KEY is not set').waitFor();
    await card('cohere').getByText('Not configured').waitFor();
    expect((await page.locator('.provider h2').allTextContents())[0]).to.equal('openai');
    await page.getByLabel('Sort by').selectOption('name');
    expect((await page.locator('.provider h2').allTextContents())[0]).to.equal('ai21');
    await page.getByRole('searchbox', { name: 'Find a provider' }).fill('ech');
    await page.getByText(/^1 of \d+ providers/).waitFor();
    await page.reload();
    await settled(page);
    await page.getByText(/^1 of \d+ providers/).waitFor();
    await card('echo').getByRole('button', { name: 'Show models of echo' }).click();
    const dialog = page.getByRole('dialog', { name: 'Models of echo' });
    await dialog.getByRole('cell', { name: 'echo-slow', exact: true }).waitFor();
    await dialog.getByRole('searchbox').fill('error-42');
    await dialog.getByText(/^\d+ of \d+ models/).waitFor();
    expect(await axe(page)).to.deep.equal([]);
    for (const _ of ['clears the box', 'closes the dialog']) await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.locator('[aria-label="Show models of echo"]:focus').waitFor();
  });

  inSoak('are chat parameters by provider, filtered both ways, in a box that the keyboard scrolls', async () => {
    const t = await startDashboard({
      variables: { GROQ_API_KEY: 'x' },
      config: { targets: [{ virtual_key: 'echo' }, { virtual_key: 'groq' }] },
    });
    const page = await opened(t, { path: '/providers?tab=capabilities', viewport: PHONE });
    const box = page.getByRole('group', { name: 'Chat parameters by provider' });
    await box.waitFor();
    await box.focus();
    for (let presses = 0; presses < 5; presses++) await page.keyboard.press('ArrowRight');
    await page.waitForTimeout(300);
    expect(await page.evaluate("document.querySelector('.matrix-scroll').scrollLeft")).to.be.above(0);
    await page.getByRole('searchbox', { name: 'Provider' }).fill('groq');
    await page.getByRole('searchbox', { name: 'Parameter' }).fill('logit');
    await page.getByText('1 provider, 1 parameter').waitFor();
    expect(await box.getByRole('cell').allTextContents()).to.deep.equal(['unsupported']);
    await page.getByRole('searchbox', { name: 'Parameter' }).fill('nothing-like-it');
    await page.getByText('Nothing fits').waitFor();
  });

  inSoak('are the strategy with its rules, and what it would do with a request', async () => {
    const t = await startDashboard({
      config: {
        strategy: {
          mode: 'ab-test',
          ab_variants: [
            { target_key: 'a', weight: 3, label: 'control' },
            { target_key: 'echo', weight: 0, label: MARKUP },
          ],
        },
        aliases: { fast: 'm' },
      },
    });
    const page = await opened(t, { path: '/routing' });
    await page.locator('.mode-active', { hasText: 'ab-test' }).waitFor();
    expect(await page.getByRole('table', { name: 'Variants' }).getByRole('cell').allTextContents()).to.deep.equal([
      'control',
      'a',
      '100%',
      MARKUP,
      'echo',
      '0%',
    ]);
    expect(await page.getByRole('table', { name: 'All strategies' }).getByRole('row').count()).to.equal(9);
    await page.getByRole('tab', { name: 'Explain' }).click();
    await page.waitForURL(/tab=explain/);
    await page.getByRole('combobox', { name: 'Model' }).fill('fast');
    await page.getByRole('textbox', { name: 'Metadata' }).fill('not JSON');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('Metadata must be a JSON object').waitFor();
    await page.getByRole('textbox', { name: 'Metadata' }).fill('{"team": "search"}');
    await page.getByRole('button', { name: 'Explain' }).click();
    const decision = page.getByRole('region', { name: 'Decision' });
    await decision.getByText('m (asked for as fast)').waitFor();
    expect(await decision.locator('.explain-target b').allTextContents()).to.deep.equal(['a', 'echo']);
    await decision.locator('dd', { hasText: /^control$/ }).waitFor();
    expect(await axe(page)).to.deep.equal([]);
    await page.getByRole('combobox', { name: 'Model' }).fill(MARKUP);
    await page.getByRole('button', { name: 'Explain' }).click();
    await decision.getByText('model_not_found').waitFor();
  });

  inSoak(
    'are plugins by name with their settings as text, the rest of the catalogue, and which bodies they read',
    async () => {
      const t = await startDashboard();
      await t.apply({
        targets: [{ virtual_key: 'echo' }],
        plugins: [
          FILTER,
          { ...FILTER, stage: 'after_request', enabled: false },
          { name: 'max-token', stage: 'before_request', enabled: false, config: { max_tokens: 9 } },
        ],
      });
      const page = await opened(t, { path: '/plugins' });
      const card = (name: string) => page.locator('.plugin', { has: page.getByRole('heading', { name, exact: true }) });
      await card('word-filter').getByText('Partly enabled').waitFor();
      await card('word-filter').getByText(`["${MARKUP}"]`).waitFor();
      await card('word-filter').getByText('If it breaks, requests are refused.').waitFor();
      await card('max-token').getByText('Disabled', { exact: true }).waitFor();
      const others = page.getByRole('table', { name: 'Plugins that are not configured' });
      await others.getByRole('cell', { name: 'budget', exact: true }).waitFor();
      expect(await others.getByRole('cell', { name: 'word-filter', exact: true }).count()).to.equal(0);
      await page.getByRole('tab', { name: 'Coverage' }).click();
      const rows = page.getByRole('table', { name: 'Coverage' }).getByRole('row');
      await rows.filter({ hasText: 'audio.transcriptions' }).getByText('refused: it cannot be read').waitFor();
      await page.getByText(/bodies that no content guardrail reads/).click();
      await page.getByText('chat after_request: no content guardrail reads this body').waitFor();
    },
  );
});
