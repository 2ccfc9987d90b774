import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Context } from 'mocha';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { type AdminHost, as, type KeyObject, startAdmin } from '../admin/kit.ts';
import {
  ask,
  atEnd,
  type FaultScript,
  faultUpstream,
  type FaultUpstream,
  forSuite,
  loadScript,
  MASTER_KEY,
  requireTool,
  temporaryFolder,
  type TestHostOptions,
} from '../kit/index.ts';

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
/** What is built. */
export const BUNDLE = join(CHECKOUT, 'builtins/dashboard/dist');
const SESSION_KEY = 'gw.session.v1'; // as the application names it
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const CHAT = '/v1/chat/completions';

export const DESKTOP = { width: 1680, height: 945 };
export const PHONE = { width: 390, height: 844 };
export const THEMES = ['light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** One browser for all tests of a suite, with the bundle of the sources as they are; the suite is skipped where there is no Chromium. */
export function browserForSuite(): () => Browser {
  let executablePath = '';
  before(function find(this: Context) {
    executablePath = requireTool(this, 'chromium');
  });
  return forSuite(async () => {
    const { status, stderr } = spawnSync(process.execPath, [join(CHECKOUT, 'build/dashboard.js')], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`the dashboard could not be built:\n${stderr}`);
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
    atEnd(() => browser.close());
    return browser;
  });
}

export interface Gateway extends AdminHost {
  readonly upstream: FaultUpstream;
  /** Sends chat requests with this content, one after the other, and gives their statuses. */
  chat(contents: readonly string[], key?: string): Promise<number[]>;
}

export const LOGGING = ['before_request', 'after_request', 'on_error'].map((stage) => ({
  name: 'request-logger',
  stage,
  enabled: true,
  config: { level: 'debug', persist: true },
}));

export interface GatewayChoices extends TestHostOptions {
  readonly script?: FaultScript;
  readonly config?: object;
  /** Whether requests are kept in a store, as they are unless said. */
  readonly hasLog?: boolean;
}

/** A gateway with the built dashboard, everything of it on SQLite, over an upstream that misbehaves as the script says. */
export async function startDashboard({
  script = loadScript('ok'),
  config = {},
  hasLog = true,
  ...options
}: GatewayChoices = {}): Promise<Gateway> {
  const folder = await temporaryFolder();
  const upstream = await faultUpstream({ script });
  const variables = {
    API_KEY_STORE_BACKEND: 'sqlite',
    API_KEY_STORE_DSN: join(folder, 'keys.db'),
    CONFIG_STORE_BACKEND: 'sqlite',
    CONFIG_STORE_DSN: join(folder, 'config.db'),
    ...(hasLog && { REQUEST_LOG_STORE_BACKEND: 'sqlite', REQUEST_LOG_STORE_DSN: join(folder, 'requests.db') }),
    ...options.variables,
  };
  const whole = {
    strategy: { mode: 'fallback' },
    targets: [upstream.target('a', { models: ['m', 'second-model'] }), { virtual_key: 'echo' }],
    plugins: hasLog ? LOGGING : [],
    ...config,
  };
  const t = await startAdmin({ ...options, variables, installDirectory: CHECKOUT }, whole);
  const chat = async (contents: readonly string[], key = MASTER_KEY): Promise<number[]> => {
    const statuses: number[] = [];
    for (const content of contents) statuses.push((await t.post(CHAT, ask(content), as(key))).status);
    return statuses;
  };
  return { ...t, upstream, chat };
}

export interface Seen {
  readonly page: Page;
  /** What the browser refused by the page's policy, and what the page wrote to its console as an error. */
  readonly complaints: string[];
}

export interface OpenChoices {
  readonly path?: string;
  /** The credential of the session; an empty one leaves the page signed out. */
  readonly key?: string;
  readonly theme?: Theme;
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly context?: BrowserContextOptions;
}

/** Opens the dashboard as a reader who has signed in; gone after the test, which fails when the page complained. */
export async function open(
  browser: Browser,
  t: AdminHost,
  { path = '/overview', key = MASTER_KEY, theme = 'light', viewport = DESKTOP, context: more = {} }: OpenChoices = {},
): Promise<Seen> {
  const context = await browser.newContext({
    viewport,
    colorScheme: theme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    ...more,
  });
  const page = await context.newPage();
  const complaints = await listen(page);
  atEnd(async () => {
    await context.close();
    expect(complaints, 'what the page complained of').to.deep.equal([]);
  });
  if (key !== '') {
    const session = JSON.stringify(await t.signIn(key));
    // Once: a session that the page ended stays ended.
    await page.addInitScript(
      `if (!sessionStorage.getItem('test.signed')) { sessionStorage.setItem('test.signed', 'once'); sessionStorage.setItem(${JSON.stringify(SESSION_KEY)}, ${JSON.stringify(session)}); }`,
    );
  }
  await page.goto(t.url + path);
  return { page, complaints };
}

/** A status that the page asked for and shows is not a complaint. */
const EXPECTED = /^Failed to load resource: the server responded with a status of/;

/** Runs in the page, before anything of it. */
const REPORT = `document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) => { reportViolation([effectiveDirective, blockedURI, sample].join(' ')); });`;

async function listen(page: Page): Promise<string[]> {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !EXPECTED.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.exposeFunction('reportViolation', (text: string) => {
    complaints.push(`refused by the policy: ${text}`);
  });
  await page.addInitScript(REPORT);
  return complaints;
}

/** Everything that axe finds by the rules of WCAG 2.2 AA: what is wrong, and where. */
export async function axe(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const violations = (await page.evaluate(RUN_AXE)) as readonly Violation[];
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(
      ({ target, failureSummary }) =>
        `${id} (${impact}): ${target.join(' ')}: ${failureSummary.replaceAll(/\s+/g, ' ')}`,
    ),
  );
}

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

const RUN_AXE = `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }).then(({ violations }) => violations)`;

/** Waits for something to be true in the page: an expression, because the page's policy refuses Playwright's own way to wait. */
export async function until(page: Page, expression: string): Promise<void> {
  const isTrue = async (): Promise<boolean> => (await page.evaluate(expression)) === true;
  while (!(await isTrue())) await page.waitForTimeout(50);
}

/** The page has what it asked for: nothing is loading any more. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  for (const placeholder of ['.boot', '.loading'])
    await page.locator(placeholder).first().waitFor({ state: 'detached' });
}

/** For a suite: opens a page of its own unless another is said, and waits until the page has what it asked for. */
export function opener(
  browser: () => Browser,
  own: OpenChoices = {},
): (t: AdminHost, choices?: OpenChoices) => Promise<Page> {
  return async (t, choices = {}) => {
    const { page } = await open(browser(), t, { ...own, ...choices });
    await settled(page);
    return page;
  };
}

export { as, type KeyObject };
