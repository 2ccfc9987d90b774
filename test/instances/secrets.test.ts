import { mkdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  ask,
  chatReply,
  eventually,
  fakeClock,
  replyJson,
  startGateway,
  startHost,
  stubUpstream,
  temporaryFolder,
  type TestHost,
} from '../kit/index.ts';

const OLD = 'plain-value-of-before-0123';
const NEW = 'plain-value-of-after-45678';

/** Replaces a file by another one that was written a while ago. */
async function put(path: string, text: string): Promise<void> {
  await writeFile(`${path}.next`, text, { mode: 0o600 });
  const at = Date.now() / 1000 - 60;
  await utimes(`${path}.next`, at, at);
  await rename(`${path}.next`, path);
}

/** Says what credential it was called with, in its refusals too. */
const parrot = () =>
  stubUpstream((request, response) => {
    const said = String(request.headers.authorization);
    if (request.text.includes('refuse')) return replyJson(response, 400, { error: { message: `no ${said} here` } });
    if (request.url?.includes('/fine_tuning')) return replyJson(response, 401, { error: { message: `bad ${said}` } });
    return replyJson(response, 200, chatReply(said));
  });

const configOf = (url: string, more: object): object => ({
  strategy: { mode: 'fallback' },
  providers: { one: { kind: 'openai', base_url: `${url}/v1`, ...more } },
  targets: [{ virtual_key: 'one', models: ['m'] }],
});

const chat = ask('hi', { model: 'm' });

