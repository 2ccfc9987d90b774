import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import {
  cases,
  chatReply,
  Dice,
  eventually,
  fakeClock,
  replyJson,
  startHost,
  stubUpstream,
  temporaryFolder,
} from '../kit/index.ts';

const SWAPS = 1000;
const chat = (model: string): object => ({ model, messages: [{ role: 'user', content: 'hi' }] });

/** One of many configurations: other instances, credentials, groups and files each time. */
function configOf(url: string, folder: string, dice: Dice): object {
  const names = ['one', 'two', 'three', 'four'].filter(() => dice.below(2) === 0);
  const used = names.length > 0 ? names : ['one'];
  const strategy = { mode: 'loadbalance', affinity: dice.pick(['off', 'session']) };
  const credentials = ['a', 'b', 'c'].slice(0, 1 + dice.below(3)).map((name) => ({
    name: `${name}-${dice.below(5)}`,
    api_key: dice.below(2) === 0 ? '${K}' : `\${file:${folder}/key-${dice.below(3)}}`,
  }));
  const provider = {
    kind: 'openai',
    base_url: `${url}/v1`,
    credentials,
    ...(dice.below(2) === 0 && { headers: { 'x-tenant': String(dice.below(3)) } }),
  };
  return {
    strategy,
    providers: Object.fromEntries(used.map((name) => [name, provider])),
    targets: used.map((virtual_key) => ({
      virtual_key,
      models: ['m'],
      weight: 1,
      concurrency: { max_concurrency: 5 },
    })),
    models: [
      { name: `g${dice.below(9)}`, routes: [{ target: used[0], model: 'm', weight: 1 }], strategy, fallbacks: ['any'] },
      { name: 'any', routes: used.map((target) => ({ target, model: 'm', weight: 1 })), strategy },
    ],
  };
}

describe('many configurations one after another, with requests in between', function suite() {
  this.timeout(300_000);

  it('leave nothing of those before: no timer, file, state or configuration', async () => {
    const [dice, clock, folder] = [new Dice(5), fakeClock(), await temporaryFolder()];
    for (const at of [0, 1, 2]) await writeFile(join(folder, `key-${at}`), `sk-value-${at}-0123456789`);
    let calls = 0;
    const upstream = await stubUpstream((_request, response) => {
      calls += 1;
      if (dice.below(4) > 0) return replyJson(response, 200, chatReply('hi'));
      return replyJson(response, dice.pick([401, 402, 403, 429, 500]), { error: { message: 'no' } });
    });
    const first = configOf(upstream.url, folder, new Dice(1));
    const variables = { K: 'sk-of-k-0123456789', GW_SECRET_DIRS: folder };
    const t = await startHost(first, { clock, variables, random: () => dice.below(1000) / 1000 });
    const held = async (): Promise<object> => {
      await t.apply(first);
      await eventually(() => t.host.slot.live === 1);
      return {
        carried: t.host.carryover.size,
        timers: clock.waiting,
        files: t.host.secrets.files.size,
        live: t.host.slot.live,
      };
    };
    let before = {};
    for (let at = 0; at < cases(SWAPS, 20); at += 1) {
      if (at === 10) before = await held(); // what is made with the first use is there by then
      const asked = Promise.all(
        ['m', 'any', `g${dice.below(9)}`].map((model) =>
          t.post('/v1/chat/completions', chat(model), { 'x-gateway-session': `s${dice.below(9)}` }),
        ),
      );
      await t.apply(configOf(upstream.url, folder, dice));
      for (const { status } of await asked) expect(status).to.be.oneOf([200, 404, 429, 502, 503]);
      clock.advance(dice.below(60_000));
    }
    expect(calls).to.be.greaterThan(cases(SWAPS, 20));
    expect(await held()).to.deep.equal(before);
  });
});
