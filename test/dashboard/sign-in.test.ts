import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { CLIENT, inFront, realProvider } from '../identity/provider.ts';
import { issuerConfig } from '../identity/issuer.ts';
import { axe, browserForSuite, open, startDashboard } from './kit.ts';

const GROUPS: Readonly<Record<string, readonly string[]>> = { ada: ['admins'], bob: ['viewers'], eve: ['others'] };

/** At the provider: a name and any password, then its question whether that is right. */
async function atProvider(page: Page, login: string): Promise<void> {
  await page.waitForSelector('input[name=login]');
  await page.fill('input[name=login]', login);
  await page.fill('input[name=password]', 'any');
  await page.click('button[type=submit]');
  await page.waitForSelector('input[name=prompt][value=consent]', { state: 'attached' });
  await page.click('button[type=submit]');
}

describe('signing in with a company account', function suite() {
  this.timeout(120_000);
  const browser = browserForSuite();

  it('goes to the provider and back to the page that was wanted, and out again', async () => {
    const front = await inFront();
    const provider = await realProvider(`${front.url}/login/corp`, (login) => GROUPS[login] ?? []);
    const signIn = { client_id: CLIENT.id, client_secret: '${TEST_SECRET}', scopes: ['openid', 'profile', 'groups'] };
    const t = await startDashboard({
      hasLog: false,
      config: { identity: { issuers: [issuerConfig(provider, { label: 'Acme', sign_in: signIn })] } },
      variables: { GW_PUBLIC_URL: front.url, TEST_SECRET: CLIENT.secret },
    });
    front.to = t.url;
    const { page } = await open(browser(), { ...t, url: front.url }, { path: '/keys?x=1', key: '' });
    await page.route(/^https:/, (route) => route.fulfill({ status: 200, body: '' })); // fonts of the provider's page
    await page.click('text=Sign in with Acme');
    await atProvider(page, 'ada');
    await page.waitForURL(`${front.url}/keys?x=1`);
    await page.waitForSelector('text=ada Lovelace');
    expect(await page.context().cookies(front.url)).to.satisfy((cookies: { name: string }[]) =>
      cookies.every(({ name }) => !name.startsWith('gw')),
    );
    expect(t.texts.join('\n')).to.not.match(/[?&]code=/);
    const [row] = await t.trail('&action=session.create');
    expect(row).to.include({ outcome: 'ok' });

    await page.goto(`${front.url}/login/corp?code=stolen&state=other`);
    await page.waitForSelector('text=This sign-in was not begun in this tab.');
    expect(page.url()).to.equal(`${front.url}/login/corp`);
    expect(await axe(page)).to.deep.equal([]);
    await page.goto(`${front.url}/overview`);
    await page.click('button[aria-label="Log out"]');
    await page.waitForSelector('text=Sign in with Acme');
    expect(await axe(page)).to.deep.equal([]);
    expect((await t.get('/admin/sessions')).json().data).to.have.length(0);
  });

  it('lets only those in whom a rule knows', async () => {
    const front = await inFront();
    const provider = await realProvider(`${front.url}/login/corp`, (login) => GROUPS[login] ?? []);
    const signIn = { client_id: CLIENT.id, client_secret: '${TEST_SECRET}', scopes: ['openid', 'groups'] };
    const t = await startDashboard({
      hasLog: false,
      config: { identity: { issuers: [issuerConfig(provider, { sign_in: signIn })] } },
      variables: { GW_PUBLIC_URL: front.url, TEST_SECRET: CLIENT.secret },
    });
    front.to = t.url;
    const { page } = await open(browser(), { ...t, url: front.url }, { key: '' });
    await page.route(/^https:/, (route) => route.fulfill({ status: 200, body: '' }));
    await page.click('text=Sign in with corp');
    await atProvider(page, 'eve');
    await page.waitForSelector('text=Your account may not use this gateway.');
    expect((await t.get('/admin/sessions')).json().data).to.have.length(0);
  });
});