describe('the secret of an instance', () => {
  it('is another one after SIGHUP, and the configuration stays as it was', async () => {
    const [folder, upstream] = [await temporaryFolder(), await parrot()];
    const file = join(folder, 'key');
    await put(file, OLD);
    const config = configOf(upstream.url, { api_key: `\${file:${file}}` });
    await writeFile(join(folder, 'config.json'), JSON.stringify(config));
    const gateway = await startGateway({
      cwd: folder,
      variables: { GATEWAY_CONFIG: 'config.json', GW_SECRET_DIRS: folder },
    });
    const used = async (): Promise<unknown> => {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}` },
        body: JSON.stringify(chat),
      });
      expect(answer.status).to.equal(200);
      await answer.text();
      return upstream.seen.at(-1)?.headers.authorization;
    };
    expect(await used()).to.equal(`Bearer ${OLD}`);
    await writeFile(join(folder, 'config.json'), '{"targets":[]}');
    await put(file, NEW);
    expect(await used()).to.equal(`Bearer ${OLD}`);
    gateway.child.kill('SIGHUP');
    await eventually(async () => (await used()) === `Bearer ${NEW}`);
    expect(await used()).to.equal(`Bearer ${NEW}`);
    expect(await gateway.stop('SIGTERM')).to.equal(0);
    expect(gateway.lines.filter(({ msg }) => msg === 'credential refreshed')).to.have.length(1);
    expect(JSON.stringify(gateway.lines) + gateway.stderr())
      .not.to.contain(OLD)
      .and.not.to.contain(NEW);
  });

  it('is redacted for good: in lines, in what is passed through, in explanations, before and after it was replaced', async () => {
    const [folder, upstream] = [await temporaryFolder(), await parrot()];
    const file = join(folder, 'key');
    await put(file, OLD);
    const config = configOf(upstream.url, {
      api_key: `\${file:${file}}`,
      headers: { 'X-Tenant': 'blue', 'X-Sign': 'Token ${SIGN}' },
    });
    const t = await startHost(config, {
      variables: { GW_SECRET_DIRS: folder, SIGN: 'plain-value-of-header-9' },
      clock: fakeClock(),
    });
    const said: string[] = [];
    const round = async (): Promise<void> => {
      const answers = [
        await t.post('/v1/chat/completions', ask('please refuse', { model: 'm' })),
        await t.get('/v1/fine_tuning/jobs', { 'x-provider': 'one' }),
        await t.post('/admin/explain', { model: 'm', messages: [{ role: 'user', content: `${OLD} ${NEW}` }] }),
        await t.get('/admin/config'),
        await t.get('/admin/providers'),
      ];
      said.push(...answers.map(({ text }) => text));
    };
    await round();
    await put(file, NEW);
    await t.host.secrets.files.look();
    await eventually(async () => {
      await t.post('/v1/chat/completions', chat);
      return upstream.seen.at(-1)?.headers.authorization === `Bearer ${NEW}`;
    });
    expect(upstream.seen.at(-1)?.headers.authorization).to.equal(`Bearer ${NEW}`);
    await round();
    const all = [...said, ...t.texts].join('\n');
    for (const secret of [OLD, NEW, 'plain-value-of-header-9']) expect(all).not.to.contain(secret);
    expect(said[0]).to.contain('[REDACTED');
    expect(said[1]).to.contain('[REDACTED');
    expect(t.host.redactor.redact(`${OLD} ${NEW}`)).to.equal('[REDACTED_SECRET] [REDACTED_SECRET]');
  });

  const UNUSABLE: Readonly<Record<string, string>> = {
    'a line break inside': 'value-one-0123\nvalue-two-4567',
    'a line break and a header': 'value-one-0123\r\nX-Evil: value-two-4567',
    'a blank at its end': 'value-one-0123-value-two-4567 ',
    'a letter beyond ASCII': 'value-one-0123-é-value-two-4567',
  };
  for (const [what, value] of Object.entries(UNUSABLE)) {
    it(`with ${what} is not used, from a file or a variable, and stands in no line or answer`, async () => {
      const [folder, upstream] = [await temporaryFolder(), await parrot()];
      const file = join(folder, 'key');
      await put(file, value);
      for (const more of [
        { api_key: `\${file:${file}}` },
        { api_key: '${BAD}' },
        { api_key: '${GOOD}', headers: { 'X-Sign': 'Token ${BAD}' } },
        { api_key: '${GOOD}', proxy: { url: upstream.url, username: 'u', password: `\${file:${file}}` } },
      ]) {
        const t = await startHost(configOf(upstream.url, more), {
          variables: { GW_SECRET_DIRS: folder, BAD: value, GOOD: 'value-good-890123' },
        });
        const answers = [await t.post('/v1/chat/completions', chat), await t.get('/v1/x', { 'x-provider': 'one' })];
        expect(answers.map(({ status }) => status)).to.deep.equal([404, 404]);
        expect(t.lines.filter(({ rule }) => rule === 'WN17').map(({ reason }) => reason)).to.deep.equal(['not text']);
        const all = [...answers.map(({ text }) => text), ...t.texts].join('\n');
        for (const part of ['value-one-0123', 'value-two-4567']) expect(all).not.to.contain(part);
      }
      expect(upstream.seen).to.deep.equal([]);
    });
  }

  it('of a header that is not there keeps the instance from being called, until its file appears', async () => {
    const [folder, upstream] = [await temporaryFolder(), await parrot()];
    const file = join(folder, 'sign');
    const more = { api_key: '${GOOD}', headers: { 'X-Sign': `Token \${file:${file}}` } };
    const t = await startHost(configOf(upstream.url, more), {
      variables: { GW_SECRET_DIRS: folder, GOOD: 'value-good-890123' },
    });
    expect([(await t.post('/v1/chat/completions', chat)).status, upstream.seen.length]).to.deep.equal([404, 0]);
    await put(file, 'there-it-is-0123');
    await t.host.secrets.files.look();
    await eventually(async () => (await t.post('/v1/chat/completions', chat)).status === 200);
    expect(upstream.seen[0]?.headers).to.include({ 'x-sign': 'Token there-it-is-0123' });
  });

  it('is not read where it leads elsewhere or is not a file, and the reason is said without its text', async () => {
    const [folder, outside, upstream] = [await temporaryFolder(), await temporaryFolder(), await parrot()];
    await put(join(outside, 'x'), 'text-from-outside-1');
    await symlink(join(outside, 'x'), join(folder, 'outside the secret directories'));
    await mkdir(join(folder, 'kubernetes.io'));
    await put(join(folder, 'kubernetes.io', 'token'), 'text-from-outside-1');
    await mkdir(join(folder, 'not a regular file'));
    await put(join(folder, 'too large'), 'text-from-outside-1'.repeat(4000));
    await put(join(folder, 'empty'), '\n');
    for (const reason of [
      'outside the secret directories',
      'kubernetes.io/token',
      'not a regular file',
      'too large',
      'empty',
      'no such file',
    ]) {
      const t = await startHost(configOf(upstream.url, { api_key: `\${file:${join(folder, reason)}}` }), {
        variables: { GW_SECRET_DIRS: folder },
      });
      const answer = await t.post('/v1/chat/completions', chat);
      expect(answer.status).to.equal(404);
      expect(t.lines.find(({ rule }) => rule === 'WN17')).to.include({
        provider: 'one',
        credential: 'default',
        reference: join(folder, reason),
        reason: reason.includes('/') ? 'outside the secret directories' : reason,
      });
      expect(answer.text + t.texts.join('')).not.to.contain('text-from-outside-1');
    }
    expect(upstream.seen).to.deep.equal([]);
  });

  it('is read without a byte order mark, from a directory behind a link', async () => {
    const [folder, upstream] = [await temporaryFolder(), await parrot()];
    await mkdir(join(folder, 'real'));
    await symlink('real', join(folder, 'link'));
    await put(join(folder, 'real', 'key'), `\ufeff${OLD}\r\n`);
    const directory = join(folder, 'link');
    const t = await startHost(configOf(upstream.url, { api_key: `\${file:${directory}/key}` }), {
      variables: { GW_SECRET_DIRS: directory },
    });
    expect((await t.post('/v1/chat/completions', chat)).status).to.equal(200);
    expect(upstream.seen[0]?.headers.authorization).to.equal(`Bearer ${OLD}`);
  });

  it('that is replaced while a call runs is used by its next try', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'key');
    await put(file, OLD);
    let t: TestHost | undefined;
    const upstream = await stubUpstream(async (request, response) => {
      if (upstream.seen.length === 1) {
        await put(file, NEW);
        await t?.host.secrets.files.look();
        await eventually(() => t?.lines.some(({ msg }) => msg === 'credential refreshed') === true);
        return replyJson(response, 500, { error: { message: 'again' } });
      }
      return replyJson(response, 200, chatReply(String(request.headers.authorization)));
    });
    t = await startHost(
      {
        ...configOf(upstream.url, { api_key: `\${file:${file}}` }),
        targets: [{ virtual_key: 'one', models: ['m'], retry: { attempts: 2 } }],
      },
      { variables: { GW_SECRET_DIRS: folder } },
    );
    expect((await t.post('/v1/chat/completions', chat)).status).to.equal(200);
    expect(upstream.seen.map(({ headers }) => headers.authorization)).to.deep.equal([`Bearer ${OLD}`, `Bearer ${NEW}`]);
  });
});
