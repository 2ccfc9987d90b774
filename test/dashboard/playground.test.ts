import { expect } from 'chai';
import { inSoak } from '../kit/index.ts';
import type { Page } from 'playwright-core';
import { axe, browserForSuite, opener, PHONE, startDashboard } from './kit.ts';

const PROMPT = 'Say <script>alert(1)</script> & be kind';

describe('the playground of the dashboard', function playground() {
  this.timeout(60_000);
  const browser = browserForSuite();
  const opened = opener(browser);
  const prompt = (page: Page) => page.getByRole('textbox', { name: 'Prompt', exact: true });
  const send = async (page: Page, text: string): Promise<void> => {
    await prompt(page).fill(text);
    await page.keyboard.press('Control+Enter');
  };
  const fact = (page: Page, name: string) =>
    page.locator('.attribution').last().locator('div', { hasText: name }).locator('dd');

  inSoak(
    'streams an answer as text, with who served it and what it cost, and reminds the model of whole turns',
    async () => {
      const t = await startDashboard();
      const page = await opened(t, { path: '/playground?model=echo' });
      const sent = page.waitForRequest('**/v1/chat/completions');
      await send(page, PROMPT);
      expect((await sent).postDataJSON()).to.deep.equal({
        model: 'echo',
        temperature: 0.7,
        max_tokens: 1024,
        messages: [{ role: 'user', content: PROMPT }],
        stream: true,
        stream_options: { include_usage: true },
      });
      expect((await sent).headers()['authorization']).to.match(/^Bearer gws_/);
      await page.locator('.turn-text', { hasText: PROMPT }).waitFor();
      expect(await fact(page, 'Served by').textContent()).to.equal('echo');
      await fact(page, 'Cost').getByText('no known price').waitFor();
      await fact(page, 'Tokens')
        .getByText(/\d+ in, \d+ out/)
        .waitFor();
      expect(await axe(page)).to.deep.equal([]);
      const next = page.waitForRequest('**/v1/chat/completions');
      await send(page, 'again');
      expect((await next).postDataJSON().messages).to.deep.equal([
        { role: 'user', content: PROMPT },
        { role: 'assistant', content: PROMPT },
        { role: 'user', content: 'again' },
      ]);
      await page.locator('.turn').nth(1).getByText('In the request log').waitFor();
      await page.getByRole('link', { name: 'In the request log' }).last().click();
      await page.getByRole('heading', { level: 1, name: 'Request Logs' }).waitFor();
    },
  );

  inSoak('answers in one piece where it is asked to, under the settings of the form', async () => {
    const t = await startDashboard();
    const page = await opened(t, { path: '/playground?model=m' });
    await page.getByRole('checkbox', { name: 'Stream the answer' }).uncheck();
    await page.getByRole('slider', { name: /Temperature/ }).fill('1.3');
    await page.getByRole('spinbutton', { name: 'Maximum tokens' }).fill('12');
    await page.getByRole('textbox', { name: 'System prompt' }).fill('be brief');
    const sent = page.waitForRequest('**/v1/chat/completions');
    await send(page, 'hello');
    expect((await sent).postDataJSON()).to.deep.equal({
      model: 'm',
      temperature: 1.3,
      max_tokens: 12,
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'hello' },
      ],
    });
    await fact(page, 'Served by').getByText('a').waitFor();
    await page.getByRole('button', { name: 'Reset' }).click();
    await page.getByText('Nothing sent yet').waitFor();
  });

  inSoak('compares two models side by side; one that fails does not take the other with it', async () => {
    const t = await startDashboard();
    const page = await opened(t, { path: '/playground?model=echo' });
    await page.getByRole('button', { name: 'Compare with another' }).click();
    await page.getByLabel('Second model').first().selectOption('echo-break');
    await send(page, 'one two three');
    const [first, second] = [
      page.getByRole('region', { name: 'First model' }),
      page.getByRole('region', { name: 'Second model' }),
    ];
    await first.locator('.turn-text', { hasText: 'one two three' }).waitFor();
    await second.getByRole('alert').waitFor();
    expect(await second.locator('.turn').count(), 'half an answer is not shown as one').to.equal(0);
    expect(await prompt(page).inputValue()).to.equal('');
    expect(await axe(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Stop comparing' }).click();
    await second.waitFor({ state: 'detached' });
  });

  inSoak('keeps the prompt of an answer that broke or was stopped', async () => {
    const t = await startDashboard();
    const page = await opened(t, { path: '/playground?model=echo-break' });
    for (const model of ['echo-break', 'echo-cut']) {
      await page.getByLabel('Model', { exact: true }).selectOption(model);
      await send(page, 'these words are lost');
      await page.getByRole('log').getByRole('alert').waitFor();
      expect([await page.locator('.turn').count(), await prompt(page).inputValue()], model).to.deep.equal([
        0,
        'these words are lost',
      ]);
    }
    await page.getByLabel('Model', { exact: true }).selectOption('echo-slow');
    await send(page, 'a long answer that takes its time word after word');
    await page.locator('.turn-text', { hasText: 'a long' }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('stopped', { exact: true }).waitFor();
    await page.locator('button[type=submit]:enabled', { hasText: 'Send' }).waitFor(); // there is something to send again
    expect(await prompt(page).inputValue()).to.equal('a long answer that takes its time word after word');
    expect(await page.getByRole('alert').count()).to.equal(0);
  });

  inSoak('shows vectors by their number, first values and length, and what the gateway refuses', async () => {
    const t = await startDashboard();
    const page = await opened(t, { path: '/playground?tab=embeddings&embedding=m' });
    await page.getByRole('textbox', { name: 'Texts' }).fill('one\ntwo');
    const sent = page.waitForRequest('**/v1/embeddings');
    await page.getByRole('button', { name: 'Embed' }).click();
    expect((await sent).postDataJSON()).to.deep.equal({ model: 'm', input: ['one', 'two'] });
    await page.getByText(/\d+ vectors? of \d+ dimensions/).waitFor();
    await page
      .getByText(/L2 norm \d/)
      .first()
      .waitFor();
    await page.goto(`${t.url}/playground?tab=embeddings&embedding=no-such-model`);
    await page.getByRole('textbox', { name: 'Texts' }).fill('one');
    await page.getByRole('button', { name: 'Embed' }).click();
    await page.getByRole('alert').getByText('no-such-model').waitFor();
    expect(await axe(page)).to.deep.equal([]);
  });

  inSoak('shows images that came along, and links those that lie elsewhere', async () => {
    const t = await startDashboard();
    const page = await opened(t, { path: '/playground?tab=images&image=m' });
    const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    await page.route('**/v1/images/generations', (route) =>
      route.fulfill({
        json: {
          data: [
            { b64_json: dot, revised_prompt: '<b>a dot</b>' },
            { url: 'https://files.example/1.png' },
            { url: 'javascript:alert(1)' },
          ],
        },
      }),
    );
    await page.getByRole('textbox', { name: 'Prompt' }).fill('a dot');
    await page.getByRole('spinbutton', { name: 'Images' }).fill('9');
    await page.getByRole('combobox', { name: 'Size' }).selectOption('512x512');
    const sent = page.waitForRequest('**/v1/images/generations');
    await page.getByRole('button', { name: 'Generate' }).click();
    expect((await sent).postDataJSON()).to.deep.equal({ model: 'm', prompt: 'a dot', n: 4, size: '512x512' });
    const image = page.getByRole('img', { name: '<b>a dot</b>' });
    await image.waitFor();
    expect(await page.locator('.image').count()).to.equal(2);
    expect(await page.getByRole('link', { name: 'Open image 2' }).getAttribute('href')).to.equal(
      'https://files.example/1.png',
    );
    await page.locator('.image', { hasText: 'Revised prompt: <b>a dot</b>' }).waitFor();
    expect(await axe(page)).to.deep.equal([]);
  });

  inSoak('may be used by who may only read, with a notice, and fits a phone', async () => {
    const t = await startDashboard();
    const { key } = await t.makeKey();
    const page = await opened(t, { path: '/playground?model=echo&with=m', key });
    await page.getByText('Your session is read only.').waitFor();
    await page.setViewportSize(PHONE);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.equal(0);
    await send(page, 'hello');
    await page.locator('.turn-text', { hasText: 'hello' }).first().waitFor();
  });
});
